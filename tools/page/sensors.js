
/* Clock, power, memory and load of the GPUs, and reasons that held their clocks. */
const sensors = (() => {
  'use strict';
  const number = (s, value) => (value === undefined || value === null ? '-'
    : s.reason ? units.share(100 * value)
      : s.unit === 'bytes' ? units.size(Math.round(value))
        : `${value.toFixed(s.unit === '%' ? 1 : 0)} ${s.unit === 'C' ? '°C' : s.unit}`);

  const nameOf = (profile, s) => {
    const text = s.reason ? `Clock held by: ${s.kind}, at ${Math.round(s.clock)} MHz` : s.kind[0].toUpperCase() + s.kind.slice(1);
    return profile.devices.length > 1 ? `GPU ${s.gpu} · ${text}` : text;
  };

  const row = (profile, s) => h('tr', {}, h('td', {}, nameOf(profile, s)),
    ...[s.mean, ...(s.reason ? [null, null, null] : [s.least, s.most, s.limit])].map((v) => h('td', { class: 'number' }, number(s, v))));

  const has = (profile) => profile.sensors.length > 0;
  const create = (profile) => h('section', { id: 'sensors' }, h('h2', {}, 'Devices'),
    h('p', { class: 'note' }, 'As NVML read them, over the time; work of other processes is in it.'),
    h('table', { 'aria-label': 'Devices' },
      h('thead', {}, h('tr', {}, ...['Reading', 'Mean', 'Least', 'Most', 'Limit'].map((t) => h('th', {}, t)))),
      h('tbody', {}, ...profile.sensors.map((s) => row(profile, s)))));

  return { has, create };
})();
