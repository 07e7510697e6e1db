
/*
 * A tree as a flame graph that hangs from its root: one canvas as large as its stage, which draws the rows in sight.
 * A click zooms, the path above it leads back, keys do all of that.
 */
const flame = (() => {
  'use strict';
  const MOST_STEPS = 3; /* frames of the path that are named */

  /*
   * tree: of stacks.js; measures: [[key, title, text(value)]]; look(i): {text, place, colour, frame}, how a node is
   * drawn; facts(i): {title, pairs} of it; words(i): the text that a search looks through; links(i): buttons; keys: the
   * list of colours.
   */
  const create = ({ tree, label, root: rootText, measures, look, facts, words, links, keys }) => {
    const state = { root: 0, measure: measures[0][0], unfolded: new Set(), chosen: null, hovered: null, found: null, test: null, history: [] };
    const canvas = h('canvas', { class: 'flame', tabindex: '0', role: 'application',
      'aria-label': `${label}. Arrow keys go from call to call, Enter zooms to one, Escape back, Home to the whole.` });
    const sizer = h('div', { class: 'sizer' }, canvas), stage = h('div', { class: 'stage' }, sizer);
    const steps = h('div', { class: 'steps', role: 'group', 'aria-label': 'Path to the frame that is shown' });
    const details = h('div', { class: 'chosen' }), found = h('span', { class: 'small', role: 'status' });
    let placed = { rows: [], height: 0 }, wanted = false, wide = 0;

    const shown = () => measures.find(([key]) => key === state.measure);
    const value = (i) => tree.values[state.measure][i];
    const share = (sum) => units.share(100 * sum / (value(0) || 1));
    const lookOf = (i) => (i ? look(i) : { text: rootText, colour: 'frame-root', frame: true });

    /* ---- boxes: a node, several that are narrow, or a chain of frames ---- */

    const lookOfBox = (box) => (box.more ? { text: units.many(box.more, 'narrow call'), colour: 'frame-rest' }
      : box.folded ? { text: `⋯ ${units.many(box.folded, 'frame')}`, colour: 'frame-fold' } : lookOf(box.i));
    const factsOf = (box) => {
      if (box.more)
        return { title: `${units.many(box.more, 'call')}, each narrower than a pixel`, pairs: [[shown()[1], shown()[2](box.value)], ['Share', share(box.value)]] };
      if (box.folded)
        return { title: `${units.many(box.folded, 'frame')}, each the only call of the one above`,
          pairs: [...box.inner.slice(0, 8).map((i) => [look(i).text, look(i).place]), ...(box.inner.length > 8 ? [['…', '']] : [])] };
      return box.i ? facts(box.i) : { title: rootText, pairs: measures.map(([key, title, text]) => [title, text(tree.values[key][0])]) };
    };
    const isFound = (box) => (box.more ? false : box.folded ? box.inner.some((i) => state.found[i]) : Boolean(state.found[box.i]));
    const same = (a, b) => a && b && a.i === b.i && Boolean(a.more) === Boolean(b.more) && Boolean(a.folded) === Boolean(b.folded);
    const again = (box) => box && (placed.rows.flat().find((b) => same(b, box)) || null);

    /* ---- drawing ---- */

    const arrange = () => {
      placed = flamePainter.layout(tree, { root: state.root, measure: state.measure, width: canvas.clientWidth, unfolded: state.unfolded });
      sizer.style.height = `${placed.height}px`;
      state.hovered = null;
      wide = canvas.clientWidth;
      choose(again(state.chosen));
    };
    const draw = () => {
      if (wanted)
        return;
      wanted = true;
      requestAnimationFrame(() => {
        wanted = false;
        const begin = performance.now(), tall = Math.min(placed.height, stage.clientHeight);
        canvas.style.height = `${tall}px`;
        flamePainter.draw(canvas, placed, { look: lookOfBox, found: state.found, isFound, chosen: state.chosen, hovered: state.hovered }, stage.scrollTop, tall);
        state.cost = performance.now() - begin;
        state.drawn = { rows: placed.rows.length, top: stage.scrollTop };
      });
    };

    const stepTo = (i) => h('button', { type: 'button', onclick: () => zoom(i) }, i ? lookOf(i).text : 'All', i && lookOf(i).place ? h('span', { class: 'faint' }, ` ${lookOf(i).place}`) : null);
    const showPath = () => {
      const all = [0, ...stacks.path(tree, state.root)], first = all.slice(0, 1), last = all.slice(1).slice(-MOST_STEPS);
      const left = all.length - 1 - last.length;
      const middle = left ? [h('button', { type: 'button', title: `${units.many(left, 'more frame')}`, onclick: () => zoom(all[left]) }, '…')] : [];
      const parts = [...first.map(stepTo), ...middle, ...last.map(stepTo)];
      parts[parts.length - 1].setAttribute('aria-current', 'true');
      steps.replaceChildren(...parts.flatMap((p, n) => (n ? [h('span', { class: 'faint', 'aria-hidden': 'true' }, '›'), p] : [p])));
    };

    /* ---- actions ---- */

    const zoom = (i, isBack) => {
      if (i === state.root)
        return;
      if (!isBack)
        state.history.push(state.root);
      state.root = i;
      stage.scrollTop = 0;
      showPath();
      arrange();
      say(`${lookOf(i).text}, ${share(value(i))}`);
    };
    const back = () => zoom(state.history.length ? state.history.pop() : 0, true);
    const leads = (box) => !box.more && !box.folded && (box.i === 0 || tree.operation[box.i] < 0 && box.i !== tree.rest);

    const chipOf = (colour) => (colour.startsWith('#') ? colour : `var(--${colour})`);

    const choose = (box, announce) => {
      state.chosen = box;
      const f = box && factsOf(box);
      details.replaceChildren(...(f ? [h('i', { class: 'chip', style: { background: chipOf(lookOfBox(box).colour) } }), h('code', {}, units.cut(f.title, 160)),
        ...f.pairs.map(([k, v]) => h('span', {}, h('span', { class: 'faint' }, `${k} `), v)),
        ...(box.i && !box.more && !box.folded ? links(box.i) : [])] : hint()));
      if (f && announce)
        say(`${f.title}: ${f.pairs.map((p) => p.join(' ')).join(', ')}`);
      draw();
    };
    const act = (box) => {
      if (!box)
        return;
      if (box.folded) {
        box.inner.forEach((i) => state.unfolded.add(i));
        state.chosen = { i: box.i };
        arrange();
      } else if (box.i === state.root && box.i) {
        back();
      } else {
        state.chosen = box;
        if (box.i !== state.root && leads(box))
          zoom(box.i);
        else
          choose(box);
      }
    };
    const hint = () => [h('span', { class: 'faint' }, 'Click a frame to zoom to it; its row again, the path above or Escape leads back. With the keyboard: arrows, Enter, Home, / to search.')];

    /* Has nodes stand out for which a test holds; null: all are alike. */
    const mark = (test) => {
      const result = test && stacks.find(tree, state.measure, test);
      state.test = test;
      state.found = result ? result.found : null;
      found.textContent = !result ? '' : result.count ? `${share(result.sum)} of the ${shown()[1].toLowerCase()} in ${units.many(result.count, 'call')}` : 'nothing found';
      draw();
    };
    const search = (text) => {
      const parts = text.trim().toLowerCase().split(/\s+/);
      mark(parts[0] ? (i) => i !== tree.rest && parts.every((p) => words(i).includes(p)) : null);
    };

    /* ---- keyboard ---- */

    /* A box beside, above or below one. */
    const beside = (box, key) => {
      const row = placed.rows[box.row], at = row.indexOf(box), middle = box.x + box.w / 2;
      if (key === 'ArrowLeft' || key === 'ArrowRight')
        return row[at + (key === 'ArrowRight' ? 1 : -1)];
      if (key === 'ArrowUp')
        return (placed.rows[box.row - 1] || []).find((b) => middle >= b.x && middle < b.x + b.w);
      return (placed.rows[box.row + 1] || []).find((b) => b.x >= box.x - 0.5 && b.x < box.x + box.w);
    };
    const walk = (key) => {
      const to = state.chosen ? beside(state.chosen, key) : placed.rows[state.root ? 1 : 0]?.[0];
      if (!to)
        return;
      const y = to.row * flamePainter.TALL;
      stage.scrollTop = Math.min(Math.max(stage.scrollTop, y + flamePainter.TALL - stage.clientHeight), y);
      choose(to, true);
    };
    const key = (e) => {
      const actions = { ArrowLeft: walk, ArrowRight: walk, ArrowUp: walk, ArrowDown: walk, Enter: () => act(state.chosen), Escape: back, Backspace: back,
        Home: () => zoom(0), '/': () => box.focus() };
      if (!actions[e.key] || e.ctrlKey || e.metaKey || e.altKey)
        return;
      e.preventDefault();
      actions[e.key](e.key);
    };

    /* ---- pointer ---- */

    const at = (e) => {
      const r = canvas.getBoundingClientRect();
      return flamePainter.hit(placed, e.clientX - r.left, e.clientY - r.top + stage.scrollTop);
    };
    canvas.addEventListener('click', (e) => act(at(e)));
    canvas.addEventListener('pointermove', (e) => {
      const over = at(e);
      canvas.style.cursor = over && (over.folded || leads(over)) ? 'pointer' : 'default';
      tips.show(over && factsOf(over), e.clientX, e.clientY);
      if (over !== state.hovered) {
        state.hovered = over;
        draw();
      }
    });
    canvas.addEventListener('pointerleave', () => {
      state.hovered = null;
      tips.hide();
      draw();
    });
    canvas.addEventListener('keydown', key);
    stage.addEventListener('scroll', () => {
      tips.hide();
      draw();
    }, { passive: true });
    new ResizeObserver(() => (canvas.clientWidth !== wide ? arrange() : draw())).observe(stage);
    theme.watch(draw);

    const box = table.search('Search functions and kernels', search);
    const element = h('div', {},
      h('div', { class: 'bar' }, box, found, h('span', { class: 'grow' }),
        choice('Width', measures.map(([k, title]) => [k, title]), state.measure, (k) => {
          state.measure = k;
          mark(state.test);
          arrange();
        })),
      h('div', { class: 'bar tight' }, steps, keys), stage, details);
    showPath();
    choose(null);
    /* Shows all of it, with nodes that stand out. */
    const show = (text, test) => {
      zoom(0);
      box.value = text;
      mark(test);
      element.scrollIntoView({ block: 'start' });
      canvas.focus({ preventScroll: true });
    };
    return { element, show, state, look: lookOfBox, placed: () => placed };
  };

  return { create };
})();
