// scaling: a figure against the number of clients, for one load: throughput with the Universal Scalability Law fitted
// to it, waiting and handoff by choice.
import { guaranteeOf, lockColumns, lockRow } from '../data.js';
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

const span = ([value, low, high], format) => `${format(value)} (${format(low)} to ${format(high)})`;

function lawText(label, { law, why, leftOut }) {
  const without = leftOut ? `; ${leftOut} generator-limited stage${leftOut === 1 ? ' is' : 's are'} left out` : '';
  if (!law) return `${label}: ${why}${without}.`;
  const peak = law.peakClients === null ? 'no peak' : `N* = ${number(law.peakClients)} clients${law.peak === null ? ', beyond what the measurement supports' : `, ${number(law.peak)} grants/s`}`;
  return `${label}: lambda ${span(law.lambda, number)}, sigma ${span(law.sigma, number)}, kappa ${span(law.kappa, number)}; ${peak}; R² ${law.rSquared.toFixed(3)}${without}.`;
}

function lawTable(lines, data) {
  const part = (of) => [of[0], of[1], of[2]];
  return {
    title: 'The fitted law',
    columns: lockColumns(['lambda', 'from', 'to', 'sigma', 'from', 'to', 'kappa', 'from', 'to', 'N*', 'peak grants/s', 'R²', 'not fitted, since', 'stages left out'].map((name) => ({ name }))),
    rows: lines.map(({ lock, law, why, leftOut }) => lockRow(data, data.locks[lock], law ? [...part(law.lambda), ...part(law.sigma), ...part(law.kappa), law.peakClients, law.peak, law.rSquared, '–', leftOut]
      : [null, null, null, null, null, null, null, null, null, null, null, null, why, leftOut])),
  };
}

/* Lines with the names that they are about: a reason that several locks share is shown once. */
function tellOnce(lines, data) {
  const reasons = new Map();
  for (const line of lines) {
    const reason = line.law ? line : `${line.leftOut} ${line.why}`;
    reasons.set(reason, [...(reasons.get(reason) ?? []), line]);
  }
  return [...reasons.values()].map((of) => ({ ...of[0], names: of.length > 3 ? `${of.length} locks` : of.map(({ lock }) => data.locks[lock].label).join(', ') }));
}

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
  const lines = key === 'throughput_per_s' ? data.laws.filter(({ lock, loadIndex }) => loadIndex === groups[0].loadIndex && shown.some((s) => s.lock.index === lock)) : [];
  const names = endLabels(theme, shown.map(({ lock }) => lock), lines.every(({ law }) => !law));
  const measured = shown.map(({ lock, points }) => ({
    type: 'line', name: lock.label, data: points, symbol: 'circle', symbolSize: 8, color: colourOf(theme, lock),
    lineStyle: { width: 2.2, type: dashOf(lock) }, emphasis: { focus: 'series' },
    ...names.of(lock),
  }));
  const laws = lines.filter(({ law }) => law).map(({ lock, law }) => ({
    type: 'line', name: `${data.locks[lock].label}, law`, data: law.curve, symbol: 'none', silent: true, color: colourOf(theme, data.locks[lock]),
    lineStyle: { width: 1.2, type: 'dashed', opacity: 0.9 }, z: 1,
  }));
  const told = tellOnce(lines, data);
  const clients = [...new Set(groups.map((group) => group.clients))];
  return {
    note: lines.length ? `${told.slice(0, 6).map((line) => lawText(line.names, line)).join(' ')}${told.length > 6 ? ' The others are in the table.' : ''}${laws.length ? ' Dashed: the law, up to twice the most clients measured. One hot key is served in turn, so there sigma is near 1: read handoff instead.' : ''}` : '',
    option: {
      tooltip: tooltip(theme, {
        trigger: 'item',
        formatter: ({ seriesName, value }) => `<b>${escape(seriesName)}</b><br>${count(value[0])} clients: ${format(value[1])} ${key === 'throughput_per_s' ? 'grants/s' : ''}`,
      }),
      xAxis: axis(theme, { type: 'log', min: Math.min(...clients), ...(clients.length > 1 && !laws.length && { max: Math.max(...clients) }), name: 'clients (log)', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: number } }),
      yAxis: axis(theme, { type: 'log', name: `${name} (log)`, nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: format } }),
      series: [...measured, ...laws],
      grid: { left: 8, right: names.room, top: 34, bottom: 34, containLabel: true },
    },
    tables: [
      { columns: [{ name: 'clients' }, ...shown.map(({ lock }) => ({ name: guaranteeOf(data, lock).join(', '), format }))],
        rows: clients.map((n) => [n, ...shown.map(({ points }) => points.find(([x]) => x === n)?.[1] ?? null)]) },
      ...(lines.length ? [lawTable(lines, data)] : []),
    ],
  };
}

export default {
  id: 'scaling',
  label: 'Throughput against the number of clients, with the fitted law',
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
