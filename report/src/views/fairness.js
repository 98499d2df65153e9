// fairness: which clients were served. In the long run: Lorenz curves of grants for each client, and one lock's clients
// side by side; in the short run: how many clients a window of grants has (LWSS), and how soon a client comes again
// (MTTR).
import { firstGroup, lockColumns, lockRow } from '../data.js';
import { count, escape, number } from '../format.js';
import { colourOf, dashOf } from '../theme.js';
import { axis, groupControl, tooltip } from '../view.js';

const POINTS_MAX = 100;
const countable = (row) => row.perClient?.length > 1 && row.perClient.some((n) => n > 0);
const ways = { lorenz: 'Lorenz curves', clients: 'grants of each client', short: 'short run: LWSS and MTTR' };
const lwss = (row) => row.figures['fairness.lwss'];
const mttr = (row) => row.figures['fairness.mttr'];
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

function drawClients(rows, theme) {
  const clients = Math.max(...rows.map(({ perClient }) => perClient.length));
  return {
    tooltip: tooltip(theme, { trigger: 'item', formatter: ({ seriesName, dataIndex, value }) => `<b>${escape(seriesName)}</b><br>client ${dataIndex}: ${count(value)} grants` }),
    xAxis: axis(theme, { type: 'category', data: Array.from({ length: clients }, (_, i) => String(i)), name: 'client', nameLocation: 'middle', nameGap: 26 }),
    yAxis: axis(theme, { type: 'value', name: 'grants', nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: number } }),
    series: rows.map((row) => ({ type: 'bar', name: row.lock.label, data: row.perClient, color: colourOf(theme, row.lock), large: clients > 500 })),
    grid: { left: 8, right: 28, top: 34, bottom: 34, containLabel: true },
  };
}

function drawShort(rows, theme) {
  const bar = (name, of, color) => ({ type: 'bar', name, data: rows.map((row) => of(row) ?? null), color, barMaxWidth: 12,
    label: { show: true, position: 'right', color: theme.soft, fontSize: 11, formatter: ({ value }) => number(value) } });
  return {
    tooltip: tooltip(theme, {
      trigger: 'axis', axisPointer: { type: 'shadow' },
      formatter: ([{ dataIndex }]) => { const row = rows[dataIndex]; return `<b>${escape(row.lock.label)}</b><br>${number(lwss(row))} different clients in ${count(row.figures['fairness.lwss_window'])} grants in a row<br>${number(mttr(row))} grants to others until one has it again`; },
    }),
    legend: { top: 0, left: 0, selectedMode: false, itemWidth: 14, itemHeight: 10, textStyle: { color: theme.ink, fontSize: 12 } },
    xAxis: axis(theme, { type: 'value', name: 'clients (LWSS), grants (MTTR)', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: number } }),
    yAxis: axis(theme, { type: 'category', data: rows.map((row) => row.lock.label), axisLabel: { color: theme.ink, hideOverlap: false } }),
    series: [bar('LWSS: different clients in a window', lwss, theme.palette[0]), bar('MTTR: grants to others until one has it again', mttr, theme.palette[4])],
    grid: { left: 8, right: 64, top: 36, bottom: 34, containLabel: true },
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
  const group = data.groups[choice('group')], way = choice('way');
  let rows = (group?.rows ?? []).filter((row) => state.shows(row.lock) && countable(row));
  if (rows.length === 0) return { empty: 'No lock that is shown served several clients under this load: a run with load.clients of 2 and more on a common key fills this.' };
  if (way === 'clients') {
    const [chosen] = rows.filter((row) => String(row.lock.index) === choice('lock'));
    if (chosen) rows = [chosen];
    else if (rows.length > 3) return { empty: 'Choose one lock, or pick at most three: bars of more can\'t be told apart.' };
    const each = rows.map((row) => ({ title: `Grants of each client of ${row.lock.label}`, columns: [{ name: 'client' }, { name: 'grants' }], rows: row.perClient.map((n, i) => [i, n]) }));
    return { option: drawClients(rows, theme), tables: [table(rows, data), ...each] };
  }
  if (way === 'short') {
    const all = rows.filter((row) => lwss(row) !== undefined);
    if (all.length === 0) return { empty: 'These runs have no LWSS and MTTR: they are older than the figures, or let several in at once. A new run of a mutex fills this.' };
    return { option: drawShort(all, theme), tables: [table(all, data)], height: 110 + 44 * all.length,
      note: 'LWSS near the number of clients: fair also in the short run; far below it: a few pass the lock among them for a while. In strict order MTTR is one less than the clients; 0: mostly the same client again.' };
  }
  return { option: drawLorenz(rows, theme), tables: [table(rows, data)] };
}

export default {
  id: 'fairness',
  label: 'Who was served, in the long and in the short run',
  controls: (data) => [
    groupControl(data, firstGroup(data), (group) => group.rows.some(countable)),
    { key: 'way', name: 'Show', fallback: 'lorenz', choices: Object.entries(ways).map(([value, text]) => ({ value, text })) },
    { key: 'lock', name: 'Of', fallback: '', choices: [{ value: '', text: 'the locks that are picked' }, ...data.locks.filter((lock) => data.groups.some((g) => g.rows.some((row) => row.lock === lock && countable(row)))).map((lock) => ({ value: String(lock.index), text: lock.label }))] },
  ],
  draw,
};
