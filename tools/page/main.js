
(() => {
  'use strict';
  const profile = JSON.parse(document.getElementById('profile').textContent);

  /* Kernels have their colour by rank, everything else by kind: the same in all pictures. */
  const colourOf = (line, rank) => {
    if (line.kind === 'kernel' || line.kind === 'graph')
      return rank < 10 ? `k${rank}` : 'rest';
    if (line.kind === 'copy')
      return line.name.includes('HtoD') ? 'c0' : line.name.includes('DtoH') ? 'c1' : 'c2';
    return 'set';
  };

  const tipOf = (line) => () => ({ title: line.name, pairs: [
    ['Time', units.time(line.total)], ['of GPU time', units.percent(line.percent)],
    ['Calls', units.count(line.calls)], ['Avg', (line.bound ? '≤ ' : line.uncertain ? '~' : '') + units.time(line.avg)],
    ...(line.min === undefined ? [] : [['Min … max', `${units.time(line.min)} … ${units.time(line.max)}`]])] });

  const prepare = () => {
    let rank = 0;
    profile.activities.forEach((line, i) => {
      const ranked = line.kind === 'kernel' || line.kind === 'graph';
      Object.assign(line, { index: i, colour: colourOf(line, rank), tip: tipOf(line) });
      rank += ranked ? 1 : 0;
    });
    profile.calls.forEach((line, i) => Object.assign(line, { index: i, short: line.name, colour: 'call' }));
  };

  /* Some are there only where the profile has something for them. */
  const ofTwo = [['changes', 'Changes', compare], ['python', 'Lines', lineChanges],
    ['modules', 'Modules', moduleChanges], ['calls', 'CUDA calls', { create: compare.calls }], ['trust', 'Accuracy', { create: compare.sides }]];
  const ofOne = [
    ['summary', 'Summary', headline], ['kernels', 'Kernels', kernels], ['python', 'Lines', python], ['timeline', 'Timeline', timeline],
    ['sensors', 'Devices', sensors],
    ['streams', 'Streams', streams], ['copies', 'Copies', copies],
    ['ranks', 'Ranks', ranks],
    ['nccl', 'NCCL', nccl], ['managed', 'Managed memory', managed], ['memory', 'Allocations', memory],
    ['calls', 'CUDA calls', calls], ['trust', 'Accuracy', trust],
  ];
  const sections = (profile.compared ? ofTwo : ofOne).filter(([, , s]) => !s.has || s.has(profile));

  const navigate = (nav) => {
    const links = new Map();
    sections.forEach(([id, text]) => {
      const a = h('a', { href: `#${id}` }, text);
      links.set(id, a);
      nav.append(a);
    });
    const watch = new IntersectionObserver((entries) => entries.forEach((e) => {
      if (!e.isIntersecting)
        return;
      links.forEach((a) => a.removeAttribute('aria-current'));
      links.get(e.target.id).setAttribute('aria-current', 'true');
    }), { rootMargin: '-20% 0px -70% 0px' });
    document.querySelectorAll('section').forEach((s) => watch.observe(s));
  };

  if (!profile.compared)
    prepare();
  const command = (profile.compared?.new || profile).processes[0]?.command;
  document.title = `${profile.compared ? 'Changes: ' : ''}${command ? `${units.cut(command, 60)} – ` : ''}cutrace`;
  document.querySelector('.theme').append(theme.control());
  document.querySelector('main').append(...sections.map(([, , s]) => s.create(profile)),
    h('footer', {}, `cutrace ${profile.version}. This page is complete in itself: nothing is loaded from anywhere.`));
  navigate(document.querySelector('nav'));
})();
