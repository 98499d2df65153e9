// test_browser_views: opens a page in headless Chromium and looks at the views that decide: figures and sweeps.
//
//   node test_browser_views.mjs PAGE.html RUN.json   exit code 0: all fine; else a line each for what is not
//   node test_browser_views.mjs PAGE.html            a page whose runs have nothing for some of them
//
// Every figure that is compared is worked out here once more from run.json, and taken from the tables that stand below
// the charts; each chart is drawn at 1280 and 400 pixels, light and dark, and every choice of every view is made once.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { check, judge, open } from './browser.mjs';
import { CONTRAST, OVERFLOW, READY } from './looks.mjs';

const VIEWS = ['figures', 'sweep'];
const [page, runFile] = process.argv.slice(2);
const url = pathToFileURL(resolve(page)).href;
const near = (a, b, part = 1e-4) => Math.abs(a - b) <= part * Math.max(Math.abs(a), Math.abs(b));
const close = (what, shown, expected) => check(what, Number.isFinite(shown) && near(shown, expected), `${shown} on the page, ${expected} by run.json`);

/* Brings a view into sight, waits until it is drawn, and opens its tables. */
const SHOW = (id) => `new Promise((done) => {
  const view = document.querySelector('.view[data-view="${id}"]');
  view.scrollIntoView({ block: 'center' });
  const look = (left) => {
    const empty = view.querySelector('.empty'), drawn = view.querySelector('.canvas svg, .canvas canvas');
    if (left > 0 && !(drawn && !view.querySelector('.canvas').hidden) && (empty.hidden || !empty.textContent)) { setTimeout(() => look(left - 1), 20); return; }
    for (const fold of view.querySelectorAll('.tables details')) fold.open = true;
    setTimeout(() => done({
      empty: empty.hidden ? '' : empty.textContent, note: view.querySelector('.note')?.textContent ?? '',
      marks: view.querySelectorAll('.canvas svg path').length, texts: view.querySelectorAll('.canvas svg text').length,
      width: drawn?.getBoundingClientRect().width ?? 0, room: view.clientWidth,
      tables: [...view.querySelectorAll('.tables table')].map((table) => ({
        head: [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim()),
        rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => (cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v)))) })),
    }), 60);
  };
  look(100);
})`;
const CHOOSE = (id, name, text) => `(() => { const label = [...document.querySelectorAll('.view[data-view="${id}"] .controls label')].find((l) => l.firstChild.textContent.trim() === '${name}');
  const select = label.querySelector('select'), option = [...select.options].find((o) => o.text.includes(${JSON.stringify(text)}));
  select.value = option.value; select.dispatchEvent(new Event('change')); return option.text; })()`;

async function look(browser, width, dark) {
  const where = `${width} px, ${dark ? 'dark' : 'light'}`;
  const shown = await open(browser, url, { width, dark });
  await shown.evaluate(READY);
  for (const id of VIEWS) {
    const { empty, marks, texts, width: drawn, room, tables } = await shown.evaluate(SHOW(id));
    check(`${where}: ${id} is drawn`, !empty && marks > 4 && texts > 4, `${marks} marks, ${texts} texts ${empty}`);
    check(`${where}: ${id} fits its place`, drawn > room * 0.8 && drawn <= room, `${drawn} of ${room}`);
    check(`${where}: ${id} has its figures as a table`, tables.length > 0 && tables[0].rows.length > 0);
  }
  const overflow = await shown.evaluate(OVERFLOW);
  check(`${where}: no sideways overflow`, overflow.page <= overflow.window && overflow.wide.length === 0, JSON.stringify(overflow));
  const poor = await shown.evaluate(CONTRAST);
  check(`${where}: contrast`, poor.length === 0, poor.join('; '));
  check(`${where}: nothing in the console, no request`, shown.problems.length === 0, shown.problems.join('; '));
  await shown.close();
}

const median = (values) => { const s = [...values].sort((a, b) => a - b), n = s.length; return n % 2 ? s[(n - 1) / 2] : (s[n / 2 - 1] + s[n / 2]) / 2; };
const column = (table, name) => table.head.indexOf(name);
const rowOf = (table, name) => table.rows.find(([first]) => first === name);

