// scaling: a figure against the number of clients, for one load.
import { guaranteeOf } from '../data.js';
import { count, escape, number, time } from '../format.js';
import { endLabels } from '../labels.js';
import { colourOf, dashOf } from '../theme.js';
import { axis, tooltip } from '../view.js';

const figures = {
  throughput_per_s: { name: 'grants/s', format: number },
  'latency_ns.acquire.p50': { name: 'acquire p50', format: time },
  'latency_ns.acquire.p99': { name: 'acquire p99', format: time },
  'response_ns.p50': { name: 'from due p50', format: time },
  'response_ns.p99': { name: 'from due p99', format: time },
  'latency_ns.handoff.p50': { name: 'handoff p50', format: time },
  'cost.commands_per_grant': { name: 'commands/grant', format: number },
};

function draw({ data, state, theme, choice }) {
  const load = data.loads[choice('load')], key = choice('figure'), { name, format } = figures[key];
  const groups = data.groups.filter((group) => group.load === load);
  const shown = data.locks.filter((lock) => state.shows(lock)).map((lock) => ({
    lock,
    points: groups.flatMap((group) => {
      const value = group.rows.find((row) => row.lock === lock)?.figures[key];
      return value > 0 ? [[group.clients, value]] : [];
    }),
  })).filter(({ points }) => points.length > 0);
  if (shown.length === 0) return { empty: `No lock that is shown has ${name} under this load. A sweep fills this: lockbench run sweep-clients --lock …` };
  const names = endLabels(theme, shown.map(({ lock }) => lock));
  const measured = shown.map(({ lock, points }) => ({
    type: 'line', name: lock.label, data: points, symbol: 'circle', symbolSize: 8, color: colourOf(theme, lock),
    lineStyle: { width: 2.2, type: dashOf(lock) }, emphasis: { focus: 'series' },
    ...names.of(lock),
  }));
  const clients = [...new Set(groups.map((group) => group.clients))];
  return {
    option: {
      tooltip: tooltip(theme, {
        trigger: 'item',
        formatter: ({ seriesName, value }) => `<b>${escape(seriesName)}</b><br>${count(value[0])} clients: ${format(value[1])} ${key === 'throughput_per_s' ? 'grants/s' : ''}`,
      }),
      xAxis: axis(theme, { type: 'log', min: Math.min(...clients), ...(clients.length > 1 && { max: Math.max(...clients) }), name: 'clients (log)', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: number } }),
      yAxis: axis(theme, { type: 'log', name: `${name} (log)`, nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: format } }),
      series: measured,
      grid: { left: 8, right: names.room, top: 34, bottom: 34, containLabel: true },
    },
    tables: [
      { columns: [{ name: 'clients' }, ...shown.map(({ lock }) => ({ name: guaranteeOf(data, lock).join(', '), format }))],
        rows: clients.map((n) => [n, ...shown.map(({ points }) => points.find(([x]) => x === n)?.[1] ?? null)]) },
    ],
  };
}

export default {
  id: 'scaling',
  label: 'Throughput against the number of clients',
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
