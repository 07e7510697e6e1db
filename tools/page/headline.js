
/* The findings in words, with the numbers that say so. */
const headline = (() => {
  'use strict';
  const element = h;
  const sum = (lines, key) => lines.reduce((s, l) => s + (l[key] || 0), 0);
  /* Work in graphs was launched with these. */
  const launches = (lines) => sum(lines.filter((l) => !l.in_graphs), 'calls');

  /* Shares of GPU time by kind of work. */
  const parts = (profile) => {
    const of = (...kinds) => profile.activities.filter((a) => kinds.includes(a.kind));
    return [
      { text: 'Kernels', lines: of('kernel'), colour: 'k0' },
      { text: 'Graphs', lines: of('graph'), colour: 'k2' },
      { text: 'Copies', lines: of('copy', 'prefetch'), colour: 'c0' },
      { text: 'Memory sets', lines: of('set', 'other'), colour: 'set' },
    ].map((p) => ({ ...p, ns: sum(p.lines, 'total'), calls: launches(p.lines),
      percent: sum(p.lines, 'percent') })).filter((p) => p.calls || p.ns);
  };

  const name = (line) => h('span', { class: 'name' }, line.short.length > 36 ? `${line.short.slice(0, 35)}…` : line.short);

  /* The recorded time of all processes; null where only some of them are listed. */
  const recorded = (profile) => (profile.process_count === profile.processes.length
    ? sum(profile.processes, 'duration') : 0) || null;

  /* Shares are of the time from each device's first operation to its last, where that is known. */
  const busy = (profile) => {
    const { known, time, busy: part, launch, launch_bound: bound } = profile.headline;
    const gpus = profile.devices.length > 1 ? 'The GPUs were' : 'The GPU was', run = recorded(profile);
    if (!known)
      return `The GPU worked for ${units.time(profile.gpu_total)}${run ? ` of the ${units.time(run)} recorded` : ''}.`;
    const waited = bound ? ` and waited ${units.share(launch)} of it for launches: the run is launch-bound.` : ', and the run is not launch-bound.';
    return part < 50 ? `${gpus} idle ${units.share(100 - part)} of ${units.time(time)} observed${waited}`
      : `${gpus} busy ${units.share(part)} of ${units.time(time)} observed${waited}`;
  };

  /* The most expensive kernel and all copies, the larger first. */
  const shares = (profile) => {
    const top = profile.activities.find((a) => a.total && (a.kind === 'kernel' || a.kind === 'graph'));
    const copies = parts(profile).find((p) => p.text === 'Copies');
    const found = [top && [name(top), top.percent], copies && ['copies', copies.percent]].filter(Boolean)
      .sort((a, b) => b[1] - a[1]);
    if (!found.length)
      return [];
    const [first, second] = found;
    return [first[0] === 'copies' ? 'Copies' : first[0], ` took ${units.share(first[1])} of GPU time`,
      ...(second ? [', ', second[0], ` ${units.share(second[1])}.`] : ['.'])];
  };

  /* The larger first: the time that the GPU was idle, or that of the most expensive kernel. */
  const sentence = (profile) => {
    const { known, time, busy: part } = profile.headline, top = profile.activities[0];
    if (!profile.activities.length)
      return ['Nothing ran on the GPU while this was recorded.'];
    const kernelFirst = known && top?.total / time > 1 - part / 100;
    const both = [[busy(profile)], shares(profile)];
    return (kernelFirst ? both.reverse() : both).flatMap((words, i) => (i && words.length ? [' ', ...words] : words));
  };

  const tile = (title, value, small) => h('div', {}, h('dt', {}, title),
    h('dd', {}, value, h('small', { title: small }, small || '\u00a0')));

  const tiles = (profile) => {
    const run = recorded(profile), all = parts(profile), top = profile.activities[0], h = profile.headline;
    const calls = launches(profile.activities), api = sum(profile.calls, 'total');
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
