// series: the figures interval by interval: the rate offered and achieved, and the percentiles of acquire, with marks
// for the injections.
import { firstGroup, lockColumns, lockRow } from '../data.js';
import { escape, number, time } from '../format.js';
import { endLabels } from '../labels.js';
import { markTable, marksOf } from '../marks.js';
import { tableOf } from '../table.js';
import { colourOf, dashOf } from '../theme.js';
import { axis, groupControl, tooltip } from '../view.js';

const RATE = 'rate';
const seconds = (s) => `${number(s)} s`;
const percentiles = ['p50', 'p99'].map((part) => ({ key: part, name: `acquire, ${part}` }));
const valuesOf = (row, { key }) => row.time?.[key] ?? [];
const LEAST_INTERVALS = 2; // one dot shows nothing about time
const goesOn = (row) => (row.time?.from.length ?? 0) >= LEAST_INTERVALS;
const isUsed = (data, figure) => data.groups.some((g) => g.rows.some((row) => valuesOf(row, figure).some((v) => v !== null)));

const middles = ({ from, to }) => from.map((s, i) => (s + to[i]) / 2);
const rates = ({ from, to, grants }) => grants.map((n, i) => n / (to[i] - from[i]));

function linesOf(row, figure) {
  const at = middles(row.time), { label } = row.lock;
  if (figure) return [{ row, name: label, data: at.map((s, i) => [s, valuesOf(row, figure)[i] ?? null]) }];
  const achieved = rates(row.time), lines = [{ row, name: label, data: at.map((s, i) => [s, achieved[i]]) }];
  if (row.time.offered) lines.push({ row, name: `${label}: offered`, thin: true, data: at.map((s) => [s, row.time.offered]) });
  return lines;
}

function draw({ data, state, theme, choice }) {
  const group = data.groups[choice('group')], figure = percentiles.find(({ key }) => key === choice('figure'));
  const rows = (group?.rows ?? []).filter((row) => state.shows(row.lock) && goesOn(row));
  const lines = rows.flatMap((row) => linesOf(row, figure)).filter((line) => line.data.some(([, y]) => y !== null));
  if (lines.length === 0) return { empty: 'No lock that is shown has recorded this over time under this load.' };
  const name = figure?.name ?? 'grants/s', format = figure ? time : number;
  const marks = marksOf(theme, rows);
  const names = endLabels(theme, rows.map((row) => row.lock));
  const option = {
    tooltip: tooltip(theme, {
      trigger: 'item',
      formatter: ({ seriesName, value }) => (value ? `<b>${escape(seriesName)}</b><br>at ${seconds(value[0])}: ${format(value[1])}${figure ? '' : ' /s'}` : ''),
    }),
    xAxis: axis(theme, { type: 'value', min: 0, max: Math.max(...rows.flatMap((row) => row.time.to)), name: 'seconds from the window\'s begin', nameLocation: 'middle', nameGap: 26 }),
    yAxis: axis(theme, { type: 'log', name: `${name} (log)`, nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: format } }),
    series: [...lines.map(({ row, name: title, data: points, thin }) => ({
      type: 'line', name: title, data: points, showSymbol: points.length < 20, symbol: 'circle', symbolSize: 5, color: colourOf(theme, row.lock), triggerLineEvent: true,
      lineStyle: { width: thin ? 1 : 2.2, type: thin ? 'dotted' : dashOf(row.lock) }, emphasis: { focus: 'series' },
      ...names.of(row.lock, !thin),
    })), ...(marks ? [marks] : [])],
    grid: { left: 8, right: names.room, top: 34, bottom: 34, containLabel: true },
  };
  // A rate of 0 has no place on a logarithmic axis, but it must be visible.
  if (lines.some((line) => line.data.some(([, y]) => y === 0))) Object.assign(option.yAxis, { type: 'value', name });
  const merged = Math.max(...rows.map((row) => row.time.merged));
  const figures = tableOf(option);
  figures.columns[0].format = seconds;
  return {
    option,
    note: [rows.some((row) => row.repeats > 1) && 'Of repeats, the typical one.', merged > 1 && `Up to ${merged} seconds an interval${figure ? ', of which the worst is shown' : ''}.`, figure && 'A percentile of too few times is left out: a second needs 10 for p50, 500 for p99.'].filter(Boolean).join(' '),
    tables: [figures, markTable(rows), { title: 'What is compared', columns: lockColumns([]), rows: rows.map((row) => lockRow(data, row.lock, [])) }].filter(Boolean),
  };
}

export default {
  id: 'series',
  label: 'Each lock over time',
  missing: (data) => !data.groups.some((group) => group.rows.some(goesOn)) && 'No stage was measured over two intervals and more. A longer run fills this: --set run.duration=20s.',
  controls(data) {
    const used = percentiles.filter((figure) => isUsed(data, figure));
    return [
      groupControl(data, firstGroup(data), (group) => group.rows.some(goesOn)),
      { key: 'figure', name: 'Figure', fallback: RATE, choices: [{ value: RATE, text: 'rate: grants/s' }, ...used.map(({ key, name }) => ({ value: key, text: name }))] },
    ];
  },
  draw,
};
