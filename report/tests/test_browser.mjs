// test_browser: opens rendered reports in headless Chromium without a network and looks at what a person would see.
//
//   node test_browser.mjs PAGE.html PERCENTILES.json VIEWS RUN.json...     exit code 0: all fine; else a line each for what is not
//
// PERCENTILES.json has C's percentiles of the page's rows: [[group, lock, metric, per cent, ns], ...]. VIEWS, a list with
// commas, must have drawn something. Checked at 1280 and 400 pixels, light and dark: charts drawn, no console error, no
// request, no sideways overflow, contrast of texts; then figures, every choice of every view, sorting, picking, the hash,
// pictures, paper, and the page without JavaScript.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { check, judge, open } from './browser.mjs';
import { CONTRAST, CUT_OFF, DRAW_ALL, OVERFLOW, READY, UNTOLD } from './looks.mjs';

const [page, percentilesFile, drawnViews, ...runFiles] = process.argv.slice(2);
const url = pathToFileURL(resolve(page)).href;
const percentiles = JSON.parse(readFileSync(percentilesFile, 'utf8'));
const runs = runFiles.map((file) => JSON.parse(readFileSync(file, 'utf8')));
const near = (a, b) => Math.abs(a - b) <= 1e-9 * Math.abs(b);

async function ready(browser, options, hash = '') {
  const shown = await open(browser, url + hash, options);
  await shown.evaluate(READY);
  return shown;
}

async function look(browser, width, dark) {
  const where = `${width} px, ${dark ? 'dark' : 'light'}`;
  const shown = await ready(browser, { width, dark });
  const views = await shown.evaluate(DRAW_ALL);
  check(`${where}: views`, views.length === 4, `${views.length}`);
  for (const { id, hidden, empty, marks, width: drawn, room, tables } of views) {
    const must = drawnViews.split(',').includes(id);
    check(`${where}: view ${id} shows something`, !hidden && (marks > 8 || (!must && empty.length > 20)), `${marks} marks, "${empty}"`);
    check(`${where}: view ${id} has its figures as a table`, empty || tables > 0);
    check(`${where}: chart ${id} fits its place`, empty || (drawn > room * 0.8 && drawn <= room), `${drawn} of ${room}`);
  }
  const overflow = await shown.evaluate(OVERFLOW);
  check(`${where}: no sideways overflow`, overflow.page <= overflow.window && overflow.wide.length === 0, JSON.stringify(overflow));
  const poor = await shown.evaluate(CONTRAST);
  check(`${where}: contrast`, poor.length === 0, poor.join('; '));
  const colour = await shown.evaluate('getComputedStyle(document.body).backgroundColor');
  check(`${where}: theme`, (Number(colour.match(/\d+/)[0]) < 128) === dark, colour);
  check(`${where}: nothing in the console, no request`, shown.problems.length === 0, shown.problems.join('; '));
  await shown.close();
}

// Each p50 and throughput that run.json has once stands in the page's tables, to their three digits.
async function compareFigures(browser) {
  const shown = await ready(browser);
  const values = new Set(await shown.evaluate(`[...document.querySelectorAll('#compare td[data-v]')].map((td) => Number(td.dataset.v).toPrecision(5))`));
  let seen = 0;
  for (const { stages } of runs) {
    const same = (a, b) => a.lock === b.lock && a.clients === b.clients && a.arrival === b.arrival && a.keys === b.keys;
    for (const stage of stages.filter((s) => stages.filter((t) => same(s, t)).length === 1)) {
      const wait = stage.arrival === 'closed' ? stage.latency_ns.acquire : stage.response_ns;
      for (const value of [stage.throughput_per_s, wait?.p50, stage.latency_ns.handoff?.p50]) {
        if (value === null || value === undefined) continue;
        check(`${stage.id}: ${value} is on the page`, values.has(Number(value).toPrecision(5)));
        seen++;
      }
    }
  }
  check('figures were compared', seen > 0 || runs.length === 0);
  await shown.close();
}

// Charts out of sight are not drawn anew.
const bring = async (shown, id) => {
  await shown.evaluate(`document.querySelector('.view[data-view="${id}"]').scrollIntoView()`);
  await shown.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
};

const PICK = `(view, key, value) => {
  const field = [...document.querySelectorAll('.view[data-view="' + view + '"] .controls label')].find((label) => label.firstChild.data === key)?.lastChild;
  if (!field) return false;
  field.value = value;
  field.dispatchEvent(new Event('change'));
  return true;
}`;

