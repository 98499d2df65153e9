// main: the scripts of a check's page: arrow keys and filter of the matrix, the panel of a cell.
// The page is complete without it.
import { makeSortable } from '../sort.js';
import { makeState } from '../state.js';
import { makeFilter } from './filter.js';
import { makeGrid } from './grid.js';
import { makePanel } from './panel.js';

for (const table of document.querySelectorAll('table.sortable')) makeSortable(table);

const state = makeState({ locks: [] });
const matrix = document.querySelector('table.matrix');
const panel = makePanel(document.getElementById('evidence'), state);
if (matrix) {
  const grid = makeGrid(matrix);
  makeFilter(document.getElementById('filter'), matrix, state, grid.update);
}
// Links to cells stand in the matrix and in the findings.
document.addEventListener('click', (event) => {
  const link = event.target.closest('a[href^="#cell-"]');
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  panel.open(link.hash.slice(1));
});
document.documentElement.dataset.ready = 'yes';
