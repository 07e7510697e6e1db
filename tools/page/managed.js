
/* Managed memory that moved, and page faults. */
const managed = (() => {
  'use strict';
  const rate = (l) => (l.bytes && l.total ? l.bytes * 1e9 / l.total : 0);
  const size = (bytes) => (bytes ? units.size(bytes) : '-');

  const columns = [
    { key: 'name', title: 'Kind', sort: (l) => l.name, opener: true },
    { key: 'count', title: 'Count', sort: (l) => l.count, text: (l) => units.count(l.count) },
    { key: 'faults', title: 'Faults', class: 'wide', hint: 'In the groups', sort: (l) => l.faults || 0, text: (l) => (l.faults ? units.count(l.faults) : '-') },
    { key: 'bytes', title: 'Size', sort: (l) => l.bytes || 0, text: (l) => size(l.bytes) },
    { key: 'total', title: 'Time', sort: (l) => l.total || 0, text: (l) => (l.timed ? units.time(l.total) : '-') },
    { key: 'avg', title: 'Avg', class: 'wide', sort: (l) => l.avg || 0, text: (l) => (l.timed ? units.time(l.avg) : '-') },
    { key: 'rate', title: 'Throughput', sort: rate, text: (l) => (rate(l) ? units.rate(rate(l)) : '-') },
  ];

  const inside = (l) => h('div', { class: 'inside' }, kernels.pairs([
    ['Count', units.count(l.count)],
    l.bytes && ['Mean size', units.size(Math.floor(l.bytes / l.count))],
    l.bytes && ['Min … max size', `${units.size(l.min_bytes)} … ${units.size(l.max_bytes)}`],
    l.timed && ['Min … max time', `${units.time(l.min)} … ${units.time(l.max)}`],
    ...(l.causes || []).map(([text, bytes]) => [`Moved: ${text}`, units.size(bytes)])]));

  const colourOf = (l) => (l.bytes ? { 'Host To Device': 'c0', 'Device To Host': 'c1' }[l.kind] || 'c2' : 'w0');

  const lines = (profile) => profile.managed.map((l, index) => {
    const name = profile.devices.length > 1 && l.gpu !== undefined ? `GPU ${l.gpu} · ${l.kind}` : l.kind;
    return { ...l, index, name, short: name, colour: colourOf(l) };
  });

  const has = (profile) => profile.managed.length > 0;
  const create = (profile) => h('section', { id: 'managed' }, h('h2', {}, 'Managed memory'),
    h('p', { class: 'note' }, 'Memory that the driver moved between host and GPU, and the page faults that made it. A row opens to why it moved.'),
    h('div', { class: 'bar' }), table.create({ label: 'Managed memory', columns, lines: lines(profile), inside, sorted: 'total' }).element);

  return { has, create };
})();
