// main: the scripts of the page: sortable tables, the lock picker, and the charts. Without it the page has no charts, and
// hides the sections that have nothing else.
import { readData } from './data.js';
import { makePicker } from './picker.js';
import { makeSortable } from './sort.js';
import { makeState } from './state.js';
import { charts, mount } from './view.js';
import percentiles from './views/percentiles.js';
import series from './views/series.js';
import sweep from './views/sweep.js';
import figures from './views/figures.js';

// To add a view: one module here, one line in report/page/html.c.
const views = [percentiles, series, sweep, figures];

document.documentElement.dataset.scripted = 'yes'; // page.css shows what only scripts fill

for (const table of document.querySelectorAll('table.sortable')) makeSortable(table);

const data = readData(document.getElementById('data'));
const state = makeState(data);
const picker = document.getElementById('picker');
if (picker) makePicker(picker, data, state);
for (const place of document.querySelectorAll('.view')) {
  const view = views.find((v) => v.id === place.dataset.view);
  if (view) mount(place, view, data, state);
}

globalThis.lockbench = { charts };

// No element is called "view?off=1", so the browser has not gone there.
const [anchor, query] = location.hash.split('?');
if (query !== undefined && anchor.length > 1) document.getElementById(anchor.slice(1))?.scrollIntoView();

// On paper everything must be visible.
addEventListener('beforeprint', () => {
  for (const fold of document.querySelectorAll('#compare details:has(h3), details.verdict')) fold.open = true;
});
document.documentElement.dataset.ready = 'yes';
