// data: the page's embedded JSON (written by report/page/html.c), with the values that every view needs computed
// once.
import { makeHistogram } from './histogram.js';

/** Each lock gets its colour index and each row its lock, and its histograms. */
export function readData(element) {
  const data = JSON.parse(element.textContent);
  let colour = 0;
  for (const [index, lock] of data.locks.entries()) {
    lock.index = index;
    lock.colour = lock.real ? colour++ : -1;
  }
  for (const [index, group] of data.groups.entries()) {
    group.index = index;
    group.title = `${group.clients} client${group.clients === 1 ? '' : 's'}: ${group.load}`;
    for (const row of group.rows) {
      row.lock = data.locks[row.lock];
      row.histograms = Object.fromEntries(Object.entries(row.histograms).map(([metric, entry]) => [metric, makeHistogram(entry)]));
    }
  }
  return data;
}

/** The group to show first: the most contended one. */
export function firstGroup(data) {
  return data.groups.find((g) => g.first) ?? data.groups[0];
}

/** The guarantee and topology beside each figure that compares locks. They come after the figures, which a phone
 * shows first. */
const standing = [{ name: 'durability' }, { name: 'guarantee' }, { name: 'topology' }];
export function guaranteeOf(data, lock) {
  const { guarantee, topology } = lock;
  return [lock.label, data.durabilities[lock.durability], guarantee, topology ?? '–'];
}

/** The columns of a table with a row for each lock. */
export const lockColumns = (figures) => [{ name: 'lock' }, ...figures, ...standing];

/** A row of such a table. */
export function lockRow(data, lock, figures) {
  const [label, ...rest] = guaranteeOf(data, lock);
  return [label, ...figures, ...rest];
}
