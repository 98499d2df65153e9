// labels: the names of locks at the right ends of their lines. ECharts' own shifting leaves names on one another where
// many lines end close together: here a name goes to the next free place above or below, and is left out where none is
// near. What has no name is told on hover, and by the colours of the picker. A long name is cut, so that the lines keep
// their room.
import { colourOf } from './theme.js';

const LINE_PX = 15, LETTER_PX = 7, STEP_PX = 3, NEAR_PX = 75, MOST_PX = 200;
const TOP_PX = 24, BOTTOM_PX = 364; // of page.css's .canvas, which is 26rem high, without its axis

/** For lines of these locks, in the order of the chart's series: room is the grid's right, of(lock, i) the line's own options.
 * On narrow screens no names are drawn. */
export function endLabels(theme, locks) {
  const shown = !theme.narrow, taken = new Map();
  const width = Math.min(MOST_PX, 10 + LETTER_PX * Math.max(0, ...locks.map(({ label }) => label.length)));
  const isFree = (y, series) => y > TOP_PX && y < BOTTOM_PX - LINE_PX && [...taken].every(([other, at]) => other >= series || Math.abs(at - y) >= LINE_PX);
  const place = ({ seriesIndex, labelRect: { y } }) => {
    for (let step = 0; step <= 2 * (NEAR_PX / STEP_PX); step++) {
      const dy = (step % 2 ? 1 : -1) * Math.ceil(step / 2) * STEP_PX;
      if (!isFree(y + dy, seriesIndex)) continue;
      taken.set(seriesIndex, y + dy);
      return { dy };
    }
    taken.delete(seriesIndex);
    return { hideOverlap: true, fontSize: 0 };
  };
  return {
    room: shown ? width + 8 : 22,
    of: (lock, has = true) => ({
      endLabel: { show: shown && has, formatter: lock.label, color: colourOf(theme, lock), fontSize: 12, padding: [0, 4], width, overflow: 'truncate' },
      labelLayout: place,
    }),
  };
}
