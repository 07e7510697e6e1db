
/* Two runs of a Python program: the modules whose GPU time has changed. */
const moduleChanges = (() => {
  'use strict';
  const MOST = 12; /* parts of a module that are listed */

  /* The largest change first; `parts` are those in it, by their places in the profile. */
  const modulesOf = (facts) => {
    const paths = [];
    facts.parent.forEach((p, i) => paths.push((p ? `${paths[p - 1]}/` : '') + facts.names[facts.name[i]]));
    const all = paths.map((name, i) => ({ name, short: facts.short[i], parts: [],
      before: { all: facts.old[i], own: facts.old_own[i] }, after: { all: facts.new[i], own: facts.new_own[i] },
      old_count: { all: facts.old_count[i] }, new_count: { all: facts.new_count[i] },
      change: facts.new[i] - facts.old[i], own: facts.new_own[i] - facts.old_own[i] }));
    all.forEach((m, i) => { if (facts.parent[i]) all[facts.parent[i] - 1].parts.push(m); });
    const order = (a, b) => Math.abs(b.change) - Math.abs(a.change);
    all.forEach((m) => Object.assign(m, { colour: lineChanges.chipOf(m) }).parts.sort(order));
    return [...all].sort(order).map((m, index) => Object.assign(m, { index }));
  };

  const inside = (reveal) => (m) => h('div', { class: 'inside' }, h('div', { class: 'whole' }, h('code', {}, m.name)),
    m.parts.length ? table.grid(['Change', 'Old time', 'New time', 'Launches', 'Its parts'], m.parts.slice(0, MOST).map((p) => [units.change(p.change),
      p.old_count.all ? units.time(p.before.all) : '-', p.new_count.all ? units.time(p.after.all) : '-', lineChanges.arrow(p.old_count.all, p.new_count.all),
      h('button', { type: 'button', class: 'plain mono', onclick: () => reveal(p) }, p.name.slice(m.name.length + 1))]), 4)
      : h('p', { class: 'small across' }, 'No module in it launched anything.'),
    m.parts.length > MOST ? h('p', { class: 'small across' }, `and ${units.many(m.parts.length - MOST, 'more part')}`) : null);

  const told = (modules) => {
    const only = (side) => modules.filter((m) => !m[side].all).length, fresh = only('old_count'), gone = only('new_count');
    return `GPU time by the module that launched it, with the modules in it. They are paired by their types and numbers, from the outermost in${
      fresh || gone ? `; ${units.count(gone)} of ${units.many(modules.length, 'module')} launched in the old run alone, ${units.count(fresh)} in the new one alone` : ''}.`;
  };

  const create = ({ compared }) => {
    const modules = modulesOf(compared.modules);
    const t = table.create({ label: 'Changes of modules', columns: lineChanges.columns('Module', 'with the modules in it'), lines: modules,
      inside: inside((m) => t.reveal(m)), sorted: 'change', order: (m) => -Math.abs(m.change) });
    return h('section', { id: 'modules' }, h('h2', {}, 'Modules'), h('p', { class: 'note' }, told(modules)),
      h('div', { class: 'bar' }, table.search('Filter by name', t.filter)), t.element);
  };

  return { create, has: ({ compared }) => Boolean(compared.modules) };
})();
