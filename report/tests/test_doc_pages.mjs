// test_doc_pages: opens the page of a run in headless Chromium without a network and looks at what a person would see.
//
//   node test_doc_pages.mjs PAGE.html VIEW,VIEW   exit code 0: all fine; else a line each for what is not
//
// Checked at 1400 pixels, light and dark, at 1024, light, and at 390, dark: nothing in the console, no request, no sideways overflow,
// contrast, each view draws and fits, its figures stand in a table, no label is cut or lies on another, the first chart
// begins in the first 900 pixels, and at 1400 no table is wider than the page.
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { check, judge, open } from './browser.mjs';
import { COLLISIONS, CONTRAST, CUT, DRAW_ALL, OVERFLOW, READY, UNTOLD, WIDE_TABLES } from './looks.mjs';

const [page, wanted] = process.argv.slice(2);
const url = pathToFileURL(resolve(page)).href;
const FIRST_SCREEN = 900;

// The page of runs begins with a picture that is no view.
const TOP = `document.querySelector('#far, .view:not([hidden])').getBoundingClientRect().top + scrollY`;

const look = (width, dark) => async (browser) => {
  const where = `${width} px, ${dark ? 'dark' : 'light'}`;
  const shown = await open(browser, url, { width, dark });
  await shown.evaluate(READY);
  const views = await shown.evaluate(DRAW_ALL);
  for (const id of wanted.split(',')) {
    const view = views.find((one) => one.id === id);
    check(`${where}: ${id} draws`, view && !view.hidden && view.marks > 0 && view.empty === '' && view.tables > 0, JSON.stringify(view));
    check(`${where}: ${id} fits`, view && view.width <= view.room + 1, JSON.stringify(view));
  }
  const none = (what, found) => check(`${where}: ${what}`, found.length === 0, found.join('; '));
  none('labels lie on one another', await shown.evaluate(COLLISIONS));
  none('labels are cut', await shown.evaluate(CUT));
  const overflow = await shown.evaluate(OVERFLOW);
  check(`${where}: no sideways overflow`, overflow.page <= overflow.window && overflow.wide.length === 0, JSON.stringify(overflow));
  none('contrast', await shown.evaluate(CONTRAST));
  const top = await shown.evaluate(TOP);
  check(`${where}: the first chart begins in the first screen`, top < FIRST_SCREEN, top);
  if (width === 1400) none('tables are wider than the page', await shown.evaluate(WIDE_TABLES));
  none('figures that no table has', await shown.evaluate(`[...document.querySelectorAll('.view')].flatMap(${UNTOLD})`));
  check(`${where}: nothing in the console, no request`, shown.problems.length === 0, shown.problems.join('; '));
  await shown.close();
};

// What fits depends on the width, and the contrast on the theme: each theme wide, and each other width in one of them.
await judge([[1400, false], [1400, true], [1024, false], [390, true]].map(([width, dark]) => look(width, dark)));
