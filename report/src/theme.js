// theme: colours from the page's own variables (report/page/page.css), so that charts follow light and dark with it.

// A hue for each lock, in an order that keeps neighbours apart; after twelve the line style tells them apart too.
const light = ['#1f6fd0', '#c2410c', '#15803d', '#7e22ce', '#b8860b', '#be185d', '#0e7490', '#57534e', '#4d7c0f', '#b91c1c', '#4338ca', '#0f766e'];
const dark = ['#6cb0ff', '#ff9d5c', '#5fd68a', '#c99bff', '#f0c95a', '#ff8fc0', '#5fd3e6', '#b8b2aa', '#b3dc6b', '#ff8b8b', '#a3a0ff', '#5fd8c4'];

// By class of durability, in the order of words.h: this machine, memory, not flushed, disk, not stated.
const dashes = ['dotted', 'dashed', 'dashed', 'solid', 'solid'];

const query = matchMedia('(prefers-color-scheme: dark)');
let printing = false;

export function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: colour('ink'), soft: colour('soft'), grid: colour('grid'), line: colour('line'), card: colour('card'), tooltip: colour('tooltip'),
    palette: query.matches && !printing ? dark : light,
    printing,
    narrow: innerWidth < 640 && !printing,
  };
}

export function onThemeChange(listener) {
  query.addEventListener('change', listener);
  addEventListener('beforeprint', () => { printing = true; listener(); });
  addEventListener('afterprint', () => { printing = false; listener(); });
}

export const colourOf = (theme, lock) => (lock.colour < 0 ? theme.soft : theme.palette[lock.colour % theme.palette.length]);
export const dashOf = (lock) => dashes[lock.durability] ?? 'solid';