async function compareFigures(shown, stages) {
  await shown.evaluate(CHOOSE('figures', 'Load', '16 clients: one key'));
  await shown.evaluate(CHOOSE('figures', 'Figure', 'grants/s'));
  const { tables: [table] } = await shown.evaluate(SHOW('figures'));
  const names = ['redis-setnx', 'pg-advisory', 'zk-lock', 'mem-mutex'];
  const values = (name) => stages.filter((s) => s.lock === name && s.clients === 16 && s.keys === 1 && s.arrival === 'closed').map((s) => s.throughput_per_s);
  for (const name of names) {
    const row = rowOf(table, name), mine = values(name);
    check(`figures: seven repeats of ${name}`, mine.length === 7 && /7 repeats/.test(row[column(table, 'stands on')]), row[column(table, 'stands on')]);
    close(`figures: median of ${name}`, row[column(table, 'grants/s')], median(mine));
    // Of seven the interval of the median is all of them: 1 - 2/2^7 = 98.4 %, and without the outer two 87.5 %.
    close(`figures: least of ${name}`, row[column(table, 'from')], Math.min(...mine));
    close(`figures: greatest of ${name}`, row[column(table, 'to')], Math.max(...mine));
    check(`figures: what stands beside ${name}`, row[column(table, 'guarantee')] === ({ 'zk-lock': 'a majority', 'mem-mutex': 'one host' }[name] ?? 'one server'));
  }
}

async function compareSweeps(shown, stages) {
  const { tables: [measured] } = await shown.evaluate(SHOW('sweep'));
  for (const stage of stages.filter((s) => s.keys === 1000 && s.lock === 'pg-advisory')) close(`sweep: ${stage.clients} clients`, measured.rows.find(([n]) => n === stage.clients)[measured.head.findIndex((name) => name.startsWith('pg-advisory, in memory, one server'))], stage.throughput_per_s);
  await shown.evaluate(CHOOSE('sweep', 'Load', 'rates: 32 clients'));
  const { tables: [rates] } = await shown.evaluate(SHOW('sweep'));
  const offered = stages.filter((s) => s.offered_per_s);
  check('sweep: a row a rate', rates.rows.length === offered.length && offered.length > 4, `${rates.rows.length} of ${offered.length}`);
  for (const stage of offered) close(`sweep: ${stage.offered_per_s}/s`, rates.rows.find(([rate]) => rate === stage.offered_per_s)?.[1], stage.throughput_per_s);
}

async function chooseEverything(shown) {
  for (const id of VIEWS) {
    await shown.evaluate(SHOW(id));
    const made = await shown.evaluate(`(() => { let made = 0; for (const select of document.querySelectorAll('.view[data-view="${id}"] select')) for (const option of [...select.options]) { select.value = option.value; select.dispatchEvent(new Event('change')); made++; } return made; })()`);
    check(`${id}: has choices`, made > 1, `${made}`);
  }
  check('nothing in the console after all choices', shown.problems.length === 0, shown.problems.join('; '));
}

async function compare(browser) {
  const run = JSON.parse(readFileSync(runFile, 'utf8'));
  const shown = await open(browser, url);
  await shown.evaluate(READY);
  await compareFigures(shown, run.stages);
  await compareSweeps(shown, run.stages);
  const verdict = await shown.evaluate(`document.querySelector('#verdict').textContent`);
  check('what ran: machine and servers', verdict.includes(run.environment.cpu_model) && run.servers.every(({ facts }) => verdict.includes(facts.version)), verdict);
  check('verdict: what ran, the bound, the generator', [/Ran: decide, 4 locks/, /bound 3\/n/, /In 1 of the 28 rows/].every((words) => words.test(verdict)), verdict);
  await chooseEverything(shown);
  await shown.close();
}

/* A link may say anything: what nobody can choose is not chosen. */
async function followBadLink(browser) {
  const keys = ['load', 'group', 'figure'];
  const shown = await open(browser, `${url}#compare?${VIEWS.flatMap((id) => keys.map((key) => `${id}.${key}=nonsense`)).join('&')}`);
  await shown.evaluate(READY);
  for (const id of VIEWS) {
    const { empty, marks } = await shown.evaluate(SHOW(id));
    check(`bad link: ${id} is drawn`, !empty && marks > 4, `${marks} marks ${empty}`);
  }
  check('bad link: nothing in the console', shown.problems.length === 0, shown.problems.join('; '));
  await shown.close();
}

/* Views without data say why, and which run would fill them. */
async function lookAtEmpty(browser) {
  const shown = await open(browser, url, { width: 400 });
  await shown.evaluate(READY);
  for (const id of VIEWS) {
    const { empty, marks } = await shown.evaluate(SHOW(id));
    check(`${id}: draws, or says why not`, marks > 4 || empty.length > 20, `${marks} marks, "${empty}"`);
  }
  const overflow = await shown.evaluate(OVERFLOW);
  check('empty views: no sideways overflow', overflow.page <= overflow.window && overflow.wide.length === 0, JSON.stringify(overflow));
  check('empty views: nothing in the console', shown.problems.length === 0, shown.problems.join('; '));
  await shown.close();
}

const looks = [1280, 400].flatMap((width) => [false, true].map((dark) => (browser) => look(browser, width, dark)));
await judge(runFile ? [...looks, compare, followBadLink] : [lookAtEmpty]);
