
/* A span of the timeline that was selected: how busy it was, and the operations and calls in it. */
const span = (() => {
  'use strict';
  const MOST = 8; /* rows of a list */

  /* Items of a lane in the span, and how long each is inside. */
  const visit = (lane, { from, to }, take) => {
    for (let i = lanes.after(lane, from); i < lane.items && lane.start[i] < to; i++)
      take(i, Math.min(lane.end[i], to) - Math.max(lane.start[i], from));
  };

  const add = (sums, lane, i, ns) => {
    const s = sums.get(lane.what[i]) || { ns: 0, count: 0, bytes: 0 };
    s.ns += ns;
    s.count += lane.count[i];
    s.bytes += lane.bytes[i];
    sums.set(lane.what[i], s);
  };

  /* The length of all together: time that several share counts once. */
  const union = (parts) => {
    let busy = 0, end = -Infinity;
    parts.sort((a, b) => a[0] - b[0]).forEach(([from, to]) => {
      busy += Math.max(0, to - Math.max(from, end));
      end = Math.max(end, to);
    });
    return busy;
  };

  const sums = (rows, data, chosen) => {
    const gpu = new Map(), calls = new Map(), parts = [];
    rows.filter((r) => !r.facts.ranges).forEach((row) => {
      const lane = data[row.i];
      visit(lane, chosen, (i, ns) => {
        add(row.call ? calls : gpu, lane, i, ns);
        if (!row.call)
          parts.push([Math.max(lane.start[i], chosen.from), Math.min(lane.end[i], chosen.to)]);
      });
    });
    return { gpu, calls, busy: union(parts) };
  };

  const nameOf = (look) => h('span', { class: 'mono', title: look.name },
    h('i', { class: 'chip', style: { background: look.colour.startsWith('#') ? look.colour : `var(--${look.colour})` } }), units.cut(look.short, 60));

  const list = (title, found, look, wide) => {
    const all = [...found].sort((a, b) => b[1].ns - a[1].ns), sized = all.some(([, s]) => s.bytes);
    const heads = ['Time', 'of the span', 'Count', ...(sized ? ['Bytes'] : []), 'Name'];
    return h('div', {}, h('h3', {}, title), all.length ? table.grid(heads, all.slice(0, MOST).map(([what, s]) => [
      units.time(s.ns), units.percent(100 * s.ns / wide), units.count(s.count), ...(sized ? [s.bytes ? units.size(s.bytes) : '-'] : []),
      nameOf(look[what])]), heads.length - 1) : h('p', { class: 'note' }, 'None.'),
    all.length > MOST ? h('p', { class: 'small' }, `and ${units.many(all.length - MOST, 'more name')}`) : null);
  };

  /* `chosen`: {from, to}, ns since the timeline's begin; `buttons` stand beside the heading. */
  const report = (rows, data, look, chosen, first, buttons) => {
    const s = sums(rows, data, chosen), wide = Math.max(1, chosen.to - chosen.from);
    const count = [...s.gpu.values()].reduce((n, x) => n + x.count, 0);
    return [h('div', { class: 'bar' },
      h('strong', {}, `${units.time(wide)} selected`),
      h('span', { class: 'small' }, `from ${units.tick(Math.round(first + chosen.from))} to ${units.tick(Math.round(first + chosen.to))} · `
        + `the GPU was busy ${units.time(s.busy)}, ${units.share(100 * s.busy / wide)} · ${units.many(count, 'operation')}`),
      h('span', { class: 'grow' }), buttons),
    h('div', { class: 'sums' }, list('On the GPU', s.gpu, look, wide), list('CUDA calls', s.calls, look, wide))];
  };

  return { sums, report };
})();
