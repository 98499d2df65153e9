// percentiles: value over 1 / (1 - quantile), both axes logarithmic: the tail gets as much room as the middle. And any
// percentile of all locks as a table.
import { firstGroup, lockColumns, lockRow } from '../data.js';
import { escape, percentile, time } from '../format.js';
import { curveOf, percentileOf } from '../histogram.js';
import { endLabels } from '../labels.js';
import { tableOf } from '../table.js';
import { colourOf, dashOf } from '../theme.js';
import { axis, groupControl, tooltip } from '../view.js';

const metrics = {
  acquire_due: 'response: due to held', acquire: 'acquire: asked to held', acquire_shared: 'acquire of readers', acquire_exclusive: 'acquire of writers',
  handoff: 'handoff', release: 'release',
};
const BOTH = 'both';
const has = (row, metric) => row.histograms[metric] !== undefined;
const usedMetrics = (data) => Object.keys(metrics).filter((m) => data.groups.some((g) => g.rows.some((r) => has(r, m))));

/* Response and service are two lines of one lock: the service time is the thin one. */
function linesOf(row, metric) {
  const parts = metric === BOTH ? ['acquire_due', 'acquire'] : [metric];
  return parts.filter((part) => has(row, part)).map((part) => ({
    row, part, thin: metric === BOTH && part === 'acquire' && has(row, 'acquire_due'),
    name: metric === BOTH ? `${row.lock.label}: ${part === 'acquire' ? 'service' : 'response'}` : row.lock.label,
  }));
}

/* The digits that a table needs and the axis does not. */
const finely = (x) => `${(100 * (1 - 1 / x)).toFixed(Math.max(1, Math.ceil(Math.log10(x))))} %`;

function anyTable(data, rows, percent, used) {
  const shown = used.filter((metric) => rows.some((row) => has(row, metric)));
  return {
    title: `${percent} % of the times were at most`, open: true,
    columns: lockColumns([...shown.map((metric) => ({ name: metrics[metric], format: time })), { name: 'acquires' }]),
    rows: rows.map((row) => lockRow(data, row.lock, [
      ...shown.map((metric) => percentileOf(row, metric, percent) ?? null), row.histograms.acquire?.count ?? null,
    ])),
  };
}

function draw({ data, state, theme, choice }) {
  const group = data.groups[choice('group')];
  const metric = choice('metric'), asked = Number(choice('at')), percent = asked >= 0 && asked <= 100 ? asked : 99; // the hash may have any text
  const name = metrics[metric] ?? 'asked, or due, to held';
  const rows = (group?.rows ?? []).filter((row) => state.shows(row.lock));
  const lines = rows.flatMap((row) => linesOf(row, metric));
  if (lines.length === 0) return { empty: `No lock that is shown has recorded any ${name} under this load.` };
  const names = endLabels(theme, rows.map((row) => row.lock));
  const series = lines.map(({ row, part, thin, name: title }) => ({
    type: 'line', name: title, data: curveOf(row, part), showSymbol: false, symbol: 'circle', symbolSize: 7, color: colourOf(theme, row.lock),
    lineStyle: { width: thin ? 1.2 : 2.2, type: dashOf(row.lock), opacity: thin ? 0.75 : 1 }, emphasis: { focus: 'series' }, triggerLineEvent: true,
    ...names.of(row.lock, !thin),
  }));
  if (percent > 0 && percent < 100) {
    series[0].markLine = {
      silent: true, symbol: 'none', data: [{ xAxis: 1 / (1 - percent / 100) }], lineStyle: { color: theme.soft, type: 'dashed' },
      label: { formatter: `${percent} %`, color: theme.soft, position: 'insideEndTop' },
    };
  }
  const option = {
    tooltip: tooltip(theme, {
      trigger: 'item',
      formatter: ({ seriesName, value }) => (value ? `<b>${escape(seriesName)}</b><br>${percentile(value[0])} took at most ${time(value[1])}` : ''),
    }),
    xAxis: axis(theme, {
      type: 'log', min: 1, name: 'percentile', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: percentile },
    }),
    yAxis: axis(theme, { type: 'log', name, nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: time } }),
    series,
    grid: { left: 8, right: names.room, top: 34, bottom: 34, containLabel: true },
  };
  const figures = tableOf(option);
  figures.columns[0].format = finely;
  return {
    option,
    tables: [anyTable(data, rows, percent, usedMetrics(data)), figures],
    note: [metric === BOTH && 'Thick: response, from when an operation was due. Thin: service, from when it was begun.',
      rows.some((row) => row.repeats > 1) && 'Of repeats, the typical one.'].filter(Boolean).join(' '),
  };
}

export default {
  id: 'percentiles',
  label: 'Percentile curves of each lock',
  controls(data) {
    const used = usedMetrics(data);
    const choices = used.map((m) => ({ value: m, text: metrics[m] }));
    if (used.includes('acquire_due')) choices.unshift({ value: BOTH, text: 'response and service' });
    return [
      groupControl(data, firstGroup(data)),
      { key: 'metric', name: 'Time', fallback: choices[0]?.value ?? 'acquire', choices },
      { key: 'at', name: 'Any percentile', fallback: '99', number: { min: 0, max: 100 } },
    ];
  },
  draw,
};
