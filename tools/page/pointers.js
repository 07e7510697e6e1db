
/* Mouse, pen and fingers over the timeline. */
const pointers = (() => {
  'use strict';
  const attach = (canvas, view) => {
    const down = new Map();
    let moved = 0, distance = 0, begun = null; /* ns: begin of a span that is being selected */

    const spread = () => {
      const [a, b] = [...down.values()];
      return Math.max(8, Math.abs(a.clientX - b.clientX));
    };

    canvas.addEventListener('pointerdown', (e) => {
      if (e.button)
        return;
      down.set(e.pointerId, e);
      canvas.setPointerCapture(e.pointerId);
      moved = 0;
      begun = e.shiftKey || view.selecting() ? view.toNs(view.hit(e).x) : null;
      if (down.size === 2)
        distance = spread();
      tips.hide();
    });

    canvas.addEventListener('pointermove', (e) => {
      const before = down.get(e.pointerId);
      if (!before)
        return view.hover(view.hit(e), e);
      const by = e.clientX - before.clientX;
      moved += Math.abs(by);
      down.set(e.pointerId, e);
      if (begun !== null)
        return view.select(begun, view.toNs(view.hit(e).x), false);
      if (down.size === 2) {
        const wide = spread(), box = canvas.getBoundingClientRect();
        const middle = [...down.values()].reduce((s, p) => s + p.clientX / 2, 0) - box.left;
        view.zoom(distance / wide, view.toNs(middle));
        distance = wide;
        return undefined;
      }
      return view.pan(-by / view.width());
    });

    const up = (e) => {
      if (begun !== null && moved >= 4) {
        down.delete(e.pointerId);
        view.select(begun, view.toNs(view.hit(e).x), true);
      } else if (down.delete(e.pointerId) && e.type === 'pointerup' && moved < 4 && !down.size) {
        const at = view.hit(e);
        view.choose(at.row, at.i ?? -1, false);
      }
      begun = null;
    };
    canvas.addEventListener('pointerup', up);
    canvas.addEventListener('pointercancel', up);
    canvas.addEventListener('pointerleave', tips.hide);
    canvas.addEventListener('dblclick', (e) => view.zoom(0.25, view.toNs(view.hit(e).x)));
    canvas.addEventListener('wheel', (e) => {
      if (e.ctrlKey || e.metaKey)
        view.zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * 0.01), view.toNs(view.hit(e).x));
      else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
        view.pan((e.deltaX || e.deltaY) / view.width());
      else
        return;
      e.preventDefault();
      tips.hide();
    }, { passive: false });
  };

  /* A drag over the whole chooses a part of it. */
  const brush = (canvas, choose) => {
    let from = null;
    const at = (e) => {
      const box = canvas.getBoundingClientRect();
      return Math.min(1, Math.max(0, (e.clientX - box.left) / box.width));
    };
    canvas.addEventListener('pointerdown', (e) => {
      from = at(e);
      canvas.setPointerCapture(e.pointerId);
    });
    canvas.addEventListener('pointermove', (e) => {
      if (from !== null && Math.abs(at(e) - from) > 0.003)
        choose(Math.min(from, at(e)), Math.max(from, at(e)));
    });
    canvas.addEventListener('pointerup', () => {
      from = null;
    });
  };

  return { attach, brush };
})();
