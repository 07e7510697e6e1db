
/* How busy devices and streams were, how much ran side by side, and why nothing ran. */
const streams = (() => {
  'use strict';
  const WAITS = ['w0', 'w1', 'w2', 'w3', 'w4', 'w4', 'w4', 'w4'];

  /* The device's time from its first operation to its last, in parts that add up to it. */
  const parts = (o) => [
    { text: 'kernels alone', ns: o.compute - o.both, colour: 'k0' },
    { text: 'kernels and copies at once', ns: o.both, colour: 'k2' },
    { text: 'copies alone', ns: o.copy - o.both, colour: 'c0' },
    ...o.idle.map(([text, ns], i) => ({ text: `idle: ${text}`, ns, colour: WAITS[i] })),
  ].filter((p) => p.ns > 0).map((p, _, all) => ({ ...p, percent: 100 * p.ns / all.reduce((s, q) => s + q.ns, 0) }));

  const device = (profile, o) => {
    const d = profile.devices[o.device];
    const facts = [`busy ${units.share(100 * o.busy / (o.time || 1))} of ${units.time(o.time)} observed`,
      `two streams or more at once ${units.share(100 * o.beside / (o.busy || 1))} of the busy time`,
      o.gaps && `${units.count(o.gaps)} gaps, the longest ${units.time(o.longest_gap)}`,
      o.known < 0.995 && `known of ${units.share(100 * o.known)} of the operations`].filter(Boolean);
    return h('div', { class: 'device' },
      h('p', {}, h('strong', {}, `${d.name} (${d.ordinal})${named(d.given_name)}`), ' ', h('span', { class: 'small' }, facts.join(' · '))),
      split('split tall', parts(o)));
  };

  const named = (name) => (name ? `: ${name}` : '');
  const share = (part, whole) => (whole ? 100 * part / whole : -1);
  const meter = (percent) => (percent < 0 ? '-' : h('span', { class: 'meter' },
    h('i', { style: { width: `${Math.min(100, percent)}%` } }), h('span', {}, units.percent(percent))));

  const columns = [
    { key: 'name', title: 'Stream', sort: (s) => s.id, opener: true },
    { key: 'busy', title: 'Busy', hint: 'Of the observed time of its device', sort: (s) => share(s.busy, s.observed), cell: (s) => meter(s.timed ? share(s.busy, s.observed) : -1) },
    { key: 'beside', title: 'Beside others', hint: 'Of its busy time: another stream of the device ran, too', sort: (s) => share(s.beside, s.busy), cell: (s) => meter(share(s.beside, s.busy)) },
    { key: 'time', title: 'Busy time', sort: (s) => s.busy, text: (s) => (s.timed ? units.time(s.busy) : '-') },
    { key: 'operations', title: 'Operations', sort: (s) => s.operations, text: (s) => units.count(s.operations) },
    { key: 'waits', title: 'Waits', class: 'wide', hint: 'For events of other streams', sort: (s) => s.waits, text: (s) => units.count(s.waits) },
    { key: 'gaps', title: 'Longest gap', class: 'wide', sort: (s) => s.longest_gap, text: (s) => (s.timed ? units.time(s.longest_gap) : '-') },
    { key: 'priority', title: 'Priority', class: 'wide', sort: (s) => s.priority, text: (s) => String(s.priority) },
  ];

  const lines = (profile) => profile.streams.map((s, index) => {
    const gpu = profile.devices.length > 1 ? `GPU ${profile.devices[s.device].ordinal} · ` : '';
    const text = `${gpu}${s.id} · ${s.kind}${named(s.name)}`;
    const observed = (profile.occupancy.find((o) => o.device === s.device) || {}).time;
    return { ...s, observed, index, name: text, short: text, colour: 'call' };
  });

  const create = (profile) => {
    const known = profile.occupancy.filter((o) => o.span);
    return h('section', { id: 'streams' }, h('h2', {}, 'Streams and overlap'),
      known.length ? known.map((o) => device(profile, o))
        : h('div', { class: 'empty' }, 'When the device was busy was not recorded.'),
      h('div', { class: 'bar' }),
      profile.streams.length ? table.create({ label: 'Streams', columns, lines: lines(profile), sorted: 'time' }).element
        : h('p', { class: 'note' }, profile.process_count > 1 ? 'Streams are listed where the profile is of one process.' : 'No stream was seen.'));
  };

  return { create };
})();
