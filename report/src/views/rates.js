// rates: latency from due to held over the offered rate, the two ways of the sweep apart; the promise and its
// answer.
import { lockColumns, lockRow } from '../data.js';
import { count, escape, number, time } from '../format.js';
import { colourOf, dashOf } from '../theme.js';
import { axis, tooltip } from '../view.js';

const figures = { p50: 'p50', p90: 'p90', p99: 'p99', p999: 'p99.9', mean: 'mean' };
const symbols = { up: 'triangle', down: 'arrow', shuffled: 'diamond' };
const ways = { up: 'going up', down: 'going down', shuffled: 'shuffled' };
const rate = (value) => `${number(value)}/s`;
const quantileOf = (key) => ({ p50: 0.5, p90: 0.9, p99: 0.99, p999: 0.999 })[key];

function promiseSeries(theme, line, key, colour) {
  const { promise } = line;
  if (!promise || promise.metric !== 'acquire_due' || quantileOf(key) !== promise.quantile) return {};
  const answer = promise.answered ? [{ xAxis: promise.value, label: { formatter: `${rate(promise.value)}`, color: theme.ink } }] : [];
  const band = promise.answered && promise.low !== null && promise.high !== null ? [[{ xAxis: promise.low }, { xAxis: promise.high }]] : [];
  return {
    markLine: { silent: true, symbol: 'none', lineStyle: { color: colour, type: 'dashed', width: 1.5 },
      data: [{ yAxis: promise.limit, label: { formatter: promise.slo, position: 'insideStartTop', color: theme.ink } }, ...answer] },
    markArea: { silent: true, itemStyle: { color: colour, opacity: 0.14 }, data: band },
  };
}

function seriesOf(line, key, theme, lock) {
  const legs = [...new Set(line.points.map(({ leg }) => leg ?? ''))];
  return legs.map((leg, i) => {
    const points = line.points.filter((point) => (point.leg ?? '') === leg && point[key] > 0);
    return {
      type: 'line', name: leg && legs.length > 1 ? `${lock.label}, ${ways[leg] ?? leg}` : lock.label,
      data: points.map((point) => ({ value: [point.offered, point[key]], point })),
      symbol: symbols[leg] ?? 'circle', symbolSize: 9, symbolRotate: leg === 'down' ? 180 : 0, color: colourOf(theme, lock),
      lineStyle: { width: leg === 'shuffled' ? 0 : 2.2, type: i === 0 ? dashOf(lock) : 'dotted' }, emphasis: { focus: 'series' },
      ...(i === 0 ? promiseSeries(theme, line, key, colourOf(theme, lock)) : {}),
    };
  }).filter(({ data }) => data.length > 0);
}

function noteOf(shown, data) {
  const said = shown.filter(({ promise }) => promise).map(({ lock, promise }) => `${data.locks[lock].label}: ${promise.slo} ${promise.answered
    ? `holds up to ${rate(promise.value)} (${promise.low === null ? '?' : number(promise.low)} to ${promise.high === null ? 'not bounded' : number(promise.high)})${promise.limitedBy === 'generator' ? ', where the load generator was the limit' : ''}${promise.limitedBy === 'range' ? ', the most that was tried' : ''}`
    : `has no answer${promise.why ? `: ${promise.why}` : ''}`}.`);
  const bounds = shown.filter(({ bound }) => bound).map(({ lock, bound }) => `${data.locks[lock].label}: where each grant is a handoff, one key carries 1/(hold + handoff) = ${rate(bound)}.`);
  return [...said, ...bounds].join(' ');
}

function draw({ data, state, theme, choice }) {
  const key = choice('figure'), [load, clients] = JSON.parse(choice('load') ?? '[]');
  const shown = data.rates.filter((line) => line.load === load && line.clients === clients && state.shows(data.locks[line.lock]));
  if (shown.length === 0) return { empty: 'No lock that is shown has an open loop under this load.' };
  const series = shown.flatMap((line) => seriesOf(line, key, theme, data.locks[line.lock]));
  if (series.length === 0) return { empty: 'No lock that is shown was granted enough under this load.' };
  const format = time;
  return {
    note: noteOf(shown, data),
    option: {
      tooltip: tooltip(theme, {
        trigger: 'item',
        formatter: ({ seriesName, value, data: { point } }) => `<b>${escape(seriesName)}</b><br>${rate(point.offered)} offered, ${rate(point.achieved)} granted<br>due to held, ${figures[key]}: ${time(value[1])}${point.missed ? `<br>${count(point.missed)} not started` : ''}${point.limited ? '<br>generator-limited' : ''}`,
      }),
      xAxis: axis(theme, { type: 'value', min: 0, name: 'offered rate', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: rate } }),
      yAxis: axis(theme, { type: 'log', name: `due to held, ${figures[key]} (log)`, nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: format } }),
      legend: { type: 'scroll', bottom: 0, left: 0, selectedMode: false, itemWidth: 22, textStyle: { color: theme.ink, fontSize: 12 } },
      series,
      grid: { left: 8, right: 28, top: 34, bottom: 58, containLabel: true },
    },
    tables: [{
      columns: lockColumns([{ name: 'way' }, { name: 'offered', format: rate }, { name: 'granted', format: rate }, ...['mean', 'p50', 'p90', 'p99', 'p99.9'].map((name) => ({ name, format: time })), { name: 'not started' }, { name: 'samples' }, { name: 'stage' }]),
      rows: shown.flatMap((line) => line.points.map((p) => lockRow(data, data.locks[line.lock], [ways[p.leg] ?? '–', p.offered, p.achieved, p.mean, p.p50, p.p90, p.p99, p.p999, p.missed ?? null, p.count ?? null, p.stage ?? '–']))),
    }],
  };
}

export default {
  id: 'rates',
  label: 'Latency from due to held against the offered rate',
  missing: (data) => data.rates.length === 0 && 'No stage was an open loop. A sweep of rates fills this: lockbench run sweep-rate --lock …, or lockbench capacity LOCK',
  controls(data) {
    const loads = [...new Map(data.rates.map(({ load, clients }) => [JSON.stringify([load, clients]), `${clients} client${clients === 1 ? '' : 's'}: ${load}`]))];
    const most = (value) => data.rates.filter((r) => JSON.stringify([r.load, r.clients]) === value).reduce((n, r) => n + r.points.length, 0);
    const promised = data.rates.find(({ promise }) => promise)?.promise.quantile;
    return [
      { key: 'load', name: 'Load', fallback: loads.length ? loads.reduce((a, b) => (most(b[0]) > most(a[0]) ? b : a))[0] : undefined, choices: loads.map(([value, text]) => ({ value, text })) },
      { key: 'figure', name: 'Figure', fallback: (promised && Object.keys(figures).find((key) => quantileOf(key) === promised)) ?? 'p99', choices: Object.entries(figures).map(([value, text]) => ({ value, text })) },
    ];
  },
  draw,
};
