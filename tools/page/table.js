
/* A table that sorts by any column, filters by name, and opens rows. */
const table = (() => {
  'use strict';
  const FIRST = 10; /* rows at first; the others on demand */
  const MOST = 1000; /* rows then: a browser takes seconds for ten thousand; a filter or an order finds the rest */

  /*
   * columns: {key, title, hint, text(line), sort(line), cell(line), class}; a column with `opener`
   * holds the name. `inside(line)` makes the detail that a row opens to. `order(line)`, smallest first, is how
   * lines stand until a column is chosen.
   */
  const create = ({ label, columns, lines, inside, sorted, order: given }) => {
    const state = { by: sorted, down: true, given, words: '', all: false, most: MOST, open: new Set() };
    const body = h('tbody'), more = h('div', { class: 'under' });
    const heads = columns.map((c) => head(c));

    const order = () => {
      const column = columns.find((c) => c.key === state.by), sign = state.down ? -1 : 1;
      const value = state.given || column.sort;
      return lines.filter(matches).sort((a, b) => {
        const x = value(a), y = value(b);
        return x === y ? a.index - b.index : (x < y ? -1 : 1) * (state.given ? 1 : sign);
      });
    };

    const matches = (line) => !state.words
      || state.words.split(/\s+/).every((w) => line.name.toLowerCase().includes(w));

    function head(column) {
      const sort = () => {
        state.down = state.by === column.key && !state.given ? !state.down : column.class !== 'text' && !column.opener;
        state.by = column.key;
        state.given = null;
        say(`sorted by ${column.title}, ${state.down ? 'descending' : 'ascending'}`);
        draw();
      };
      const inner = column.sort ? h('button', { type: 'button', onclick: sort, title: column.hint },
        column.title) : h('span', { title: column.hint }, column.title);
      return h('th', { scope: 'col', class: column.opener ? 'text' : column.class, 'data-key': column.key },
        inner);
    }

    const toggle = (line, row) => {
      const opened = state.open.has(line);
      if (opened) {
        state.open.delete(line);
        row.nextSibling.remove();
      } else {
        state.open.add(line);
        row.after(detail(line));
      }
      row.classList.toggle('open', !opened);
      row.querySelector('.opener').setAttribute('aria-expanded', String(!opened));
    };

    const detail = (line) => {
      const cell = h('td', { colspan: String(columns.length) });
      queueMicrotask(() => cell.append(inside(line)));
      return h('tr', { class: 'detail' }, cell);
    };

    const opener = (line, row) => {
      const button = h(inside ? 'button' : 'span', { class: inside ? 'opener' : 'mono plainly',
        type: inside ? 'button' : undefined, 'aria-expanded': inside ? String(state.open.has(line)) : undefined,
        onclick: inside ? () => toggle(line, row) : undefined },
      h('i', { class: 'chip', style: { background: `var(--${line.colour})` } }),
      h('span', { class: 'text' }, line.short));
      tips.attach(button, () => ({ title: line.name }));
      return button;
    };

    const rowOf = (line) => {
      const row = h('tr', { class: state.open.has(line) ? 'row open' : 'row', 'data-index': String(line.index) });
      columns.forEach((c) => row.append(h('td', { class: c.opener ? 'name' : c.class },
        c.opener ? opener(line, row) : c.cell ? c.cell(line) : c.text(line))));
      return state.open.has(line) ? [row, detail(line)] : [row];
    };

    const draw = () => {
      const found = order(), shown = found.slice(0, state.all ? state.most : FIRST);
      heads.forEach((th, i) => {
        const on = columns[i].key === state.by && !state.given;
        if (on)
          th.setAttribute('aria-sort', state.down ? 'descending' : 'ascending');
        else
          th.removeAttribute('aria-sort');
      });
      body.replaceChildren(...shown.flatMap(rowOf));
      if (!shown.length)
        body.append(h('tr', {}, h('td', { colspan: String(columns.length), class: 'text faint' },
          lines.length ? 'No name has that in it.' : 'There are none.')));
      more.hidden = found.length <= FIRST;
      more.replaceChildren(h('button', { type: 'button', class: 'plain', onclick: () => { state.all = !state.all; draw(); } },
        state.all ? `Show ${FIRST}` : found.length > state.most ? `Show ${units.count(state.most)} of ${units.count(found.length)}`
          : `Show all ${units.count(found.length)}`), ...rest(found.slice(shown.length)));
    };

    /* How many rows are not shown, and how much they are of the whole. */
    const rest = (hidden) => {
      const part = hidden.reduce((s, l) => s + (l.percent || 0), 0);
      return hidden.length ? [h('span', { class: 'small' },
        `${units.count(hidden.length)} more rows${part ? `, ${units.share(part)} of the time` : ''}`)] : [];
    };

    /* Brings a line into sight, opened. */
    const reveal = (line) => {
      state.words = '';
      const at = order().indexOf(line);
      state.all = state.all || at >= FIRST;
      state.most = Math.max(state.most, at + 1);
      state.open.add(line);
      draw();
      const row = body.querySelector(`tr[data-index="${line.index}"]`);
      row.scrollIntoView({ block: 'center' });
      row.querySelector('.opener').focus({ preventScroll: true });
    };

    const filter = (words) => {
      state.words = words.trim().toLowerCase();
      draw();
    };

    draw();
    return { element: h('div', {}, h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
      h('table', { class: 'by-name' }, h('thead', {}, h('tr', {}, heads)), body)), more), reveal, filter };
  };

  const search = (label, change) => h('input', { class: 'search', type: 'search', placeholder: label,
    'aria-label': label, spellcheck: 'false', oninput: (e) => change(e.target.value) });

  /* A plain one; the column of a number is of text. */
  const grid = (heads, rows, text) => {
    const kind = (i) => (i === text ? 'text' : null);
    return h('div', { class: 'scroll', tabindex: '0' }, h('table', {},
      h('thead', {}, h('tr', {}, heads.map((t, i) => h('th', { scope: 'col', class: kind(i) }, h('span', {}, t))))),
      h('tbody', {}, rows.map((r) => h('tr', {}, r.map((c, i) => h('td', { class: kind(i) }, c)))))));
  };

  return { create, search, grid };
})();
