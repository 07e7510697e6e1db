
/* Two runs side by side: by how much each operation and function has become slower or faster. */
const compare = (() => {
  'use strict';
  const LEVEL = 0.05; /* as CT_PAIRS_LEVEL: less likely by chance is significant */
  const MOST_BARS = 12, LEAST_BAR = 0.002; /* as a part of the longest */

  const verdict = (l) => l.verdict || (l.p === undefined ? 'cannot be told' : 'within chance');
  const colourOf = (l) => (l.verdict === 'new' ? 'k1' : l.verdict === 'vanished' ? 'rest'
    : !l.verdict ? 'set' : l.change > 0 ? 'k7' : 'k2');
  const named = (l) => h('span', { class: 'name' }, units.cut(l.short, 60));

  const linesOf = (profile, gpu) => profile.compared.pairs.filter((l) => l.gpu === gpu)
    .map((l, index) => ({ ...l, index, colour: colourOf(l) }));

  /* ---- in words ---- */

  const both = (t) => `from ${units.time(t.before)} to ${units.time(t.after)} (${units.growth(t.before, t.after)})`;

  const whole = (t) => {
    if (t.p === undefined || t.p >= LEVEL)
      return `GPU time is the same but for chance: ${both(t)}.`;
    return `GPU time ${t.after > t.before ? 'grew' : 'fell'} ${both(t)}.`;
  };

  const clause = (l) => {
    const before = l.before.total, after = l.after.total;
    if (l.verdict === 'new' || l.verdict === 'vanished')
      return [' ', named(l), ` ${l.verdict === 'new' ? 'is new' : 'has vanished'}: ${units.change(l.change)}.`];
    return [' ', named(l), `: ${l.verdict}, ${units.change(l.change)} (${units.growth(before, after)}).`];
  };

  /* The two largest changes that are no chance, those for the worse first. */
  const sentence = (profile, lines) => {
    const told = lines.filter((l) => l.verdict && Math.abs(l.change) > 0);
    const worst = told.filter((l) => l.change > 0).sort((a, b) => b.change - a.change)[0];
    const best = told.filter((l) => l.change < 0).sort((a, b) => a.change - b.change)[0];
    return [whole(profile.compared.gpu), ...[worst, best].filter(Boolean).flatMap(clause)];
  };

  const runOf = (title, run) => {
    const p = run.processes[0];
    const models = run.devices.map((d) => d.name).filter((x, i, a) => a.indexOf(x) === i).join(', ');
    const facts = [p?.host, models, p?.start, run.process_count > 1 && `${units.count(run.process_count)} processes`];
    return [h('dt', {}, title), h('dd', {}, h('code', {}, units.cut(p?.command || 'no process', 160)),
      h('div', { class: 'small' }, facts.filter(Boolean).join(' · ')))];
  };

  const tile = (title, value, small) => h('div', {}, h('dt', {}, title), h('dd', {}, value, h('small', { title: small }, small)));

  const tiles = (profile, lines) => {
    const { gpu, calls } = profile.compared;
    const of = (test) => {
      const found = lines.filter((l) => l.verdict && test(l));
      return [found.length ? units.change(found.reduce((s, l) => s + l.change, 0)) : 'none', units.many(found.length, 'row')];
    };
    const lasting = (l) => l.verdict !== 'new' && l.verdict !== 'vanished';
    return h('dl', { class: 'tiles' },
      tile('GPU time', units.growth(gpu.before, gpu.after), `${units.time(gpu.before)} → ${units.time(gpu.after)}`),
      tile('More time', ...of((l) => lasting(l) && l.change > 0)), tile('Less time', ...of((l) => lasting(l) && l.change < 0)),
      tile('New', ...of((l) => l.verdict === 'new')), tile('Vanished', ...of((l) => l.verdict === 'vanished')),
      tile('In CUDA calls', units.growth(calls.before, calls.after), `${units.time(calls.before)} → ${units.time(calls.after)}`));
  };

  /* Results that cannot be held against each other as they are. */
  const warnings = ({ compared }) => {
    const models = (run) => run.devices.map((d) => d.name).sort().filter((x, i, a) => a.indexOf(x) === i).join(', ');
    const raw = (run) => run.devices[0]?.calibration === 'none';
    const before = compared.old, after = compared.new;
    return [
      models(before) !== models(after) && `The devices differ: OLD ran on ${models(before) || 'none'}, NEW on ${models(after) || 'none'}.`,
      raw(before) !== raw(after) && `Only ${raw(before) ? 'NEW' : 'OLD'} was calibrated: times of the other are raw brackets.`,
      before.process_count !== after.process_count
        && `OLD is of ${units.count(before.process_count)} processes, NEW of ${units.count(after.process_count)}: totals grow with them.`,
    ].filter(Boolean);
  };

  /* ---- pictures ---- */

  const bars = (lines, pick) => {
    const most = Math.max(1, ...lines.map((l) => Math.abs(l.change)));
    const shown = lines.filter((l) => Math.abs(l.change) > LEAST_BAR * most)
      .sort((a, b) => Math.abs(b.change) - Math.abs(a.change)).slice(0, MOST_BARS);
    return h('div', { class: 'changes' }, shown.map((l) => {
      const wide = 50 * Math.abs(l.change) / most;
      const e = h('button', { type: 'button', onclick: () => pick(l), 'aria-label': `${l.short}: ${units.change(l.change)}, ${verdict(l)}` },
        h('span', { class: 'name' }, l.short),
        h('span', { class: 'track' }, h('i', { style: { left: `${l.change < 0 ? 50 - wide : 50}%`, width: `${wide}%`, background: `var(--${l.colour})` } })),
        h('span', { class: 'num' }, units.change(l.change)),
        h('span', { class: 'num faint' }, units.growth(l.before.total || 0, l.after.total || 0)));
      tips.attach(e, () => ({ title: l.name, pairs: [['Old', timeOf(l.before)], ['New', timeOf(l.after)], ['Verdict', verdict(l)]] }));
      return e;
    }));
  };

  const timeOf = (side) => (side.timed ? units.time(side.total) : '-');
  const mean = (side) => (side.timed ? units.time(side.avg) : '-');
  const chance = (p) => (p === undefined ? '-' : p < 0.0001 ? '< 0.0001' : p.toFixed(4));

  const columns = (title) => [
    { key: 'change', title: 'Change', hint: 'New time less old time', sort: (l) => l.change, text: (l) => units.change(l.change) },
    { key: 'percent', title: 'Change(%)', sort: (l) => (l.before.total ? l.after.total / l.before.total : Infinity), text: (l) => units.growth(l.before.total || 0, l.after.total || 0) },
    { key: 'old', title: 'Old time', class: 'wide', sort: (l) => l.before.total || 0, text: (l) => timeOf(l.before) },
    { key: 'new', title: 'New time', sort: (l) => l.after.total || 0, text: (l) => timeOf(l.after) },
    { key: 'calls', title: 'Calls', class: 'wide', hint: 'Old → new', sort: (l) => l.after.calls, text: (l) => (l.before.calls === l.after.calls ? units.count(l.after.calls)
      : `${units.count(l.before.calls)} → ${units.count(l.after.calls)}`) },
    { key: 'avg', title: 'Avg', class: 'wide', hint: 'Old → new', sort: (l) => l.after.avg || 0, text: (l) => `${mean(l.before)} → ${mean(l.after)}` },
    { key: 'verdict', title: 'Verdict', class: 'text', hint: 'Whether it is more than chance: 5 % for all together', sort: verdict, cell: (l) => h('span', { class: l.verdict ? '' : 'faint' }, verdict(l)) },
    { key: 'name', title, sort: (l) => l.short.toLowerCase(), opener: true },
  ];

  const inside = (l) => h('div', { class: 'inside' },
    h('div', { class: 'whole' }, h('code', {}, l.name)),
    h('div', {}, h('h3', {}, 'How long single calls took'), histogram.overlay(l.before.histogram, l.after.histogram)),
    kernels.pairs([['Old calls', units.count(l.before.calls)], ['New calls', units.count(l.after.calls)],
      ['Old average', mean(l.before)], ['New average', mean(l.after)],
      l.before.timed && l.after.timed && ['Change of the average', units.change(l.after.avg - l.before.avg)],
      l.half !== undefined && ['95 % interval', `± ${units.time(l.half)}`],
      ['Verdict', verdict(l)], ['p of the verdict', chance(l.p)], ['p of the averages', chance(l.mean_p)]]));

  /* ---- sections ---- */

  const create = (profile) => {
    const lines = linesOf(profile, true);
    const t = table.create({ label: 'Changes of GPU activities', columns: columns('Name'), lines, inside, sorted: 'change', order: (l) => -Math.abs(l.change) });
    return h('section', { id: 'changes' },
      h('dl', { class: 'runs' }, runOf('Old', profile.compared.old), runOf('New', profile.compared.new)),
      h('h1', {}, lines.length ? sentence(profile, lines) : 'Nothing ran on the GPU in either run.'),
      tiles(profile, lines),
      h('ul', { class: 'advice' }, warnings(profile).map((w) => h('li', {}, w))),
      h('div', { class: 'bar' }, h('h2', {}, 'The largest changes'), h('span', { class: 'grow' }),
        h('span', { class: 'small' }, 'less time to the left, more to the right')),
      bars(lines, t.reveal),
      h('div', { class: 'bar' }, table.search('Filter by name', t.filter)), t.element);
  };

  const calls = (profile) => {
    const lines = linesOf(profile, false);
    return h('section', { id: 'calls' }, h('h2', {}, 'CUDA calls'),
      h('p', { class: 'note' }, 'The host’s time between call and return, all threads added up.'), h('div', { class: 'bar' }),
      table.create({ label: 'Changes of CUDA calls', columns: columns('Function'), lines, inside, sorted: 'change' }).element);
  };

  const told = (profile) => {
    const tested = profile.compared.pairs.filter((l) => l.mean_p !== undefined);
    const found = tested.filter((l) => l.mean_p < LEVEL);
    return `${units.count(found.length)} of ${units.count(tested.length)} averages differ by more than they may be wrong by and chance makes them `
      + '(Welch’s t test, 5 % for all together by Holm).';
  };

  const sides = (profile) => h('section', { id: 'trust' }, h('h2', {}, 'Accuracy'), h('div', { class: 'bar' }),
    h('ul', { class: 'sentences' }, h('li', {}, told(profile)),
      h('li', {}, 'One run a side tells of the spread inside a run; how much differs from run to run is seen in several: diff OLD... -- NEW...')),
    ['old', 'new'].flatMap((side) => [h('h3', { class: 'side' }, side === 'old' ? 'Old' : 'New'), ...trust.grids(profile.compared[side])]));

  return { create, calls, sides };
})();
