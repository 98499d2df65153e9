// data: a cell's embedded JSON, written by report/check/check_doc_evidence.c as arrays without names.

const number = (value) => (typeof value === 'number' && Number.isFinite(value) ? value : null);

/** The holds and faults that can be drawn, or null. Incomplete ones, such as holds without both ends, are
 * left out. */
export function readCell(article) {
  const element = article.querySelector('script[type="application/json"]');
  if (!element) return null;
  const data = JSON.parse(element.textContent);
  const holds = data.holds.map(([client, key, from, to, leaseEnd, outcome, shared]) => ({
    client: number(client), key: number(key), from: number(from), to: number(to), leaseEnd: number(leaseEnd), outcome: String(outcome ?? 'unknown'), shared: shared === true,
  })).filter((hold) => hold.client !== null && hold.from !== null);
  const last = holds.reduce((end, hold) => Math.max(end, hold.to ?? hold.from), 0);
  for (const hold of holds) {
    hold.open = hold.to === null; // never released, as far as is known
    if (hold.open) hold.to = last;
  }
  return {
    holds,
    faults: data.faults.map(([kind, target, client, from, to, acted]) => ({ kind: String(kind ?? 'fault'), target, client: number(client), from: number(from), to: number(to) ?? number(from), acted: acted !== false })).filter((fault) => fault.from !== null),
    against: data.against.map(([client, key, from, to]) => ({ client: number(client), key: number(key), from: number(from), to: number(to) })),
  };
}

/** The times in which two holds of one key overlap that are not both of readers: [{ from, to, clients }]. */
export function overlapsOf(holds) {
  const sorted = [...holds].sort((a, b) => a.from - b.from);
  const found = [];
  let inside = [];
  for (const hold of sorted) {
    inside = inside.filter((other) => other.to > hold.from);
    for (const other of inside) {
      if (other.client === hold.client || (other.shared && hold.shared)) continue;
      found.push({ from: hold.from, to: Math.min(hold.to, other.to), clients: [other.client, hold.client] });
    }
    inside.push(hold);
  }
  return found;
}
