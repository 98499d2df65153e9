// figures: one figure of every lock with its interval, the best of each durability first.
import { firstGroup, guaranteeOf, lockColumns, lockRow } from '../data.js';
import { escape, number, time } from '../format.js';
import { colourOf } from '../theme.js';
import { axis, groupControl, tooltip } from '../view.js';

// For the first figure and for Jain more is better; all others are times and costs.
const figures = {
  throughput_per_s: { name: 'grants/s', format: number, more: true },
  'latency_ns.acquire.p50': { name: 'acquire p50', format: time },
  'latency_ns.acquire.p99': { name: 'acquire p99', format: time },
  'response_ns.p50': { name: 'from due p50', format: time },
  'response_ns.p99': { name: 'from due p99', format: time },
  'latency_ns.handoff.p50': { name: 'handoff p50', format: time },
  'latency_ns.release.p50': { name: 'release p50', format: time },
  'fairness.jain': { name: 'Jain', format: number, more: true },
  'cost.commands_per_grant': { name: 'commands a grant', format: number },
  'cost.server_cpu_ns_per_grant': { name: 'server CPU a grant', format: time },
};
const stands = {
  repeats: (n) => `95 % interval of the median of ${n} repeats`,
  range: (n) => `range of ${n} repeats: too few for an interval`,
};

function barsOf(group, key, state) {
  return group.rows.map((row) => ({ row, value: row.figures[key], ...row.spread[key] }))
    .filter(({ row, value }) => state.shows(row.lock) && row.lock.real && Number.isFinite(value));
}

// A line from low to high with a foot at each end.
function interval(theme, bars) {
  return (params, api) => {
    const { low, high } = bars[params.dataIndex];
    const [x1, y] = api.coord([low, api.value(1)]), [x2] = api.coord([high, api.value(1)]);
    const line = (a, b, c, d) => ({ type: 'line', shape: { x1: a, y1: b, x2: c, y2: d }, style: { stroke: theme.ink, lineWidth: 1.5 }, silent: true });
    return { type: 'group', children: [line(x1, y, x2, y), line(x1, y - 5, x1, y + 5), line(x2, y - 5, x2, y + 5)] };
  };
}

function tell({ row, value, low, high, kind, count }, standing, { name, format }) {
  const lines = [`<b>${escape(row.lock.label)}</b> (${escape(row.lock.state)})`, escape(standing), `${name}: ${format(value)}`];
  if (kind) lines.push(`${format(low)} to ${format(high)}: ${stands[kind](count)}`);
  return lines.join('<br>');
}

function draw({ data, state, theme, choice }) {
  const group = data.groups[choice('group')], key = choice('figure'), { name, format, more } = figures[key];
  const bars = group ? barsOf(group, key, state) : [];
  if (!bars.some(({ value }) => value > 0)) return { empty: `No lock that is shown has ${name} under this load: handoffs need clients that wait, CPU a server that lockbench started.` };
  const worst = more ? (a, b) => a.value - b.value : (a, b) => b.value - a.value;
  bars.sort((a, b) => b.row.lock.durability - a.row.lock.durability || worst(a, b));
  const wide = bars.filter(({ kind }) => kind);
  const at = new Map(bars.map((bar, i) => [bar, i]));
  return {
    height: 100 + (theme.narrow ? 44 : 30) * bars.length,
    note: wide.length ? `Lines: ${[...new Set(wide.map(({ kind, count }) => stands[kind](count).split(',')[0]))].join('; ')}.`
      : 'One run gives this figure no interval: run.repeat = 6 and more does.',
    option: {
      tooltip: tooltip(theme, { trigger: 'item', formatter: ({ data: { bar } }) => tell(bar, guaranteeOf(data, bar.row.lock).slice(1).join(', '), figures[key]) }),
      xAxis: axis(theme, { type: 'log', name: `${name} (log)`, nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: format } }),
      yAxis: axis(theme, {
        type: 'category', data: bars.map(({ row }) => row.lock.label),
        axisLabel: { color: theme.ink, hideOverlap: false, formatter: (label, i) => `${label}\n{s|${guaranteeOf(data, bars[i].row.lock).slice(1, theme.narrow ? 2 : 4).join(', ')}}`, rich: { s: { color: theme.soft, fontSize: 10, lineHeight: 15 } } },
      }),
      series: [
        { type: 'scatter', name, symbolSize: 10, data: bars.map((bar, i) => ({ value: [bar.value, i], bar, itemStyle: { color: colourOf(theme, bar.row.lock) } })) },
        { type: 'custom', name: 'interval', silent: true, renderItem: interval(theme, wide), data: wide.map((bar) => [bar.value, at.get(bar)]), z: 1 },
      ],
      grid: { left: 8, right: 28, top: 22, bottom: 34, containLabel: true },
    },
    tables: [{
      columns: lockColumns(['verdict', name, 'from', 'to', 'stands on'].map((column) => ({ name: column, format }))),
      rows: bars.toReversed().map(({ row, value, low, high, kind, count }) => lockRow(data, row.lock, [row.lock.state, value,
        low ?? null, high ?? null, kind ? stands[kind](count) : 'one figure of one run'])),
    }],
  };
}

export default {
  id: 'figures',
  label: 'One figure of each lock with its interval',
  controls(data) {
    const real = (group) => group.rows.filter((row) => row.lock.real).length, first = firstGroup(data);
    const fullest = data.groups.reduce((a, b) => (real(b) > real(a) ? b : a), first);
    const used = Object.entries(figures).filter(([key]) => data.groups.some((g) => g.rows.some((r) => r.figures[key] > 0)));
    return [groupControl(data, fullest), { key: 'figure', name: 'Figure', fallback: used[0]?.[0] ?? 'throughput_per_s', choices: used.map(([value, { name }]) => ({ value, text: name })) }];
  },
  draw,
};
