// filter: the filter of the matrix: by verdict, by backend, only cells that differ from the stated verdict. The choice
// is kept in the URL's hash; rows without a cell that fits are left out, other cells are dimmed.

const VERDICTS = ['safe', 'expired', 'stuck', 'violated', 'inconclusive', 'failed'];

function makeSelect(name, values, current, onPick) {
  const label = document.createElement('label');
  const select = document.createElement('select');
  select.add(new Option('all', '', false, current === ''));
  for (const value of values) select.add(new Option(value, value, false, value === current));
  select.addEventListener('change', () => onPick(select.value));
  label.append(name, select);
  return label;
}

function makeBox(name, current, onPick) {
  const label = document.createElement('label');
  const box = document.createElement('input');
  box.type = 'checkbox';
  box.checked = current;
  box.addEventListener('change', () => onPick(box.checked));
  label.append(box, name);
  return label;
}

export function makeFilter(place, table, state, onFilter) {
  const rows = [...table.querySelectorAll('tr[data-backend]')];
  const cells = [...table.querySelectorAll('td[data-verdict]')];
  const backends = [...new Set(rows.map((row) => row.dataset.backend))].sort();
  const present = VERDICTS.filter((verdict) => cells.some((cell) => cell.dataset.verdict === verdict));
  const count = document.createElement('span');
  count.setAttribute('role', 'status');

  function apply() {
    const verdict = state.get('verdict', ''), backend = state.get('backend', ''), differs = state.get('differs', '') === 'yes';
    const fits = (cell) => (!verdict || cell.dataset.verdict === verdict) && (!differs || 'differs' in cell.dataset);
    let shown = 0;
    for (const row of rows) {
      const ofBackend = !backend || row.dataset.backend === backend;
      let fitting = 0;
      for (const cell of row.querySelectorAll('td[data-verdict]')) {
        const fit = ofBackend && fits(cell);
        cell.classList.toggle('dim', !fit);
        fitting += fit;
      }
      row.hidden = fitting === 0;
      shown += fitting;
    }
    for (const group of table.tBodies) group.hidden = [...group.rows].every((row) => row.hidden || row.classList.contains('family'));
    count.textContent = shown === cells.length ? `${shown} cells` : `${shown} of ${cells.length} cells`;
    onFilter();
  }

  place.append(
    makeSelect('Verdict', present, state.get('verdict', ''), (value) => state.set('verdict', value)),
    makeSelect('Backend', backends, state.get('backend', ''), (value) => state.set('backend', value)),
    makeBox('only what differs from what is stated', state.get('differs', '') === 'yes', (on) => state.set('differs', on ? 'yes' : '')),
    count,
  );
  place.hidden = false;
  state.onChange(apply);
  apply();
}
