
/* The longest single operations and calls of a trace, each with a way to where it is in the timeline. */
const longest = (() => {
  'use strict';
  const MOST = 10;

  /* Items that stand for themselves alone, longest first. */
  const find = (rows, data, call) => {
    const found = [];
    rows.filter((r) => r.call === call && !r.facts.ranges).forEach((row) => {
      const lane = data[row.i];
      for (let i = 0; i < lane.items; i++) {
        const ns = lane.end[i] - lane.start[i];
        if (lane.count[i] > 1 || found.length === MOST && ns <= found[MOST - 1].ns)
          continue;
        found.push({ row, i, ns });
        found.sort((a, b) => b.ns - a.ns);
        found.length = Math.min(found.length, MOST);
      }
    });
    return found;
  };

  const rowsOf = (t, call) => find(t.rows, t.state.data, call).map(({ row, i, ns }) => {
    const lane = t.state.data[row.i], what = t.look[lane.what[i]];
    return [units.time(ns), units.tick(Math.round(t.first + lane.start[i])), row.label,
      h('span', { class: 'mono', title: what.name }, units.cut(what.short, 70)),
      h('button', { type: 'button', class: 'plain', 'aria-label': `Show ${what.short} in the timeline`, onclick: () => t.go(row, i) }, 'Show')];
  });

  /* Filled as soon as the timeline is read. */
  const create = (t) => {
    const place = h('div', {});
    const show = (call) => place.replaceChildren(table.grid(['Duration', 'Start', call ? 'Thread' : 'Stream', 'Name', ''], rowsOf(t, call), 3));
    const bar = h('div', { class: 'bar' }, h('h3', {}, 'The longest'), choice('Longest', [['gpu', 'On the GPU'], ['calls', 'CUDA calls']], 'gpu', (v) => show(v === 'calls')));
    const element = h('div', { class: 'longest', hidden: true }, bar, place);
    t.ready.then(() => {
      show(false);
      element.hidden = false;
    });
    return element;
  };

  return { find, create };
})();
