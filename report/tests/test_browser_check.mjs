// test_browser_check: opens a check's page in headless Chromium without a network and looks at what a person would see.
//
//   node test_browser_check.mjs PAGE.html CHECK.json [quick]   exit code 0: all fine; else a line each for what is not
//
// quick: for large pages, half of the sizes and themes, and fewer cells opened.
//
// Checked at 1280 and 400 pixels, light and dark: one cell in the matrix for each of check.json, named as its verdict,
// heads that stay, no console error, no request, no sideways overflow, contrast; then the arrow keys, the filter, the
// panel, the hash, and the page without JavaScript.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { check, judge, open } from './browser.mjs';
import { CONTRAST, OVERFLOW, READY } from './looks.mjs';

const [page, file, how] = process.argv.slice(2);
const quick = how === 'quick';
const url = pathToFileURL(resolve(page)).href;
const { cells } = JSON.parse(readFileSync(file, 'utf8'));
const press = (key) => `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }))`;
const NAME = `document.activeElement.getAttribute('aria-label')`;
const plain = (text) => text.replace(/\s+/g, ' '); // control characters are shown as spaces

const MATRIX = `[...document.querySelectorAll('table.matrix td[data-verdict]')].map((td) => ({ name: td.querySelector('a').getAttribute('aria-label'), sign: td.textContent, verdict: td.dataset.verdict, differs: 'differs' in td.dataset }))`;

async function visit(browser, options, hash = '') {
  const shown = await open(browser, url + hash, options);
  await shown.evaluate(READY);
  return shown;
}

async function look(browser, width, dark) {
  const where = `${width} px, ${dark ? 'dark' : 'light'}`;
  const shown = await visit(browser, { width, dark });
  const overflow = await shown.evaluate(OVERFLOW);
  check(`${where}: no sideways overflow`, overflow.page <= overflow.window && overflow.wide.length === 0, JSON.stringify(overflow));
  const poor = await shown.evaluate(CONTRAST);
  check(`${where}: contrast`, poor.length === 0, poor.join('; '));
  const top = await shown.evaluate(`document.querySelector('#verdict').getBoundingClientRect().bottom + scrollY`);
  check(`${where}: the verdict is on the first screen`, width < 800 || top < 900, top);
  const colour = await shown.evaluate('getComputedStyle(document.body).backgroundColor');
  check(`${where}: theme`, (Number(colour.match(/\d+/)[0]) < 128) === dark, colour);
  const stuck = await shown.evaluate(`(() => {
    const box = document.querySelector('.scroll.matrix'), head = box.querySelector('thead th.upright'), name = box.querySelector('tbody tr[data-backend] th');
    box.scrollTo(300, 300);
    const at = box.getBoundingClientRect();
    return { top: box.scrollTop ? head.getBoundingClientRect().top - at.top : 0, left: box.scrollLeft ? name.getBoundingClientRect().left - at.left : 0 };
  })()`);
  check(`${where}: heads stay while the matrix scrolls`, Math.abs(stuck.top) < 3 && Math.abs(stuck.left) < 3, JSON.stringify(stuck));
  check(`${where}: nothing in the console, no request`, shown.problems.length === 0, shown.problems.join('; '));

  await shown.evaluate(`document.querySelector('table.matrix td[data-verdict="expired"] a, table.matrix td[data-verdict] a').click()`);
  const panel = await shown.evaluate(`(() => { const e = document.querySelector('dialog'), box = e.getBoundingClientRect();
    const wide = [...e.querySelectorAll('*')].filter((x) => !x.closest('.scroll, .wide, pre, svg, select, .quiet') && x.getBoundingClientRect().right > box.right + 1).map((x) => x.tagName + '.' + x.className).slice(0, 3);
    return { open: e.open, right: box.right, wide }; })()`);
  check(`${where}: the panel fits`, panel.open && panel.right <= width && panel.wide.length === 0, JSON.stringify(panel));
  const dim = await shown.evaluate(CONTRAST);
  check(`${where}: contrast of the panel`, dim.length === 0, dim.join('; '));
  await shown.close();
}

// Every cell of the file is in the matrix once, with its verdict in words and a sign that does not need the colour.
async function compare(browser) {
  const shown = await visit(browser);
  const seen = await shown.evaluate(MATRIX);
  check('as many cells as the file has', seen.length === cells.length, `${seen.length} of ${cells.length}`);
  const named = new Map(seen.map((cell) => [plain(cell.name), cell]));
  const spoken = (cell) => (cell.missed ? 'broken on purpose, and not caught' : words[cell.compared]);
  const words = { 'as expected': 'as expected', worse: 'worse than stated', better: 'better than stated' };
  for (const cell of cells) {
    const name = plain(`${cell.lock} under ${cell.fault}: ${cell.verdict}, ${spoken(cell)}`.replace(/\u001b/g, ' '));
    const at = named.get(name);
    check(`${name} is in the matrix`, at !== undefined);
    if (!at) continue;
    const sign = { safe: '.', expired: 'E', stuck: 'S', violated: 'V', inconclusive: '?', failed: 'x' }[cell.verdict];
    const mark = cell.compared === 'worse' || cell.missed ? '!' : cell.compared === 'better' ? '+' : '';
    check(`${name}: its sign`, at.sign === sign + mark, at.sign);
    check(`${name}: whether it differs`, at.differs === (cell.compared !== 'as expected'));
  }
  await shown.close();
}

