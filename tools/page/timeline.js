
/*
 * The timeline: one canvas of lanes, drawn anew for each view. Drag pans, the wheel with Ctrl and two
 * fingers zoom, keys do both.
 */
const timeline = (() => {
  'use strict';
  const TALL = { op: 22, call: 14 }, GAP = 5, AXIS = 24, LEAST_NS = 100;

  /* What tells processes apart: in other containers and on other hosts a pid may be the same. */
  const processes = (files) => files.map((f, i) => {
    const same = files.filter((g) => g.pid === f.pid), here = same.filter((g) => g.host === f.host);
    const host = same.length > 1 ? `${f.host} ` : '', number = here.length > 1 ? ` (${i + 1})` : '';
    return files.length > 1 ? `${host}${f.pid}${number} · ` : '';
  });

  const labelOf = (facts, profile, process) => {
    if (facts.ranges)
      return `${process}${facts.thread_name || 'thread'} ${facts.thread} ${facts.started ? 'started ' : ''}ranges${facts.domain ? ` in ${facts.domain}` : ''}`;
    if (facts.thread !== undefined)
      return `${process}${facts.thread_name || 'thread'} ${facts.thread}`;
    const gpus = new Set(profile.timeline.lanes.filter((l) => l.stream).map((l) => `${l.file} ${l.device}`));
    const kind = ['', ' (default)', ' (per thread)'][facts.special] || '';
    return `${process}${gpus.size > 1 ? `GPU ${facts.device} · ` : ''}stream ${facts.stream}${kind}${facts.name ? `: ${facts.name}` : ''}`;
  };

  /* Streams first, by device, then threads, each below its ranges. */
  const arrange = (profile) => {
    const t = profile.timeline, process = processes(t.files);
    const order = t.lanes.map((facts, i) => ({ facts, i, call: facts.thread !== undefined }))
      .sort((a, b) => a.facts.file - b.facts.file || a.call - b.call
        || (a.facts.thread || 0) - (b.facts.thread || 0) || !a.facts.ranges - !b.facts.ranges
        || (a.facts.domain || '').localeCompare(b.facts.domain || '')
        || a.facts.started - b.facts.started || a.facts.depth - b.facts.depth
        || (a.facts.device || 0) - (b.facts.device || 0) || (a.facts.stream || 0) - (b.facts.stream || 0)
        || a.i - b.i);
    let y = AXIS;
    return order.map((o) => {
      const tall = o.call ? TALL.call : TALL.op, place = { ...o, y, tall, label: labelOf(o.facts, profile, process[o.facts.file]) };
      y += tall + GAP;
      return place;
    });
  };

  /* What is drawn of each row or function of the traces: the same name and colour as elsewhere. */
  const looks = (profile) => {
    const known = new Map(profile.activities.map((a) => [a.name, a]));
    return profile.timeline.whats.map((w) => {
      const line = w.call ? null : known.get(w.name);
      const copy = w.name.startsWith('[CUDA mem') || w.name.startsWith('[CUDA pre');
      if (w.range) /* of NVTX: alpha, red, green, blue */
        return { name: w.name, short: w.name, line: null, low: false,
          colour: w.color ? `#${(w.color & 0xffffff).toString(16).padStart(6, '0')}` : 'call' };
      const call = /Synchronize|WaitEvent/.test(w.name) ? 'wait' : 'call';
      return { name: w.name, short: line?.short || w.short, line, low: copy,
        colour: w.call ? call : line?.colour || (copy ? 'c0' : 'rest') };
    });
  };

  const create = (profile) => {
    const t = profile.timeline, span = Math.max(1, t.last - t.first);
    const rows = arrange(profile), look = looks(profile);
    const height = rows.length ? rows[rows.length - 1].y + rows[rows.length - 1].tall + GAP : AXIS;
    const canvas = h('canvas', { class: 'lanes', tabindex: '0', role: 'application',
      'aria-label': 'Timeline. Arrow left and right pan, plus and minus zoom, Home shows all; '
        + 'arrow up and down choose a lane, Shift with arrow left and right an operation in it.',
      style: { height: `${height}px` } });
    const overview = h('canvas', { class: 'overview', 'aria-hidden': 'true' });
    const details = h('div', { class: 'chosen' });
    const state = { from: 0, to: span, data: null, chosen: null, row: 0, marked: -1, marks: null };
    let wanted = false;

    const width = () => canvas.clientWidth;
    const toX = (ns) => (ns - state.from) / (state.to - state.from) * width();
    const toNs = (x) => state.from + x / width() * (state.to - state.from);

    const show = (from, to) => {
      const wide = Math.min(Math.max(to - from, LEAST_NS), span);
      const middle = (from + to) / 2;
      state.from = Math.min(Math.max(middle - wide / 2, 0), span - wide);
      state.to = state.from + wide;
      draw();
    };
    const pan = (part) => {
      const by = (state.to - state.from) * part;
      show(state.from + by, state.to + by);
    };
    const zoom = (factor, at = (state.from + state.to) / 2) => {
      const wide = Math.min(Math.max((state.to - state.from) * factor, LEAST_NS), span);
      const from = at - (at - state.from) / (state.to - state.from) * wide;
      show(from, from + wide);
    };

    const draw = () => {
      if (wanted)
        return;
      wanted = true;
      requestAnimationFrame(() => {
        wanted = false;
        const begin = performance.now();
        painter.lanes(canvas, { rows, look, state, span, first: t.first, height, toX, toNs });
        painter.overview(overview, { rows, look, state, span });
        state.cost = performance.now() - begin; /* for bench/page.js */
      });
    };

    /* What is known of an item, as pairs. */
    const facts = (row, i) => {
      const lane = state.data[row.i], what = look[lane.what[i]], ns = lane.end[i] - lane.start[i];
      const pairs = [['Start', units.time(t.first + lane.start[i])], [lane.count[i] > 1 ? 'Within' : 'Duration', units.time(ns)]];
      if (lane.count[i] > 1)
        pairs.push(['Drawn as one', units.count(lane.count[i])]);
      if (lane.bytes[i])
        pairs.push(['Bytes', units.size(lane.bytes[i])], ['Throughput', units.throughput(lane.bytes[i], ns)]);
      pairs.push([row.call ? 'Thread' : 'Stream', row.label]);
      const other = partner(row, i);
      if (other && row.call)
        pairs.push(['Began', `${units.time(Math.max(0, other.lane.start[other.i] - lane.end[i]))} after the call`]);
      else if (other)
        pairs.push(['Called by', `${look[other.lane.what[other.i]].short}, ${units.time(Math.max(0, lane.start[i] - other.lane.start[other.i]))} before`]);
      return { title: (lane.count[i] > 1 ? 'mostly ' : '') + what.name, pairs };
    };

    /* The call of an operation, or the operation of a call. */
    const partner = (row, i) => {
      const lane = state.data[row.i], correlation = lane.correlation[i];
      if (!correlation || lane.count[i] > 1)
        return null;
      for (const other of rows) {
        if (other.call === row.call || other.facts.file !== row.facts.file)
          continue;
        const found = lanes.related(state.data[other.i], correlation);
        if (found >= 0)
          return { row: other, lane: state.data[other.i], i: found };
      }
      return null;
    };

    const choose = (row, i, announce) => {
      state.chosen = row && i >= 0 ? { row, i, partner: partner(row, i) } : null;
      details.replaceChildren(...(state.chosen ? detailsOf(row, i) : hint()));
      if (state.chosen && announce) {
        const f = facts(row, i);
        say(`${f.title}: ${f.pairs.map((p) => p.join(' ')).join(', ')}`);
      }
      draw();
    };

    const detailsOf = (row, i) => {
      const f = facts(row, i), what = look[state.data[row.i].what[i]];
      return [h('i', { class: 'chip', style: { background: `var(--${what.colour})` } }),
        h('code', {}, units.cut(f.title, 160)),
        ...f.pairs.map(([k, v]) => h('span', {}, h('span', { class: 'faint' }, `${k} `), v))];
    };
    const hint = () => [h('span', { class: 'faint' },
      'Drag to pan, Ctrl and wheel to zoom, click an operation for its call. With the keyboard: arrows, + and −, Shift and arrows.')];

    const step = (by) => {
      const row = rows[state.row], lane = state.data[row.i], c = state.chosen;
      const from = c && c.row === row ? c.i + by : lanes.after(lane, state.from);
      const i = Math.min(Math.max(from, 0), lane.items - 1);
      choose(row, i, true);
      const wide = state.to - state.from;
      if (lane.start[i] < state.from || lane.end[i] > state.to)
        show(lane.start[i] - wide / 2, lane.start[i] + wide / 2);
    };

    const key = (e) => {
      const actions = {
        ArrowLeft: () => (e.shiftKey ? step(-1) : pan(-0.2)), ArrowRight: () => (e.shiftKey ? step(1) : pan(0.2)),
        ArrowUp: () => lane(-1), ArrowDown: () => lane(1), '+': () => zoom(0.6), '=': () => zoom(0.6), w: () => zoom(0.6),
        '-': () => zoom(1 / 0.6), s: () => zoom(1 / 0.6), a: () => pan(-0.2), d: () => pan(0.2),
        Home: () => show(0, span), 0: () => show(0, span), Enter: () => fit(),
      };
      if (!actions[e.key] || e.ctrlKey || e.metaKey || !state.data)
        return;
      e.preventDefault();
      actions[e.key]();
    };
    const lane = (by) => {
      state.row = Math.min(Math.max(state.row + by, 0), rows.length - 1);
      say(rows[state.row].label);
      draw();
    };
    const fit = () => {
      const c = state.chosen;
      if (!c)
        return;
      const l = state.data[c.row.i], ns = Math.max(LEAST_NS, l.end[c.i] - l.start[c.i]);
      show(l.start[c.i] - ns, l.end[c.i] + ns);
    };

    const hit = (e) => {
      const box = canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
      const row = rows.find((r) => y >= r.y - GAP / 2 && y < r.y + r.tall + GAP / 2);
      if (!row || !state.data)
        return { x };
      return { x, row, i: lanes.find(state.data[row.i], toNs(x), 3 * (state.to - state.from) / width()) };
    };

    /* All items of one kernel, lane by lane, when it is to stand out. */
    const mark = (line) => {
      state.marked = line ? look.findIndex((l) => l.line === line) : -1;
      state.marks = state.marked < 0 ? null : state.data.map((l) => {
        const out = [];
        for (let i = 0; i < l.items; i++)
          if (l.what[i] === state.marked)
            out.push(i);
        return out;
      });
      draw();
    };

    pointers.attach(canvas, { pan, zoom, toNs, hit, choose, width, hover: (p, e) => (p.row && p.i >= 0
      ? tips.show(facts(p.row, p.i), e.clientX, e.clientY) : tips.hide()) });
    pointers.brush(overview, (a, b) => show(a * span, b * span));
    canvas.addEventListener('keydown', key);
    new ResizeObserver(() => draw()).observe(canvas);
    theme.watch(draw);
    details.append(...hint());

    const button = (text, label, action) => h('button', { type: 'button', class: 'plain', 'aria-label': label, onclick: action }, text);
    const element = h('div', {},
      h('div', { class: 'bar' },
        button('−', 'Zoom out', () => zoom(2)), button('+', 'Zoom in', () => zoom(0.5)), button('All', 'Show all', () => show(0, span)),
        h('span', { class: 'grow' }), h('span', { class: 'small reading' }, 'Reading …')),
      overview,
      h('div', { class: 'stage' },
        h('div', { class: 'labels', style: { height: `${height}px` } }, rows.map((r) => h('div', {
          style: { top: `${r.y}px`, height: `${r.tall}px`, 'line-height': `${r.tall}px` }, title: r.label }, r.label))), canvas),
      details);

    const ready = lanes.read(t, document.getElementById('operations').textContent).then((data) => {
      document.getElementById('operations').textContent = '';
      state.data = data;
      const calls = rows.filter((r) => r.call && !r.facts.ranges).reduce((s, r) => s + r.facts.records, 0);
      element.querySelector('.reading').textContent = `${units.count(t.records - calls)} operations, ${units.count(calls)} calls`
        + (t.resolution ? `; those within ${units.time(t.resolution)} are drawn as one` : '');
      draw();
    }, (error) => {
      element.querySelector('.reading').textContent = `This browser cannot unpack the timeline: ${error.message}`;
    });
    const find = (line) => ready.then(() => {
      mark(line);
      const row = rows.find((r) => state.marks[r.i].length);
      if (row)
        choose(row, state.marks[row.i][0], true);
    });
    return { element, whole: span, find, has: (line) => look.some((l) => l.line === line), ready, state, show };
  };

  const none = () => h('div', { class: 'empty' }, 'There is no trace among the files. One is recorded beside the profile, and given to the report with it:',
    h('pre', {}, 'CUTRACE_TRACE=1 LD_PRELOAD=libcutrace.so ./app\ncutrace-report --format html -o report.html summary.bin summary.trace'));

  let current = null;
  const section = (profile) => {
    current = profile.timeline ? create(profile) : null;
    return h('section', { id: 'timeline' }, h('h2', {}, 'Timeline'), current ? current.element : none());
  };

  return { create: section, current: () => current };
})();
