
/* Numbers for people: three digits and a unit, as 2.41 s; sizes step by 1024, rates by 1000. */
const units = (() => {
  'use strict';
  const TIMES = [['ns', 1, 0], ['µs', 1e-3, 1e3], ['ms', 1e-6, 1e6], ['s', 1e-9, 1e9]];
  const SIZES = ['B', 'KB', 'MB', 'GB', 'TB'];
  const SPACE = '\u00a0'; /* a line does not break there */

  const unitOf = (ns) => TIMES.findLast((t) => Math.abs(ns) >= t[2]) || TIMES[0];
  const count = (n) => n.toLocaleString('en-US');
  const digits = (x) => (x >= 99.95 ? count(Math.round(x)) : x.toFixed(x >= 9.995 ? 1 : 2));

  const time = (ns) => {
    const [unit, factor] = unitOf(ns);
    return `${unit === 'ns' ? Math.round(ns) : digits(ns * factor)}${SPACE}${unit}`;
  };

  const scaled = (bytes, step, per) => {
    let i = 0;
    for (; i + 1 < SIZES.length && bytes >= 1000; i++)
      bytes /= step;
    return `${i ? digits(bytes) : Math.round(bytes)}${SPACE}${SIZES[i]}${per}`;
  };

  const size = (bytes) => scaled(bytes, 1024, '');
  const rate = (bytesPerSecond) => scaled(bytesPerSecond, 1000, '/s');
  const throughput = (bytes, ns) => (ns ? rate(bytes * 1e9 / ns) : '-');
  const many = (n, one) => `${count(n)} ${one}${n === 1 ? '' : 's'}`;
  const percent = (x) => `${x.toFixed(2)}%`;

  /* For sentences: "0.3 %" is not "0 %", "99.97 %" not "100 %". */
  const share = (x) => {
    const places = x > 0 && x < 1 ? 2 : x < 10 ? 1 : x > 99 && x < 100 ? 1 : 0;
    const text = x.toFixed(places);
    return x > 0 && Number(text) === 0 ? '<0.01%' : `${text}%`;
  };

  /* By how much something has grown or shrunk. */
  const signed = (x, text) => `${x > 0 ? '+' : x < 0 ? '−' : ''}${text(Math.abs(x))}`;
  const change = (ns) => signed(ns, time);
  const growth = (before, after) => (before > 0 ? signed(100 * (after / before - 1), (x) => `${x.toFixed(x < 100 ? 1 : 0)}%`) : '-');

  /* A moment, or a round number of nanoseconds for an axis, without digits that say nothing. */
  const tick = (ns) => {
    const [unit, factor] = unitOf(ns);
    return ns ? `${Number((ns * factor).toPrecision(9))}${SPACE}${unit}` : '0';
  };

  /* Long texts lose their middle. */
  const cut = (text, most) => (text.length <= most ? text
    : `${text.slice(0, Math.ceil(most * 0.62))}…${text.slice(text.length - Math.floor(most * 0.38) + 1)}`);

  return { time, cut, size, rate, throughput, count, many, percent, share, change, growth, tick };
})();
