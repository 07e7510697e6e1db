/*
 * How long a view of the timeline takes to draw: evaluated in the page by tests/page/show_page, see
 * `make bench-page`. A frame ends when the browser is idle again; the screen refreshes every 16.7 ms.
 */
(async () => {
  const t = timeline.current(), before = performance.now(), out = [];
  await t.ready;
  out.push(`unpacked after ${(performance.now() - before).toFixed(0)} ms`);
  const frame = () => new Promise((done) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done();
    channel.port2.postMessage(0);
  }));
  const run = async (name, frames, view) => {
    const times = [], costs = [];
    for (let i = 0; i < frames; i++) {
      const [from, wide] = view(i / frames), start = performance.now();
      t.show(from * t.whole, (from + wide) * t.whole);
      await frame();
      times.push(performance.now() - start);
      costs.push(t.state.cost);
    }
    const told = (values) => {
      values.sort((a, b) => a - b);
      return `median ${values[frames >> 1].toFixed(1)} ms, 95 % in ${values[Math.floor(0.95 * frames)].toFixed(1)} ms`;
    };
    out.push(`${name}: drawn in ${told(costs)}; on the screen in ${told(times)}`);
  };
  await run('all of it', 40, () => [0, 1]);
  await run('zooming to a millionth', 120, (p) => [0.437 * (1 - 10 ** (-6 * p)), 10 ** (-6 * p)]);
  for (const part of [3, 100, 1000])
    await run(`panning at 1/${part}`, 100, (p) => [p * (1 - 1 / part), 1 / part]);
  return out.join('\n');
})()
