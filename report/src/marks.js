// marks: the injections on clients, servers and wires, as shades and lines over an axis of seconds.

/* A fault of the same kind at the same tenth of a second is one mark, however many locks ran under it. */
function faultsOf(rows) {
  const known = new Map();
  for (const { time } of rows) {
    for (const fault of time.faults) {
      if (fault.acted === false) continue;
      const key = `${fault.kind} ${fault.target} ${Math.round(10 * fault.from_s)}`;
      if (!known.has(key)) known.set(key, { name: [fault.kind, fault.target].filter(Boolean).join(' '), from: fault.from_s, to: fault.to_s });
    }
  }
  return [...known.values()];
}

/** A series without data that carries the marks of rows; null if there are none. */
export function marksOf(theme, rows) {
  const faults = faultsOf(rows);
  const label = { color: theme.soft, fontSize: 11, overflow: 'truncate' };
  const lines = faults.filter(({ to }) => to === null).map(({ name, from }) => ({ xAxis: from, name }));
  const areas = faults.filter(({ to }) => to !== null).map(({ name, from, to }) => [{ xAxis: from, name }, { xAxis: to }]);
  if (lines.length + areas.length === 0) return null;
  return {
    type: 'line', data: [], silent: true, z: 5,
    markLine: { symbol: 'none', data: lines, lineStyle: { color: theme.soft, type: 'dashed' }, label: { ...label, position: 'insideEndTop', formatter: '{b}' } },
    markArea: { z: 6, data: areas, itemStyle: { color: theme.soft, opacity: 0.2 }, label: { ...label, position: 'insideTop', distance: 2 } },
  };
}

/** The same as a table; null if there are none. */
export function markTable(rows) {
  const faults = faultsOf(rows);
  if (faults.length === 0) return null;
  return { title: 'The marked events', columns: [{ name: 'event' }, { name: 'from (s)' }, { name: 'to (s)' }], rows: faults.map(({ name, from, to }) => [name, from, to]) };
}
