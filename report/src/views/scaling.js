// scaling: a figure against the number of clients, for one load: throughput first, waiting and handoff by choice.
import { escape, number, time } from '../format.js';
import { colourOf, dashOf } from '../theme.js';
import { axis, tooltip } from '../view.js';

const figures = {
  throughput_per_s: { name: 'grants/s', format: number },
  'latency_ns.acquire.p50': { name: 'acquire p50', format: time },
  'latency_ns.acquire.p99': { name: 'acquire p99', format: time },
  'latency_ns.handoff.p50': { name: 'handoff p50', format: time },
  'cost.commands_per_grant': { name: 'commands/grant', format: number },
};

function draw({ data, state, theme, choice }) {
  const load = data.loads[choice('load')];
  const key = choice('figure');
  const { name, format } = figures[key];
  const groups = data.groups.filter((group) => group.load === load);
  const series = data.locks.filter((lock) => state.shows(lock)).map((lock) => ({
    lock,
    points: groups.flatMap((group) => {
      const value = group.rows.find((row) => row.lock === lock)?.figures[key];
      return value > 0 ? [[String(group.clients), value]] : [];
    }),
  })).filter(({ points }) => points.length > 0);
  if (series.length === 0) return { empty: `No lock that is shown has ${name} under this load.` };
  return {
    option: {
      tooltip: tooltip(theme, {
        trigger: 'axis',
        order: 'valueDesc',
        formatter: (items) => `<b>${escape(items[0].name)} clients</b><br>${items.map((i) => `${i.marker} ${escape(i.seriesName)}: ${format(i.value[1])}`).join('<br>')}`,
      }),
      xAxis: axis(theme, { type: 'category', data: groups.map((g) => String(g.clients)), name: 'clients', nameLocation: 'middle', nameGap: 26, boundaryGap: groups.length < 3 }),
      yAxis: axis(theme, { type: 'log', name: `${name} (log)`, nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: format } }),
      series: series.map(({ lock, points }) => ({
        type: 'line', name: lock.label, data: points, symbol: 'circle', symbolSize: 8, color: colourOf(theme, lock),
        lineStyle: { width: 2.2, type: dashOf(lock) }, emphasis: { focus: 'series' },
        endLabel: { show: !theme.narrow, formatter: lock.label, color: colourOf(theme, lock), fontSize: 12, padding: [3, 4] },
        labelLayout: { moveOverlap: 'shiftY' },
      })),
      grid: { left: 8, right: theme.narrow ? 18 : 130, top: 34, bottom: 34, containLabel: true },
    },
  };
}

export default {
  id: 'scaling',
  label: 'Throughput against the number of clients; the figures are in the comparison tables',
  controls(data) {
    const most = (load) => data.groups.filter((g) => g.load === load).length;
    const best = data.loads.reduce((a, b) => (most(b) > most(a) ? b : a), data.loads[0]);
    return [
      { key: 'load', name: 'Load', fallback: String(data.loads.indexOf(best)), choices: data.loads.map((text, value) => ({ value: String(value), text })) },
      { key: 'figure', name: 'Figure', fallback: 'throughput_per_s', choices: Object.entries(figures).map(([value, { name }]) => ({ value, text: name })) },
    ];
  },
  draw,
};
