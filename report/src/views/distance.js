// distance: a figure over the round trip that the wire adds, for one load: a step for each, since they range from
// nothing to many milliseconds, and since the way without the wire is no number among them.
import { lockColumns, lockRow } from '../data.js';
import { escape, number, time } from '../format.js';
import { endLabels } from '../labels.js';
import { colourOf, dashOf } from '../theme.js';
import { axis, tooltip } from '../view.js';

const figures = {
  'latency_ns.acquire.p50': { name: 'acquire p50', format: time },
  'latency_ns.handoff.p50': { name: 'handoff p50', format: time },
  throughput_per_s: { name: 'grants/s', format: number },
  'latency_ns.acquire.p99': { name: 'acquire p99', format: time },
  'latency_ns.release.p50': { name: 'release p50', format: time },
};

const away = (rtt) => (rtt === null ? 'no wire' : `+${rtt > 0 ? time(rtt) : 0}`);
const keyOf = ({ near, clients }) => JSON.stringify([near, clients]);
const nearestFirst = (a, b) => (a.rtt ?? -1) - (b.rtt ?? -1);

/* Loads that ran at several distances, under the keys of keyOf, each with its groups. */
function reachesOf(data) {
  const reaches = new Map();
  for (const group of data.groups) reaches.set(keyOf(group), [...(reaches.get(keyOf(group)) ?? []), group]);
  return new Map([...reaches].filter(([, groups]) => groups.length > 1).map(([key, groups]) => [key, groups.sort(nearestFirst)]));
}

function draw({ data, state, theme, choice }) {
  const groups = reachesOf(data).get(choice('load')) ?? [], key = choice('figure'), { name, format } = figures[key];
  const valueAt = (group, lock) => group.rows.find((row) => row.lock === lock)?.figures[key] ?? null;
  const shown = data.locks.filter((lock) => state.shows(lock) && groups.some((group) => group.rtt !== null && valueAt(group, lock) > 0));
  if (shown.length === 0) return { empty: `No lock that is shown has ${name} at several distances under this load.` };
  const names = endLabels(theme, shown), steps = groups.map(({ rtt }) => away(rtt));
  return {
    note: groups[0].rtt === null ? `The difference between "no wire" and "+0" is the cost of the wire itself; no figure is corrected by it.` : '',
    option: {
      tooltip: tooltip(theme, {
        trigger: 'item', formatter: ({ seriesName, value, dataIndex }) => `<b>${escape(seriesName)}</b><br>${steps[dataIndex]}: ${format(value)} ${key === 'throughput_per_s' ? 'grants/s' : ''}`,
      }),
      xAxis: axis(theme, { type: 'category', boundaryGap: false, data: steps, name: 'added round trip (steps, not to scale)', nameLocation: 'middle', nameGap: 26 }),
      yAxis: axis(theme, { type: 'log', name: `${name} (log)`, nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: format } }),
      series: shown.map((lock) => ({
        type: 'line', name: lock.label, data: groups.map((group) => { const value = valueAt(group, lock); return value > 0 ? value : null; }),
        symbol: 'circle', symbolSize: 8, color: colourOf(theme, lock), lineStyle: { width: 2.2, type: dashOf(lock) }, emphasis: { focus: 'series' },
        ...names.of(lock),
      })),
      grid: { left: 8, right: names.room, top: 34, bottom: 34, containLabel: true },
    },
    tables: [{
      columns: lockColumns(steps.map((step) => ({ name: step, format }))),
      rows: shown.map((lock) => lockRow(data, lock, groups.map((group) => valueAt(group, lock)))),
    }],
  };
}

export default {
  id: 'distance',
  label: 'A figure against the round trip to the server',
  missing: (data) => reachesOf(data).size === 0 && 'No load ran at several distances. lockbench run distance fills this.',
  controls(data) {
    const loads = [...reachesOf(data)].map(([value, [{ near, clients }]]) => ({ value, text: `${clients} client${clients === 1 ? '' : 's'}: ${near}` }));
    return [
      { key: 'load', name: 'Load', fallback: loads[0]?.value, choices: loads },
      { key: 'figure', name: 'Figure', fallback: 'latency_ns.acquire.p50', choices: Object.entries(figures).map(([value, { name }]) => ({ value, text: name })) },
    ];
  },
  draw,
};
