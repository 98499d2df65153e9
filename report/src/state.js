// state: the reader's choices, which all views share and the URL's hash keeps, so that a link shows the same.
//
// The hash is "#view?off=1,4&percentiles.group=2": the part before "?" is the page's own anchor, "off" has the locks
// that are not shown.

const numbers = (text) => text.split(',').filter(Boolean).map(Number);

export function makeState(data) {
  const listeners = [];
  let chosen, off;

  function read() {
    const [, query = ''] = location.hash.split('?');
    chosen = new URLSearchParams(query);
    off = new Set(chosen.has('off') ? numbers(chosen.get('off')) : data.locks.filter((l) => !l.real).map((l) => l.index));
  }
  function write(anchor) {
    history.replaceState(null, '', `${anchor || '#'}${[...chosen].length ? `?${chosen}` : ''}`);
  }
  function tell() {
    for (const listener of listeners) {
      try { listener(); } catch (error) { reportError(error); } // the other listeners are called all the same
    }
  }
  function changed() {
    write(location.hash.split('?')[0]);
    tell();
  }
  read();
  // A link within the page is an anchor only: the choice stays. Any other hash is a choice of its own.
  addEventListener('hashchange', () => {
    if (!location.hash.includes('?')) { write(location.hash); return; }
    read();
    tell();
  });
  return {
    shows: (lock) => !off.has(lock.index),
    toggle(lock) {
      if (!off.delete(lock.index)) off.add(lock.index);
      chosen.set('off', [...off].join(','));
      changed();
    },
    /** All locks at once. */
    showAll(on) {
      off = new Set(on ? [] : data.locks.map((lock) => lock.index));
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
