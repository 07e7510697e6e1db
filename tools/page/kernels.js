
/* Where the GPU's time went: a picture and the table, and all that is known of each kernel. */
const kernels = (() => {
  'use strict';
  const number = (key) => (line) => (line.timed ? line[key] : -1);
  const timeCell = (key) => (line) => (line.timed && line[key] !== undefined ? units.time(line[key]) : '-');
  const faint = (text, title) => h('span', { class: 'faint', title }, text);

  const average = (line) => (line.timed ? [line.bound
    ? faint('≤ ', 'it rests on upper bounds') : line.uncertain ? faint('~', 'less than twice what it may be wrong by') : '', units.time(line.avg)] : '-');

  const bounds = (line) => line.bounds.reduce((s, b) => s + b[1], 0);

  const total = (line) => (line.timed ? [bounds(line)
    ? faint('≤ ', `${units.count(bounds(line))} of the times are upper bounds`) : '',
  units.time(line.total),
  line.half ? faint(` ±${units.share(100 * line.half / line.total)}`, 'from a sample: 95 % interval') : ''] : '-');

  const columns = [
    { key: 'percent', title: 'Time(%)', hint: 'Share of all GPU time', sort: number('percent'), text: (l) => (l.timed ? units.percent(l.percent) : '-') },
    { key: 'total', title: 'Time', hint: 'Of all calls', sort: number('total'), cell: total },
    { key: 'calls', title: 'Calls', sort: (l) => l.calls, text: (l) => units.count(l.calls) },
    { key: 'avg', title: 'Avg', sort: number('avg'), cell: average },
    { key: 'min', title: 'Min', class: 'wide', sort: number('min'), text: timeCell('min') },
    { key: 'max', title: 'Max', class: 'wide', sort: number('max'), text: timeCell('max') },
    { key: 'spark', title: 'Distribution', class: 'wide spark', hint: 'How long single calls took, on a logarithmic axis', cell: (l) => histogram.spark(l) },
    { key: 'name', title: 'Name', sort: (l) => l.short.toLowerCase(), opener: true },
  ];

  const pairs = (list) => h('dl', { class: 'pairs' }, list.filter(Boolean)
    .flatMap(([k, v]) => [h('dt', {}, k), h('dd', {}, v)]));

  const figures = (l) => [
    ['Calls', units.count(l.calls)],
    l.calls !== l.timed && ['Timed', units.count(l.timed)],
    ...(l.timed ? histogram.figures(l) : []),
    l.bytes && ['Bytes', units.size(l.bytes)],
    l.bytes && ['Mean size', units.size(Math.floor(l.bytes / l.calls))],
    l.timed_bytes && ['Throughput', units.throughput(l.timed_bytes, l.timed_ns)],
  ];

  /* How far to trust the figures above. */
  const trust = (l) => [
    l.timed && l.doubt && ['A mean may be wrong by', `± ${units.time(l.doubt)}`],
    l.timed && l.raw !== undefined && ['Mean of the brackets', units.time(l.raw)],
    l.in_graphs && ['Inside CUDA graphs', l.timed ? 'taken out of the time of their rows' : 'within the time of their rows'],
    l.half && ['Time from a sample, 95 %', `± ${units.time(l.half)}`],
    l.extended && ['Without a time', 'taken to be like the others'],
    ...l.bounds.map(([text, n]) => [`Upper bounds: ${text}`, units.count(n)]),
    ...l.lost.map(([text, n]) => [`Not timed: ${text}`, units.count(n)]),
    l.errors && ['Failed to start', units.count(l.errors)],
  ];

  const dims = (s, at) => `${s[at]} × ${s[at + 1]} × ${s[at + 2]}`;

  /* Occupancy, waves and the limit of a launch, where the device's rules are known. */
  const fit = (profile, l, s) => {
    const r = residency.of(residency.deviceOf(profile.devices), l, s);
    return r ? [units.share(r.occupancy), residency.waves(r.waves), `${r.limit}, ${units.many(r.blocks, 'block')}`] : ['-', '-', '-'];
  };

  const shapes = (profile, l) => {
    const fixed = [l.registers ?? '-', l.static_shared === undefined ? '-' : units.size(l.static_shared)];
    const rows = (l.shapes || []).sort((a, b) => b[7] - a[7])
      .map((s) => [units.count(s[7]), dims(s, 0), dims(s, 3), ...fixed, units.size(s[6]), ...fit(profile, l, s)]);
    if (l.shape_other)
      rows.push([units.count(l.shape_other), 'other', 'other', ...fixed, '-', '-', '-', '-']);
    return rows.length ? [table.grid(['Launches', 'Grid', 'Block', 'Registers', 'Static shared', 'Dynamic shared', 'Occupancy', 'Waves per SM', 'Limit per SM'], rows),
      h('p', { class: 'small across' }, 'Occupancy and waves are theoretical: what registers, shared memory and block size allow, if the kernel is alone.')] : null;
  };

  const nodes = (l) => (l.nodes?.length ? table.grid(['Nodes', 'Runs', 'Size', 'In this graph'], l.nodes.map(([name, n, bytes]) => [
    units.count(n), units.count(n * l.calls), bytes ? units.size(bytes) : '-', h('span', { class: 'mono' }, name)]), 3) : null);

  const copyButton = (text) => {
    const button = h('button', { type: 'button', class: 'plain' }, 'Copy name');
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = 'Copied';
      } catch {
        getSelection().selectAllChildren(button.previousSibling);
        button.textContent = 'Selected';
      }
      say(button.textContent);
    });
    return button;
  };

  const findButton = (l) => (timeline.current()?.has(l) ? h('button', { type: 'button', class: 'plain', onclick: () => {
    document.getElementById('timeline').scrollIntoView();
    timeline.current().find(l);
  } }, 'Find in the timeline') : null);

  const inside = (profile) => (l) => h('div', { class: 'inside' },
    h('div', { class: 'whole' }, h('code', {}, l.name), copyButton(l.name), callers.button(l), findButton(l)),
    h('div', {}, h('h3', {}, 'How long single calls took'), histogram.plot(l)),
    h('div', {}, pairs(figures(l)), h('h3', { style: { 'margin-top': '14px' } }, 'How far to trust this'), pairs(trust(l))),
    callers.table(profile, l), shapes(profile, l), nodes(l));

  /* Programs in Python are told how to see their lines. */
  const hint = (profile) => (!profile.stacks && profile.processes.some((p) => /(^|[/ ])python[\d.]*( |$)/.test(p.command))
    ? h('p', { class: 'small under' }, h('span', {}, 'From which lines these were launched: ', h('code', {}, 'cutrace --stacks python'))) : null);

  let reveal = null;
  const create = (profile) => {
    const lines = profile.activities, timed = lines.filter((l) => l.total);
    const t = table.create({ label: 'GPU activities', columns, lines, inside: inside(profile), sorted: 'total' });
    reveal = t.reveal;
    const map = treemap.create(timed, (line) => (line.index === undefined ? 0 : t.reveal(line)));
    return h('section', { id: 'kernels' },
      h('div', { class: 'bar' }, h('h2', {}, 'Where the GPU’s time went'), h('span', { class: 'grow' }),
        choice('Picture', [['map', 'Areas'], ['bars', 'Bars']], 'map', map.show)),
      timed.length ? map.element : h('div', { class: 'empty' }, 'No operation on the GPU has a time.'),
      h('div', { class: 'bar' }, table.search('Filter by name', t.filter), h('span', { class: 'grow' }),
        h('span', { class: 'small' }, `${units.count(lines.length)} kinds of operation; a row opens to its distribution`)),
      t.element, hint(profile));
  };

  return { create, pairs, reveal: (line) => reveal(line) };
})();
