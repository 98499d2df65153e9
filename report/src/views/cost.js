// cost: the costs of a grant: processor time of clients and server stacked, or commands, or bytes; cheapest first.
import { firstGroup, lockColumns, lockRow } from '../data.js';
import { escape, number, time } from '../format.js';
import { axis, groupControl, tooltip } from '../view.js';

const client = (row) => row.figures['cost.client_cpu_ns_per_grant'];
const server = (row) => row.figures['cost.server_cpu_ns_per_grant'];
// A cost that is not known is not 0: without the clients' part there is no bar.
const figures = {
  cpu: { name: 'processor time', of: (row) => (client(row) === undefined ? undefined : client(row) + (server(row) ?? 0)), format: time },
  commands: { name: 'commands', of: (row) => row.figures['cost.commands_per_grant'], format: number },
  bytes: { name: 'bytes', of: (row) => row.figures['cost.bytes_per_grant'], format: number },
};

const exact = (row, key) => row.figures[`cost.${key}`] ?? null;

function table(rows, data) {
  return {
    columns: lockColumns([{ name: 'client CPU', format: time }, { name: 'server CPU', format: time }, { name: 'commands' }, { name: 'wake-ups' }, { name: 'bytes' }]),
    rows: rows.toReversed().map((row) => lockRow(data, row.lock, [exact(row, 'client_cpu_ns_per_grant'), exact(row, 'server_cpu_ns_per_grant'),
      exact(row, 'commands_per_grant'), exact(row, 'wakeups_per_grant'), exact(row, 'bytes_per_grant')])),
  };
}

/* True for a server whose processor time nobody measured, as one that is given by its URL. */
const lacksServer = (row) => server(row) === undefined && row.lock.topology !== 'embedded';

function draw({ data, state, theme, choice }) {
  const group = data.groups[choice('group')], { name, of, format } = figures[choice('figure')];
  const rows = (group?.rows ?? []).filter((row) => state.shows(row.lock) && of(row) > 0);
  if (rows.length === 0) return { empty: `No lock that is shown has ${name} a grant under this load. Server CPU is of servers that lockbench starts; commands and bytes are of locks with a server.` };
  rows.sort((a, b) => of(b) - of(a));
  const total = { show: true, position: 'right', color: theme.soft, fontSize: 11, formatter: ({ dataIndex }) => format(of(rows[dataIndex])) };
  const bar = (title, value, color, more) => ({
    type: 'bar', name: title, stack: 'cost', data: rows.map(value), itemStyle: { color }, barMaxWidth: 22, emphasis: { focus: 'none' }, ...more,
  });
  const lacking = choice('figure') === 'cpu' ? rows.filter((row) => lacksServer(row)) : [];
  return {
    note: lacking.length > 0 ? `The clients' part alone, since the processor time of the server is not known: ${lacking.map(({ lock }) => lock.label).join(', ')}.` : '',
    height: 108 + 30 * rows.length,
    tables: [table(rows, data)],
    option: {
      tooltip: tooltip(theme, {
        trigger: 'axis',
        axisPointer: { type: 'shadow' },
        formatter: ([{ dataIndex }]) => {
          const row = rows[dataIndex];
          return `<b>${escape(row.lock.label)}</b><br>clients: ${client(row) === undefined ? 'not known' : time(client(row))}<br>server: ${server(row) !== undefined ? time(server(row)) : lacksServer(row) ? 'not known' : 'none'}<br>${number(figures.commands.of(row))} commands and ${number(figures.bytes.of(row))} bytes a grant`;
        },
      }),
      legend: { top: 0, left: 0, selectedMode: false, itemWidth: 14, itemHeight: 10, textStyle: { color: theme.ink, fontSize: 12 } },
      xAxis: axis(theme, { type: 'value', name: `${name} a grant`, nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: format } }),
      yAxis: axis(theme, { type: 'category', data: rows.map((row) => row.lock.label), axisLabel: { color: theme.ink, hideOverlap: false } }),
      series: choice('figure') === 'cpu' ? [bar('clients', client, theme.palette[0]), bar('server', server, theme.palette[4], { label: total })]
        : [bar(name, of, theme.palette[0], { label: total })],
      grid: { left: 8, right: 64, top: 36, bottom: 34, containLabel: true },
    },
  };
}

export default {
  id: 'cost',
  label: 'What a grant costs each lock',
  controls: (data) => [
    groupControl(data, firstGroup(data)),
    { key: 'figure', name: 'Figure', fallback: 'cpu', choices: Object.entries(figures).map(([value, { name }]) => ({ value, text: `${name} a grant` })) },
  ],
  draw,
};
