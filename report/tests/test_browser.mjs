// test_browser: opens rendered reports in headless Chromium without a network and looks at what a person would see.
//
//   node test_browser.mjs PAGE.html RUN.json...     exit code 0: all fine; else a line each for what is not
//
// Checked at 1280 and 400 pixels, light and dark: charts drawn, no console error, no request, no sideways overflow,
// contrast of texts, figures on the page equal to run.json's; then sorting, picking, the hash, and the page without
// JavaScript.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { launch, open } from './browser.mjs';
import { CONTRAST, OVERFLOW, READY } from './looks.mjs';

const [page, ...runFiles] = process.argv.slice(2);
const url = pathToFileURL(resolve(page)).href;
const runs = runFiles.map((file) => JSON.parse(readFileSync(file, 'utf8')));
const failures = [];
const check = (what, ok, detail = '') => { if (!ok) failures.push(`${what}${detail ? `: ${detail}` : ''}`); };

// In the page: what each view shows, and how many marks its chart has.
const CHARTS = `[...document.querySelectorAll('.view')].map((view) => ({
  id: view.dataset.view, hidden: view.hidden, empty: !view.querySelector('.empty').hidden,
  marks: view.querySelectorAll('svg path').length, texts: view.querySelectorAll('svg text').length,
  width: view.querySelector('svg')?.getBoundingClientRect().width ?? 0, room: view.clientWidth }))`;

async function look(browser, width, dark) {
  const where = `${width} px, ${dark ? 'dark' : 'light'}`;
  const shown = await open(browser, url, { width, dark });
  await shown.evaluate(READY);
  const charts = await shown.evaluate(CHARTS);
  check(`${where}: charts`, charts.length === 5, `${charts.length} of 5`);
  for (const { id, hidden, empty, marks, texts, width: drawn, room } of charts) {
    check(`${where}: chart ${id} is drawn`, !hidden && !empty && marks > 8 && texts > 4, `${marks} marks, ${texts} texts`);
    check(`${where}: chart ${id} fits its place`, drawn > room * 0.8 && drawn <= room, `${drawn} of ${room}`);
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
  const shown = await open(browser, url);
  await shown.evaluate(READY);
  const values = new Set(await shown.evaluate(`[...document.querySelectorAll('#compare td[data-v]')].map((td) => Number(td.dataset.v).toPrecision(5))`));
  let seen = 0;
  for (const { stages } of runs) {
    const same = (a, b) => a.lock === b.lock && a.clients === b.clients && a.arrival === b.arrival && a.keys === b.keys;
    for (const stage of stages.filter((s) => stages.filter((t) => same(s, t)).length === 1)) {
      for (const value of [stage.throughput_per_s, stage.latency_ns.acquire?.p50, stage.latency_ns.handoff?.p50]) {
        if (value === null || value === undefined) continue;
        check(`${stage.id}: ${value} is on the page`, values.has(Number(value).toPrecision(5)));
        seen++;
      }
    }
  }
  check('figures were compared', seen > 0 || runs.length === 0);
  await shown.close();
}

async function use(browser) {
  const shown = await open(browser, url);
  await shown.evaluate(READY);
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

  const count = `document.querySelectorAll('.view[data-view="scaling"] svg path').length`;
  const before = await shown.evaluate(count);
  await shown.evaluate(`document.querySelector('.picker button[aria-pressed="true"]').click()`);
  const after = await shown.evaluate(count);
  check('picking a lock off takes it out of the charts', after < before, `${before} marks, then ${after}`);
  const hash = await shown.evaluate('location.hash');
  check('the hash keeps the choice', /off=\d/.test(decodeURIComponent(hash)), hash);
  const selects = await shown.evaluate(`[...document.querySelectorAll('.view select')].map((select) => {
    for (const option of select.options) { select.value = option.value; select.dispatchEvent(new Event('change')); }
    return select.options.length; })`);
  check('views have choices', selects.length > 0 && selects.every((n) => n > 1), selects.join(' '));
  await shown.evaluate(`for (const button of document.querySelectorAll('.picker button')) button.click()`);
  check('nothing in the console after use', shown.problems.length === 0, shown.problems.join('; '));
  await shown.close();

  const again = await open(browser, url + hash);
  await again.evaluate(READY);
  check('the hash brings the choice back', (await again.evaluate(count)) === after);
  await again.close();
}

async function withoutScript(browser) {
  const shown = await open(browser, url, { width: 400, script: false });
  const body = await shown.evaluate('document.body.innerText');
  check('without JavaScript the verdict and the tables are there', /Does each lock exclude/.test(body) && /Which lock/.test(body) && /Comparison/.test(body));
  check('without JavaScript it says so', /charts need JavaScript/.test(body));
  check('without JavaScript no empty frames', await shown.evaluate(`[...document.querySelectorAll('.view, .picker')].every((e) => e.hidden)`));
  await shown.close();
}

const browser = await launch();
try {
  for (const width of [1280, 400]) for (const dark of [false, true]) await look(browser, width, dark);
  await compareFigures(browser);
  await use(browser);
  await withoutScript(browser);
} finally {
  await browser.close();
}
for (const failure of failures) console.log(`not ok: ${failure}`);
if (failures.length === 0) console.log('ok');
process.exit(failures.length ? 1 : 0);
