
/* Two runs of a Python program: the lines whose GPU time has changed, as a flame graph and a table. */
const lineChanges = (() => {
  'use strict';
  const FULL = Math.log(1.5); /* a factor of the time that has the full colour */
  const MOST = 12; /* operations below a line that are listed */

  let current = null;

  const mix = (a, b, part) => {
    const channels = (c) => [1, 3, 5].map((i) => parseInt(theme.colour(c).slice(i, i + 2), 16));
    const from = channels(a), to = channels(b);
    return `#${from.map((v, i) => Math.round(v + (to[i] - v) * part).toString(16).padStart(2, '0')).join('')}`;
  };

  /* As in the bars of changes: red has become slower, green faster. */
  const colourOf = (before, after) => {
    if (!before || !after)
      return after ? 'k1' : 'rest';
    const by = Math.min(1, Math.abs(Math.log(after / before)) / FULL);
    return by < 0.02 ? 'frame-flat' : mix('frame-flat', after > before ? 'k7' : 'k2', 0.12 + 0.88 * by);
  };

  const legend = () => h('ul', { class: 'keys' }, [['k7', 100, '+50%'], ['k7', 40, 'slower'], ['k7', 0, 'unchanged'],
    ['k2', 40, 'faster'], ['k2', 100, '−33%'], ['k1', 100, 'new'], ['rest', 100, 'vanished']].map(([name, part, text]) => h('li', {},
    h('i', { class: 'chip', style: { background: `color-mix(in srgb, var(--${name}) ${part}%, var(--frame-flat))` } }), text)));

  const lineOf = (pair) => pair.after || pair.before;

  const viewOf = (tree, operations) => {
    const v = tree.values, known = (i) => (tree.line[i] < 0 ? null : lineOf(tree.lines[tree.line[i]])), named = (i) => operations[tree.operation[i]];
    const look = (i) => {
      const line = known(i), colour = i === tree.rest ? 'frame-rest' : colourOf(v.before[i], v.after[i]);
      if (named(i))
        return { text: named(i).short, colour };
      return line ? { text: line.function, place: line.place, colour } : { text: 'by no known line', colour };
    };
    const title = (i) => {
      const pair = tree.line[i] < 0 ? null : tree.lines[tree.line[i]], line = known(i);
      if (named(i))
        return named(i).name;
      if (!line)
        return 'Launched by no known line';
      return `${line.function} ${line.whole}${pair.before && pair.after && pair.before.whole !== pair.after.whole ? `, was ${pair.before.whole}` : ''}`;
    };
    const facts = (i) => ({ title: title(i), pairs: [['Old', units.time(v.before[i])], ['New', units.time(v.after[i])],
      ['Change', `${units.change(v.after[i] - v.before[i])}${v.before[i] && v.after[i] ? ` (${units.growth(v.before[i], v.after[i])})` : ''}`],
      ['Launches', arrow(v.old_count[i], v.new_count[i])]] });
    return flame.create({ tree, label: 'Change of GPU time by stack', root: 'All GPU work', measures: [['after', 'New time', units.time], ['before', 'Old time', units.time]],
      keys: legend(), look, facts, words: (i) => title(i).toLowerCase(), links: () => [] });
  };

  /* ---- the table ---- */

  const arrow = (before, after) => (before === after ? units.count(after) : `${units.count(before)} → ${units.count(after)}`);
  const verdict = (l) => (!l.before.all ? 'new' : !l.after.all ? 'vanished' : l.change > 0 ? 'slower' : l.change < 0 ? 'faster' : '');

  const chipOf = (l) => ({ new: 'k1', vanished: 'rest', slower: 'k7', faster: 'k2' }[verdict(l)] || 'set');

  /* For lines or modules; `within` says what else counts for one. */
  const columns = (title, within) => [
    { key: 'change', title: 'Change', hint: `New time less old time, ${within}`, sort: (l) => l.change, text: (l) => units.change(l.change) },
    { key: 'percent', title: 'Change(%)', sort: (l) => (l.before.all ? l.after.all / l.before.all : Infinity), text: (l) => units.growth(l.before.all, l.after.all) },
    { key: 'own', title: 'Own change', hint: 'Operations that it launched itself', sort: (l) => l.own, text: (l) => (l.before.own || l.after.own ? units.change(l.own) : '-') },
    { key: 'old', title: 'Old time', class: 'wide', sort: (l) => l.before.all, text: (l) => (l.before.all ? units.time(l.before.all) : '-') },
    { key: 'new', title: 'New time', sort: (l) => l.after.all, text: (l) => (l.after.all ? units.time(l.after.all) : '-') },
    { key: 'launches', title: 'Launches', class: 'wide', hint: 'Old → new', sort: (l) => l.new_count.all, text: (l) => arrow(l.old_count.all, l.new_count.all) },
    { key: 'name', title, sort: (l) => l.short.toLowerCase(), opener: true },
  ];

  const linesOf = (tree) => stacks.byLine(tree).map((sum, number) => ({ ...sum, number, pair: tree.lines[number], line: lineOf(tree.lines[number]),
    change: sum.after.all - sum.before.all, own: sum.after.own - sum.before.own }))
    .filter((l) => l.before.all || l.after.all).sort((a, b) => Math.abs(b.change) - Math.abs(a.change))
    .map((l, index) => ({ ...l, index, short: `${l.line.function} ${l.line.place}`, name: `${l.line.function} ${l.line.whole}`, colour: chipOf(l) }));

  const inside = (tree, operations, view) => (l) => {
    const found = stacks.below(tree, l.number).map((s) => ({ ...s, change: s.after - s.before })).sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
    return h('div', { class: 'inside' },
      h('div', { class: 'whole' }, h('code', {}, l.name, l.pair.before && l.pair.after && l.pair.before.whole !== l.pair.after.whole ? `\nwas ${l.pair.before.whole}` : ''),
        h('button', { type: 'button', class: 'plain', onclick: () => view.show(`${l.line.function} ${l.line.place}`, (i) => tree.operation[i] < 0 && tree.line[i] === l.number) }, 'Find in the flame graph')),
      table.grid(['Change', 'Old time', 'New time', 'Launches', 'Operation'], found.slice(0, MOST).map((s) => [units.change(s.change), units.time(s.before), units.time(s.after),
        arrow(s.old_count, s.new_count), h('span', { class: 'mono' }, units.cut(operations[s.operation].short, 90))]), 4),
      found.length > MOST ? h('p', { class: 'small across' }, `and ${units.many(found.length - MOST, 'more operation')}`) : null);
  };

  const create = ({ compared }) => {
    const { operations, old: before, new: after, pairs } = compared.stacks;
    const calls = (side) => compared.pairs.filter((l) => l.gpu).reduce((s, l) => s + l[side].calls, 0);
    const tree = stacks.merge(stacks.read(before, { ns: before.with_rest, count: calls('before') }),
      stacks.read(after, { ns: after.with_rest, count: calls('after') }), pairs);
    const view = viewOf(tree, operations), lines = linesOf(tree);
    current = { tree, view };
    const t = table.create({ label: 'Changes of lines', columns: columns('Function and line', 'with all that the line called'), lines, inside: inside(tree, operations, view), sorted: 'change', order: (l) => -Math.abs(l.change) });
    return h('section', { id: 'python' }, h('h2', {}, 'Lines'),
      h('p', { class: 'note' }, 'GPU time by the line that launched it, with all that it called. Lines that an edit has moved are taken for the same. '
        + 'Whether a change is more than chance is told of operations only, above.'),
      view.element,
      h('div', { class: 'bar' }, table.search('Filter by function or file', t.filter)), t.element);
  };

  return { create, columns, chipOf, arrow, has: ({ compared }) => Boolean(compared.stacks), current: () => current };
})();
