
/* Trees of Python's frames with the operations that they launched as leaves: one profile's, or two of them merged. */
const stacks = (() => {
  'use strict';
  const base = (file) => file.slice(Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\')) + 1);

  /* The lines of a profile: function, file, number, and how all of it is written in short. */
  const linesOf = (facts) => {
    const out = [];
    for (let i = 0; i < facts.lines.length; i += 4) {
      const [file, name, number] = [facts.texts[facts.lines[i]], facts.texts[facts.lines[i + 2]], facts.lines[i + 3]];
      const place = number ? `${base(file)}:${number}` : base(file);
      out.push({ file, function: name, number, place, whole: number ? `${file}:${number}` : file, library: facts.lines[i + 1] === 1 });
    }
    return out;
  };

  /*
   * A tree of n nodes: those above come before what they called, 0 is the root. By node: parent, line (-1: none),
   * operation (-1: it is a frame), and a number for each measure in `values`.
   */
  const empty = (n, lines, measures) => ({ n, lines, parent: new Int32Array(n), line: new Int32Array(n).fill(-1),
    operation: new Int32Array(n).fill(-1), values: Object.fromEntries(measures.map((m) => [m, new Float64Array(n)])), orders: new Map() });

  /* `all`: sums of each measure over operations with a stack and without; those without are a node of their own. */
  const read = (facts, all) => {
    const n = facts.parent.length + 1, tree = empty(n + 1, linesOf(facts), Object.keys(all));
    for (let i = 1; i < n; i++) {
      tree.parent[i] = facts.parent[i - 1];
      tree.operation[i] = facts.operation[i - 1] - 1;
      tree.line[i] = facts.line[i - 1];
      Object.entries(tree.values).forEach(([measure, values]) => {
        values[i] = facts[measure][i - 1];
        values[0] += tree.parent[i] ? 0 : values[i];
      });
    }
    Object.entries(tree.values).forEach(([measure, values]) => {
      values[n] = Math.max(0, all[measure] - values[0]);
      values[0] += values[n];
    });
    tree.rest = n;
    return tree;
  };

  /* Children of nodes by a measure, the largest first, as the first child and the next of the same parent; -1: none. */
  const order = (tree, measure) => {
    if (!tree.orders.has(measure)) {
      const values = tree.values[measure], first = new Int32Array(tree.n).fill(-1), next = new Int32Array(tree.n).fill(-1);
      const nodes = Array.from({ length: tree.n - 1 }, (_, i) => i + 1).filter((i) => values[i] > 0)
        .sort((a, b) => (a === tree.rest) - (b === tree.rest) || values[b] - values[a] || a - b);
      for (const i of nodes.reverse()) {
        next[i] = first[tree.parent[i]];
        first[tree.parent[i]] = i;
      }
      tree.orders.set(measure, { first, next });
    }
    return tree.orders.get(measure);
  };

  /* From the outermost frame to a node, without the root. */
  const path = (tree, i) => {
    const out = [];
    for (; i; i = tree.parent[i])
      out.push(i);
    return out.reverse();
  };

  /*
   * Sums by line: of the operations it launched itself (own), and with those of all that it called, where a line that is
   * above itself counts once. By the numbers of lines: { all, own } of each measure.
   */
  const byLine = (tree) => {
    const measures = Object.keys(tree.values), inside = new Map();
    const sums = tree.lines.map(() => Object.fromEntries(measures.map((m) => [m, { all: 0, own: 0 }])));
    const isRepeated = (i) => {
      const line = tree.line[i];
      for (let p = tree.parent[i]; p && inside.get(line) > 1; p = tree.parent[p])
        if (tree.line[p] === line)
          return true;
      return false;
    };
    for (let i = 1; i < tree.n; i++)
      if (tree.operation[i] < 0 && tree.line[i] >= 0)
        inside.set(tree.line[i], (inside.get(tree.line[i]) || 0) + 1);
    for (let i = 1; i < tree.n; i++) {
      if (tree.line[i] < 0)
        continue;
      const sum = sums[tree.line[i]], own = tree.operation[i] >= 0, counts = !own && !isRepeated(i);
      measures.forEach((m) => {
        sum[m].own += own ? tree.values[m][i] : 0;
        sum[m].all += counts ? tree.values[m][i] : 0;
      });
    }
    return sums;
  };

  /* Operations that a line launched, itself or by its calls: {operation} and the sum of each measure. */
  const below = (tree, number) => {
    const inside = new Uint8Array(tree.n), sums = new Map(), measures = Object.keys(tree.values);
    for (let i = 1; i < tree.n; i++) {
      const operation = tree.operation[i];
      inside[i] = inside[tree.parent[i]] || operation < 0 && tree.line[i] === number ? 1 : 0;
      if (!inside[i] || operation < 0)
        continue;
      const s = sums.get(operation) || Object.fromEntries([['operation', operation], ...measures.map((m) => [m, 0])]);
      measures.forEach((m) => { s[m] += tree.values[m][i]; });
      sums.set(operation, s);
    }
    return [...sums.values()];
  };

  /* Nodes for which a test holds, and how much they are of a measure: one inside another counts once. */
  const find = (tree, measure, test) => {
    const found = new Uint8Array(tree.n), covered = new Uint8Array(tree.n), values = tree.values[measure];
    let sum = 0, count = 0;
    for (let i = 1; i < tree.n; i++) {
      found[i] = values[i] > 0 && test(i) ? 1 : 0;
      covered[i] = found[i] | covered[tree.parent[i]];
      count += found[i];
      sum += found[i] && !covered[tree.parent[i]] ? values[i] : 0;
    }
    return { found, count, sum };
  };

  const MEASURES = { ns: ['before', 'after'], count: ['old_count', 'new_count'] };

  /* { lines: [{before, after}], before, after: by a side's line its number among them }; pairs as the profile has them. */
  const pair = (before, after, pairs) => {
    const lines = after.lines.map((l) => ({ before: null, after: l }));
    const numbers = before.lines.map((l, i) => {
      const at = pairs[i] ? pairs[i] - 1 : lines.push({ before: null, after: null }) - 1;
      lines[at].before = l;
      return at;
    });
    return { lines, before: numbers, after: after.lines.map((_, i) => i) };
  };

  /* A tree of two runs, with measures before, after, old_count and new_count; its lines are pairs. */
  const merge = (before, after, pairs) => {
    const paired = pair(before, after, pairs), nodes = new Map(), parent = [0], line = [-1], operation = [-1];
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
    const merged = empty(parent.length, paired.lines, Object.values(MEASURES).flat());
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

  return { read, merge, order, path, byLine, below, find };
})();
