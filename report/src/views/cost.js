// cost: processor time a grant, clients' and server's stacked, cheapest first.
import { firstGroup } from '../data.js';
import { escape, number, time } from '../format.js';
import { axis, groupControl, tooltip } from '../view.js';

const client = (row) => row.figures['cost.client_cpu_ns_per_grant'] ?? 0;
const server = (row) => row.figures['cost.server_cpu_ns_per_grant'] ?? 0;
const commands = (row) => row.figures['cost.commands_per_grant'];

function draw({ data, state, theme, choice }) {
  const group = data.groups[choice('group')];
  const rows = (group?.rows ?? []).filter((row) => state.shows(row.lock) && client(row) + server(row) > 0);
  if (rows.length === 0) return { empty: 'No lock that is shown has a cost under this load.' };
  rows.sort((a, b) => client(b) + server(b) - client(a) - server(a));
  const bar = (name, of, color, more) => ({
    type: 'bar', name, stack: 'cpu', data: rows.map(of), itemStyle: { color }, barMaxWidth: 22, emphasis: { focus: 'none' }, ...more,
  });
  return {
    height: 108 + 30 * rows.length,
    option: {
      tooltip: tooltip(theme, {
        trigger: 'axis',
        axisPointer: { type: 'shadow' },
        formatter: ([{ dataIndex }]) => {
          const row = rows[dataIndex];
          return `<b>${escape(row.lock.label)}</b><br>clients: ${time(client(row))}<br>server: ${server(row) ? time(server(row)) : 'none'}<br>${number(commands(row))} commands a grant`;
        },
      }),
      legend: { top: 0, left: 0, selectedMode: false, itemWidth: 14, itemHeight: 10, textStyle: { color: theme.ink, fontSize: 12 } },
      xAxis: axis(theme, { type: 'value', name: 'processor time a grant', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: time } }),
      yAxis: axis(theme, { type: 'category', data: rows.map((row) => row.lock.label), axisLabel: { color: theme.ink, hideOverlap: false } }),
      series: [
        bar('clients', client, theme.palette[0]),
        bar('server', server, theme.palette[4], {
          label: { show: true, position: 'right', color: theme.soft, fontSize: 11, formatter: ({ dataIndex }) => time(client(rows[dataIndex]) + server(rows[dataIndex])) },
        }),
      ],
      grid: { left: 8, right: 64, top: 36, bottom: 34, containLabel: true },
    },
  };
}

export default {
  id: 'cost',
  label: 'Processor time a grant of each lock; the figures are in the tables below',
  controls: (data) => [groupControl(data, firstGroup(data))],
  draw,
};
