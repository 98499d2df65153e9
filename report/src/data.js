// data: the page's embedded JSON (written by report/html_data.c), with what every view needs worked out once.
import { makeHistogram } from './histogram.js';

const histogramsOf = (repeat) => Object.fromEntries(Object.entries(repeat).map(([metric, entry]) => [metric, makeHistogram(entry)]));

/** Each lock gets its colour index and each row its lock, its repeats' histograms, and how it went over time. */
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
    for (const [r, row] of group.rows.entries()) {
      row.lock = data.locks[row.lock];
      row.repeats = data.histograms.groups[index][r].map(histogramsOf);
      row.time = data.over_time[index][r];
    }
  }
  data.loads = [...new Set(data.groups.map((group) => group.load))];
  return data;
}

/** The group that a reader cares for first: the most contended one. */
export function firstGroup(data) {
  return data.groups.find((g) => g.contended) ?? data.groups.find((g) => g.alone) ?? data.groups[0];
}

/** What stands beside each figure that compares locks: behind the figures, which a phone shows first. */
const standing = [{ name: 'durability' }, { name: 'guarantee' }, { name: 'topology' }];
export function guaranteeOf(data, lock) {
  const { guarantee, topology } = data.standing[lock.index];
  return [lock.label, data.durabilities[lock.durability], guarantee, topology ?? '–'];
}

/** The columns of a table with a row a lock; name: of the first one. */
export const lockColumns = (figures, name = 'lock') => [{ name }, ...figures, ...standing];

/** A row of such a table. */
export function lockRow(data, lock, figures, name) {
  const [label, ...rest] = guaranteeOf(data, lock);
  return [name ?? label, ...figures, ...rest];
}
