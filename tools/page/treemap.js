
/* Time by kernel, as areas or as bars. Rectangles as square as they can be: Bruls, Huizing and
   van Wijk, "Squarified treemaps". */
const treemap = (() => {
  'use strict';
  const MOST = 60; /* tiles; the others are one tile */

  /* The worst ratio of sides in a row of areas along a side. */
  const worst = (row, sum, side) => Math.max(
    (side * side * row[0].area) / (sum * sum),
    (sum * sum) / (side * side * row[row.length - 1].area));

  /* Gives each item a place in the box: {x, y, w, h}; items in descending order of value. */
  const layout = (items, box) => {
    const all = items.reduce((s, i) => s + i.value, 0), scale = box.w * box.h / all;
    const left = items.map((i) => Object.assign(i, { area: i.value * scale }));
    let { x, y, w, h: height } = { x: 0, y: 0, w: box.w, h: box.h };
    while (left.length) {
      const side = Math.min(w, height), row = [];
      let sum = 0;
      while (left.length) {
        const next = left[0].area;
        if (row.length && worst([...row, left[0]], sum + next, side) > worst(row, sum, side))
          break;
        row.push(left.shift());
        sum += next;
      }
      const thick = sum / side;
      let at = 0;
      for (const item of row) {
        const len = item.area / thick;
        Object.assign(item, w >= height ? { x, y: y + at, w: thick, h: len }
          : { x: x + at, y, w: len, h: thick });
        at += len;
      }
      if (w >= height) {
        x += thick;
        w -= thick;
      } else {
        y += thick;
        height -= thick;
      }
    }
    return items;
  };

  const tileOf = (item, gap) => {
    const { line, x, y, w } = item, tall = item.h;
    const tile = h('button', {
      type: 'button', tabindex: '-1',
      class: `tile ${theme.wantsWhite(line.colour) ? 'dark' : 'light'}`,
      'aria-label': `${line.short}, ${units.share(line.percent)} of GPU time`,
      style: { left: `${x}px`, top: `${y}px`, width: `${Math.max(0, w - gap)}px`,
        height: `${Math.max(0, tall - gap)}px`, background: `var(--${line.colour})`,
        padding: w < 30 || tall < 24 ? '0' : '6px 8px' },
    });
    if (w > 46 && tall > 26)
      tile.append(h('b', {}, line.short));
    if (w > 56 && tall > 46)
      tile.append(h('span', {}, `${units.share(line.percent)} · ${units.time(line.total)}`));
    return tile;
  };

  /* Arrow keys go from tile to tile, by size; one of them is in the order of tabs. */
  const keys = (map) => map.addEventListener('keydown', (e) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
    const tiles = [...map.children], at = tiles.indexOf(document.activeElement);
    const to = e.key === 'Home' ? tiles[0] : e.key === 'End' ? tiles[tiles.length - 1]
      : step && tiles[at + step];
    if (!to)
      return;
    e.preventDefault();
    tiles[at]?.setAttribute('tabindex', '-1');
    to.setAttribute('tabindex', '0');
    to.focus();
  });

  const drawMap = (map, lines, pick) => {
    const box = { w: map.clientWidth, h: map.clientHeight };
    const items = lines.slice(0, MOST).map((line) => ({ line, value: line.total }));
    if (lines.length > MOST)
      items.push({ line: rest(lines.slice(MOST)), value: 0 });
    items.forEach((i) => { i.value = i.line.total; });
    items.sort((a, b) => b.value - a.value);
    map.replaceChildren(...layout(items.filter((i) => i.value > 0), box).map((item) => {
      const tile = tileOf(item, 2);
      tips.attach(tile, () => item.line.tip());
      tile.addEventListener('click', () => pick(item.line));
      return tile;
    }));
    map.firstChild?.setAttribute('tabindex', '0');
  };

  const rest = (lines) => {
    const sum = (key) => lines.reduce((s, l) => s + (l[key] || 0), 0);
    const line = { short: `${lines.length} others`, colour: 'rest', total: sum('total'),
      percent: sum('percent'), calls: sum('calls') };
    line.tip = () => ({ title: line.short, pairs: [['Time', units.time(line.total)],
      ['of GPU time', units.percent(line.percent)], ['Calls', units.count(line.calls)]] });
    return line;
  };

  const bars = (lines, pick) => h('div', { class: 'bars' }, lines.slice(0, MOST).map((line) => {
    const bar = h('button', { type: 'button', onclick: () => pick(line) },
      h('span', { class: 'name' }, line.short),
      h('span', { class: 'track' }, h('i', { style: {
        width: `${100 * line.total / lines[0].total}%`, background: `var(--${line.colour})` } })),
      h('span', { class: 'num' }, units.percent(line.percent)),
      h('span', { class: 'num time' }, units.time(line.total)));
    tips.attach(bar, () => line.tip());
    return bar;
  }));

  /* The element, and a function that chooses its picture. */
  const create = (lines, pick) => {
    const map = h('div', { class: 'map', role: 'group',
      'aria-label': 'GPU time by kernel; arrow keys go from one to the next' });
    const list = bars(lines, pick);
    list.hidden = true;
    keys(map);
    new ResizeObserver(() => map.clientWidth && drawMap(map, lines, pick)).observe(map);
    theme.watch(() => drawMap(map, lines, pick));
    const show = (picture) => {
      map.hidden = picture !== 'map';
      list.hidden = picture !== 'bars';
    };
    return { element: h('div', {}, map, list), show };
  };

  return { create };
})();
