// recovery: how long each trial took from a fault to the next grant: a dot for each trial, against the band that theory allows.
import { lockColumns, lockRow } from '../data.js';
import { escape, time } from '../format.js';
import { colourOf } from '../theme.js';
import { axis, tooltip } from '../view.js';

const DOTS_MAX = 400;
const quantile = (sorted, q) => sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)];
const theoryOf = ({ theory, theoryMin, theoryMax }) => theory ?? (theoryMax === null ? '–' : `${time(theoryMin ?? 0)} to ${time(theoryMax)}`);

/* Stages of one lock under one fault together: repeats are trials of the same thing. */
function linesOf(data, state) {
  const lines = new Map();
  for (const one of data.recoveries) {
    const lock = data.locks[one.lock];
    if (!state.shows(lock)) continue;
    const name = `${lock.label}: ${one.fault ?? 'fault'}`, key = `${name}|${one.theory}`;
    const line = lines.get(key) ?? { ...one, name, lock, trials: [], unrecovered: 0 };
    line.trials.push(...one.trials);
    line.unrecovered += one.unrecovered ?? 0;
    lines.set(key, line);
  }
  for (const line of lines.values()) line.trials.sort((a, b) => a - b);
  return [...lines.values()];
}

// The band of theory behind a line: [from, to, lane].
function band(params, api) {
  const [x1, y] = api.coord([api.value(0), api.value(2)]), [x2] = api.coord([api.value(1), api.value(2)]), tall = api.size([0, 1])[1] * 0.9;
  return { type: 'rect', shape: { x: x1, y: y - tall / 2, width: Math.max(2, x2 - x1), height: tall }, style: api.style() };
}

function dots(lines, theme) {
  return { type: 'scatter', name: 'trials', symbolSize: 9, data: lines.flatMap((line, lane) => line.trials.map((ns) => ({ value: [ns, lane], line, itemStyle: { color: colourOf(theme, line.lock), opacity: 0.75 } }))) };
}

function strip(lines, theme) {
  const bands = lines.flatMap(({ theoryMin, theoryMax }, lane) => (theoryMax === null ? [] : [[theoryMin ?? 0, theoryMax, lane]]));
  return {
    tooltip: tooltip(theme, { trigger: 'item', formatter: ({ value, data: { line } }) => (line ? `<b>${escape(line.name)}</b><br>${time(value[0])}; theory: ${escape(theoryOf(line))}` : '') }),
    xAxis: axis(theme, { type: 'value', min: 0, max: ({ max }) => Math.max(max, ...bands.map(([, to]) => to)) * 1.04, name: 'from the fault to the next grant', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: time } }),
    yAxis: axis(theme, { type: 'category', data: lines.map(({ name }) => name), axisLabel: { color: theme.ink, hideOverlap: false, width: theme.narrow ? 110 : 260, overflow: 'truncate' } }),
    series: [{ type: 'custom', name: 'theory', silent: true, renderItem: band, data: bands, itemStyle: { color: theme.palette[2], opacity: 0.18 }, z: 1 }, dots(lines, theme)],
    grid: { left: 8, right: 28, top: 18, bottom: 34, containLabel: true },
  };
}

function draw({ data, state, theme }) {
  const shown = linesOf(data, state).filter(({ trials, unrecovered }) => trials.length > 0 || unrecovered > 0);
  if (shown.length === 0) return { empty: 'No lock that is shown has trials.' };
  const trials = shown.reduce((n, line) => n + line.trials.length, 0);
  if (trials === 0) return { empty: `Nothing recovered: ${shown.map(({ name, unrecovered }) => `${name}: ${unrecovered} keys that nobody got any more`).join('; ')}.` };
  const every = Math.ceil(trials / DOTS_MAX);
  // The slowest trial of each lane stays, because it is compared with the band.
  if (every > 1) shown.forEach((line) => { line.all = line.trials; line.trials = line.trials.filter((_, i, all) => i % every === 0 || i === all.length - 1); });
  const all = (line) => line.all ?? line.trials;
  return {
    height: 90 + 34 * shown.length,
    note: `The band is what theory allows. ${shown.some(({ all: more }) => more) ? 'Of so many trials every few are drawn. ' : ''}${shown.filter(({ unrecovered }) => unrecovered > 0).map(({ name, unrecovered }) => `${name}: ${unrecovered} never recovered.`).join(' ')}`,
    option: strip(shown, theme),
    tables: [{
      columns: lockColumns([{ name: 'trials' }, ...['least', 'p50', 'p90', 'most'].map((name) => ({ name, format: time })), { name: 'theory' }, { name: 'longer than theory' }, { name: 'never' }], 'lock and fault'),
      rows: shown.map((line) => lockRow(data, line.lock, [all(line).length, all(line)[0] ?? null, quantile(all(line), 0.5) ?? null, quantile(all(line), 0.9) ?? null, all(line)[all(line).length - 1] ?? null,
        theoryOf(line), line.theoryMax === null ? null : all(line).filter((ns) => ns > line.theoryMax).length, line.unrecovered], line.name)),
    }],
  };
}

export default {
  id: 'recovery',
  label: 'From a fault to the next grant, each trial, against theory',
  missing: (data) => data.recoveries.length === 0 && 'No stage measured a recovery. A run with faults and a history fills this: lockbench run crash --lock …, or lockbench check LOCK --fault holder-kill --trials 20',
  controls: () => [],
  draw,
};
