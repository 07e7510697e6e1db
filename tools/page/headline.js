
/* What matters, in words with the numbers that say so. */
const headline = (() => {
  'use strict';
  const element = h;
  const sum = (lines, key) => lines.reduce((s, l) => s + (l[key] || 0), 0);

  /* Shares of GPU time by kind of work. */
  const parts = (profile) => {
    const of = (...kinds) => profile.activities.filter((a) => kinds.includes(a.kind));
    return [
      { text: 'Kernels', lines: of('kernel'), colour: 'k0' },
      { text: 'Graphs', lines: of('graph'), colour: 'k2' },
      { text: 'Copies', lines: of('copy', 'prefetch'), colour: 'c0' },
      { text: 'Memory sets', lines: of('set', 'other'), colour: 'set' },
    ].map((p) => ({ ...p, ns: sum(p.lines, 'total'), calls: sum(p.lines, 'calls'),
      percent: sum(p.lines, 'percent') })).filter((p) => p.calls);
  };

  const name = (line) => h('span', { class: 'name' }, line.short.length > 36 ? `${line.short.slice(0, 35)}…` : line.short);

  /* What was recorded of all processes; null where only some of them are listed. */
  const recorded = (profile) => (profile.process_count === profile.processes.length
    ? sum(profile.processes, 'duration') : 0) || null;

  /* How busy: of the time from each device's first operation to its last, where that is known. */
  const busy = (profile) => {
    const h = profile.headline, gpus = profile.devices.length > 1 ? 'The GPUs were' : 'The GPU was';
    if (h.known)
      return `${gpus} busy ${units.share(h.busy)} of ${units.brief(h.time)} observed`;
    const run = recorded(profile);
    return `The GPU worked for ${units.brief(profile.gpu_total)}${run ? ` of the ${units.brief(run)} recorded` : ''}`;
  };

  const launches = (h) => {
    if (!h.known)
      return '';
    return h.launch_bound ? ` and waited ${units.share(h.launch)} of it for launches: the run is launch-bound`
      : ', and the run is not launch-bound';
  };

  const sentence = (profile) => {
    const top = profile.activities.find((a) => a.total && (a.kind === 'kernel' || a.kind === 'graph'));
    const copies = parts(profile).find((p) => p.text === 'Copies');
    if (!profile.activities.length)
      return ['Nothing ran on the GPU while this was recorded.'];
    const words = [busy(profile), launches(profile.headline), '.'];
    if (top)
      words.push(' ', name(top), ` took ${units.share(top.percent)} of GPU time`,
        copies ? `, copies ${units.share(copies.percent)}.` : '.');
    else if (copies)
      words.push(` Copies took ${units.share(copies.percent)} of GPU time.`);
    return words;
  };

  const tile = (title, value, small) => h('div', {}, h('dt', {}, title),
    h('dd', {}, value, h('small', { title: small }, small || '\u00a0')));

  const tiles = (profile) => {
    const run = recorded(profile), all = parts(profile), top = profile.activities[0], h = profile.headline;
    const calls = sum(profile.activities, 'calls'), api = sum(profile.calls, 'total');
    const half = profile.gpu_half ? `±${units.share(100 * profile.gpu_half / profile.gpu_total)}, from a sample` : 'all operations added up';
    return element('dl', { class: 'tiles' },
      run && tile('Recorded', units.time(run), profile.process_count > 1 ? `${profile.process_count} processes` : 'from the first CUDA call'),
      h.known && tile('GPU busy', units.percent(h.busy), `of ${units.time(h.time)} observed`),
      tile('GPU time', units.time(profile.gpu_total), half),
      top && tile('Most time', units.share(top.percent || 0), top.short),
      tile('Operations', units.count(calls), all.map((p) => `${units.count(p.calls)} ${p.text.toLowerCase()}`).join(', ')),
      tile('In CUDA calls', units.time(api), 'host time, all threads'));
  };

  const create = (profile) => {
    const p = profile.processes[0], d = profile.devices;
    const where = [p?.host, d.map((x) => x.name).filter((x, i, a) => a.indexOf(x) === i).join(', '),
      p?.start].filter(Boolean).join(' · ');
    return h('section', { id: 'summary' },
      h('p', { class: 'command' }, p ? p.command : 'no process'),
      h('p', { class: 'small' }, where),
      h('h1', {}, sentence(profile)),
      tiles(profile), split('split', parts(profile).filter((p) => p.ns)),
      profile.advice?.length ? h('ul', { class: 'advice' }, profile.advice.map((a) => h('li', {}, a))) : null);
  };

  return { create };
})();
