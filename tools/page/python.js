
/* From which lines of Python the GPU's work was launched: a flame graph and a table. */
const python = (() => {
  'use strict';
  const MOST = 12; /* operations below a line that are listed */
  let current = null;

  /* Sums over all operations, those without a stack as well. */
  const whole = (facts, operations) => ({ ns: facts.with_rest, count: operations.reduce((s, l) => s + l.calls, 0) });

  const chipOf = (line) => (line.library ? 'frame-library' : 'frame');

  const lookOf = (tree, activities) => (i) => {
    const line = tree.lines[tree.line[i]], operation = activities[tree.operation[i]];
    if (operation)
      return { text: operation.short, colour: operation.colour };
    return line ? { text: line.function, place: line.place, colour: chipOf(line), frame: true } : { text: 'by no known line', colour: 'frame-rest' };
  };

  const factsOf = (tree, activities) => (i) => {
    const { ns, count } = tree.values, line = tree.lines[tree.line[i]], operation = activities[tree.operation[i]];
    const title = operation ? operation.name : line ? `${line.function} ${line.whole}` : 'Launched by no known line';
    return { title, pairs: [['Time', units.time(ns[i])], ['of GPU time', units.share(100 * ns[i] / (ns[0] || 1))], ['Launches', units.count(count[i])],
      ...(operation && line ? [['Launched by', `${line.function} ${line.place}`]] : [])] };
  };

  const wordsOf = (tree, activities) => (i) => {
    const line = tree.lines[tree.line[i]], operation = activities[tree.operation[i]];
    return (operation ? operation.name : line ? `${line.function} ${line.whole}` : '').toLowerCase();
  };

  /* ---- the table ---- */

  const columns = [
    { key: 'share', title: 'Time(%)', hint: 'Share of all GPU time, with all that the line called', sort: (l) => l.ns.all, text: (l) => units.percent(l.share) },
    { key: 'all', title: 'Time', hint: 'With all that the line called', sort: (l) => l.ns.all, text: (l) => units.time(l.ns.all) },
    { key: 'own', title: 'Own', hint: 'Operations that the line launched itself', sort: (l) => l.ns.own, text: (l) => (l.count.own ? units.time(l.ns.own) : '-') },
    { key: 'launches', title: 'Launches', sort: (l) => l.count.all, text: (l) => units.count(l.count.all) },
    { key: 'name', title: 'Function and line', sort: (l) => l.short.toLowerCase(), opener: true },
  ];

  const linesOf = (tree) => stacks.byLine(tree).map((sum, number) => ({ ...sum, number, line: tree.lines[number] })).filter((l) => l.count.all)
    .sort((a, b) => b.ns.all - a.ns.all || b.ns.own - a.ns.own)
    .map((l, index) => ({ ...l, index, share: 100 * l.ns.all / (tree.values.ns[0] || 1), short: `${l.line.function} ${l.line.place}`, name: `${l.line.function} ${l.line.whole}`, colour: chipOf(l.line) }));

  const inside = (tree, activities, view) => (l) => {
    const found = stacks.below(tree, l.number).sort((a, b) => b.ns - a.ns || b.count - a.count);
    return h('div', { class: 'inside' },
      h('div', { class: 'whole' }, h('code', {}, l.name), h('button', { type: 'button', class: 'plain', onclick: () => view.show(`${l.line.function} ${l.line.place}`, (i) => tree.operation[i] < 0 && tree.line[i] === l.number) }, 'Find in the flame graph')),
      table.grid(['of the line', 'Time', 'Launches', 'Operation'], found.slice(0, MOST).map((s) => [units.share(100 * s.ns / (l.ns.all || 1)), units.time(s.ns), units.count(s.count),
        h('span', { class: 'mono' }, h('i', { class: 'chip', style: { background: `var(--${activities[s.operation].colour})` } }), units.cut(activities[s.operation].short, 90))]), 3),
      found.length > MOST ? h('p', { class: 'small across' }, `and ${units.many(found.length - MOST, 'more operation')}`) : null);
  };

  /* ---- the section ---- */

  const notes = ({ stacks: facts, raw }) => [...facts.notes, raw && 'Times by line are those of the operations, not raw brackets']
    .filter(Boolean).map((n) => `${n}.`).join(' ');

  const create = (profile) => {
    const { stacks: facts, activities } = profile, tree = stacks.read(facts, whole(facts, activities));
    const view = flame.create({ tree, label: 'GPU time by stack', root: 'All GPU work',
      keys: h('ul', { class: 'keys' }, [['frame', 'the program’s files'], ['frame-library', 'libraries']].map(([colour, text]) => h('li', {},
        h('i', { class: 'chip edged', style: { background: `var(--${colour})` } }), text))),
      measures: [['ns', 'Time', units.time], ['count', 'Launches', units.count]],
      look: lookOf(tree, activities), facts: factsOf(tree, activities), words: wordsOf(tree, activities),
      links: (i) => (activities[tree.operation[i]] ? [h('button', { type: 'button', class: 'plain', onclick: () => kernels.reveal(activities[tree.operation[i]]) }, 'Its row')] : []) });
    const lines = linesOf(tree);
    const t = table.create({ label: 'Lines', columns, lines, inside: inside(tree, activities, view), sorted: 'all' });
    current = { tree, view };
    return h('section', { id: 'python' }, h('h2', {}, 'Lines that launched it'),
      h('p', { class: 'note' }, notes(profile)), view.element,
      h('div', { class: 'bar' }, table.search('Filter by function or file', t.filter), h('span', { class: 'grow' }),
        h('span', { class: 'small' }, `${units.many(lines.length, 'line')}; a row opens to the operations below it`)),
      t.element);
  };

  return { create, has: (profile) => Boolean(profile.stacks), current: () => current };
})();
