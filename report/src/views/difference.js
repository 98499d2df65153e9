// difference: one lock's quantiles against another's, A - B or A / B, with a band that tells how sure that is.
//
// Where both have repeats, the line is the median of the differences of all pairs of repeats (Hodges and Lehmann) and the band
// goes from the least to the greatest of them. One run of each has no band: its waits depend on each other, and it says nothing
// of another run.
import { firstGroup, lockColumns, lockRow } from '../data.js';
import { escape, number, percentile, time } from '../format.js';
import { histogramsOf, median, percentAt, stepsOf } from '../histogram.js';
import { axis, groupControl, tooltip } from '../view.js';
import { metrics, usedMetrics } from './percentiles.js';

const figures = {
  minus: { name: 'A \u2212 B', of: (a, b) => a - b, format: (ns) => (ns < 0 ? `\u2212${time(-ns)}` : time(ns)), level: 0, axis: 'value' },
  ratio: { name: 'A / B', of: (a, b) => a / b, format: (x) => `${number(x)} \u00d7`, level: 1, axis: 'log' },
};

function pointOf(a, b, x, of) {
  const percent = percentAt(x) || Number.MIN_VALUE;
  const [as, bs] = [a, b].map((histograms) => histograms.map((h) => h.at(percent)));
  const point = { x, a: median(as), b: median(bs), low: null, high: null };
  const pairs = as.flatMap((one) => bs.map((other) => of(one, other)));
  point.value = median(pairs);
  return a.length > 1 && b.length > 1 ? { ...point, low: Math.min(...pairs), high: Math.max(...pairs) } : point;
}

function draw({ data, state, theme, choice }) {
  const group = data.groups[choice('group')], metric = choice('metric');
  const { name, of, format, level, axis: type } = figures[choice('figure')] ?? figures.minus;
  const rows = (group?.rows ?? []).filter((row) => histogramsOf(row, metric).length > 0);
  const shown = rows.filter((row) => state.shows(row.lock));
  const pick = (key, place) => (choice(key) === '' ? shown[place] : rows.find((row) => String(row.lock.index) === choice(key)));
  const [a, b] = [pick('a', 0), pick('b', 1)];
  if (!a || !b) return { empty: `Two locks are needed that have recorded ${metrics[metric] ?? metric} under this load.` };
  const [ours, theirs] = [histogramsOf(a, metric), histogramsOf(b, metric)];
  const points = stepsOf([...ours, ...theirs]).map((x) => pointOf(ours, theirs, x, of)).filter(({ value }) => Number.isFinite(value));
  const band = points.filter(({ low, high }) => low !== null && Number.isFinite(low) && Number.isFinite(high));
  const repeated = ours.length > 1 && theirs.length > 1;
  const edge = { type: 'line', stack: 'band', stackStrategy: 'all', symbol: 'none', silent: true, lineStyle: { opacity: 0 } };
  return {
    note: `A: ${a.lock.label}. B: ${b.lock.label}. ${repeated
      ? `The line is the median of all ${ours.length * theirs.length} pairs of repeats, the band goes from the least to the greatest.`
      : 'One run of each has no band: run.repeat = 2 and more does.'}`,
    tables: [{
      columns: [{ name: 'percentile' }, { name: `A: ${a.lock.label}`, format: time }, { name: `B: ${b.lock.label}`, format: time }, { name, format }, { name: 'low', format }, { name: 'high', format }],
      rows: points.map((p) => [`${percentAt(p.x).toFixed(Math.max(1, Math.ceil(Math.log10(p.x))))} %`, p.a, p.b, p.value, p.low, p.high]),
    }, {
      title: 'What is compared', columns: lockColumns([]), rows: [a, b].map((row) => lockRow(data, row.lock, [])),
    }],
    option: {
      tooltip: tooltip(theme, {
        trigger: 'axis',
        formatter: (items) => {
          const point = points.find(({ x }) => x === items[0].value[0]);
          return point ? `<b>${percentile(point.x)}</b><br>A ${escape(a.lock.label)}: ${time(point.a)}<br>B ${escape(b.lock.label)}: ${time(point.b)}<br>${name}: ${format(point.value)}${
            point.low === null ? '' : ` (${format(point.low)} to ${format(point.high)})`}` : '';
        },
      }),
      xAxis: axis(theme, { type: 'log', min: 1, name: 'percentile', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: percentile } }),
      yAxis: axis(theme, { type, name, nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: format } }),
      series: [
        { ...edge, data: band.map(({ x, low }) => [x, low]) },
        { ...edge, data: band.map(({ x, low, high }) => [x, high - low]), areaStyle: { color: theme.palette[0], opacity: 0.22 } },
        {
          type: 'line', name, data: points.map(({ x, value }) => [x, value]), showSymbol: false, color: theme.palette[0], lineStyle: { width: 2.2 },
          markLine: { silent: true, symbol: 'none', data: [{ yAxis: level }], lineStyle: { color: theme.ink, type: 'solid', width: 1 }, label: { show: false } },
        },
      ],
    },
  };
}

export default {
  id: 'difference',
  label: 'Difference of two locks at each percentile',
  controls(data) {
    const used = usedMetrics(data).map((m) => ({ value: m, text: metrics[m] }));
    const locks = (first) => [{ value: '', text: first }, ...data.locks.map((lock) => ({ value: String(lock.index), text: lock.label }))];
    return [
      groupControl(data, firstGroup(data)),
      { key: 'metric', name: 'Time', fallback: 'acquire', choices: used },
      { key: 'a', name: 'A', fallback: '', choices: locks('the first that is shown') },
      { key: 'b', name: 'B', fallback: '', choices: locks('the second that is shown') },
      { key: 'figure', name: 'Figure', fallback: 'minus', choices: Object.entries(figures).map(([value, { name }]) => ({ value, text: name })) },
    ];
  },
  draw,
};
