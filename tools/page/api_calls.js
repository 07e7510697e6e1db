
/* Host time in CUDA calls. */
const calls = (() => {
  'use strict';
  const estimate = (l, text) => [l.timed < l.calls ? h('span', { class: 'faint', title: `${units.count(l.timed)} of ${units.count(l.calls)} calls were timed` }, '≈ ') : '', text];

  const columns = [
    { key: 'percent', title: 'Time(%)', sort: (l) => l.percent, text: (l) => units.percent(l.percent) },
    { key: 'total', title: 'Time', sort: (l) => l.total, cell: (l) => estimate(l, units.time(l.total)) },
    { key: 'calls', title: 'Calls', sort: (l) => l.calls, text: (l) => units.count(l.calls) },
    { key: 'avg', title: 'Avg', sort: (l) => l.avg, cell: (l) => estimate(l, units.time(l.avg)) },
    { key: 'min', title: 'Min', class: 'wide', sort: (l) => l.min, text: (l) => units.time(l.min) },
    { key: 'max', title: 'Max', class: 'wide', sort: (l) => l.max, text: (l) => units.time(l.max) },
    { key: 'errors', title: 'Errors', class: 'wide', sort: (l) => l.errors, text: (l) => (l.errors ? units.count(l.errors) : '-') },
    { key: 'spark', title: 'Distribution', class: 'wide spark', cell: (l) => histogram.spark(l) },
    { key: 'name', title: 'Function', sort: (l) => l.name.toLowerCase(), opener: true },
  ];

  const inside = (l) => h('div', { class: 'inside' },
    h('div', {}, h('h3', {}, 'How long single calls took'), histogram.plot(l)),
    kernels.pairs([['Calls', units.count(l.calls)], ['Timed one by one', units.count(l.timed)], ...histogram.figures(l),
      ['Returned an error', units.count(l.errors)], ['Layer', l.layer]]));

  const create = (profile) => h('section', { id: 'calls' }, h('h2', {}, 'CUDA calls'),
    h('p', { class: 'note' }, 'The host’s time between call and return, all threads added up.'),
    h('div', { class: 'bar' }),
    profile.calls.length
      ? table.create({ label: 'CUDA calls', columns, lines: profile.calls, inside, sorted: 'total' }).element
      : h('div', { class: 'empty' }, 'No call was recorded.'));

  return { create };
})();
