
/* Draws the timeline on its canvases. */
const painter = (() => {
  'use strict';
  const STEPS = 4; /* opacities, by how busy a column of pixels is */

  const prepare = (canvas, tall) => {
    const dpr = devicePixelRatio || 1, w = canvas.clientWidth;
    if (canvas.width !== Math.round(w * dpr) || canvas.height !== Math.round(tall * dpr)) {
      canvas.width = Math.round(w * dpr);
      canvas.height = Math.round(tall * dpr);
    }
    const ctx = canvas.getContext('2d');
    ctx.setTransform(dpr, 0, 0, dpr, 0, 0);
    ctx.clearRect(0, 0, w, tall);
    ctx.font = '11px system-ui, sans-serif';
    return { ctx, w };
  };

  /* A round step of time of which not more than so many fit. */
  const roundStep = (range, most) => {
    const raw = range / most, power = 10 ** Math.floor(Math.log10(raw));
    return [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  };

  const axis = (ctx, w, view) => {
    const { state, first, toX, height } = view, step = Math.max(1, roundStep(state.to - state.from, w / 90));
    ctx.fillStyle = theme.colour('ink-3');
    ctx.strokeStyle = theme.colour('line');
    ctx.textBaseline = 'middle';
    ctx.beginPath();
    for (let t = Math.ceil((first + state.from) / step) * step; t <= first + state.to; t += step) {
      const x = Math.round(toX(t - first)) + 0.5;
      ctx.moveTo(x, 18);
      ctx.lineTo(x, height);
      const text = units.tick(t);
      if (x + 4 + ctx.measureText(text).width < w)
        ctx.fillText(text, x + 4, 10);
    }
    ctx.stroke();
  };

  /* Columns of pixels: how busy, and the item with most of it. They are kept between lanes. */
  let busy = new Float32Array(0), most = new Float32Array(0), what = new Uint32Array(0);
  const clear = (w) => {
    if (busy.length < w) {
      busy = new Float32Array(w);
      most = new Float32Array(w);
      what = new Uint32Array(w);
    }
    busy.fill(0, 0, w);
    most.fill(0, 0, w);
  };
  const add = (x, part, kind) => {
    busy[x] += part;
    if (part > most[x]) {
      most[x] = part;
      what[x] = kind;
    }
  };

  const fillColumns = (ctx, w, row, look) => {
    const group = (x) => (busy[x] ? what[x] * STEPS + Math.min(STEPS - 1, Math.floor(busy[x] * STEPS)) : -1);
    for (let x = 0; x < w;) {
      const g = group(x), from = x;
      while (x < w && group(x) === g)
        x++;
      if (g < 0)
        continue;
      const l = look[Math.floor(g / STEPS)];
      ctx.globalAlpha = 0.4 + 0.6 * (g % STEPS) / (STEPS - 1);
      ctx.fillStyle = theme.colour(l.colour);
      box(ctx, row, l, from, x - from);
    }
    ctx.globalAlpha = 1;
  };

  const box = (ctx, row, l, x, wide) => {
    const inset = l.low ? Math.round(row.tall / 6) : 0;
    ctx.fillRect(x, row.y + inset, wide, row.tall - 2 * inset);
  };

  /* From a level of the pyramid: bins at most as wide as a pixel. */
  const fromBins = (lane, view, w, level) => {
    const { cover, what: kinds } = level, { state, span } = view, n = cover.length;
    const scale = w / (state.to - state.from), wide = span / n * scale;
    const last = Math.min(n - 1, Math.floor(state.to / span * n));
    for (let k = Math.floor(state.from / span * n); k <= last; k++) {
      const x = Math.floor((k * span / n - state.from) * scale);
      if (cover[k] && x >= 0 && x < w)
        add(x, Math.max(cover[k] * wide, 1e-3), kinds[k]);
    }
  };

  /* From the items themselves; those that are wide enough are drawn at once. */
  const fromItems = (ctx, lane, view, w, row) => {
    const { state, look } = view, scale = w / (state.to - state.from), wide = [];
    for (let i = lanes.after(lane, state.from); i < lane.items && lane.start[i] < state.to; i++) {
      const a = (lane.start[i] - state.from) * scale, b = (lane.end[i] - state.from) * scale;
      if (b - a >= 1.5)
        wide.push(i);
      else
        add(Math.min(w - 1, Math.max(0, Math.floor(a))), Math.max(b - a, 1e-3), lane.what[i]);
    }
    fillColumns(ctx, w, row, look);
    wide.forEach((i) => item(ctx, view, row, lane, i));
  };

  const item = (ctx, view, row, lane, i) => {
    const l = view.look[lane.what[i]], w = view.canvasWidth;
    const a = Math.max(-2, view.toX(lane.start[i])), b = Math.min(w + 2, view.toX(lane.end[i]));
    ctx.fillStyle = theme.colour(l.colour);
    ctx.globalAlpha = lane.count[i] > 1 ? 0.7 : 1;
    box(ctx, row, l, a, Math.max(1, b - a - (b - a > 3 ? 0.75 : 0)));
    ctx.globalAlpha = 1;
    if (b - a < 44 || l.low && row.tall < 20)
      return;
    ctx.save();
    ctx.beginPath();
    ctx.rect(a, row.y, b - a - 4, row.tall);
    ctx.clip();
    ctx.fillStyle = theme.wantsWhite(l.colour) ? '#fff' : '#101315';
    ctx.fillText(l.short, Math.max(a, 0) + 4, row.y + row.tall / 2 + 0.5);
    ctx.restore();
  };

  const drawLane = (ctx, view, row, w) => {
    const lane = view.state.data[row.i], { state, span } = view;
    const pixel = (state.to - state.from) / w;
    clear(w);
    const fine = lane.levels[0];
    if (fine && span / fine.cover.length <= pixel) {
      const level = lane.levels.findLast((l) => span / l.cover.length <= pixel);
      fromBins(lane, view, w, level);
      fillColumns(ctx, w, row, view.look);
    } else {
      fromItems(ctx, lane, view, w, row);
    }
  };

  /* Items that are to stand out: the others are covered by a veil. */
  const drawMarks = (ctx, view, row, w) => {
    const lane = view.state.data[row.i], { state } = view;
    ctx.globalAlpha = 0.78;
    ctx.fillStyle = theme.colour('paper');
    ctx.fillRect(0, row.y, w, row.tall);
    ctx.globalAlpha = 1;
    let last = -1;
    for (const i of state.marks[row.i]) {
      if (lane.end[i] < state.from || lane.start[i] > state.to)
        continue;
      const a = view.toX(lane.start[i]), b = Math.max(a + 1, view.toX(lane.end[i])), l = view.look[lane.what[i]];
      if (b < last + 0.5)
        continue;
      ctx.fillStyle = theme.colour(l.colour);
      box(ctx, row, l, Math.max(a, -1), Math.min(b, w + 1) - Math.max(a, -1));
      last = b;
    }
  };

  /* The span that is selected: a band over all lanes, with its length above them. */
  const drawSpan = (ctx, view) => {
    const { from, to } = view.state.span, a = view.toX(from), b = view.toX(to);
    ctx.fillStyle = ctx.strokeStyle = theme.colour('accent');
    ctx.globalAlpha = 0.14;
    ctx.fillRect(a, 0, b - a, view.height);
    ctx.globalAlpha = 1;
    ctx.beginPath();
    [a, b].forEach((x) => {
      ctx.moveTo(Math.round(x) + 0.5, 0);
      ctx.lineTo(Math.round(x) + 0.5, view.height);
    });
    ctx.stroke();
    const text = units.time(to - from), wide = ctx.measureText(text).width + 10;
    const x = Math.min(Math.max((a + b - wide) / 2, 0), view.canvasWidth - wide);
    ctx.fillRect(x, 1, wide, 16);
    ctx.fillStyle = theme.colour('paper');
    ctx.fillText(text, x + 5, 9.5);
  };

  const drawChosen = (ctx, view) => {
    const c = view.state.chosen;
    const frame = (row, lane, i) => {
      const a = Math.max(-3, view.toX(lane.start[i])), b = Math.min(view.canvasWidth + 3, view.toX(lane.end[i]));
      ctx.strokeStyle = theme.colour('ink');
      ctx.lineWidth = 2;
      ctx.strokeRect(a - 1, row.y - 1, Math.max(2, b - a) + 2, row.tall + 2);
      ctx.lineWidth = 1;
      return (a + b) / 2;
    };
    frame(c.row, view.state.data[c.row.i], c.i);
    if (!c.partner)
      return;
    const call = c.row.call ? c : c.partner, op = c.row.call ? c.partner : c;
    frame(c.partner.row, c.partner.lane, c.partner.i);
    const callLane = view.state.data[call.row.i], opLane = view.state.data[op.row.i];
    const x0 = view.toX(callLane.start[call.i]), x1 = view.toX(opLane.start[op.i]);
    const y0 = call.row.y, y1 = op.row.y + op.row.tall;
    ctx.strokeStyle = theme.colour('accent');
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1 + 2);
    ctx.stroke();
    ctx.lineWidth = 1;
  };

  const drawLanes = (canvas, view) => {
    const { ctx, w } = prepare(canvas, view.height), { state, rows } = view;
    if (!w)
      return;
    view.canvasWidth = w;
    axis(ctx, w, view);
    rows.forEach((row, i) => {
      ctx.fillStyle = theme.colour('panel');
      ctx.fillRect(0, row.y, w, row.tall);
      if (!state.data)
        return;
      drawLane(ctx, view, row, w);
      if (state.marks)
        drawMarks(ctx, view, row, w);
      if (i === state.row && document.activeElement === canvas) {
        ctx.fillStyle = theme.colour('accent');
        ctx.fillRect(0, row.y, 2, row.tall);
      }
    });
    if (state.chosen)
      drawChosen(ctx, view);
    if (state.span)
      drawSpan(ctx, view);
  };

  /* The whole run: how busy the streams were together, and which part of it is shown below. */
  const drawOverview = (canvas, view) => {
    const { ctx, w } = prepare(canvas, 34), { state, rows, span } = view;
    if (!w || !state.data)
      return;
    if (canvas.dataset.wide !== String(w)) {
      canvas.profile = together(rows, state, span, w);
      canvas.dataset.wide = String(w);
    }
    ctx.fillStyle = theme.colour('panel');
    ctx.fillRect(0, 0, w, 34);
    ctx.fillStyle = theme.colour('ink-3');
    canvas.profile.forEach((part, x) => {
      const tall = part ? Math.max(1, 30 * Math.min(1, part)) : 0;
      ctx.fillRect(x, 34 - tall, 1, tall);
    });
    const a = state.from / span * w, b = state.to / span * w;
    ctx.fillStyle = theme.colour('accent');
    ctx.globalAlpha = 0.22;
    ctx.fillRect(a, 0, Math.max(2, b - a), 34);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = theme.colour('accent');
    ctx.strokeRect(a + 0.5, 0.5, Math.max(2, b - a - 1), 33);
  };

  const together = (rows, state, span, w) => {
    const all = new Float32Array(w), view = { state: { from: 0, to: span }, span };
    rows.filter((r) => !r.call).forEach((row) => {
      const lane = state.data[row.i], level = lane.levels.findLast((l) => l.cover.length >= w);
      clear(w);
      if (level)
        fromBins(lane, view, w, level);
      else
        whole(lane, span, w);
      for (let x = 0; x < w; x++)
        all[x] += busy[x];
    });
    return all;
  };

  const whole = (lane, span, w) => {
    for (let i = 0; i < lane.items; i++) {
      const a = lane.start[i] / span * w, b = Math.max(lane.end[i] / span * w, a + 1e-3);
      for (let x = Math.max(0, Math.floor(a)); x < Math.min(w, b); x++)
        add(x, Math.min(b, x + 1) - Math.max(a, x), 0);
    }
  };

  return { lanes: drawLanes, overview: drawOverview };
})();
