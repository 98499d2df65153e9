// handoff: p50, p90 and p99 of each lock as dots on one logarithmic axis, shortest first.
import { firstGroup, lockColumns, lockRow } from '../data.js';
import { escape, time } from '../format.js';
import { colourOf, dashOf } from '../theme.js';
import { axis, groupControl, tooltip } from '../view.js';

const parts = ['p50', 'p90', 'p99'];
const partOf = (row, part) => row.figures[`latency_ns.handoff.${part}`];
const hasHandoff = (group) => group.rows.some((row) => partOf(row, 'p50') > 0);

function draw({ data, state, theme, choice }) {
  const group = data.groups[choice('group')];
  const rows = (group?.rows ?? []).filter((row) => state.shows(row.lock) && partOf(row, 'p50') > 0);
  if (rows.length === 0) return { empty: 'No handoff was measured: nobody waited; or the lock admits several holders, so that nobody can tell whose release enabled a grant; or the clients are on several hosts, whose clocks can’t tell such short times.' };
  rows.sort((a, b) => partOf(b, 'p50') - partOf(a, 'p50'));
  return {
    tables: [{
      columns: lockColumns(parts.map((part) => ({ name: `handoff ${part}`, format: time }))),
      rows: [...rows].reverse().map((row) => lockRow(data, row.lock, parts.map((part) => partOf(row, part)))),
    }],
    height: 90 + 30 * rows.length,
    option: {
      tooltip: tooltip(theme, {
        trigger: 'item',
        formatter: ({ seriesName, dataIndex, value }) => `<b>${escape(seriesName)}</b><br>handoff ${parts[dataIndex]}: ${time(value[0])}`,
      }),
      xAxis: axis(theme, { type: 'log', name: 'handoff (log)', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: time } }),
      yAxis: axis(theme, { type: 'category', data: rows.map((row) => row.lock.label), axisLabel: { color: theme.ink, hideOverlap: false } }),
      series: rows.map((row) => ({
        type: 'line', name: row.lock.label, color: colourOf(theme, row.lock), symbol: 'circle',
        data: parts.map((part, i) => ({ value: [partOf(row, part), row.lock.label], symbolSize: [13, 9, 6][i] })),
        lineStyle: { width: 2.2, type: dashOf(row.lock) }, emphasis: { focus: 'series' },
        label: { show: !theme.narrow, position: 'top', distance: 3, color: theme.soft, fontSize: 11, formatter: ({ dataIndex, value }) => (dataIndex === 0 ? time(value[0]) : '') },
      })),
      grid: { left: 8, right: 28, top: 18, bottom: 34, containLabel: true },
    },
  };
}

export default {
  id: 'handoff',
  label: 'Handoff times of each lock; the figures are in the comparison tables',
  controls: (data) => [groupControl(data, firstGroup(data), hasHandoff)],
  draw,
};
