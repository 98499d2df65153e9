// grid: the matrix by keyboard: one stop for Tab, then the arrow keys, Home and End; hidden rows and missing cells are
// skipped.

export function makeGrid(table) {
  const rows = [...table.querySelectorAll('tr[data-backend]')].map((row) => [...row.cells].slice(1).map((cell) => cell.querySelector('a')));
  const place = new Map();
  rows.forEach((links, y) => links.forEach((link, x) => { if (link) place.set(link, { x, y }); }));
  const usable = (link) => link && !link.closest('tr').hidden;

  function choose(link, focus) {
    for (const other of place.keys()) other.tabIndex = -1;
    if (!link) return;
    link.tabIndex = 0;
    if (focus) link.focus();
  }

  // The next usable link from here in steps of dx, dy.
  function next({ x, y }, dx, dy) {
    const width = rows[0].length;
    for (x += dx, y += dy; x >= 0 && x < width && y >= 0 && y < rows.length; x += dx, y += dy) {
      if (usable(rows[y][x])) return rows[y][x];
    }
    return null;
  }

  const steps = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
  table.addEventListener('keydown', (event) => {
    const at = place.get(event.target);
    if (!at || event.ctrlKey || event.altKey || event.metaKey) return;
    const row = rows[at.y].filter(usable);
    const to = steps[event.key] ? next(at, ...steps[event.key]) : event.key === 'Home' ? row[0] : event.key === 'End' ? row[row.length - 1] : null;
    if (!to && !steps[event.key]) return;
    event.preventDefault();
    if (to) choose(to, true);
  });
  table.addEventListener('focusin', (event) => { if (place.has(event.target)) choose(event.target, false); });

  /** To be called after rows were hidden or shown: the stop for Tab must be a visible cell. */
  function update() {
    const links = [...place.keys()];
    choose(links.find((link) => link.tabIndex === 0 && usable(link)) ?? links.find(usable), false);
  }
  choose(place.keys().next().value, false);
  return { update };
}
