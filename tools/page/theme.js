
/* Light or dark: as the system has it, or as chosen here; canvases ask for their colours. */
const theme = (() => {
  'use strict';
  const KEY = 'cutrace-theme', listeners = [];
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  let cache = new Map();

  const remembered = () => {
    try {
      return localStorage.getItem(KEY) || 'auto';
    } catch {
      return 'auto';
    }
  };

  const apply = (value) => {
    if (value === 'auto')
      delete document.documentElement.dataset.theme;
    else
      document.documentElement.dataset.theme = value;
    changed();
  };

  const choose = (value) => {
    apply(value);
    try {
      localStorage.setItem(KEY, value);
    } catch { /* a browser without storage forgets */ }
  };

  const changed = () => {
    cache = new Map();
    listeners.forEach((f) => f());
  };

  /* The value of a colour variable such as "k0"; one that the program has chosen is "#rrggbb". */
  const colour = (name) => {
    if (name.startsWith('#'))
      return name;
    if (!cache.has(name))
      cache.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
    return cache.get(name);
  };

  /* Whether white text is easier to read on a colour than black: by relative luminance. */
  const wantsWhite = (name) => {
    const n = parseInt(colour(name).slice(1), 16);
    const [r, g, b] = [n >> 16, (n >> 8) & 255, n & 255].map((v) => {
      v /= 255;
      return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b < 0.23;
  };

  const control = () => choice('Colours',
    [['auto', 'Auto'], ['light', 'Light'], ['dark', 'Dark']], remembered(), choose);

  system.addEventListener('change', changed);
  apply(remembered());
  return { colour, wantsWhite, control, watch: (f) => listeners.push(f) };
})();
