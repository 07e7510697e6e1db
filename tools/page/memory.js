
/* Allocations: their sums, the most at one time, and those that were not freed. */
const memory = (() => {
  'use strict';
  const count = (n) => (n ? units.count(n) : '-');
  const size = (bytes) => (bytes ? units.size(bytes) : '-');

  const columns = [
    { key: 'name', title: 'Memory', sort: (l) => l.name, opener: true },
    { key: 'allocations', title: 'Allocs', sort: (l) => l.allocations, text: (l) => units.count(l.allocations) },
    { key: 'bytes', title: 'Size', class: 'wide', sort: (l) => l.bytes, text: (l) => size(l.bytes) },
    { key: 'failed', title: 'Failed', class: 'wide', sort: (l) => l.failed, text: (l) => count(l.failed) },
    { key: 'frees', title: 'Frees', class: 'wide', sort: (l) => l.frees, text: (l) => count(l.frees) },
    { key: 'peak', title: 'Peak', hint: 'The most at one time', sort: (l) => l.peak, text: (l) => size(l.peak) },
    { key: 'held', title: 'Held', hint: 'Never freed', sort: (l) => l.held, text: (l) => count(l.held) },
    { key: 'held_bytes', title: 'Held size', sort: (l) => l.held_bytes, text: (l) => size(l.held_bytes) },
  ];

  const inside = (l) => h('div', { class: 'inside' }, kernels.pairs([
    ['Allocated', units.count(l.allocations)], ['Freed', units.count(l.frees)],
    l.ended && ['Gone with the context', units.count(l.ended)],
    l.failed && ['Failed', units.count(l.failed)], l.failed && ['Largest that failed', units.size(l.failed_most)],
    l.unseen_frees && ['Freed unseen', units.count(l.unseen_frees)],
    l.unknown_frees && ['Freed, allocated unseen', units.count(l.unknown_frees)],
    l.unfollowed && ['Not followed', units.count(l.unfollowed)]]));

  const on = (profile, l, text) => (profile.devices.length > 1 && l.gpu !== undefined ? `GPU ${l.gpu} · ${text}` : text);

  const lines = (profile) => profile.allocations.map((l, index) => {
    const name = on(profile, l, l.memory);
    return { ...l, index, name, short: name, colour: l.held ? 'warn' : 'c0' };
  });

  /* Blocks that are not listed by size come last. */
  const still = (profile) => [h('h3', {}, 'Still allocated at exit'),
    table.grid(['Memory', 'Blocks', 'Block size', 'Size'],
      [...profile.blocks].sort((a, b) => !a.memory - !b.memory || b.bytes - a.bytes)
        .map((b) => [b.memory ? on(profile, b, b.memory) : 'in further sizes', units.count(b.blocks),
          b.memory ? units.size(b.size) : '-', units.size(b.bytes)]), 0)];

  const notes = (profile) => [
    'A peak is the most that was allocated at one time', profile.process_count > 1 ? ' in one process' : '', '. Held is what nobody had freed when ',
    profile.unfinished ? 'the profile was written; what a process that did not end by itself still had is not listed.' : 'its process ended.',
  ].join('');

  const has = (profile) => profile.allocations.length + profile.blocks.length > 0;
  const create = (profile) => h('section', { id: 'memory' }, h('h2', {}, 'Allocations'), h('p', { class: 'note' }, notes(profile)),
    h('div', { class: 'bar' }), table.create({ label: 'Allocations', columns, lines: lines(profile), inside, sorted: 'peak' }).element,
    profile.blocks.length ? h('div', { class: 'blocks' }, still(profile)) : null);

  return { has, create };
})();
