
/*
 * Short names. What tells a kernel from the others is kept: its last component; its template
 * arguments, where others share that; then its namespace; the name as a whole where even that
 * leaves two alike.
 */
const names = (() => {
  'use strict';
  const OPEN = '<([{', CLOSE = '>)]}';

  /* Calls back for each character outside of brackets. */
  const outside = (text, f) => {
    let depth = 0;
    for (let i = 0; i < text.length; i++) {
      const arrow = text[i] === '>' && (text[i - 1] === '-' || text[i - 1] === '=');
      if (OPEN.includes(text[i])) {
        if (!depth && f(text[i], i))
          return;
        depth++;
      } else if (CLOSE.includes(text[i]) && !arrow) {
        depth = Math.max(0, depth - 1);
      } else if (!depth && f(text[i], i)) {
        return;
      }
    }
  };

  /* "void a::b<int>(float *)": path "a::b", args "<int>". */
  const parse = (full) => {
    if (full.startsWith('['))
      return { base: full, path: full, args: '' };
    let text = full.replaceAll('(anonymous namespace)::', '').replaceAll('<unnamed>::', '');
    let start = 0, open = -1, end = text.length, last = 0;
    outside(text, (c, i) => {
      if (c === ' ' && open < 0)
        start = last = i + 1;
      if (c === '<' && open < 0 && !/operator$/.test(text.slice(0, i)))
        open = i;
      if (c === ':' && text[i - 1] === ':') {
        last = i + 1;
        open = -1;
      }
      if (c !== '(' || i === start)
        return false;
      end = i;
      return true;
    });
    const stop = open < 0 ? end : open;
    return { base: text.slice(last, stop) || text, path: text.slice(start, stop) || text,
      args: open < 0 ? '' : text.slice(open, end) };
  };

  const tight = (args) => args.replace(/\b(?:[A-Za-z_]\w*::)+/g, '').replace(/\s+/g, ' ');

  const cut = (text, most) => (text.length <= most ? text
    : `${text.slice(0, Math.ceil(most * 0.62))}…${text.slice(text.length - Math.floor(most * 0.38) + 1)}`);

  const forms = [
    (p) => p.base,
    (p) => p.base + cut(tight(p.args), 48),
    (p) => p.base + tight(p.args),
    (p) => p.path + p.args,
  ];

  /* The longest beginning that all have, up to a joint of the name. */
  const shared = (texts) => {
    let len = texts[0].length;
    for (const text of texts)
      while (!text.startsWith(texts[0].slice(0, len)))
        len--;
    return texts[0].slice(0, len).replace(/[^_:,<]*$/, '').length;
  };

  /* Long names that begin alike show where they differ: "sm90_xmma…tn_n_tilesize128x128x64". */
  const unlike = (short) => {
    const groups = new Map();
    short.forEach((text, i) => {
      const head = text.slice(0, 20);
      if (text.length > 40 && !text.startsWith('['))
        groups.set(head, (groups.get(head) || []).concat(i));
    });
    groups.forEach((group) => {
      const len = group.length > 1 ? shared(group.map((i) => short[i])) : 0;
      if (len > 16)
        group.forEach((i) => {
          const head = /^[^_:<]*[_:<]?[^_:<]*/.exec(short[i])[0].slice(0, 12);
          short[i] = `${head}…${short[i].slice(len)}`;
        });
    });
    return short;
  };

  /* The short forms of the names, in their order. */
  const shorten = (full) => {
    const parsed = full.map(parse), short = full.slice();
    let left = full.map((_, i) => i);
    for (const form of forms) {
      const groups = new Map();
      left.forEach((i) => {
        const text = form(parsed[i]);
        if (!groups.has(text))
          groups.set(text, []);
        groups.get(text).push(i);
      });
      left = [];
      groups.forEach((group, text) => {
        if (group.length === 1)
          short[group[0]] = text;
        else
          left = left.concat(group);
      });
    }
    return unlike(short);
  };

  return { shorten, cut };
})();
