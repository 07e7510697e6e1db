
/* One tooltip for everything: a heading and pairs. Shown by pointer and by focus, Escape hides. */
const tips = (() => {
  'use strict';
  const tip = document.getElementById('tip');

  const fill = (content) => {
    tip.replaceChildren(...[
      content.title && h('b', {}, content.title),
      h('dl', {}, (content.pairs || []).flatMap(([k, v]) => [h('dt', {}, k), h('dd', {}, v)])),
      content.note && h('div', {}, content.note),
    ].filter(Boolean));
  };

  const place = (x, y) => {
    const box = tip.getBoundingClientRect(), gap = 14;
    const left = x + gap + box.width > innerWidth ? x - gap - box.width : x + gap;
    const top = y + gap + box.height > innerHeight ? y - gap - box.height : y + gap;
    tip.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
  };

  const show = (content, x, y) => {
    if (!content)
      return hide();
    fill(content);
    tip.hidden = false;
    return place(x, y);
  };

  const hide = () => {
    tip.hidden = true;
  };

  const attach = (element, content) => {
    element.addEventListener('pointermove', (e) => show(content(), e.clientX, e.clientY));
    element.addEventListener('pointerleave', hide);
    element.addEventListener('focus', () => {
      const box = element.getBoundingClientRect();
      if (element.matches(':focus-visible'))
        show(content(), box.left + Math.min(box.width / 2, 160), box.bottom - 6);
    });
    element.addEventListener('blur', hide);
  };

  /* An element that fills the screen shows only its own contents. */
  document.addEventListener('fullscreenchange', () => (document.fullscreenElement || document.body).append(tip));
  document.addEventListener('keydown', (e) => e.key === 'Escape' && hide());
  document.addEventListener('scroll', hide, { passive: true });
  return { attach, show, hide };
})();
