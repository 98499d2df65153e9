// heat: how long grants took, over time: a column for each interval, cells that are darker the more grants they have,
// and marks for the injections. One lock at a time.
//
// ECharts' heat map wants even categories on both axes; times and intervals are not, so the cells are rectangles of its
// custom series.
import { firstGroup, guaranteeOf } from '../data.js';
import { count, number, time } from '../format.js';
import { markTable, marksOf } from '../marks.js';
import { axis, groupControl, tooltip } from '../view.js';
import { metrics } from './percentiles.js';

const CELLS_A_DECADE = 12; // as in report/page/html_time.c
const edge = (cell) => 10 ** (cell / CELLS_A_DECADE);
const seconds = (s) => `${number(s)} s`;
const LEAST_COLUMNS = 4; // fewer cells are no picture
const hasCells = (row, metric) => row.time?.[metric]?.cells.filter((cells) => cells.length > 0).length >= LEAST_COLUMNS;
const isUsable = (row) => Object.keys(metrics).some((metric) => hasCells(row, metric));

/* [from, to, least ns, greatest ns, count, log10(count)] of each cell that has a grant. */
function cellsOf({ from, to }, { cells }) {
  return cells.flatMap(([first, ...counts], i) => counts.flatMap((count, c) => (
    count > 0 ? [[from[i], to[i], edge(first + c), edge(first + c + 1), count, Math.log10(count)]] : [])));
}

function tableOf({ from, to }, { cells }) {
  const used = cells.filter((column) => column.length > 0);
  const least = Math.min(...used.map(([first]) => first)), most = Math.max(...used.map((column) => column[0] + column.length - 2));
  const range = Array.from({ length: most - least + 1 }, (_, i) => least + i);
  return {
    title: 'The figures of this chart: grants of each cell',
    columns: [{ name: 'from', format: seconds }, { name: 'to', format: seconds }, ...range.map((cell) => ({ name: `\u2264 ${time(edge(cell + 1))}` }))],
    rows: cells.map(([first, ...counts], i) => [from[i], to[i], ...range.map((cell) => counts[cell - first] ?? 0)]),
  };
}

function rectangle(params, api) {
  const [left, bottom] = api.coord([api.value(0), api.value(2)]), [right, top] = api.coord([api.value(1), api.value(3)]);
  return { type: 'rect', shape: { x: left, y: top, width: Math.max(right - left, 0.5), height: Math.max(bottom - top, 0.5) }, style: { fill: api.visual('color') } };
}

function draw({ data, state, theme, choice }) {
  const group = data.groups[choice('group')], metric = choice('metric');
  const rows = (group?.rows ?? []).filter((row) => hasCells(row, metric));
  const row = choice('lock') === '' ? rows.find((r) => state.shows(r.lock)) : rows.find((r) => String(r.lock.index) === choice('lock'));
  if (!row) return { empty: `No log of ${metrics[metric]} over ${LEAST_COLUMNS} seconds and more was found beside run.json for this lock under this load.` };
  const cells = cellsOf(row.time, row.time[metric]);
  const most = Math.max(...cells.map(([, , , , count]) => count));
  const marks = marksOf(theme, [row]);
  const { merged, cut } = row.time;
  return {
    note: [`${guaranteeOf(data, row.lock).join(', ')}${row.repeats.length > 1 ? '; its typical repeat' : ''}.`,
      merged > 1 && `${merged} seconds a column.`, cut && 'Its log is cut: this is what could be read.'].filter(Boolean).join(' '),
    tables: [tableOf(row.time, row.time[metric]), markTable([row])].filter(Boolean),
    option: {
      tooltip: tooltip(theme, {
        trigger: 'item',
        formatter: ({ value }) => (value ? `${seconds(value[0])} to ${seconds(value[1])}<br>${time(value[2])} to ${time(value[3])}<br><b>${count(value[4])}</b> grants` : ''),
      }),
      visualMap: {
        type: 'continuous', dimension: 5, seriesIndex: 0, min: 0, max: Math.max(Math.log10(most), 0.1), calculable: false, orient: 'horizontal', right: 8, top: 0, itemWidth: 12, itemHeight: 90,
        text: [`${count(most)} grants`, '1'], textStyle: { color: theme.soft, fontSize: 11 }, inRange: { color: theme.heat }, formatter: (v) => number(10 ** v),
      },
      xAxis: axis(theme, { type: 'value', min: 0, max: Math.max(...row.time.to), name: 'seconds from the window\'s begin', nameLocation: 'middle', nameGap: 26 }),
      yAxis: axis(theme, {
        type: 'log', min: Math.min(...cells.map((cell) => cell[2])), max: Math.max(...cells.map((cell) => cell[3])), name: metrics[metric],
        nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: time },
      }),
      series: [{ type: 'custom', name: row.lock.label, renderItem: rectangle, data: cells, encode: { x: [0, 1], y: [2, 3] }, clip: true }, ...(marks ? [marks] : [])],
      grid: { left: 8, right: 28, top: theme.narrow ? 62 : 44, bottom: 34, containLabel: true },
    },
  };
}

export default {
  id: 'heat',
  label: 'Latency of one lock over time: the darker, the more grants',
  renderer: 'canvas',
  missing: (data) => !data.groups.some((group) => group.rows.some(isUsable)) && `No log beside run.json has ${LEAST_COLUMNS} seconds and more, of which a heat map has its columns. A longer run fills this: --set run.duration=20s.`,
  controls(data) {
    const used = Object.keys(metrics).filter((metric) => data.groups.some((g) => g.rows.some((row) => hasCells(row, metric))));
    const locks = data.locks.filter((lock) => data.groups.some((g) => g.rows.some((row) => row.lock === lock && isUsable(row))));
    return [
      groupControl(data, firstGroup(data), (group) => group.rows.some(isUsable)),
      { key: 'lock', name: 'Lock', fallback: '', choices: [{ value: '', text: 'the first that is shown' }, ...locks.map((lock) => ({ value: String(lock.index), text: lock.label }))] },
      { key: 'metric', name: 'Time', fallback: used[0] ?? 'acquire', choices: used.map((m) => ({ value: m, text: metrics[m] })) },
    ];
  },
  draw,
};
