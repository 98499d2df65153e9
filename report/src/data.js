// data: the page's embedded JSON (written by report/html_data.c), with what every view needs worked out once.

/** Each lock gets its colour index and each row its lock; curves become [x, ns] points. */
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
      for (const curve of Object.values(row.curves)) curve.points = pointsOf(curve, data.steps);
    }
  }
  data.loads = [...new Set(data.groups.map((group) => group.load))];
  return data;
}

// Point i lies at x = 1 / (1 - q) = 10^(i / steps); the last is the maximum, seen once in `count`.
function pointsOf({ points, count }, steps) {
  const last = points.length - 1;
  return points.map((ns, i) => [i === last ? Math.max(count, 1.0001) : 10 ** (i / steps), ns]);
}

/** The group that a reader cares for first: the most contended one. */
export function firstGroup(data) {
  return data.groups.find((g) => g.contended) ?? data.groups.find((g) => g.alone) ?? data.groups[0];
}
