
/* Places the nodes of a tree in rows, and draws the rows that are in sight on a canvas. */
const flamePainter = (() => {
  'use strict';
  const TALL = 20, GAP = 1, LEAST = 1; /* pixels; narrower boxes are not drawn */
  const FOLDED = 4; /* frames of a chain from which its inner ones are one row */
  const NOTHING = 0.02; /* of a frame, as a part of it */
  const PAD = 5;

  /*
   * Boxes by row, from left to right: {i, x, w, row}; `more` of them: so many calls that are narrower than a pixel;
   * `folded`: so many frames, each the only call of the one above, of which i is the first.
   */
  const layout = (tree, { root, measure, width, unfolded }) => {
    const { first, next } = stacks.order(tree, measure), values = tree.values[measure], rows = [];
    const put = (box) => {
      (rows[box.row] ??= []).push(box);
      return box;
    };
    const scale = width / (values[root] || 1);
    /* A frame that takes all of its parent, but for a part that nobody would see. */
    const only = (i) => {
      const c = first[i], isFrame = c >= 0 && tree.operation[c] < 0 && tree.line[c] >= 0;
      const rest = isFrame ? values[i] - values[c] : 0;
      return isFrame && rest * scale < LEAST && rest <= NOTHING * values[i] && values[c] * scale >= LEAST ? c : -1;
    };
    const chainOf = (i) => {
      const chain = [i];
      for (let c = only(i); c >= 0; c = only(c))
        chain.push(c);
      return chain;
    };
    const children = (i, x, row, todo) => {
      let count = 0, sum = 0, at = x;
      for (let c = first[i]; c >= 0; c = next[c]) {
        const w = values[c] * scale;
        if (w < LEAST) {
          count++;
          sum += values[c];
          continue;
        }
        todo.push([c, at, row]);
        at += w;
      }
      if (sum * scale >= LEAST)
        put({ i, x: at, w: sum * scale, row, more: count, value: sum });
    };
    const place = (i, x, row, todo) => {
      const chain = tree.line[i] >= 0 && tree.operation[i] < 0 && i !== root ? chainOf(i) : [i];
      const fold = chain.length >= FOLDED && !unfolded.has(chain[1]);
      put({ i, x, w: values[i] * scale, row });
      if (!fold)
        return children(i, x, row + 1, todo);
      const last = chain[chain.length - 1];
      put({ i: chain[1], x, w: values[chain[1]] * scale, row: row + 1, folded: chain.length - 2, inner: chain.slice(1, -1) });
      put({ i: last, x, w: values[last] * scale, row: row + 2 });
      return children(last, x, row + 3, todo);
    };
    const top = root ? 1 : 0;
    if (root)
      put({ i: 0, x: 0, w: width, row: 0, above: true });
    for (const todo = [[root, 0, top]]; todo.length;) {
      const [i, x, row] = todo.pop();
      place(i, x, row, todo);
    }
    rows.forEach((row) => row.sort((a, b) => a.x - b.x));
    return { rows, height: rows.length * TALL };
  };

  /* The box at a point of the whole picture. */
  const hit = ({ rows }, x, y) => (rows[Math.floor(y / TALL)] || []).find((b) => x >= b.x && x < b.x + b.w) || null;

  /* Widths of texts, as a canvas takes long to measure one. */
  const widths = new Map();
  const widthOf = (ctx, text) => {
    if (!widths.has(text)) {
      if (widths.size > 20000)
        widths.clear();
      widths.set(text, ctx.measureText(text).width);
    }
    return widths.get(text);
  };
  const fitted = (ctx, text, room) => {
    const wide = widthOf(ctx, text);
    if (wide <= room)
      return text;
    let most = Math.floor(text.length * room / wide);
    while (most >= 3 && widthOf(ctx, `${text.slice(0, most)}…`) > room)
      most--;
    return most >= 3 ? `${text.slice(0, most)}…` : '';
  };

  const write = (ctx, box, y, look, ink, faint) => {
    const room = box.w - 2 * PAD, name = room > 18 ? fitted(ctx, look.text, room) : '';
    if (!name)
      return;
    ctx.fillStyle = ink;
    ctx.fillText(name, box.x + PAD, y + TALL / 2);
    const left = room - widthOf(ctx, name) - 8;
    const place = look.place && name === look.text && left > 30 ? fitted(ctx, look.place, left) : '';
    if (!place)
      return;
    ctx.fillStyle = faint;
    ctx.fillText(place, box.x + PAD + widthOf(ctx, name) + 8, y + TALL / 2);
  };

  const paintBox = (ctx, box, y, view) => {
    const look = view.look(box), faded = view.found && !view.isFound(box), found = view.found && !faded;
    const colour = found && look.frame ? 'found' : look.colour;
    ctx.globalAlpha = faded || box.above ? 0.45 : 1;
    ctx.fillStyle = theme.colour(colour);
    ctx.fillRect(box.x, y, Math.max(LEAST, box.w - (box.w > 3 ? GAP : 0)), TALL - GAP);
    ctx.globalAlpha = 1;
    const white = theme.wantsWhite(colour);
    if (faded || box.above)
      write(ctx, box, y, look, theme.colour('ink-3'), theme.colour('ink-3'));
    else
      write(ctx, box, y, look, white ? '#fff' : '#101315', white ? 'rgb(255 255 255 / .72)' : 'rgb(16 19 21 / .66)');
  };

  const outline = (ctx, box, y, colour, wide) => {
    ctx.strokeStyle = theme.colour(colour);
    ctx.lineWidth = wide;
    ctx.strokeRect(box.x + wide / 2, y + wide / 2, Math.max(1, box.w - GAP - wide), TALL - GAP - wide);
  };

  /* `top`: pixels of the picture above the canvas. */
  const draw = (canvas, placed, view, top, tall) => {
    const dpr = devicePixelRatio || 1, w = canvas.clientWidth;
    canvas.width = Math.round(w * dpr);
    canvas.height = Math.round(tall * dpr);
    const ctx = canvas.getContext('2d');
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    ctx.font = '12px system-ui, sans-serif';
    ctx.textBaseline = 'middle';
    const last = Math.min(placed.rows.length, Math.ceil((top + tall) / TALL));
    for (let r = Math.floor(top / TALL); r < last; r++)
      placed.rows[r].forEach((box) => paintBox(ctx, box, r * TALL - top, view));
    [[view.hovered, 'ink-2', 1], [view.chosen, 'ink', 2]].forEach(([box, colour, wide]) => box && outline(ctx, box, box.row * TALL - top, colour, wide));
  };

  return { layout, hit, draw, TALL };
})();
