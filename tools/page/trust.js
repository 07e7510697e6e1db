
/* Losses, and how far the rest can be trusted; then processes and devices. */
const trust = (() => {
  'use strict';
  const calibration = { device: 'measured on the device', table: 'from the table of known devices',
    none: 'none: times are raw brackets' };

  const devices = (profile) => table.grid(
    ['GPU', 'Memory', 'SMs', 'Clock', 'Compute', 'Calibration', 'Taken off a bracket', 'Uncertainty'],
    profile.devices.map((d) => [`${d.name} (${d.ordinal})`, units.size(d.memory), units.count(d.sm_count),
      `${units.count(Math.floor(d.clock_khz / 1000))} MHz`, d.compute, calibration[d.calibration],
      units.time(d.bias), `± ${units.time(d.uncertainty)}`]), 0);

  const processes = (profile) => table.grid(['Command', 'PID', 'Host', 'Start', 'Recorded', 'Driver', 'End'],
    profile.processes.map((p) => [h('code', {}, units.cut(p.command, 90)), String(p.pid), p.host, p.start || '-',
      units.time(p.duration), p.driver, p.finished ? 'normal' : 'open']), 0);

  const grids = (run) => [h('div', { class: 'bar' }), run.devices.length ? devices(run) : null,
    h('div', { class: 'bar' }), processes(run),
    run.process_count > run.processes.length
      ? h('p', { class: 'small' }, `and ${units.count(run.process_count - run.processes.length)} more processes`) : null];

  const create = (profile) => h('section', { id: 'trust' }, h('h2', {}, 'Losses and accuracy'),
    h('div', { class: 'bar' }),
    h('ul', { class: 'sentences' }, profile.truth.map((t) => h('li', { class: t.startsWith('Warning') ? 'warn' : '' }, t))),
    h('div', { class: 'bar' }),
    h('p', { class: 'note' }, '~ before an average: it is less than twice what it may be wrong by. ≤ before a time: '
      + 'some of it are upper bounds. ± behind a time: it is estimated from a sample, 95 % interval.'),
    grids(profile));

  return { create, grids };
})();
