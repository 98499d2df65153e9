// looks: what is looked at in every page: expressions that are evaluated in it.

/** Resolves when the page's script is done. */
export const READY = 'new Promise((done) => { const look = () => (document.documentElement.dataset.ready ? requestAnimationFrame(() => done(true)) : setTimeout(look, 20)); look(); })';

/** Brings every view into sight, one after the other, so that it is drawn; what each one shows then. */
export const DRAW_ALL = `(async () => {
  const views = [...document.querySelectorAll('.view')];
  for (const view of views) {
    const done = () => view.querySelector('.empty').textContent || lockbench.charts[view.dataset.view];
    view.scrollIntoView();
    for (let frame = 0; frame < 600 && !done(); frame++) await new Promise(requestAnimationFrame);
  }
  scrollTo(0, 0);
  return views.map((view) => {
    const chart = lockbench.charts[view.dataset.view];
    return { id: view.dataset.view, hidden: view.hidden, empty: view.querySelector('.empty').textContent, marks: chart?.getZr().storage.getDisplayList(true).length ?? 0,
      width: chart?.getWidth() ?? 0, room: view.clientWidth, tables: view.querySelectorAll('.tables details').length };
  });
})()`;

/** A function of a view's element: figures that its chart draws and that none of its tables has: of lines, bars and dots. */
export const UNTOLD = `((view) => {
  const id = view.dataset.view, chart = lockbench.charts[id];
  if (!chart || view.querySelector('.canvas').hidden) return [];
  for (const fold of view.querySelectorAll('.tables details:not([open])')) { fold.open = true; fold.dispatchEvent(new Event('toggle')); }
  const told = new Set([...view.querySelectorAll('.tables [data-v]')].map((cell) => Number(cell.dataset.v).toPrecision(9)));
  const { series, yAxis } = chart.getOption();
  const figures = series.filter((one) => one.name && !one.silent && one.type !== 'custom').flatMap((one) => one.data.map((item) => {
    const value = item?.value ?? item;
    return Array.isArray(value) ? value[yAxis[0].type === 'category' ? 0 : 1] : value;
  }));
  const missing = figures.filter((figure) => typeof figure === 'number' && !told.has(figure.toPrecision(9)));
  return missing.length ? [missing.length + ' of ' + figures.length + ', e.g. ' + missing[0]] : [];
})`;

/** What sticks out of a sheet of paper this wide, tables included. */
export const CUT_OFF = `[...document.querySelectorAll('main *, header *')].filter((e) => e.checkVisibility() && !e.closest('svg, .quiet, select, nav') && !e.querySelector(':scope > canvas')
  && e.getBoundingClientRect().right > innerWidth + 1).slice(0, 4).map((e) => e.tagName + '.' + e.className + ' ' + Math.round(e.getBoundingClientRect().right))`;

/** What is wider than the window, tables in boxes of their own aside. */
export const OVERFLOW = `({ page: document.documentElement.scrollWidth, window: innerWidth,
  wide: [...document.querySelectorAll('body *')].filter((e) => !e.closest('.scroll, pre, svg, select, .quiet, nav') && e.getBoundingClientRect().right > innerWidth + 1)
    .slice(0, 3).map((e) => e.tagName + '.' + e.className) })`;

/** Texts of a chart, or of the first picture, that lie on one another by more than a quarter of the smaller one. */
export const COLLISIONS = `[...document.querySelectorAll('.view .canvas svg, #far .axis, #far li')].flatMap((chart) => {
  const texts = [...chart.querySelectorAll('text, .axis i, .name, b, .none')].filter((t) => t.textContent.trim()).map((t) => ({ text: t.textContent, box: t.getBoundingClientRect() }));
  return texts.flatMap((a, i) => texts.slice(i + 1).filter((b) => {
    const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left), tall = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
    return wide > 0 && tall > 0 && wide * tall > 0.25 * Math.min(a.box.width * a.box.height, b.box.width * b.box.height);
  }).map((b) => a.text + ' / ' + b.text));
})`;

/** Texts of a chart that stick out of it. */
export const CUT = `[...document.querySelectorAll('.view .canvas svg, #far .axis, #far li')].flatMap((chart) => {
  const frame = chart.getBoundingClientRect();
  return [...chart.querySelectorAll('text, .axis i, .name, b, .track u')].filter((t) => { const box = t.getBoundingClientRect(); return box.width > 0 && (box.left < frame.left - 1 || box.right > frame.right + 1); }).map((t) => t.textContent || t.title);
})`;

/** Tables of the document that need scrolling to the side, those in folds too; a chart's own tables of points aside. */
export const WIDE_TABLES = `(() => {
  for (const fold of document.querySelectorAll('details')) fold.open = true;
  return [...document.querySelectorAll('main .scroll')].filter((e) => !e.closest('.view') && e.scrollWidth > e.clientWidth + 1)
    .map((e) => e.querySelector('caption')?.textContent + ' ' + e.scrollWidth + ' of ' + e.clientWidth);
})()`;

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