// "Any percentile" of the page against C's, from the same histograms.
async function comparePercentiles(browser) {
  const shown = await ready(browser);
  const titles = { acquire: 'acquire: asked to held', acquire_due: 'response: due to held', handoff: 'handoff', release: 'release' };
  await shown.evaluate(`for (const button of document.querySelectorAll('.picker button[aria-pressed="false"]')) button.click()`);
  await shown.evaluate(DRAW_ALL);
  await bring(shown, 'percentiles');
  for (const group of new Set(percentiles.map(([g]) => g))) {
    for (const percent of new Set(percentiles.map(([, , , p]) => p))) {
      const table = await shown.evaluate(`(() => {
        (${PICK})('percentiles', 'Load', '${group}');
        (${PICK})('percentiles', 'Any percentile', '${percent}');
        const table = document.querySelector('#percentiles .tables table');
        const heads = [...table?.tHead.rows[0].cells ?? []].map((th) => th.textContent);
        return Object.fromEntries([...table?.tBodies[0].rows ?? []].map((row) => [row.cells[0].textContent, Object.fromEntries(heads.map((head, i) => [head, row.cells[i].dataset.v]))]));
      })()`);
      for (const [, lock, metric, , ns] of percentiles.filter(([g, , , p]) => g === group && p === percent)) {
        const value = table[lock]?.[titles[metric]];
        check(`load ${group}, ${lock}, ${metric}, ${percent} %`, value !== undefined && near(Number(value), ns), `${value} on the page, ${ns} by C`);
      }
    }
  }
  check('percentiles were compared', percentiles.length > 10, `${percentiles.length}`);
  await shown.close();
}

// Every option of every select, and the field for a percentile; the tables have what the charts draw, for three of them.
async function chooseAll(browser) {
  const shown = await ready(browser);
  await shown.evaluate(DRAW_ALL);
  const views = await shown.evaluate(`[...document.querySelectorAll('.view')].map((view) => ({ id: view.dataset.view, fields: view.querySelectorAll('.controls select, .controls input').length }))`);
  for (const { id, fields } of views) {
    await bring(shown, id);
    for (let i = 0; i < fields; i++) {
      const untold = await shown.evaluate(`(() => {
        const view = document.querySelector('.view[data-view="${id}"]'), field = view.querySelectorAll('.controls select, .controls input')[${i}];
        const first = field.value, missing = [], values = [...(field.options ? [...field.options].map((o) => o.value) : ['0', '50', '100', '99.97']), first];
        for (const [v, value] of values.entries()) {
          field.value = value;
          field.dispatchEvent(new Event('change'));
          if (field.value !== value) missing.push('${id}: ' + value + ' was not taken');
          if (v === 1 || v >= values.length - 2) missing.push(...(${UNTOLD})(view).map((text) => value + ': ' + text));
        }
        return missing;
      })()`);
      check(`tables of ${id} have what its chart draws`, untold.length === 0, untold.slice(0, 3).join('; '));
    }
  }
  const nameless = await shown.evaluate(`[...document.querySelectorAll('select, input, button, [role="img"]')]
    .filter((e) => !(e.ariaLabel || e.textContent.trim() || e.labels?.[0]?.textContent.trim())).map((e) => e.outerHTML.slice(0, 80))`);
  check('everything has a name for screen readers', nameless.length === 0, nameless.join(' '));
  check('nothing in the console after all choices', shown.problems.length === 0, shown.problems.slice(0, 3).join('; '));
  await shown.close();
}

