
/*
 * Data of the timeline: the lanes of tools/page/lane.h, as typed arrays, and for each a pyramid:
 * bins of equal time with how much of it was busy and the item that took most of it, each level half
 * as fine as the one below. A view then never reads much more than its pixels.
 */
const lanes = (() => {
  'use strict';
  const MOST_BINS = 1 << 20, FEW = 2048; /* items that need no pyramid */

  const fromBase64 = (text) => {
    if (Uint8Array.fromBase64)
      return Uint8Array.fromBase64(text);
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++)
      bytes[i] = raw.charCodeAt(i);
    return bytes;
  };

  const unpack = async (text) => {
    const packed = new Blob([fromBase64(text)]).stream();
    const stream = packed.pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };

  /* A column of varints; folded ones have their sign in the lowest bit. */
  const column = (bytes, at, out, folded) => {
    for (let i = 0; i < out.length; i++) {
      let b = bytes[at++], v = b & 127;
      for (let m = 128; b > 127; m *= 128) {
        b = bytes[at++];
        v += (b & 127) * m;
      }
      out[i] = !folded ? v : v % 2 ? -(v + 1) / 2 : v / 2;
    }
    return out;
  };

  const decode = (facts, bytes, at, first) => {
    const n = facts.items, offsets = facts.bytes.map((len) => {
      at += len;
      return at - len;
    });
    const start = column(bytes, offsets[0], new Float64Array(n), true);
    const end = column(bytes, offsets[1], new Float64Array(n), false);
    const correlation = column(bytes, offsets[3], new Float64Array(n), true);
    for (let i = 0, last = -first, related = 0; i < n; i++) {
      start[i] += last;
      last = end[i] += start[i];
      related = correlation[i] += related;
    }
    return { ...facts, start, end, correlation,
      what: column(bytes, offsets[2], new Uint32Array(n), false),
      bytes: column(bytes, offsets[4], new Float64Array(n), false),
      count: column(bytes, offsets[5], new Uint32Array(n), false),
      shape: column(bytes, offsets[6], new Uint32Array(n), false) };
  };

  /* The finest level. */
  const bin = (lane, span, count) => {
    const cover = new Float32Array(count), most = new Float32Array(count);
    const what = new Uint32Array(count), scale = count / span;
    for (let i = 0; i < lane.items; i++) {
      const from = lane.start[i] * scale, to = Math.min(lane.end[i] * scale, count);
      const last = Math.min(count - 1, Math.floor(to));
      for (let k = Math.max(0, Math.floor(from)); k <= last; k++) {
        const part = Math.min(to, k + 1) - Math.max(from, k);
        cover[k] += part;
        if (part >= most[k]) {
          most[k] = part;
          what[k] = lane.what[i];
        }
      }
    }
    return { cover, what };
  };

  const halve = ({ cover, what }) => {
    const n = cover.length / 2, to = { cover: new Float32Array(n), what: new Uint32Array(n) };
    for (let i = 0; i < n; i++) {
      const a = cover[2 * i], b = cover[2 * i + 1];
      to.cover[i] = (a + b) / 2;
      to.what[i] = what[a >= b ? 2 * i : 2 * i + 1];
    }
    return to;
  };

  const pyramid = (lane, span) => {
    if (lane.items <= FEW)
      return [];
    const levels = [bin(lane, span, Math.min(MOST_BINS, 2 ** Math.ceil(Math.log2(2 * lane.items))))];
    while (levels[levels.length - 1].cover.length > 256)
      levels.push(halve(levels[levels.length - 1]));
    return levels;
  };

  /* All lanes, in the order of the profile. */
  const read = async (timeline, text) => {
    const bytes = await unpack(text), span = Math.max(1, timeline.last - timeline.first);
    let at = 0;
    return timeline.lanes.map((facts) => {
      const lane = decode(facts, bytes, at, timeline.first);
      at += facts.bytes.reduce((s, len) => s + len, 0);
      lane.levels = pyramid(lane, span);
      return lane;
    });
  };

  /* The first item that ends after a time; items of a lane are in order. */
  const after = (lane, ns) => {
    let low = 0, high = lane.items;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (lane.end[middle] > ns)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  };

  /* The item at a time, or the nearest within some distance; -1: there is none. */
  const find = (lane, ns, near) => {
    const i = after(lane, ns), gap = (k) => (k < 0 || k >= lane.items ? Infinity
      : Math.max(0, lane.start[k] - ns, ns - lane.end[k]));
    const best = gap(i - 1) < gap(i) ? i - 1 : i;
    return gap(best) <= near ? best : -1;
  };

  /* The item that has a correlation for itself; calls of a thread and work of a stream mostly have
     them in order. */
  const related = (lane, correlation) => {
    let low = 0, high = lane.items - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      if (lane.correlation[middle] === correlation)
        return lane.count[middle] === 1 ? middle : -1;
      if (lane.correlation[middle] < correlation)
        low = middle + 1;
      else
        high = middle - 1;
    }
    return -1;
  };

  return { read, after, find, related };
})();
