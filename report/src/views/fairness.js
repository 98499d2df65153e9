// fairness: which clients were served: Lorenz curves of grants for each client; the table has the short run too: how many
// clients a window of grants has (LWSS), and how soon a client comes again (MTTR).
import { firstGroup, lockColumns, lockRow } from '../data.js';
import { escape, number } from '../format.js';
import { colourOf, dashOf } from '../theme.js';
import { axis, groupControl, tooltip } from '../view.js';

const POINTS_MAX = 100;
const countable = (row) => row.perClient?.length > 1 && row.perClient.some((n) => n > 0);
const percent = (value) => `${number(100 * value)} %`;

function lorenz(perClient) {
  const sorted = [...perClient].sort((a, b) => a - b);
  const total = sorted.reduce((a, b) => a + b, 0);
  const step = Math.max(1, Math.ceil(sorted.length / POINTS_MAX));
  const points = [[0, 0]];
  let sum = 0;
  sorted.forEach((grants, i) => {
    sum += grants;
    if ((i + 1) % step === 0 || i === sorted.length - 1) points.push([(i + 1) / sorted.length, sum / total]);
  });
  return points;
}

function drawLorenz(rows, theme) {
  const series = rows.map((row) => ({
    type: 'line', name: row.lock.label, data: lorenz(row.perClient), showSymbol: row.perClient.length <= 16, symbol: 'circle', symbolSize: 6,
    color: colourOf(theme, row.lock), lineStyle: { width: 2.2, type: dashOf(row.lock) }, emphasis: { focus: 'series' }, triggerLineEvent: true,
  }));
  series.unshift({
    type: 'line', name: 'a fair share for each', data: [[0, 0], [1, 1]], symbol: 'none', silent: true, color: theme.soft, lineStyle: { width: 1, type: 'solid' },
  });
  return {
    tooltip: tooltip(theme, {
      trigger: 'item',
      formatter: ({ seriesName, value }) => `<b>${escape(seriesName)}</b><br>the least served ${percent(value[0])} of clients got ${percent(value[1])} of the grants`,
    }),
    xAxis: axis(theme, { type: 'value', max: 1, name: 'clients, least served first', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: percent } }),
    yAxis: axis(theme, { type: 'value', max: 1, name: 'share of all grants', nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: percent } }),
    series,
    grid: { left: 8, right: 28, top: 34, bottom: 34, containLabel: true },
  };
}

function table(rows, data) {
  return {
    columns: lockColumns(['clients', 'least', 'most', 'Jain', 'least share', 'LWSS', 'in a window of', 'MTTR', 'longest run'].map((name) => ({ name }))),
    rows: rows.map(({ lock, perClient, figures }) => lockRow(data, lock, [perClient.length, Math.min(...perClient), Math.max(...perClient), figures['fairness.jain'] ?? null, figures['fairness.min_share'] ?? null,
      figures['fairness.lwss'] ?? null, figures['fairness.lwss_window'] ?? null, figures['fairness.mttr'] ?? null, figures['fairness.longest_run'] ?? null])),
  };
}

function draw({ data, state, theme, choice }) {
  const rows = (data.groups[choice('group')]?.rows ?? []).filter((row) => state.shows(row.lock) && countable(row));
  if (rows.length === 0) return { empty: 'No lock that is shown served several clients under this load: a run with load.clients of 2 and more on a common key fills this.' };
  return { option: drawLorenz(rows, theme), tables: [table(rows, data)] };
}

export default {
  id: 'fairness',
  label: 'Who was served',
  controls: (data) => [groupControl(data, firstGroup(data), (group) => group.rows.some(countable))],
  draw,
};