async function use(browser) {
  const shown = await ready(browser);
  const sorted = await shown.evaluate(`(() => {
    const table = [...document.querySelectorAll('#compare table')].find((t) => t.tBodies[0].rows.length > 1);
    const column = [...table.tHead.rows[0].cells].findIndex((th) => th.textContent.startsWith('grants/s'));
    const head = table.tHead.rows[0].cells[column];
    head.querySelector('button').click();
    const values = [...table.tBodies[0].rows].map((row) => row.cells[column].dataset.v ?? null);
    const known = values.filter((v) => v !== null).map(Number);
    return { aria: head.getAttribute('aria-sort'), up: known.every((v, i) => i === 0 || known[i - 1] <= v), nullsLast: values.slice(0, known.length).every((v) => v !== null), known: known.length };
  })()`);
  check('a click on a head sorts', sorted.aria === 'ascending' && sorted.up && sorted.nullsLast && sorted.known > 1, JSON.stringify(sorted));
  await shown.evaluate(DRAW_ALL);

  const count = `document.querySelectorAll('#percentiles .tables table tbody tr').length`;
  const pressed = `JSON.stringify([...document.querySelectorAll('.picker button')].map((button) => button.getAttribute('aria-pressed')))`;
  const fields = `JSON.stringify([...document.querySelectorAll('.view .controls select, .view .controls input')].map((field) => field.value))`;
  const before = await shown.evaluate(count);
  await bring(shown, 'percentiles');
  await shown.evaluate(`document.querySelector('.picker button[aria-pressed="true"]').click()`);
  const after = await shown.evaluate(count);
  check('picking a lock off takes it out of the charts', after === before - 1, `${before} rows, then ${after}`);
  await shown.evaluate(`(${PICK})('percentiles', 'Any percentile', '97.5'); (${PICK})('percentiles', 'Time', 'release'); (${PICK})('sweep', 'Figure', 'latency_ns.acquire.p50');
    document.querySelector('nav a[href="#sweep"]').click()`);
  await shown.evaluate('new Promise(requestAnimationFrame)');
  const [hash, buttons, values] = [await shown.evaluate('location.hash'), await shown.evaluate(pressed), await shown.evaluate(fields)];
  check('the hash keeps the choice, and the place', /^#sweep\?/.test(hash) && /off=\d/.test(decodeURIComponent(hash)) && /97\.5/.test(hash), hash);
  const { top, bottom, lines, below } = await shown.evaluate(`(() => { const nav = document.querySelector('nav').getBoundingClientRect();
    return { top: nav.top, bottom: nav.bottom, lines: new Set([...document.querySelectorAll('nav a')].map((a) => a.offsetTop)).size, below: document.querySelector('#sweep h2').getBoundingClientRect().top }; })()`);
  check('the navigation stays in sight, in one line', top === 0 && lines === 1, `top ${top}, ${lines} lines`);
  check('the navigation hides no heading that it leads to', below >= bottom, `${below} under ${bottom}`);
  check('nothing in the console after use', shown.problems.length === 0, shown.problems.join('; '));
  await shown.close();

  const again = await ready(browser, {}, hash);
  await again.evaluate(DRAW_ALL);
  check('the hash brings the locks back', (await again.evaluate(pressed)) === buttons);
  check('the hash brings the fields back', (await again.evaluate(fields)) === values, `${values} then ${await again.evaluate(fields)}`);
  check('the hash brings the figures back', (await again.evaluate(count)) === after);
  await again.evaluate(`[...document.querySelectorAll('.picker .every')].at(-1).click()`);
  check('nothing shown is no error', again.problems.length === 0, again.problems.join('; '));
  await again.close();
}

// What no page ever wrote there: each view shows its own choice, or says that there is nothing.
async function readBadHash(browser) {
  const shown = await ready(browser, {}, '#nowhere?off=a,99&percentiles.group=99&percentiles.at=zz&sweep.figure=no&series.figure=x&=');
  const views = await shown.evaluate(DRAW_ALL);
  check('a bad hash breaks no view', shown.problems.length === 0 && views.every(({ empty, marks }) => empty || marks > 0), shown.problems.join('; '));
  await shown.close();
}

async function savePictures(browser) {
  const folder = mkdtempSync(join(tmpdir(), 'lockbench-pictures-'));
  await browser.send('Browser.setDownloadBehavior', { behavior: 'allow', downloadPath: folder, eventsEnabled: true });
  const shown = await ready(browser, { dark: true });
  const drawn = (await shown.evaluate(DRAW_ALL)).filter(({ empty }) => !empty).map(({ id }) => id);
  // Chromium drops what goes beyond about ten in a row: what did not come is asked for again.
  const missing = (id) => ['svg', 'png'].filter((type) => !readdirSync(folder).includes(`lockbench-${id}.${type}`));
  for (const id of drawn) {
    for (let tries = 0; tries < 5 && missing(id).length > 0; tries++) {
      for (const type of missing(id)) await shown.evaluate(`document.querySelectorAll('.view[data-view="${id}"] .save button')[${type === 'svg' ? 0 : 1}].click()`);
      for (let looks = 0; looks < 100 && missing(id).length > 0; looks++) await new Promise((done) => { setTimeout(done, 50); });
    }
  }
  const files = readdirSync(folder);
  for (const id of drawn) {
    const [svg, png] = ['svg', 'png'].map((type) => (files.includes(`lockbench-${id}.${type}`) ? readFileSync(join(folder, `lockbench-${id}.${type}`)) : Buffer.alloc(0)));
    check(`${id}: an SVG file`, svg.length > 1000 && svg.toString('latin1', 0, 200).includes('<svg') && svg.toString('latin1').trimEnd().endsWith('</svg>'), `${svg.length} bytes`);
    check(`${id}: a PNG file`, png.length > 1000 && png.toString('latin1', 0, 8) === '\x89PNG\r\n\x1a\n' && png.readUInt32BE(16) > 600, `${png.length} bytes`);
  }
  check('saving needs no network', shown.problems.filter((text) => !text.startsWith('request: blob:')).length === 0, shown.problems.join('; '));
  rmSync(folder, { recursive: true });
  await shown.close();
}

// A sheet of A4 with Chromium's own margins. Charts that nobody has looked at are drawn, too.
async function printOut(browser) {
  const shown = await ready(browser, { width: 717, dark: true });
  await shown.evaluate(`dispatchEvent(new Event('beforeprint'))`);
  await shown.send('Emulation.setEmulatedMedia', { media: 'print', features: [{ name: 'prefers-color-scheme', value: 'dark' }] });
  await shown.evaluate('new Promise(requestAnimationFrame)');
  const cut = await shown.evaluate(CUT_OFF);
  check('on paper nothing is cut off', cut.length === 0, cut.join('; '));
  const blank = await shown.evaluate(`[...document.querySelectorAll('.view')].filter((view) => !view.querySelector('.empty').textContent && !lockbench.charts[view.dataset.view]).map((view) => view.dataset.view)`);
  check('on paper every chart is drawn', blank.length === 0, blank.join(' '));
  const light = await shown.evaluate(`getComputedStyle(document.body).backgroundColor + ' ' + getComputedStyle(document.body).color`);
  check('on paper it is black on white', light.startsWith('rgb(255, 255, 255) rgb(27'), light);
  await shown.close();
}

async function withoutScript(browser) {
  const shown = await open(browser, url, { width: 400, script: false });
  const body = await shown.evaluate('document.body.innerText');
  check('without JavaScript the verdict and the tables are there', /Does each lock exclude/.test(body) && /cost of a grant/.test(body) && /Comparison/.test(body));
  check('without JavaScript it says so', /charts need JavaScript/.test(body));
  check('without JavaScript no empty frames', await shown.evaluate(`[...document.querySelectorAll('.view, .picker')].every((e) => e.hidden)`));
  await shown.close();
}

// A decision without scrolling: the verdict in a line, a tile a class, and the picture, before the end of the first screen.
async function firstScreen(browser) {
  const shown = await ready(browser, { width: 1400 });
  const facts = await shown.evaluate(`(() => {
    const top = (selector) => document.querySelector(selector)?.getBoundingClientRect().top ?? Infinity;
    const box = document.querySelector('details.verdict');
    return { verdict: box.getBoundingClientRect().height, open: box.open, bad: !!box.querySelector('p.bad'), classes: box.className, warns: !!box.querySelector('p.warn'),
      tiles: [...document.querySelectorAll('.tile')].map((tile) => tile.innerText), bars: document.querySelectorAll('.far li').length, picture: top('.far li') };
  })()`);
  /* and, where rounds prove nothing, in a line that says so */
  check('the first screen has the verdict in one line', !facts.open && facts.verdict < 100, `${facts.verdict} px`);
  check('a finding has no green box', !(facts.bad || facts.warns) || !facts.classes.includes('good'), facts.classes);
  check('the first screen has tiles, each with its figures or that there is no lock to choose', facts.tiles.length > 0 && facts.tiles.every((text) => /p99 wait[^]*grants\/s|no lock to choose/.test(text)), JSON.stringify(facts.tiles));
  check('the picture begins on the first screen of 900 px', facts.bars > 0 && facts.picture < 900, `${facts.picture} px`);
  const untold = await shown.evaluate(`(() => {
    const words = [...document.querySelectorAll('#words dt')].map((dt) => dt.textContent);
    const heads = [...document.querySelectorAll('#compare thead th, #evidence thead th')].filter((th) => ['Jain', 'bound 3/n', 'guarantee'].includes(th.textContent.trim()));
    return [...['generator-limited', 'Jain', 'bound 3/n', 'guarantee'].filter((word) => !words.includes(word)), ...heads.filter((th) => !th.title).map((th) => th.outerHTML)];
  })()`);
  check('each word is explained on its head and in the list', untold.length === 0, untold.join('; '));
  await shown.close();
  for (const width of [1400, 1024, 390]) {
    const shown = await ready(browser, { width });
    const { page, window } = await shown.evaluate(OVERFLOW);
    check(`${width} px: no sideways scroll`, page <= window, `${page} of ${window}`);
    const cut = await shown.evaluate(`[...document.querySelectorAll('.tile *, .far li > *, .lead')].filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline').map((e) => e.className + ' ' + e.textContent.slice(0, 30))`);
    check(`${width} px: nothing of the first screen is cut`, cut.length === 0, cut.join('; '));
    await shown.close();
  }
}

await judge([
  ...[1280, 400].flatMap((width) => [false, true].map((dark) => (browser) => look(browser, width, dark))),
  compareFigures, comparePercentiles, chooseAll, use, readBadHash, printOut, withoutScript, firstScreen,
  ...(drawnViews.includes('series') ? [savePictures] : []),
]);
