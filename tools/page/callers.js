
/* The lines that launched one operation, each with the lines that called it: the detail of a kernel's row. */
const callers = (() => {
  'use strict';
  const MOST = 16, DEEP = 6; /* rows of a table, levels below a line */
  const LEAST = 0.01; /* as a part of the operation's time */

  /* Stacks of an operation, innermost line first: [{lines, ns, count}]. */
  const stacksOf = (tree, operation) => {
    const out = [];
    for (let i = 1; i < tree.n; i++)
      if (tree.operation[i] === operation)
        out.push({ lines: stacks.path(tree, tree.parent[i]).reverse().map((p) => tree.line[p]), ns: tree.values.ns[i], count: tree.values.count[i] });
    return out;
  };

  /* Stacks with the same lines up to a depth, together: [{line, ns, count, stacks}], the largest first. */
  const group = (list, depth) => {
    const groups = new Map();
    list.forEach((s) => {
      const line = s.lines[depth], g = groups.get(line) || { line, ns: 0, count: 0, stacks: [] };
      groups.set(line, Object.assign(g, { ns: g.ns + s.ns, count: g.count + s.count }));
      g.stacks.push(s);
    });
    return [...groups.values()].filter((g) => g.line !== undefined).sort((a, b) => b.ns - a.ns || b.count - a.count);
  };

  /* Rows of the tree, callers below what they called; a caller that is the only one stands in the row of that. */
  const rowsOf = (list, weight, whole) => {
    const rows = [];
    const visit = (found, depth, level) => group(found, depth).forEach((g) => {
      if (level && (weight(g) < LEAST * whole || level > DEEP))
        return;
      const chain = [g.line];
      let at = depth + 1, only = group(g.stacks, at);
      for (; only.length === 1 && only[0].stacks.length === g.stacks.length; only = group(g.stacks, ++at))
        chain.push(only[0].line);
      rows.push({ ...g, chain, level });
      visit(g.stacks, at, level + 1);
    });
    visit(list, 0, 0);
    return rows;
  };

  const nameOf = (tree, number) => {
    const line = tree.lines[number];
    return h('span', { title: `${line.function} ${line.whole}` }, line.function, h('span', { class: 'faint' }, ` ${line.place}`));
  };

  const cellOf = (tree, row) => {
    const near = row.chain.length > 5 ? [...row.chain.slice(0, 3), null, row.chain[row.chain.length - 1]] : row.chain;
    return h('span', { class: 'mono chain', style: { 'padding-left': `${18 * row.level}px` } },
      near.flatMap((line, i) => [i || row.level ? h('span', { class: 'faint' }, i ? ' ← ' : '← ') : null,
        line === null ? h('span', { class: 'faint' }, `${units.many(row.chain.length - 4, 'line')} more`) : nameOf(tree, line)]));
  };

  /* Durations of a profile's stacks are never raw: of raw ones the share is that of the launches. */
  const wholeTime = (profile, l, ns, count) => (profile.raw ? ns * Math.max(1, l.calls / count) : Math.max(l.total || 0, ns));

  const create = (profile, l) => {
    const tree = python.current()?.tree, list = tree ? stacksOf(tree, l.index) : [];
    if (!list.length)
      return null;
    const sum = (key) => list.reduce((s, x) => s + x[key], 0), timed = sum('ns') > 0;
    const weight = (g) => (timed ? g.ns : g.count), whole = timed ? wholeTime(profile, l, sum('ns'), sum('count')) : Math.max(l.calls, sum('count'));
    const rows = rowsOf(list, weight, whole), none = 100 * (1 - weight({ ns: sum('ns'), count: sum('count') }) / whole);
    /* The largest; a caller has never more than the line that it called. */
    const kept = new Set([...rows].sort((a, b) => weight(b) - weight(a)).slice(0, MOST)), shown = rows.filter((r) => kept.has(r));
    return h('div', { class: 'across' }, h('h3', {}, 'Launched from'),
      table.grid([timed ? 'of its time' : 'of its launches', 'Time', 'Launches', 'Line ← its caller'],
        shown.map((r) => [units.share(100 * weight(r) / whole), timed ? units.time(r.ns) : '-', units.count(r.count), cellOf(tree, r)]), 3),
      rows.length > MOST || none >= 0.5 ? h('p', { class: 'small' }, [rows.length > MOST && `${units.many(rows.length - MOST, 'more row')}.`,
        none >= 0.5 && `${units.share(none)} from no known line${profile.stacks.sampled ? ', or missed by the sample' : ''}.`].filter(Boolean).join(' ')) : null);
  };

  const button = (l) => {
    const p = python.current(), has = p && p.tree.operation.includes(l.index);
    return has ? h('button', { type: 'button', class: 'plain', onclick: () => p.view.show(l.short, (i) => p.tree.operation[i] === l.index) }, 'Find in the flame graph') : null;
  };

  return { table: create, button };
})();
