
/*
 * The timeline: one canvas of lanes, drawn anew for each view. Drag pans, with Shift it selects a span, the wheel with
 * Ctrl and two fingers zoom, keys do all of that.
 */
const timeline = (() => {
  'use strict';
  const TALL = { op: 22, call: 14 }, GAP = 5, AXIS = 24, LEAST_NS = 100;
  const GROWN = 1.8, GROWN_FULL = 3; /* how much taller lanes become where there is room */
  const AROUND = { page: 324, full: 254 }; /* pixels of a window that lanes do not have */

  /* A prefix that tells processes apart: in other containers and on other hosts a pid may be the same. */
  const processes = (files) => files.map((f, i) => {
    if (files.length > 1 && f.rank !== undefined && files.filter((g) => g.rank === f.rank).length === 1)
      return `rank ${f.rank} · `;
    const same = files.filter((g) => g.pid === f.pid), here = same.filter((g) => g.host === f.host);
    const host = same.length > 1 ? `${f.host} ` : '', number = here.length > 1 ? ` (${i + 1})` : '';
    return files.length > 1 ? `${host}${f.pid}${number} · ` : '';
  });

  const labelOf = (facts, profile, process) => {
    if (facts.ranges)
      return `${process}${facts.thread_name || 'thread'} ${facts.thread} ${facts.started ? 'started ' : ''}ranges${facts.domain ? ` in ${facts.domain}` : ''}`;
    if (facts.thread !== undefined)
      return `${process}${facts.thread_name || 'thread'} ${facts.thread}`;
    const gpus = new Set(profile.timeline.lanes.filter((l) => l.stream && l.file === facts.file).map((l) => l.device));
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
    return order.map((o) => ({ ...o, label: labelOf(o.facts, profile, process[o.facts.file]) }));
  };

  /* Gives lanes their places in about so many pixels; how many they have become. */
  const spread = (rows, room, most) => {
    const natural = rows.reduce((s, r) => s + (r.call ? TALL.call : TALL.op), 0);
    const grown = Math.min(most, Math.max(1, (room - AXIS - GAP * rows.length) / natural));
    let y = AXIS;
    rows.forEach((r) => {
      r.y = y;
      r.tall = Math.round((r.call ? TALL.call : TALL.op) * grown);
      y += r.tall + GAP;
    });
    return y;
  };

  /* How each row or function of the traces is drawn: with the name and colour that it has elsewhere. */
  const looks = (profile) => {
    const known = new Map(profile.activities.map((a) => [a.name, a]));
    return profile.timeline.whats.map((w) => {
      const line = w.call ? null : known.get(w.name);
      const copy = w.name.startsWith('[CUDA mem') || w.name.startsWith('[CUDA pre');
      if (w.range) /* NVTX's colour: alpha, red, green, blue */
        return { name: w.name, short: w.name, line: null, low: false,
          colour: w.color ? `#${(w.color & 0xffffff).toString(16).padStart(6, '0')}` : 'call' };
      const call = /Synchronize|WaitEvent/.test(w.name) ? 'wait' : 'call';
      return { name: w.name, short: line?.short || w.short, line, low: copy,
        colour: w.call ? call : line?.colour || (copy ? 'c0' : 'rest') };
    });
  };

  const create = (profile) => {
    const t = profile.timeline, whole = Math.max(1, t.last - t.first);
    const rows = arrange(profile), look = looks(profile);
    const canvas = h('canvas', { class: 'lanes', tabindex: '0', role: 'application',
      'aria-label': 'Timeline. Arrow left and right pan, plus and minus zoom, Home shows all; '
        + 'arrow up and down choose a lane, Shift with arrow left and right an operation in it.' });
    const overview = h('canvas', { class: 'overview', 'aria-hidden': 'true' });
    const details = h('div', { class: 'chosen' }), selected = h('div', { class: 'selected', hidden: true });
    const labels = h('div', { class: 'labels' }, rows.map((r) => h('div', { title: r.label }, r.label)));
    const state = { from: 0, to: whole, data: null, chosen: null, row: 0, span: null, selecting: false, marked: 0, marks: null, order: null, height: AXIS };
    let wanted = false;

    const width = () => canvas.clientWidth;
    const toX = (ns) => (ns - state.from) / (state.to - state.from) * width();
    const toNs = (x) => state.from + x / width() * (state.to - state.from);

    const show = (from, to) => {
      const wide = Math.min(Math.max(to - from, LEAST_NS), whole);
      const middle = (from + to) / 2;
      state.from = Math.min(Math.max(middle - wide / 2, 0), whole - wide);
      state.to = state.from + wide;
      draw();
    };
    const pan = (part) => {
      const by = (state.to - state.from) * part;
      show(state.from + by, state.to + by);
    };
    const zoom = (factor, at = (state.from + state.to) / 2) => {
      const wide = Math.min(Math.max((state.to - state.from) * factor, LEAST_NS), whole);
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
        painter.lanes(canvas, { rows, look, state, span: whole, first: t.first, height: state.height, toX, toNs });
        painter.overview(overview, { rows, look, state, span: whole });
        state.cost = performance.now() - begin; /* for bench/page.js */
      });
    };

    /* How a kernel was launched, and how much of a multiprocessor that can fill. */
    const launch = (shape, line) => {
      if (!shape)
        return [];
      const dims = (at) => shape.slice(at, at + 3).join(' × ');
      const fits = line && residency.of(residency.deviceOf(profile.devices), line, shape);
      return [['Grid', dims(0)], ['Block', dims(3)], shape[6] && ['Dynamic shared', units.size(shape[6])],
        line?.registers !== undefined && ['Registers', units.count(line.registers)],
        fits && ['Occupancy, waves', `${units.share(fits.occupancy)}, ${residency.waves(fits.waves)}`]].filter(Boolean);
    };

    /* Figures of an item, as pairs. */
    const facts = (row, i) => {
      const lane = state.data[row.i], what = look[lane.what[i]], ns = lane.end[i] - lane.start[i];
      const pairs = [['Start', units.tick(t.first + lane.start[i])], [lane.count[i] > 1 ? 'Within' : 'Duration', units.time(ns)]];
      if (lane.count[i] > 1)
        pairs.push(['Drawn as one', units.count(lane.count[i])]);
      pairs.push(...launch(t.shapes[lane.shape[i] - 1], what.line));
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
      'Drag to pan, Shift and drag to select a span, Ctrl and wheel to zoom, click an operation for its call. With the keyboard: '
        + 'W A S D or arrows and + −, Shift and arrows for operations, F for the whole screen, / to search.')];

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
        Home: () => show(0, whole), 0: () => show(0, whole), Enter: () => fit(), f: () => fill(), '/': () => words.focus(), Escape: () => unselect(),
      };
      const action = actions[e.key.length === 1 ? e.key.toLowerCase() : e.key];
      if (!action || e.ctrlKey || e.metaKey || e.altKey || !state.data)
        return;
      e.preventDefault();
      action();
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

    /* All items that a test on their look finds, lane by lane, when they are to stand out. */
    const mark = (test) => {
      const wanted = look.map((l) => Boolean(test && test(l)));
      state.marked = 0;
      state.order = null;
      state.marks = !test ? null : state.data.map((l) => {
        const out = [];
        for (let i = 0; i < l.items; i++)
          if (wanted[l.what[i]])
            out.push(i);
        state.marked += out.length;
        return out;
      });
      draw();
    };

    /* From the item that is chosen to the next one that is marked, in time; around the end. */
    const next = (by) => {
      state.order ??= rows.flatMap((row) => state.marks[row.i].map((i) => ({ row, i, at: state.data[row.i].start[i] }))).sort((a, b) => a.at - b.at);
      const all = state.order, c = state.chosen, at = c ? all.findIndex((x) => x.row === c.row && x.i === c.i) : -1;
      const n = (at < 0 ? (by > 0 ? 0 : all.length - 1) : at + by + all.length) % all.length;
      go(all[n].row, all[n].i);
      found.textContent = `${units.count(n + 1)} of ${units.count(all.length)}`;
    };

    const search = () => ready.then(() => {
      const text = words.value.trim().toLowerCase();
      mark(text ? (l) => l.name.toLowerCase().includes(text) || l.short.toLowerCase().includes(text) : null);
      found.textContent = text ? `${units.count(state.marked)} found` : '';
    });

    /* Chooses an item, and brings it into sight. */
    const go = (row, i) => {
      const l = state.data[row.i], wide = Math.min(Math.max((l.end[i] - l.start[i]) * 4, (state.to - state.from) / 50, LEAST_NS), whole);
      state.row = rows.indexOf(row);
      choose(row, i, true);
      if (l.start[i] < state.from || l.end[i] > state.to || l.end[i] - l.start[i] < (state.to - state.from) / 200)
        show((l.start[i] + l.end[i] - wide) / 2, (l.start[i] + l.end[i] + wide) / 2);
      stage.scrollTop = Math.max(0, row.y - stage.clientHeight / 2);
      element.scrollIntoView({ block: 'nearest' });
      canvas.focus({ preventScroll: true });
    };

    /* ---- a span ---- */

    const select = (a, b, done) => {
      const from = Math.max(0, Math.min(a, b)), to = Math.min(whole, Math.max(a, b));
      state.span = { from, to };
      if (done && state.data) {
        selected.replaceChildren(...span.report(rows, state.data, look, state.span, t.first, [
          button('Zoom to it', 'Zoom to the span', () => show(from, to)), button('×', 'Close the span', unselect)]));
        selected.hidden = false;
        say(selected.querySelector('.bar').textContent);
      }
      draw();
    };
    const unselect = () => {
      state.span = null;
      selected.hidden = true;
      draw();
    };

    /* ---- places ---- */

    const layout = () => {
      const full = document.fullscreenElement === element;
      state.height = spread(rows, innerHeight - (full ? AROUND.full : AROUND.page), full ? GROWN_FULL : GROWN);
      canvas.style.height = labels.style.height = `${state.height}px`;
      rows.forEach((r, i) => {
        const { style } = labels.children[i];
        style.top = `${r.y}px`;
        style.height = style.lineHeight = `${r.tall}px`;
      });
      draw();
    };
    const fill = () => (document.fullscreenElement ? document.exitFullscreen() : element.requestFullscreen());

    pointers.attach(canvas, { pan, zoom, toNs, hit, choose, select, width, selecting: () => state.selecting, hover: (p, e) => (p.row && p.i >= 0
      ? tips.show(facts(p.row, p.i), e.clientX, e.clientY) : tips.hide()) });
    pointers.brush(overview, (a, b) => show(a * whole, b * whole));
    canvas.addEventListener('keydown', key);
    new ResizeObserver(() => draw()).observe(canvas);
    window.addEventListener('resize', layout);
    document.addEventListener('fullscreenchange', layout);
    theme.watch(draw);
    details.append(...hint());

    const button = (text, label, action) => h('button', { type: 'button', class: 'plain', 'aria-label': label, onclick: action }, text);
    const found = h('span', { class: 'small', role: 'status' });
    const words = table.search('Search operations and calls', search);
    words.addEventListener('keydown', (e) => e.key === 'Enter' && state.marked && next(e.shiftKey ? -1 : 1));
    const picker = h('button', { type: 'button', class: 'plain', 'aria-pressed': 'false', onclick: () => {
      state.selecting = !state.selecting;
      picker.setAttribute('aria-pressed', String(state.selecting));
    } }, 'Select a span');
    const stage = h('div', { class: 'stage' }, labels, canvas);
    const element = h('div', { class: 'timeline' },
      h('div', { class: 'bar' },
        button('−', 'Zoom out', () => zoom(2)), button('+', 'Zoom in', () => zoom(0.5)), button('All', 'Show all', () => show(0, whole)), picker,
        words, found, h('span', { class: 'grow' }), h('span', { class: 'small reading' }, 'Reading …'),
        button('Full screen', 'Full screen', fill)),
      overview, stage, details, selected);
    layout();

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
      mark((l) => l.line === line);
      found.textContent = `${units.count(state.marked)} found`;
      const row = rows.find((r) => state.marks[r.i].length);
      if (row)
        choose(row, state.marks[row.i][0], true);
    });
    return { element, whole, first: t.first, rows, look, find, go, select, has: (line) => look.some((l) => l.line === line), ready, state, show };
  };

  const none = () => h('div', { class: 'empty' }, 'There is no trace among the files. One is recorded beside the profile, and given to the report with it:',
    h('pre', {}, 'CUTRACE_TRACE=1 LD_PRELOAD=libcutrace.so ./app\ncutrace-report --format html -o report.html summary.bin summary.trace'));

  let current = null;
  const section = (profile) => {
    current = profile.timeline ? create(profile) : null;
    return h('section', { id: 'timeline' }, h('h2', {}, 'Timeline'), current ? [current.element, longest.create(current)] : none());
  };

  return { create: section, current: () => current };
})();
