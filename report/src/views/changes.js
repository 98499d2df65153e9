// changes: all change points of all series on one chart: a line for each figure that changed, a mark for each change.
import { escape, formatOf } from '../format.js';
import { axis, tooltip } from '../view.js';
import { changeOf, kindOf, kinds, nameOf, titleOf } from './trend.js';

const ROW = 26; // pixels for each figure
const LABEL_MAX = 44; // letters; on a phone half of them
const ROWS_MAX = 60; // more are in the table

const day = (ms) => new Date(ms).toISOString().slice(0, 10);

/* Each figure that changed, those that fail the gate first, those of series that ended last. */
function changedOf({ series }) {
  const all = series.flatMap((one) => Object.values(one.figures).map((figure) => ({ one, figure })));
  return all.filter(({ figure }) => figure.changes.length > 0).sort((a, b) => a.one.ended - b.one.ended || b.figure.worse - a.figure.worse);
}

function draw({ data: { history }, theme }) {
  const all = changedOf(history), shown = all.slice(0, ROWS_MAX).reverse();
  if (all.length === 0) return { empty: 'No figure has changed.' };
  const most = theme.narrow ? LABEL_MAX / 2 : LABEL_MAX;
  const label = ({ one, figure }) => { const text = `${one.lock}, ${one.clients}${one.ended ? ' (ended)' : ''}: ${figure.title}`; return text.length > most ? `${text.slice(0, most - 1)}…` : text; };
  const marks = Object.entries(kinds).map(([kind, { symbol, colour }]) => ({
    type: 'scatter', name: kind, symbol, symbolSize: 12, color: colour(theme), itemStyle: { color: colour(theme) },
    data: shown.flatMap((row, y) => row.figure.changes.filter((change) => kindOf(row.figure, change) === kind).map((change) => ({ value: [Date.parse(change.time), y], row, change }))),
  })).filter((one) => one.data.length > 0);
  const ends = history.series.flatMap(({ lines }) => [lines[0], lines.at(-1)]).map(({ time }) => Date.parse(time));
  return {
    height: ROW * shown.length + 110,
    note: `${all.length > shown.length ? `The first ${shown.length} of ${all.length} figures that changed; all are in the table. ` : ''}A mark is a change that stayed. Acknowledged changes shut no gate.`,
    tables: [{
      columns: [{ name: 'series' }, { name: 'figure' }, { name: 'from', format: day }, { name: 'run' }, ...['change', 'before', 'after'].map((name) => ({ name }))],
      rows: all.flatMap(({ one, figure }) => figure.changes.map((change) => [titleOf(one), figure.title, Date.parse(change.time), nameOf(change), changeOf(figure, change), formatOf(figure)(change.before), formatOf(figure)(change.after)])),
    }],
    option: {
      tooltip: tooltip(theme, {
        trigger: 'item',
        formatter: ({ data: { row: { one, figure }, change } }) => `<b>${escape(one.lock)}, ${escape(figure.title)}: ${changeOf(figure, change)}</b><br>${formatOf(figure)(change.before)} → ${formatOf(figure)(change.after)}<br>${escape(nameOf(change))}`,
      }),
      legend: { bottom: 0, left: 0, selectedMode: false, textStyle: { color: theme.ink, fontSize: 12 }, data: marks.map(({ name }) => name) },
      xAxis: axis(theme, { type: 'time', min: Math.min(...ends), max: Math.max(...ends), axisLabel: { formatter: day } }),
      yAxis: axis(theme, { type: 'category', data: shown.map(label), axisLabel: { hideOverlap: false, interval: 0 } }),
      series: marks,
      grid: { left: 8, right: 44, top: 12, bottom: 62, containLabel: true },
    },
  };
}

export default { id: 'changes', label: 'All changes', controls: () => [], draw };
