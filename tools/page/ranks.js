
/* How ranks differ: a picture of their GPU time, who is late, and which operations it comes from. */
const ranks = (() => {
  'use strict';
  const nameOf = (r) => (r.ranked ? `rank ${r.name}` : r.name);

  const sentence = (r) => {
    const most = r.all.find((x) => x.name === r.most), worst = r.rows.find((l) => l.lost > 0);
    return [`GPU time is longest on ${most ? nameOf(most) : r.most}: ${units.time(r.max)}, ${r.ratio.toFixed(2)} times the mean of ${units.time(r.mean)}. `,
      `Where all wait for it, each loses ${units.time(r.lost)}, ${units.share(100 * r.lost / (r.max || 1))} of the longest time.`,
      worst ? [' Ranks differ most in ', h('code', {}, units.cut(worst.short, 60)), `: ${units.time(worst.lost)} more than the mean on ${r.all.some((x) => x.ranked) ? 'rank ' : ''}${worst.most}.`] : '']
      .flat();
  };

  /* A bar for each; the line is the mean. */
  const picture = (r) => {
    const scale = 100 / (r.max || 1), ticks = Math.ceil(r.all.length / 24);
    const e = h('div', { class: 'ranks', style: { 'max-width': `${74 * r.all.length + 40}px` } },
      r.all.map((x, i) => {
        const late = x.name === r.most, bar = h('i', { style: { height: `${Math.max(0.5, x.total * scale)}%`, background: `var(--${late ? 'k7' : 'k0'})` } });
        const column = h('span', { class: 'rank' }, bar, h('small', {}, i % ticks ? '' : x.ranked ? x.name : String(i)));
        tips.attach(column, () => ({ title: nameOf(x), pairs: [['GPU time', units.time(x.total)], ['of the mean', units.percent(100 * x.total / (r.mean || 1))],
          ['Kernels', units.time(x.compute)], ['CUDA calls', units.time(x.api)], ['Host', x.host]] }));
        return column;
      }),
      h('u', { style: { bottom: `calc(20px + (100% - 20px) * ${r.mean / (r.max || 1)})` } }, h('small', {}, 'mean')));
    e.setAttribute('role', 'img');
    e.setAttribute('aria-label', `GPU time of ${units.many(r.all.length, 'rank')}, from ${units.time(r.min)} to ${units.time(r.max)}`);
    return e;
  };

  const rankColumns = (mean) => [
    { key: 'name', title: 'Rank', sort: (x) => (x.ranked ? Number(x.name) : Infinity), opener: true },
    { key: 'total', title: 'GPU time', sort: (x) => x.total, text: (x) => units.time(x.total) },
    { key: 'mean', title: 'Of mean', sort: (x) => x.total, text: (x) => units.percent(100 * x.total / (mean || 1)) },
    { key: 'compute', title: 'Kernels', sort: (x) => x.compute, text: (x) => units.time(x.compute) },
    { key: 'api', title: 'CUDA calls', class: 'wide', sort: (x) => x.api, text: (x) => units.time(x.api) },
    { key: 'operations', title: 'Operations', sort: (x) => x.operations, text: (x) => units.count(x.operations) },
    { key: 'host', title: 'Host', class: 'wide', sort: (x) => x.host, text: (x) => x.host },
  ];

  const rowColumns = [
    { key: 'lost', title: 'Lost', hint: 'Most less mean: how long each waits, where all wait for the slowest', sort: (l) => l.lost, text: (l) => units.time(l.lost) },
    { key: 'ratio', title: 'Most/mean', sort: (l) => l.ratio, text: (l) => l.ratio.toFixed(2) },
    { key: 'least', title: 'Least', class: 'wide', sort: (l) => l.min, text: (l) => `${units.time(l.min)} (${l.least})` },
    { key: 'mean', title: 'Mean', sort: (l) => l.mean, text: (l) => units.time(l.mean) },
    { key: 'most', title: 'Most', hint: 'And on which rank', sort: (l) => l.max, text: (l) => `${units.time(l.max)} (${l.most})` },
    { key: 'name', title: 'Name', sort: (l) => l.short.toLowerCase(), opener: true },
  ];

  const has = (profile) => Boolean(profile.ranks);
  const create = (profile) => {
    const r = profile.ranks;
    const all = r.all.map((x, index) => ({ ...x, index, short: nameOf(x), colour: x.name === r.most ? 'k7' : 'k0' }));
    const rows = r.rows.map((l, index) => ({ ...l, index, colour: 'call' }));
    return h('section', { id: 'ranks' }, h('h2', {}, 'Ranks'), h('p', { class: 'note' }, sentence(r)), picture(r),
      h('div', { class: 'bar' }),
      table.create({ label: 'Ranks', columns: rankColumns(r.mean), lines: all, sorted: 'total' }).element,
      rows.length ? [h('div', { class: 'bar' }, h('h3', {}, 'Operations over the ranks')),
        table.create({ label: 'Operations over the ranks', columns: rowColumns, lines: rows, sorted: 'lost' }).element]
        : h('p', { class: 'note' }, 'Operations are compared over the ranks where all files could be read.'));
  };

  return { has, create };
})();
