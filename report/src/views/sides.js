// sides: the percentile curves of two sides of runs over each other: each stage a thin line, a side's median thick.
import { escape, percentile, time } from '../format.js';
import { curveOf, makeHistogram } from '../histogram.js';
import { axis, tooltip } from '../view.js';
import { rowControl } from './shifts.js';

function seriesOf(theme, name, colour, dash, runs, metric) {
  const line = (width, opacity) => ({ type: 'line', symbol: 'none', color: colour, lineStyle: { width, opacity, type: dash } });
  const median = curveOf({ repeats: runs }, metric);
  if (!median) return [];
  const each = runs.length > 1 ? runs.map((run) => ({ ...line(1, 0.4), silent: true, data: curveOf({ repeats: [run] }, metric) ?? [] })) : [];
  return [...each, { ...line(2.6, 1), name, data: median, z: 4 }];
}

const decoded = (runs, metric) => runs.map((run) => ({ [metric]: run[metric] && makeHistogram(run[metric]) }));

function draw({ data: { compare }, theme, choice }) {
  const row = compare.rows[Number(choice('row'))], { metric } = row;
  const [base, after] = [row.base, row.new].map((runs) => decoded(runs, metric));
  const series = [...seriesOf(theme, 'base', theme.palette[0], 'solid', base, metric), ...seriesOf(theme, 'new', theme.palette[1], 'dashed', after, metric)];
  if (series.length === 0) return { empty: 'Neither side has a histogram of this lock.' };
  const runs = Math.max(base.length, after.length);
  return {
    note: `Low and flat is good. ${runs > 1 ? 'Thin: each stage. Thick: the median of the stages of a side, at each percentile.' : 'One stage a side: whether they differ beyond chance, one stage cannot tell.'}`,
    option: {
      tooltip: tooltip(theme, { trigger: 'item', formatter: ({ seriesName, value }) => (value ? `<b>${escape(seriesName)}</b><br>${percentile(value[0])} took at most ${time(value[1])}` : '') }),
      legend: { bottom: 0, left: 0, selectedMode: false, textStyle: { color: theme.ink, fontSize: 12 }, data: series.filter(({ name }) => name).map(({ name }) => name) },
      xAxis: axis(theme, { type: 'log', min: 1, name: 'percentile', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: percentile } }),
      yAxis: axis(theme, { type: 'log', name: `${metric} (log)`, nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: time } }),
      series,
      grid: { left: 8, right: 34, top: 34, bottom: 62, containLabel: true },
    },
  };
}

export default { id: 'sides', label: 'Percentile curves of both sides', controls: (data) => [rowControl(data)], draw };
