
/* Elements. Text only ever becomes text: nothing of a profile is parsed as HTML. */
const h = (tag, props = {}, ...children) => {
  const svg = ['svg', 'path', 'rect', 'line'].includes(tag);
  const e = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag)
    : document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false)
      continue;
    if (key === 'style')
      Object.entries(value).forEach(([name, v]) => e.style.setProperty(name, v));
    else if (key.startsWith('on'))
      e.addEventListener(key.slice(2), value);
    else
      e.setAttribute(key, value === true ? '' : value);
  }
  e.append(...children.flat().filter((c) => c !== undefined && c !== null && c !== false));
  return e;
};

/* A text for assistive technology to say now. */
const say = (text) => {
  document.getElementById('said').textContent = text;
};

/* Parts of a whole beside each other, with a key: {text, ns, percent, colour}. */
const split = (kind, parts) => [
  h('div', { class: kind, role: 'img', 'aria-label': parts.map((p) => `${p.text} ${units.share(p.percent)}`).join(', ') },
    parts.map((p) => {
      const e = h('i', { style: { flex: `${p.ns} 0 0`, background: `var(--${p.colour})` } });
      tips.attach(e, () => ({ title: p.text, pairs: [['Time', units.time(p.ns)], ['Share', units.percent(p.percent)]] }));
      return e;
    })),
  h('ul', { class: 'keys' }, parts.map((p) => h('li', {},
    h('i', { class: 'chip', style: { background: `var(--${p.colour})` } }),
    `${p.text} ${units.share(p.percent)} · ${units.time(p.ns)}`))),
];

/* A group of buttons of which one is pressed. */
const choice = (label, values, chosen, change) => {
  const buttons = values.map(([value, text]) => h('button', {
    type: 'button', 'aria-pressed': String(value === chosen), 'data-value': value,
    onclick: () => press(value),
  }, text));
  const press = (value) => {
    buttons.forEach((b) => b.setAttribute('aria-pressed', String(b.dataset.value === value)));
    change(value);
  };
  return h('span', { class: 'choice', role: 'group', 'aria-label': label }, buttons);
};
