
/* Copies and sets: their bandwidth beside the peak of memory and bus, by kind of memory. */
const copies = (() => {
  'use strict';
  const rateOf = (bytes, ns) => (ns ? bytes * 1e9 / ns : 0);
  const achieved = (l) => rateOf(l.timed_bytes || 0, l.timed_ns);

  /* Parts of a profile's transfers that have the same key, added up. */
  const add = (transfers, key) => {
    const sums = new Map();
    transfers.forEach((t) => {
      const k = key(t), s = sums.get(k) || { ...t, timed: 0, bytes: 0, ns: 0 };
      sums.set(k, Object.assign(s, { timed: s.timed + t.timed, bytes: s.bytes + t.bytes, ns: s.ns + t.ns }));
    });
    return [...sums.values()];
  };

  const inside = (l) => l.kind === 'set' || /DtoD|DtoA|AtoD|AtoA/.test(l.name);

  /* The device with the most counts, as lines are of all; a copy inside a device reads and writes. Links between
     two devices are not in the file. */
  const peak = (profile, line) => {
    const most = (key) => 1e6 * Math.max(0, ...profile.devices.map((d) => d[key]));
    if (!inside(line))
      return /PtoP/.test(line.name) ? 0 : most('link_mbs');
    return most('memory_mbs') / (line.kind === 'set' ? 1 : 2);
  };

  /* The best that copies of one kind and size achieved on average: a lower limit of the peak. */
  const best = (profile, line) => Math.max(achieved(line), ...add(profile.transfers.filter((t) => t.name === line.name),
    (t) => `${t.from} ${t.to} ${t.octave}`).map((t) => rateOf(t.bytes, t.ns)));

  const limit = (profile, line) => {
    const known = peak(profile, line);
    return known ? { rate: known, word: 'peak' } : { rate: best(profile, line), word: 'best' };
  };

  const rate = (text, value, { rate: peak, word }, most, colour, note) => {
    const e = h('div', { class: 'rate' }, h('span', {}, text),
      h('span', { class: 'track' }, h('i', { style: { width: `${100 * value / most}%`, background: `var(--${colour})` } }),
        peak > value * 1.02 ? h('u', { style: { left: `calc(${100 * peak / most}% - 2px)` } }) : null),
      h('span', { class: 'num' }, value ? units.rate(value) : 'not timed',
        peak > value * 1.02 ? h('span', { class: 'faint' }, ` ${units.share(100 * value / peak)} of ${word}`) : null));
    tips.attach(e, () => ({ title: text, pairs: note }));
    return e;
  };

  const memories = (profile, line, most) => {
    const parts = add(profile.transfers.filter((t) => t.name === line.name), (t) => `${t.from} ${t.to}`);
    return parts.length < 2 ? [] : parts.sort((a, b) => b.bytes - a.bytes).map((t) => rate(`${t.from} to ${t.to}`,
      rateOf(t.bytes, t.ns), {}, most, line.colour, [['Copies', units.count(t.timed)], ['Bytes', units.size(t.bytes)], ['Time', units.time(t.ns)]]))
      .map((e) => (e.classList.add('part'), e));
  };

  /* The bus and the device's own memory differ by a factor of thirty: each has its own scale. */
  const group = (profile, title, lines) => {
    if (!lines.length)
      return null;
    const limits = lines.map((l) => limit(profile, l));
    const most = Math.max(1, ...limits.map((x) => x.rate), ...lines.map(achieved));
    return h('div', { class: 'rates' }, h('h3', {}, title), lines.flatMap((l, i) => [
      rate(l.short.replace(/^\[CUDA (memcpy )?|\]$/g, ''), achieved(l), limits[i], most, l.colour, [['Bytes', units.size(l.timed_bytes || 0)],
        ['Time', units.time(l.timed_ns || 0)], ...(peak(profile, l) ? [['Peak', units.rate(peak(profile, l))]] : []),
        ['Best of one kind and size', units.rate(best(profile, l))]]),
      ...memories(profile, l, most)]));
  };

  const columns = [
    { key: 'name', title: 'Operation', sort: (l) => l.short, opener: true },
    { key: 'calls', title: 'Calls', sort: (l) => l.calls, text: (l) => units.count(l.calls) },
    { key: 'bytes', title: 'Bytes', sort: (l) => l.bytes || 0, text: (l) => (l.bytes ? units.size(l.bytes) : '-') },
    { key: 'mean', title: 'Mean size', class: 'wide', sort: (l) => (l.bytes || 0) / l.calls, text: (l) => (l.bytes ? units.size(Math.floor(l.bytes / l.calls)) : '-') },
    { key: 'total', title: 'Time', sort: (l) => l.total || 0, text: (l) => (l.timed ? units.time(l.total) : '-') },
    { key: 'rate', title: 'Throughput', sort: achieved, text: (l) => (achieved(l) ? units.rate(achieved(l)) : '-') },
  ];

  const create = (profile) => {
    const lines = profile.activities.filter((a) => !a.in_graphs && ['copy', 'set', 'prefetch'].includes(a.kind));
    if (!lines.length)
      return h('section', { id: 'copies' }, h('h2', {}, 'Copies'), h('div', { class: 'empty' }, 'Nothing was copied or set.'));
    return h('section', { id: 'copies' }, h('h2', {}, 'Copies'),
      h('p', { class: 'note' }, 'Bytes by time, of the operations that were timed. The mark is the peak of the device\'s memory, which copies '
        + 'inside it read and write, or of its link to the host; where that is not known, the best that copies of one kind '
        + 'of memory and size achieved here.'),
      group(profile, 'To and from the device', lines.filter((l) => !inside(l))),
      group(profile, 'Inside the device', lines.filter(inside)),
      h('div', { class: 'bar' }), table.create({ label: 'Copies and sets', columns, lines, sorted: 'total' }).element);
  };

  return { create };
})();
