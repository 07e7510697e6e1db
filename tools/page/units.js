
/* Numbers as the table writes them: the rules of tools/report/units.c. */
const units = (() => {
  'use strict';
  const TIMES = [['ns', 1, 0], ['us', 1e-3, 1e3], ['ms', 1e-6, 1e6], ['s', 1e-9, 1e9]];
  const SIZES = ['B', 'KB', 'MB', 'GB'];

  const fit = (x, unit, width) => {
    let text = '';
    for (let p = 6; p >= 0; p--) {
      text = (Math.floor(x * 10 ** p + 0.5) / 10 ** p).toFixed(p) + unit;
      if (text.length <= width)
        break;
    }
    return text;
  };

  const time = (ns) => {
    const [unit, factor] = TIMES.findLast((t) => ns >= t[2]) || TIMES[0];
    return unit === 'ns' ? `${Math.round(ns)}ns` : fit(ns * factor, unit, 8);
  };

  const fitBytes = (bytes, per, width, step) => {
    let i = 0;
    for (; i + 1 < SIZES.length && bytes >= 1000; i++)
      bytes /= step;
    return fit(bytes, SIZES[i] + per, width);
  };

  const size = (bytes) => (bytes < 1000 ? `${bytes}B` : fitBytes(bytes, '', 8, 1024));
  const rate = (bytesPerSecond) => fitBytes(bytesPerSecond, '/s', 10, 1000);
  const throughput = (bytes, ns) => (ns ? rate(bytes * 1e9 / ns) : '-');
  const count = (n) => n.toLocaleString('en-US');
  const percent = (x) => `${x.toFixed(2)}%`;

  /* For sentences: "0.3 %" is not "0 %", "99.97 %" not "100 %". */
  const share = (x) => {
    const digits = x > 0 && x < 1 ? 2 : x < 10 ? 1 : x > 99 && x < 100 ? 1 : 0;
    const text = x.toFixed(digits);
    return x > 0 && Number(text) === 0 ? '<0.01%' : `${text}%`;
  };

  /* A round number of nanoseconds for an axis, without digits that say nothing. */
  const tick = (ns) => {
    const [unit, factor] = TIMES.findLast((t) => Math.abs(ns) >= t[2]) || TIMES[0];
    return ns ? `${Number((ns * factor).toPrecision(9))}${unit}` : '0';
  };

  /* Three digits, for sentences. */
  const brief = (ns) => {
    const [unit, factor] = TIMES.findLast((t) => ns >= t[2]) || TIMES[0];
    return `${Number((ns * factor).toPrecision(3))} ${unit}`;
  };

  /* Long texts lose their middle. */
  const cut = (text, most) => (text.length <= most ? text
    : `${text.slice(0, Math.ceil(most * 0.62))}…${text.slice(text.length - Math.floor(most * 0.38) + 1)}`);

  return { time, cut, brief, size, rate, throughput, count, percent, share, tick };
})();
