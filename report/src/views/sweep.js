// sweep: a figure against the number of clients, or against the offered rate, for one load.
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

const placesOf = ({ groups, of }) => [...new Set(groups.map(of))].sort((a, b) => a - b);

// A sweep of clients has one load, a sweep of rates one task, for the same clients.
function sweepsOf(data) {
  const sweeps = new Map();
  const add = (key, title, group) => {
    if (!sweeps.has(key)) sweeps.set(key, { title, groups: [] });
    sweeps.get(key).groups.push(group);
  };
  for (const group of data.groups) {
    add(`clients ${group.load}`, group.load, group);
    if (group.offered) add(`rate ${group.clients} ${group.task}`, `rates: ${group.clients} client${group.clients === 1 ? '' : 's'}, ${group.task}`, group);
  }
  const all = [...sweeps].map(([key, { title, groups }]) => (key.startsWith('rate') ? { title, groups, of: (group) => group.offered, unit: 'offered/s' } : { title, groups, of: (group) => group.clients, unit: 'clients' }));
  const wide = all.filter((sweep) => placesOf(sweep).length > 1);
  return wide.length > 0 ? wide : all;
}

function draw({ data, state, theme, choice }) {
  const sweep = sweepsOf(data)[choice('load')], { groups, of, unit } = sweep, places = placesOf(sweep), key = choice('figure'), { name, format } = figures[key];
  const shown = data.locks.filter((lock) => state.shows(lock)).map((lock) => ({
    lock,
    points: groups.flatMap((group) => {
      const value = group.rows.find((row) => row.lock === lock)?.figures[key];
      return value > 0 ? [[of(group), value]] : [];
    }).sort(([a], [b]) => a - b),
  })).filter(({ points }) => points.length > 0);
  if (shown.length === 0) return { empty: `No lock that is shown has ${name} under this load. A sweep fills this: lockbench run sweep-clients --lock …, or sweep-rate` };
  const names = endLabels(theme, shown.map(({ lock }) => lock));
  const measured = shown.map(({ lock, points }) => ({
    type: 'line', name: lock.label, data: points, symbol: 'circle', symbolSize: 8, color: colourOf(theme, lock),
    lineStyle: { width: 2.2, type: dashOf(lock) }, emphasis: { focus: 'series' },
    ...names.of(lock),
  }));
  return {
    option: {
      tooltip: tooltip(theme, {
        trigger: 'item',
        formatter: ({ seriesName, value }) => `<b>${escape(seriesName)}</b><br>${count(value[0])} ${unit}: ${format(value[1])} ${key === 'throughput_per_s' ? 'grants/s' : ''}`,
      }),
      xAxis: axis(theme, { type: 'log', min: places[0], ...(places.length > 1 && { max: places.at(-1) }), name: `${unit} (log)`, nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: number } }),
      yAxis: axis(theme, { type: 'log', name: `${name} (log)`, nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: format } }),
      series: measured,
      grid: { left: 8, right: names.room, top: 34, bottom: 34, containLabel: true },
    },
    tables: [
      { columns: [{ name: unit }, ...shown.map(({ lock }) => ({ name: guaranteeOf(data, lock).join(', '), format }))],
        rows: places.map((n) => [n, ...shown.map(({ points }) => points.find(([x]) => x === n)?.[1] ?? null)]) },
    ],
  };
}

export default {
  id: 'sweep',
  label: 'A figure against the number of clients, or the offered rate',
  controls(data) {
    const sweeps = sweepsOf(data), sizes = sweeps.map((sweep) => placesOf(sweep).length);
    return [
      { key: 'load', name: 'Load', fallback: String(sizes.indexOf(Math.max(...sizes))), choices: sweeps.map(({ title }, value) => ({ value: String(value), text: title })) },
      { key: 'figure', name: 'Figure', fallback: 'throughput_per_s', choices: Object.entries(figures).map(([value, { name }]) => ({ value, text: name })) },
    ];
  },
  draw,
};
