// looks: what is looked at in every page: expressions that are evaluated in it.

/** Resolves when the page's script is done. */
export const READY = 'new Promise((done) => { const look = () => (document.documentElement.dataset.ready ? requestAnimationFrame(() => done(true)) : setTimeout(look, 20)); look(); })';

/** What is wider than the window, tables in boxes of their own aside. */
export const OVERFLOW = `({ page: document.documentElement.scrollWidth, window: innerWidth,
  wide: [...document.querySelectorAll('body *')].filter((e) => !e.closest('.scroll, pre, svg, select, .quiet') && e.getBoundingClientRect().right > innerWidth + 1)
    .slice(0, 3).map((e) => e.tagName + '.' + e.className) })`;

// WCAG's contrast of each visible text against the nearest background that is not transparent.
export const CONTRAST = `(() => {
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (e) => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const poor = [];
  for (const e of document.querySelectorAll('h1, h2, h3, p, th, td, li, a, summary, button, label, .chip, .unit, .load, svg text')) {
    if (!e.textContent.trim() || !e.checkVisibility()) continue;
    const style = getComputedStyle(e);
    const ink = e.ownerSVGElement ? style.fill : style.color;
    if (!ink.startsWith('rgb')) continue;
    const [a, b] = [light(rgb(ink)), light(behind(e.ownerSVGElement?.parentElement ?? e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < (e.ownerSVGElement ? 3 : 4.5)) poor.push(ratio.toFixed(2) + ' ' + (e.className || e.tagName) + ' "' + e.textContent.trim().slice(0, 30) + '" ' + ink);
  }
  return poor.slice(0, 5);
})()`;
