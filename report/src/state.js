// state: what the reader has chosen, shared by all views and kept in the URL's hash, so that a link shows the same.
//
// The hash is "#view?off=1,4&percentiles.group=2": the part before "?" is the page's own anchor.

export function makeState(data) {
  const listeners = [];
  const [, query = ''] = location.hash.split('?');
  const chosen = new URLSearchParams(query);
  const off = new Set(
    chosen.has('off') ? chosen.get('off').split(',').filter(Boolean).map(Number) : data.locks.filter((l) => !l.real).map((l) => l.index),
  );

  function changed() {
    const [anchor] = location.hash.split('?');
    history.replaceState(null, '', `${anchor || '#'}${[...chosen].length ? `?${chosen}` : ''}`);
    for (const listener of listeners) listener();
  }

  return {
    shows: (lock) => !off.has(lock.index),
    toggle(lock) {
      if (!off.delete(lock.index)) off.add(lock.index);
      chosen.set('off', [...off].join(','));
      changed();
    },
    /** A view's own choice, e.g. get('percentiles.metric', 'acquire'). */
    get: (key, fallback) => chosen.get(key) ?? fallback,
    set(key, value) {
      if (value === '') chosen.delete(key); else chosen.set(key, value);
      changed();
    },
    onChange: (listener) => listeners.push(listener),
  };
}
