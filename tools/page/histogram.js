
/* Distributions. A bin of the profile is 2^shift buckets of the file: doc/format.md has their
   limits. */
const histogram = (() => {
  'use strict';
  const STEPS = 128, OVERLAY = 64;

  const lower = (bucket) => {
    if (bucket < STEPS)
      return bucket;
    const octave = Math.floor(bucket / STEPS) - 1;
    return (bucket % STEPS + STEPS) * 2 ** octave;
  };

  /* Lower limits of the bins, one more than there are counts. */
  const edges = (hist) => hist.counts.map((_, i) => i).concat(hist.counts.length)
    .map((i) => lower((hist.first + i) * 2 ** hist.shift));

  /* The bins of a line in at most `most` columns of equal width on a logarithmic axis. */
  const columns = (hist, most) => {
    const at = edges(hist), log = (x) => Math.log(Math.max(x, 0.5));
    const from = log(at[0]), to = log(at[at.length - 1]);
    const n = Math.min(most, hist.counts.length), out = new Float64Array(n);
    hist.counts.forEach((count, i) => {
      const middle = (log(at[i]) + log(at[i + 1])) / 2;
      out[Math.min(n - 1, Math.floor((middle - from) / (to - from || 1) * n))] += count;
    });
    return out;
  };

  /* Figures of the durations of a line, as pairs. */
  const figures = (l) => {
    const q = l.quantiles;
    return [l.min !== undefined && ['Minimum', units.time(l.min)], q && ['5th percentile', units.time(q[0])],
      q && ['Median', units.time(q[1])], ['Mean', (l.bound ? '≤ ' : l.uncertain ? '~' : '') + units.time(l.avg)],
      q && ['95th percentile', units.time(q[2])], q && ['99th percentile', units.time(q[3])],
      l.max !== undefined && ['Maximum', units.time(l.max)], l.deviation !== undefined && ['Standard deviation', units.time(l.deviation)]];
  };

  /* A picture of it in a row of the table. */
  const spark = (line) => {
    const svg = h('svg', { viewBox: '0 0 96 22', 'aria-hidden': 'true' });
    if (!line.histogram)
      return svg;
    const counts = columns(line.histogram, 32), top = Math.max(...counts), w = 96 / counts.length;
    const width = Math.min(w, 12), x0 = (96 - width * counts.length) / 2;
    let d = '';
    counts.forEach((count, i) => {
      const tall = count ? Math.max(1.5, 20 * count / top) : 0;
      if (tall)
        d += `M${(x0 + i * width).toFixed(1)} 22v${(-tall).toFixed(1)}h${(width - 0.6).toFixed(1)}V22z`;
    });
    svg.append(h('path', { d, style: { fill: `var(--${line.colour})` } }));
    return svg;
  };

  /* Two distributions above each other on one axis, as shares of their own calls. */
  const overlay = (before, after) => {
    const given = [before, after].filter(Boolean);
    if (!given.length)
      return h('p', { class: 'note' }, 'No single time is known.');
    const ends = given.flatMap((hist) => [edges(hist)[0], edges(hist).at(-1)]).map((x) => Math.max(x, 0.5));
    const from = Math.log(Math.min(...ends)), to = Math.log(Math.max(...ends)), wide = to - from || 1;
    const bins = (hist) => {
      const out = new Float64Array(OVERLAY), at = edges(hist), all = hist.counts.reduce((s, c) => s + c, 0);
      hist.counts.forEach((count, i) => {
        const middle = (Math.log(Math.max(at[i], 0.5)) + Math.log(Math.max(at[i + 1], 0.5))) / 2;
        out[Math.min(OVERLAY - 1, Math.floor((middle - from) / wide * OVERLAY))] += count / (all || 1);
      });
      return out;
    };
    const shapes = [[before, 'set'], [after, 'k0']].filter(([hist]) => hist).map(([hist, colour]) => ({ bins: bins(hist), colour }));
    const top = Math.max(...shapes.flatMap((s) => [...s.bins]));
    const svg = h('svg', { viewBox: `0 0 ${OVERLAY} 60`, preserveAspectRatio: 'none', role: 'img', 'aria-label': 'Distributions, old and new' },
      shapes.map(({ bins: b, colour }, i) => h('path', { d: [...b].map((y, x) => (y ? `M${x} 60v${(-58 * y / top).toFixed(2)}h1V60z` : '')).join(''),
        style: { fill: `var(--${colour})`, opacity: i ? 0.72 : 1 } })));
    return h('div', { class: 'overlay' }, svg,
      h('div', { class: 'small ends' }, h('span', {}, units.time(Math.exp(from))), h('span', {}, units.time(Math.exp(to)))),
      h('ul', { class: 'keys' }, h('li', {}, h('i', { class: 'chip', style: { background: 'var(--set)' } }), 'old'),
        h('li', {}, h('i', { class: 'chip', style: { background: 'var(--k0)' } }), 'new')));
  };

  const axis = (values) => ({
    stroke: () => theme.colour('ink-2'), grid: { stroke: () => theme.colour('line'), width: 1 },
    ticks: { stroke: () => theme.colour('line'), size: 4 }, font: '12px system-ui, sans-serif',
    values,
  });

  /* Times on a logarithmic axis that may span much less than a decade: ticks at round numbers. */
  const splits = (plot, _, min, max) => {
    const room = Math.max(2, Math.floor(plot.bbox.width / devicePixelRatio / 80));
    if (max / min < 8) {
      const raw = (max - min) / room, power = 10 ** Math.floor(Math.log10(raw));
      const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
      const out = [];
      for (let t = Math.ceil(min / step) * step; t <= max; t += step)
        out.push(t);
      return out;
    }
    const out = [];
    for (let p = 10 ** Math.floor(Math.log10(min)); p <= max; p *= 10)
      for (const m of max / min > 1e3 ? [1] : [1, 2, 5])
        if (p * m >= min && p * m <= max)
          out.push(p * m);
    return out;
  };

  const marks = (line) => (plot) => {
    const { ctx, bbox } = plot, q = line.quantiles;
    [[q[1], 'median'], [line.avg, 'avg'], [q[3], 'p99']].forEach(([ns, text], i) => {
      const x = plot.valToPos(ns, 'x', true);
      if (x < bbox.left || x > bbox.left + bbox.width)
        return;
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = theme.colour('ink');
      ctx.lineWidth = devicePixelRatio;
      ctx.setLineDash(i === 1 ? [3 * devicePixelRatio, 3 * devicePixelRatio] : []);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.textBaseline = 'top';
      const right = x + 60 * devicePixelRatio < bbox.left + bbox.width;
      ctx.textAlign = right ? 'left' : 'right';
      ctx.fillText(text, x + (right ? 4 : -4) * devicePixelRatio,
        bbox.top + (2 + 13 * i) * devicePixelRatio);
      ctx.restore();
    });
  };

  /* By the elements that they are in, until those leave the page. */
  const plots = new Map();
  const sizeOf = (box) => ({ width: Math.max(240, box.clientWidth), height: 210 });
  const resized = new ResizeObserver((entries) => entries.forEach(({ target }) => {
    if (target.isConnected) {
      plots.get(target).setSize(sizeOf(target));
    } else {
      plots.get(target).destroy();
      plots.delete(target);
      resized.unobserve(target);
    }
  }));
  theme.watch(() => plots.forEach((u) => u.redraw(false)));

  /* The plot of one line, once its element is in the page; drag to zoom, double-click to see it all. */
  const plot = (line) => {
    const box = h('div', { class: 'plot' }, line.histogram ? null : h('p', { class: 'note' }, 'No single time is known.'));
    if (line.histogram)
      requestAnimationFrame(() => box.isConnected && draw(line, box));
    return box;
  };

  const draw = (line, box) => {
    const hist = line.histogram, at = edges(hist);
    const xs = at.map((x) => Math.max(x, 0.5));
    /* Bins differ in width on this axis: areas compare, heights do not. */
    const ys = [...hist.counts.map((n, i) => n / Math.log(xs[i + 1] / xs[i] || 2)), 0];
    const fill = (alpha) => () => theme.colour(line.colour) + alpha;
    const options = {
      ...sizeOf(box), legend: { show: false },
      scales: { x: { time: false, distr: 3, log: 10, range: (_, min, max) => [min / 1.02, max * 1.02] }, y: { range: (_, __, max) => [0, max * 1.06 || 1] } },
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
      axes: [{ ...axis((_, s) => s.map(units.tick)), splits, filter: (_, s) => s },
        { show: false }],
      series: [{}, { stroke: fill(''), fill: fill('88'), width: 1, points: { show: false },
        paths: uPlot.paths.stepped({ align: 1 }) }],
      hooks: { draw: [marks(line)], setCursor: [(u) => hover(u, hist, at)] },
    };
    const u = new uPlot(options, [xs, ys], box);
    u.over.addEventListener('pointerleave', tips.hide);
    plots.set(box, u);
    resized.observe(box);
  };

  const hover = (u, hist, at) => {
    if (u.cursor.left < 0)
      return;
    const ns = u.posToVal(u.cursor.left, 'x');
    const i = at.findIndex((x, k) => x <= ns && ns < at[k + 1]);
    const box = u.over.getBoundingClientRect();
    if (i < 0 || i >= hist.counts.length)
      return tips.hide();
    const all = hist.counts.reduce((s, c) => s + c, 0);
    return tips.show({ pairs: [
      [`${units.time(at[i])} to ${units.time(at[i + 1])}`, units.count(hist.counts[i])],
      ['of all', units.percent(100 * hist.counts[i] / all)]] },
    box.left + u.cursor.left, box.top + 40);
  };

  return { spark, plot, overlay, figures, plots };
})();
