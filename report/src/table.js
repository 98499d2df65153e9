// table: a chart's figures as a table: those that its view gives, or those that its ECharts option draws.
//
// A table is { title?, columns: [{ name, format? }], rows: [[value]], open? }. A value is a text or a number; a number
// is shown by the column's format (without one, a whole number in full), and sorts as it is. An absent figure is null.
import { count, number } from './format.js';
import { makeSortable } from './sort.js';

const plain = (value) => (Number.isInteger(value) ? count(value) : number(value));
const isFigure = (value) => typeof value === 'number' && Number.isFinite(value);

function cell(value, column) {
  const td = document.createElement('td');
  if (typeof value === 'string') {
    td.textContent = value;
    return td;
  }
  td.className = 'num';
  td.textContent = isFigure(value) ? (column.format ?? plain)(value) : '–';
  if (isFigure(value)) td.dataset.v = value;
  return td;
}

/** The table in a box that scrolls by itself. */
export function renderTable({ columns, rows }, caption) {
  const box = document.createElement('div');
  const table = document.createElement('table');
  const head = table.createTHead().insertRow(), body = table.createTBody();
  box.className = 'scroll';
  box.tabIndex = 0;
  table.className = 'figures sortable';
  table.createCaption().textContent = caption;
  for (const [i, { name }] of columns.entries()) {
    const th = document.createElement('th');
    th.scope = 'col';
    th.textContent = name;
    if (rows.some((row) => typeof row[i] !== 'string')) th.className = 'num';
    head.append(th);
  }
  for (const values of rows) {
    const row = body.insertRow();
    for (const [i, value] of values.entries()) {
      const td = cell(value, columns[i]);
      if (i > 0) { row.append(td); continue; }
      const th = document.createElement('th');
      th.scope = 'row';
      th.textContent = td.textContent;
      if (td.dataset.v !== undefined) th.dataset.v = td.dataset.v;
      row.append(th);
    }
  }
  makeSortable(table);
  box.append(table);
  return box;
}

const one = (axis) => (Array.isArray(axis) ? axis[0] : axis);
const pointOf = (item) => item?.value ?? item;

/** The figures of an option with one x and one y axis: a row for each x (or category), a column for each series. */
export function tableOf(option) {
  const [x, y] = [one(option.xAxis), one(option.yAxis)];
  const series = option.series.filter((s) => s.name && !s.silent);
  if (y.type === 'category') {
    const format = x.axisLabel?.formatter;
    return {
      columns: [{ name: y.name ?? 'lock' }, ...series.map(({ name }) => ({ name, format }))],
      rows: y.data.map((name, i) => [name, ...series.map(({ data }) => pointOf(data[i]) ?? null)]),
    };
  }
  const [format, columns] = [y.axisLabel?.formatter, series.map((s) => new Map(s.data.map((item) => pointOf(item))))];
  const values = [...new Set(columns.flatMap((points) => [...points.keys()]))];
  if (x.type !== 'category') values.sort((a, b) => a - b);
  return {
    columns: [{ name: x.name ?? '', format: x.axisLabel?.formatter }, ...series.map(({ name }) => ({ name, format }))],
    rows: values.map((value) => [value, ...columns.map((points) => points.get(value) ?? null)]),
  };
}
