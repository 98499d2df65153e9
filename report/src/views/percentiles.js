// percentiles: value over 1 / (1 - quantile), both axes logarithmic: the tail gets as much room as the middle.
import { firstGroup } from '../data.js';
import { escape, number, percentile, time } from '../format.js';
import { colourOf, dashOf } from '../theme.js';
import { axis, groupControl, tooltip } from '../view.js';

const metrics = {
  acquire: 'acquire: asked to held', acquire_due: 'due to held', release: 'release', handoff: 'handoff', ping: 'ping: an empty round trip',
};

function draw({ data, state, theme, choice }) {
  const group = data.groups[choice('group')];
  const metric = choice('metric');
  const rows = (group?.rows ?? []).filter((row) => state.shows(row.lock) && row.curves[metric]);
  if (rows.length === 0) return { empty: `No lock that is shown has recorded any ${metrics[metric]} under this load.` };
  return {
    option: {
      tooltip: tooltip(theme, {
        trigger: 'item',
        formatter: ({ seriesName, value }) => `<b>${escape(seriesName)}</b><br>${percentile(value[0])} took at most ${time(value[1])}`,
      }),
      xAxis: axis(theme, {
        type: 'log', min: 1, name: 'percentile', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: percentile },
      }),
      yAxis: axis(theme, { type: 'log', name: metrics[metric], nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: time } }),
      series: rows.map((row) => ({
        type: 'line', name: row.lock.label, data: row.curves[metric].points, showSymbol: false, symbol: 'circle', symbolSize: 7,
        color: colourOf(theme, row.lock), lineStyle: { width: 2.2, type: dashOf(row.lock) }, emphasis: { focus: 'series' },
        triggerLineEvent: true,
        endLabel: { show: !theme.narrow, formatter: row.lock.label, color: colourOf(theme, row.lock), fontSize: 12, padding: [3, 4] },
        labelLayout: { moveOverlap: 'shiftY' },
      })),
      grid: { left: 8, right: theme.narrow ? 18 : 130, top: 34, bottom: 34, containLabel: true },
    },
  };
}

export default {
  id: 'percentiles',
  label: 'Percentile curves of each lock; the figures are in the tables below',
  controls(data) {
    const used = Object.keys(metrics).filter((m) => data.groups.some((g) => g.rows.some((r) => r.curves[m])));
    return [
      groupControl(data, firstGroup(data)),
      { key: 'metric', name: 'Time', fallback: 'acquire', choices: used.map((m) => ({ value: m, text: metrics[m] })) },
    ];
  },
  draw,
};