async function keys(browser) {
  const shown = await visit(browser);
  check('one stop for Tab', (await shown.evaluate(`document.querySelectorAll('table.matrix a[tabindex="0"]').length`)) === 1);
  await shown.evaluate(`document.querySelector('table.matrix a[tabindex="0"]').focus()`);
  const names = [await shown.evaluate(NAME)];
  for (const key of ['ArrowRight', 'ArrowLeft', 'ArrowDown', 'End', 'Home']) {
    await shown.evaluate(press(key));
    names.push(await shown.evaluate(NAME));
  }
  const [first, right, left, down, end, home] = names;
  check('the arrow keys go from cell to cell', right !== first && left === first && down !== first, names.join(' | '));
  check('End and Home go to the ends of a row', end.split(' under ')[0] === home.split(' under ')[0], names.join(' | '));
  await shown.close();
}

async function filter(browser) {
  const shown = await visit(browser);
  const clear = cells.filter((cell) => cell.compared !== 'as expected').length;
  await shown.evaluate(`document.querySelector('#filter input').click()`);
  const state = `({ bright: document.querySelectorAll('table.matrix td[data-verdict]:not(.dim)').length, text: document.querySelector('#filter [role=status]').textContent,
    empty: [...document.querySelectorAll('table.matrix tr[data-backend]:not([hidden])')].filter((row) => !row.querySelector('td[data-verdict]:not(.dim)')).length, hash: location.hash })`;
  const differs = await shown.evaluate(state);
  check('the filter shows what differs', differs.bright === clear && differs.text === `${clear} of ${cells.length} cells` && differs.empty === 0, JSON.stringify(differs));
  const select = (index, value) => shown.evaluate(`(() => { const s = document.querySelectorAll('#filter select')[${index}]; s.value = '${value}'; s.dispatchEvent(new Event('change')); })()`);
  await shown.evaluate(`document.querySelector('#filter input').click()`);
  for (const verdict of new Set(cells.map((cell) => cell.verdict))) {
    await select(0, verdict);
    const { bright } = await shown.evaluate(state);
    check(`the filter by ${verdict}`, bright === cells.filter((cell) => cell.verdict === verdict).length, String(bright));
  }
  await select(0, '');
  const backend = await shown.evaluate(`document.querySelectorAll('#filter select')[1].options[1].value`);
  await select(1, backend);
  const one = await shown.evaluate(`[...document.querySelectorAll('table.matrix tr[data-backend]:not([hidden])')].every((row) => row.dataset.backend === '${backend}')`);
  check('the filter by backend', one);
  const again = await visit(browser, {}, await shown.evaluate('location.hash'));
  check('the hash brings the filter back', (await again.evaluate(`document.querySelectorAll('#filter select')[1].value`)) === backend);
  await again.close();
  check('nothing in the console after filtering', shown.problems.length === 0, shown.problems.join('; '));
  await shown.close();
}

// Every cell opens, and goes back where it was.
async function panels(browser) {
  const shown = await visit(browser);
  const broken = await shown.evaluate(`(() => {
    const dialog = document.querySelector('dialog'), bad = [];
    const articles = document.querySelectorAll('.cells article').length;
    for (const link of [...document.querySelectorAll('table.matrix td a')].slice(0, ${quick ? 40 : 200})) {
      link.click();
      const article = dialog.querySelector('article'), name = link.getAttribute('aria-label');
      if (!dialog.open || !article || '#' + article.id !== link.getAttribute('href')) { bad.push(name + ': is not in the panel'); continue; }
      dialog.close();
    }
    document.querySelector('table.matrix td a').click();
    document.querySelector('.findings a')?.click();
    if (!dialog.open) bad.push('a finding opens its cell');
    dialog.close();
    return new Promise((done) => setTimeout(() => {
      if (document.querySelectorAll('.cells article').length !== articles) bad.push('articles were lost');
      done(bad.slice(0, 5));
    }, 50));
  })()`);
  check('cells open with their evidence', broken.length === 0, broken.join('; '));
  await shown.evaluate(`document.querySelector('table.matrix td a').click()`);
  const again = await visit(browser, {}, await shown.evaluate('location.hash'));
  check('the hash brings the cell back', await again.evaluate(`document.querySelector('dialog').open`));
  await again.close();
  check('nothing in the console after opening', shown.problems.length === 0, shown.problems.join('; '));
  await shown.close();
}

async function withoutScript(browser) {
  const shown = await open(browser, url, { width: 400, script: false });
  const seen = await shown.evaluate(`({ articles: [...document.querySelectorAll('.cells article')].filter((e) => e.checkVisibility()).length, links: document.querySelectorAll('table.matrix td a').length,
    filter: document.getElementById('filter').hidden,
    reach: [...document.querySelectorAll('table.matrix td a, .findings a')].every((a) => document.getElementById(a.hash.slice(1))) })`);
  check('without JavaScript all evidence is there', seen.articles === cells.length && seen.links === cells.length && seen.filter && seen.reach, JSON.stringify(seen));
  await shown.close();
}

const looks = [1280, 400].flatMap((width) => [false, true].map((dark) => [width, dark])).filter(([width, dark]) => !quick || dark === (width === 400));
await judge([...looks.map(([width, dark]) => (browser) => look(browser, width, dark)), compare, keys, filter, panels, withoutScript]);
