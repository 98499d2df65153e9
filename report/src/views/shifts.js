// shifts: the changes between two sides of runs: a line for each figure, with the shift and its interval, told apart by
// shape too; the band holds changes that are too small to count.
import { escape, formatOf, number } from '../format.js';
import { axis, tooltip } from '../view.js';

const verdicts = {
  worse: { symbol: 'diamond', colour: (theme) => theme.palette[1] },
  better: { symbol: 'circle', colour: (theme) => theme.palette[2] },
  'no change shown': { symbol: 'rect', colour: (theme) => theme.palette[0] },
  'not judged': { symbol: 'circle', hollow: true, colour: (theme) => theme.soft },
  inconclusive: { symbol: 'triangle', hollow: true, colour: (theme) => theme.soft },
};
const ROW = 30; // pixels for each figure

const isFigure = (value) => typeof value === 'number';
export const percent = (shift) => `${shift > 0 ? '+' : ''}${number(100 * shift)} %`;

export function rowControl({ compare }) {
  const weight = (row) => row.figures.filter(({ verdict }) => verdict === 'worse').length;
  const worst = compare.rows.reduce((most, row, i) => (weight(row) > weight(compare.rows[most]) ? i : most), 0);
  return { key: 'row', name: 'Lock', fallback: String(worst), choices: compare.rows.map(({ title }, i) => ({ value: String(i), text: title })) };
}

function draw({ data: { compare }, theme, choice }) {
  const { figures } = compare.rows[Number(choice('row'))];
  const shown = figures.filter(({ shift }) => isFigure(shift)).reverse();
  if (shown.length === 0) return { empty: 'No figure of this lock has a shift that can be drawn.' };
  const series = Object.entries(verdicts).map(([verdict, { symbol, hollow, colour }]) => ({
    type: 'scatter', name: verdict, symbol, symbolSize: 12, z: 4, itemStyle: { color: hollow ? 'transparent' : colour(theme), borderColor: colour(theme), borderWidth: 1.5 },
    data: shown.flatMap((figure, y) => (figure.verdict === verdict ? [{ value: [figure.shift, y], figure }] : [])),
  })).filter((one) => one.data.length > 0);
  const bars = {
    type: 'line', silent: true, symbol: 'none', lineStyle: { color: theme.soft, width: 2 }, connectNulls: false,
    // Two invisible points keep both sides of zero in sight.
    data: [[-2 * compare.min_effect, 0], [null, null], [2 * compare.min_effect, 0], [null, null], ...shown.flatMap(({ low, high }, y) => (isFigure(low) && isFigure(high) ? [[low, y], [high, y], [null, null]] : []))],
    markLine: { silent: true, symbol: 'none', data: [{ xAxis: 0 }], lineStyle: { color: theme.ink, type: 'solid' }, label: { show: false } },
    markArea: { silent: true, itemStyle: { color: theme.soft, opacity: 0.15 }, data: [[{ xAxis: -compare.min_effect }, { xAxis: compare.min_effect }]] },
  };
  const told = (figure, value) => formatOf(figure)(value);
  return {
    height: ROW * shown.length + 110,
    note: `${compare.base} against ${compare.new}. Left of zero: less in the new runs. The band: changes below ${number(100 * compare.min_effect)} %, which are none. ${shown.length < figures.length || shown.some(({ low }) => !isFigure(low)) ? 'A mark without a line: too few samples for an interval.' : ''}`,
    tables: [{
      columns: [{ name: 'figure' }, { name: 'base' }, { name: 'new' }, { name: 'shift', format: percent }, { name: 'low', format: percent }, { name: 'high', format: percent }, { name: 'verdict' }],
      rows: figures.map((f) => [f.title, told(f, f.base), told(f, f.new), f.shift, f.low, f.high, f.verdict]),
    }],
    option: {
      tooltip: tooltip(theme, {
        trigger: 'item',
        formatter: ({ data: { figure } }) => `<b>${escape(figure.title)}: ${figure.verdict}</b><br>${told(figure, figure.base)} → ${told(figure, figure.new)}, ${percent(figure.shift)}${isFigure(figure.low) ? `<br>95 %: ${percent(figure.low)} to ${percent(figure.high)}` : ''}`,
      }),
      legend: { bottom: 0, left: 0, selectedMode: false, textStyle: { color: theme.ink, fontSize: 12 }, data: series.map(({ name }) => name) },
      xAxis: axis(theme, { type: 'value', name: 'new against base', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: percent } }),
      yAxis: axis(theme, { type: 'category', data: shown.map(({ title }) => title), axisLabel: { hideOverlap: false, interval: 0 } }),
      series: [bars, ...series],
      grid: { left: 8, right: 34, top: 12, bottom: 62, containLabel: true },
    },
  };
}

export default { id: 'shifts', label: 'What changed, with intervals', controls: (data) => [rowControl(data)], draw };
