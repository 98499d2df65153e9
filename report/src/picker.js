// picker: one button for each lock, for all charts at once; also their legend. Keyboard and screen readers see toggle
// buttons.
import { colourOf, dashOf, onThemeChange, readTheme } from './theme.js';

const svgNamespace = 'http://www.w3.org/2000/svg';
const pattern = { dotted: '1.5 3.5', dashed: '6 3.5', solid: '' };

function swatch() {
  const svg = document.createElementNS(svgNamespace, 'svg');
  const line = document.createElementNS(svgNamespace, 'line');
  for (const [key, value] of Object.entries({ width: 26, height: 10, 'aria-hidden': 'true' })) svg.setAttribute(key, value);
  for (const [key, value] of Object.entries({ x1: 1, x2: 25, y1: 5, y2: 5, 'stroke-width': 3 })) line.setAttribute(key, value);
  svg.append(line);
  return [svg, line];
}

function makeButton(list, onClick, ...content) {
  const button = document.createElement('button');
  const item = document.createElement('li');
  button.type = 'button';
  button.append(...content);
  button.addEventListener('click', onClick);
  item.append(button);
  list.append(item);
  return button;
}

export function makePicker(place, data, state) {
  const lead = document.createElement('p');
  const used = [...new Set(data.locks.map((lock) => lock.durability))].sort();
  const styles = used.map((d) => `${{ dotted: 'dotted', dashed: 'dashed', solid: 'solid' }[dashOf({ durability: d })]}: ${data.durabilities[d]}`);
  lead.textContent = `Locks in the charts, by click. Lines tell durability: ${styles.join(', ')}.`;
  const list = document.createElement('ul');
  list.setAttribute('aria-label', 'Locks');
  const buttons = data.locks.map((lock) => {
    const [svg, line] = swatch();
    const failed = ['violated', 'missed', 'expired'].includes(lock.state);
    const button = makeButton(list, () => state.toggle(lock), svg, `${lock.label}${failed ? ` (${lock.state})` : ''}`);
    return { lock, button, line };
  });
  makeButton(list, () => state.showAll(true), 'all').className = 'every';
  makeButton(list, () => state.showAll(false), 'none').className = 'every';
  function paint() {
    const theme = readTheme();
    for (const { lock, button, line } of buttons) {
      button.setAttribute('aria-pressed', String(state.shows(lock)));
      line.setAttribute('stroke', colourOf(theme, lock));
      line.setAttribute('stroke-dasharray', pattern[dashOf(lock)]);
    }
  }
  place.append(lead, list);
  place.hidden = false;
  state.onChange(paint);
  onThemeChange(paint);
  paint();
}
