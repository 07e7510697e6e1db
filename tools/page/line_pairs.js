
/* Two profiles' trees of Python's frames as one: the lines of a program that may have been edited between, in pairs. */
const linePairs = (() => {
  'use strict';
  const MOST_LINES = 400; /* lines of one function that are held against each other */
  const MOST_LEVELS = 64; /* frames above an operation that are known by it */
  const MOVED = 0.25; /* worth of a line that has moved as far as most of its function */
  const tail = (file, parts) => file.split(/[/\\]/).slice(-parts).join('/');

  /*
   * Files by a name that both sides know them by: a path that only one side has is taken for the only one of the other
   * that ends alike, as with two checkouts of a program.
   */
  const filesOf = (before, after) => {
    const name = new Map();
    let olds = [...new Set(before.map((l) => l.file))], news = [...new Set(after.map((l) => l.file))];
    const both = new Set(news.filter((f) => olds.includes(f)));
    olds = olds.filter((f) => !both.has(f));
    news = news.filter((f) => !both.has(f));
    for (let parts = 1; parts <= 4; parts++) {
      const alike = (list, file) => list.filter((f) => tail(f, parts) === tail(file, parts));
      const pairs = news.filter((f) => alike(news, f).length === 1 && alike(olds, f).length === 1);
      pairs.forEach((f) => name.set(alike(olds, f)[0], f));
      news = news.filter((f) => !pairs.includes(f));
      olds = olds.filter((f) => !name.has(f));
    }
    return (file) => name.get(file) || file;
  };

  /* By line, its traits: functions that it called, and operations below it. */
  const traitsOf = (tree, nameOf) => {
    const traits = tree.lines.map(() => new Set());
    for (let i = 1; i < tree.n; i++) {
      const parent = tree.parent[i], operation = tree.operation[i];
      if (operation < 0 && parent && i !== tree.rest)
        traits[tree.line[parent]].add(nameOf(tree.lines[tree.line[i]]));
      if (operation >= 0)
        for (let p = parent, level = 0; p && level < MOST_LEVELS; p = tree.parent[p], level++)
          traits[tree.line[p]].add(operation);
    }
    return traits;
  };

  const likeness = (a, b) => {
    let both = 0;
    a.forEach((x) => { both += b.has(x) ? 1 : 0; });
    return both ? both / (a.size + b.size - both) : 0;
  };

  /* How far the lines of a function have moved: the difference of numbers that most pairs have. */
  const shiftOf = (before, after) => {
    const votes = new Map();
    before.forEach((a) => after.forEach((b) => votes.set(b.number - a.number, (votes.get(b.number - a.number) || 0) + 1)));
    return [...votes].sort((x, y) => y[1] - x[1] || Math.abs(x[0]) - Math.abs(y[0]))[0]?.[0];
  };

  /*
   * Lines of one function in pairs, both in their order, so that the sum of their likeness is the largest; elements are
   * {index, number, traits}, results pairs of indices.
   */
  const align = (before, after) => {
    const shift = shiftOf(before, after), wide = after.length + 1, best = new Float64Array((before.length + 1) * wide), out = [];
    const worth = (a, b) => likeness(a.traits, b.traits) + (b.number - a.number === shift ? MOVED : 0);
    for (let i = before.length - 1; i >= 0; i--)
      for (let j = after.length - 1; j >= 0; j--)
        best[i * wide + j] = Math.max(best[(i + 1) * wide + j], best[i * wide + j + 1], worth(before[i], after[j]) + best[(i + 1) * wide + j + 1]);
    for (let i = 0, j = 0; i < before.length && j < after.length;) {
      const here = best[i * wide + j];
      if (here === best[(i + 1) * wide + j])
        i++;
      else if (here === best[i * wide + j + 1])
        j++;
      else
        out.push([before[i++].index, after[j++].index]);
    }
    return out;
  };

  const functionsOf = (tree, fileOf) => {
    const functions = new Map(), nameOf = (l) => `${fileOf(l.file)}\n${l.function}`, traits = traitsOf(tree, nameOf);
    tree.lines.forEach((l, index) => {
      const key = nameOf(l);
      functions.set(key, [...(functions.get(key) || []), { index, number: l.number, traits: traits[index] }]);
    });
    functions.forEach((lines) => lines.sort((a, b) => a.number - b.number).splice(MOST_LINES));
    return functions;
  };

  /* { lines: [{before, after}], before, after: by a side's line its number among them }. */
  const pair = (before, after) => {
    const fileOf = filesOf(before.lines, after.lines), olds = functionsOf(before, fileOf), news = functionsOf(after, fileOf);
    const lines = after.lines.map((l) => ({ before: null, after: l })), known = new Map();
    olds.forEach((list, key) => align(list, news.get(key) || []).forEach(([a, b]) => known.set(a, b)));
    const numbers = before.lines.map((l, i) => {
      const at = known.has(i) ? known.get(i) : lines.push({ before: null, after: null }) - 1;
      lines[at].before = l;
      return at;
    });
    return { lines, before: numbers, after: after.lines.map((_, i) => i) };
  };

  const MEASURES = { ns: ['before', 'after'], count: ['old_count', 'new_count'] };

  /* A tree of both, with measures before, after, old_count and new_count; its lines are pairs. */
  const merge = (before, after) => {
    const paired = pair(before, after), nodes = new Map(), parent = [0], line = [-1], operation = [-1];
    const nodeOf = (above, l, o, kind) => {
      const key = `${above} ${kind} ${kind === 'o' ? o : l}`;
      if (!nodes.has(key)) {
        nodes.set(key, parent.push(above) - 1);
        line.push(l);
        operation.push(o);
      }
      return nodes.get(key);
    };
    const placed = [[after, paired.after], [before, paired.before]].map(([tree, lines]) => {
      const at = new Int32Array(tree.n);
      for (let i = 1; i < tree.n; i++)
        at[i] = i === tree.rest ? nodeOf(0, -1, -1, 'rest')
          : nodeOf(at[tree.parent[i]], lines[tree.line[i]], tree.operation[i], tree.operation[i] < 0 ? 'l' : 'o');
      return at;
    });
    const merged = stacks.empty(parent.length, paired.lines, Object.values(MEASURES).flat());
    merged.parent.set(parent);
    merged.line.set(line);
    merged.operation.set(operation);
    merged.rest = nodes.get('0 rest -1');
    [after, before].forEach((tree, i) => Object.entries(MEASURES).forEach(([measure, names]) => {
      const to = merged.values[names[1 - i]];
      tree.values[measure].forEach((v, node) => { to[placed[i][node]] += v; });
    }));
    return merged;
  };

  return { merge, pair };
})();
