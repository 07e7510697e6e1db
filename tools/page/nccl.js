
/* Operations of NCCL, and their bandwidth. */
const nccl = (() => {
  'use strict';
  const mean = (l) => (l.calls ? Math.floor(l.bytes / l.calls) : -1);
  const rate = (value) => (value ? units.rate(value) : '-');

  const columns = [
    { key: 'name', title: 'Operation', sort: (l) => l.name, opener: true },
    { key: 'ranks', title: 'Ranks', class: 'wide', sort: (l) => l.ranks || 0, text: (l) => (l.ranks ? units.count(l.ranks) : '-') },
    { key: 'message', title: 'Message', hint: 'Mean size', sort: mean, text: (l) => (l.calls ? units.size(mean(l)) : '-') },
    { key: 'calls', title: 'Calls', sort: (l) => l.calls, text: (l) => units.count(l.calls) },
    { key: 'total', title: 'Time', sort: (l) => l.total || 0, text: (l) => (l.timed ? units.time(l.total) : '-') },
    { key: 'avg', title: 'Avg', class: 'wide', sort: (l) => l.avg || 0, text: (l) => (l.timed ? units.time(l.avg) : '-') },
    { key: 'algorithm', title: 'Alg bandwidth', class: 'wide', hint: 'Bytes of the message by time', sort: (l) => l.algorithm || 0, text: (l) => rate(l.algorithm) },
    { key: 'bus', title: 'Bus bandwidth', hint: 'The load of the slowest link, as nccl-tests has it', sort: (l) => l.bus || 0, text: (l) => rate(l.bus) },
  ];

  const inside = (l) => h('div', { class: 'inside' }, kernels.pairs([
    ['Calls', units.count(l.calls)], l.timed !== l.calls && ['Timed', units.count(l.timed)], ['Bytes', units.size(l.bytes)],
    l.timed && ['Min … max', `${units.time(l.min)} … ${units.time(l.max)}`],
    l.shared && ['In groups with others', units.count(l.shared)], l.captured && ['Captured', units.count(l.captured)],
    l.failed && ['Failed', units.count(l.failed)]]));

  const lines = (profile) => profile.nccl.map((l, index) => {
    const name = l.datatype ? `${l.operation} ${l.datatype}` : l.operation;
    return { ...l, index, name, short: name, colour: 'k3' };
  });

  const notes = (profile) => [
    'Bandwidths are of the calls whose kernels have all been timed. Those of the bus can be held against the hardware’s.',
    profile.nccl.some((l) => l.shared) && 'The time of a group is divided among its operations by bytes.',
    profile.nccl.some((l) => l.captured) && 'A captured call counts once for the graph, whatever the number of its launches, and has no time.',
  ].filter(Boolean).join(' ');

  const has = (profile) => profile.nccl.length > 0;
  const create = (profile) => h('section', { id: 'nccl' }, h('h2', {}, 'NCCL'), h('p', { class: 'note' }, notes(profile)),
    h('div', { class: 'bar' }), table.create({ label: 'NCCL', columns, lines: lines(profile), inside, sorted: 'total' }).element);

  return { has, create };
})();
