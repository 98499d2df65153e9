// trend: one figure of one series over its runs: each run a point, the medians between change points as lines, and each
// change point marked, told apart by shape too.
import { escape, formatOf, number } from '../format.js';
import { axis, tooltip } from '../view.js';

const isFigure = (value) => typeof value === 'number';
/* "worse +12 %"; a change from 0, or to never, has no percentage. */
export const changeOf = (figure, change) => `${kindOf(figure, change)}${isFigure(change.shift) ? ` ${change.shift > 0 ? '+' : ''}${number(100 * change.shift)} %` : ''}`;
export const titleOf = (series) => `${series.lock}, ${series.clients} client${series.clients === '1' ? '' : 's'}, ${series.topology}, ${series.load}${series.ended ? ' (ended)' : ''}`;
export const kinds = {
  worse: { symbol: 'diamond', colour: (theme) => theme.palette[1] },
  better: { symbol: 'circle', colour: (theme) => theme.palette[2] },
  acknowledged: { symbol: 'rect', colour: (theme) => theme.soft },
};
export const kindOf = (figure, change) => (!change.worse ? 'better' : figure.acknowledged ? 'acknowledged' : 'worse');
export const nameOf = ({ time: at, commit, run }) => [at.slice(0, 16).replace('T', ' '), commit, run].filter(Boolean).join(', ');

/* The figure to show first: one that fails the gate, else one that changed, else the first; of a series that goes on. */
const weightOf = (figure) => (figure.worse ? 1e6 : 0) + (figure.acknowledged ? 1e3 : 0) + figure.changes.length;
const weightsOf = (series) => (series.ended ? -1 : 1) * Math.max(1, ...Object.values(series.figures).map(weightOf));
const most = (list, weight) => list.reduce((best, one) => (weight(one) > weight(best) ? one : best), list[0]);

/* From change point to change point, the medians that the change points have for their sides. */
function levelsOf(figure) {
  const { changes, values, lines } = figure, last = values.length - 1;
  return changes.flatMap(({ index, before, after }, i) => {
    const from = i === 0 ? 0 : changes[i - 1].index, to = i === changes.length - 1 ? last : changes[i + 1].index - 1;
    return [i === 0 && [from, index - 1, before], [index, to, after]].filter(Boolean);
  }).filter(([, , level]) => isFigure(level)).flatMap(([from, to, level]) => [[lines[from], level], [lines[to], level], [null, null]]);
}

function draw({ data: { history }, theme, choice }) {
  const series = history.series[Number(choice('series'))];
  const figure = series?.figures[choice('figure')] ?? (series && most(Object.values(series.figures), weightOf));
  if (!figure) return { empty: 'This series has no figures: the load generator limited all its stages.' };
  const told = formatOf(figure), points = figure.values.map((value, i) => ({ value: isFigure(value) ? value : null, line: figure.lines[i] }));
  const marks = Object.entries(kinds).map(([kind, { symbol, colour }]) => ({
    type: 'scatter', name: kind, symbol, symbolSize: 16, z: 5, color: colour(theme), itemStyle: { color: colour(theme) },
    data: figure.changes.filter((change) => kindOf(figure, change) === kind).map((change) => ({ value: [figure.lines[change.index], isFigure(change.after) ? change.after : change.before], change })),
  })).filter((one) => one.data.length > 0);
  return {
    note: `${titleOf(series)}: ${figure.title}. ${series.durability}; executor ${series.executor}. A point is one run's median; a line is the median between changes.${figure.acknowledged ? ` Acknowledged: ${figure.acknowledged}.` : ''}${series.ended ? ' Ended: the newest runs of this lock are in other series; this one is not judged.' : ''}`,
    tables: [{
      columns: [{ name: 'run' }, { name: figure.title, format: told }, { name: 'change' }, { name: 'level before', format: told }, { name: 'level after', format: told }],
      rows: figure.values.map((value, i) => {
        const change = figure.changes.find(({ index }) => index === i);
        return [nameOf(series.lines[figure.lines[i]]), value, change ? changeOf(figure, change) : '', change?.before ?? '', change?.after ?? ''];
      }),
    }],
    option: {
      tooltip: tooltip(theme, {
        trigger: 'item',
        formatter: ({ data: point }) => (point.change
          ? `<b>${changeOf(figure, point.change)}</b><br>${told(point.change.before)} → ${told(point.change.after)}<br>${escape(nameOf(point.change))}${point.change.also ? `<br>changed there, too: ${escape(point.change.also)}` : ''}`
          : `<b>${told(point.value[1])}</b><br>${escape(nameOf(series.lines[point.value[0]]))}`),
      }),
      legend: { bottom: 0, left: 0, selectedMode: false, textStyle: { color: theme.ink, fontSize: 12 }, data: marks.map(({ name }) => name) },
      xAxis: axis(theme, { type: 'category', data: series.lines.map(({ time: at }) => at.slice(0, 10)), boundaryGap: true, name: 'runs, in the order of time', nameLocation: 'middle', nameGap: 26 }),
      yAxis: axis(theme, { type: 'value', min: 0, name: figure.title, nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: told } }),
      series: [
        { type: 'scatter', name: 'run', symbolSize: 6, itemStyle: { color: theme.palette[0] }, data: points.filter(({ value }) => value !== null).map(({ value, line }) => ({ value: [line, value] })) },
        { type: 'line', name: 'level', silent: true, symbol: 'none', connectNulls: false, lineStyle: { color: theme.ink, width: 2 }, data: levelsOf(figure) },
        ...marks,
      ],
      grid: { left: 8, right: 34, top: 34, bottom: 62, containLabel: true },
    },
  };
}

export default {
  id: 'trend',
  label: 'One figure over its runs',
  controls({ history: { series } }) {
    const first = most(series, weightsOf);
    const figures = new Map(series.flatMap((one) => Object.entries(one.figures).map(([key, { title }]) => [key, title])));
    return [
      { key: 'series', name: 'Series', fallback: String(Math.max(0, series.indexOf(first))), choices: series.map((one, i) => ({ value: String(i), text: titleOf(one) })) },
      { key: 'figure', name: 'Figure', fallback: '', choices: [{ value: '', text: 'the one that changed most' }, ...[...figures].map(([value, text]) => ({ value, text }))] },
    ];
  },
  draw,
};
