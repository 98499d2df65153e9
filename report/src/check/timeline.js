// timeline: the holders of a key around a fault: a lane for each client, a bar for each hold, a mark at its lease's
// end, the time that it was held beyond it, overlaps, and the fault's span.
import { number } from '../format.js';
import { overlapsOf } from './data.js';
import { axis, element, figure, titled } from './svg.js';

const LANE = 26, BAR = 14, TOP = 22, FOOT = 26;
const seconds = (value) => `${Number(value.toFixed(3))} s`;

function makeChoice(bar, name, choices, current, onPick) {
  if (choices.length < 2) return;
  const label = document.createElement('label'), select = document.createElement('select');
  for (const { value, text } of choices) select.add(new Option(text, value, false, value === current));
  select.addEventListener('change', () => onPick(select.value));
  label.append(name, select);
  bar.append(label);
}

/** The part to show first: around the contradiction, else around the first fault that acted, else everything. */
function firstFault(data) {
  const at = data.against.find((operation) => operation.to !== null)?.to;
  const near = (fault) => at !== undefined && fault.from - 1 <= at && at <= fault.to + 5;
  const index = data.faults.findIndex(near);
  return index >= 0 ? index : data.faults.findIndex((fault) => fault.acted);
}

function spanOf(data, holds, index) {
  const ends = holds.flatMap((hold) => [hold.from, hold.to]);
  const all = [Math.min(...ends), Math.max(...ends)];
  const fault = data.faults[index];
  if (!fault) return all;
  const reach = Math.max(1, fault.to - fault.from);
  const span = [Math.max(all[0], fault.from - reach), Math.min(all[1], fault.to + 2 * reach)];
  return span[1] > span[0] ? span : all;
}

function sentence(holds, overlaps, low, high) {
  const inside = overlaps.filter(({ from, to }) => to >= low && from <= high);
  const clients = new Set(holds.map((hold) => hold.client)).size;
  const said = inside.slice(0, 3).map(({ from, to, clients: [a, b] }) => `clients ${a} and ${b} both held from ${seconds(from)} to ${seconds(to)}`);
  const more = inside.length > 3 ? `, and ${inside.length - 3} more` : '';
  return `${clients} client${clients === 1 ? '' : 's'}; ${inside.length ? said.join('; ') + more : 'nobody held beside another'}.`;
}

function drawFaults(svg, data, x, low, high, height) {
  for (const fault of data.faults) {
    if (fault.to < low || fault.from > high) continue;
    const from = x(Math.max(low, fault.from)), to = x(Math.min(high, fault.to));
    svg.append(titled('rect', { class: 'fault', x: from, y: TOP, width: Math.max(2, to - from), height }, `${fault.kind}${fault.target ? `, ${fault.target}` : ''}, ${seconds(fault.from)} to ${seconds(fault.to)}${fault.acted ? '' : ', did not act'}`));
    svg.append(element('text', { x: from + 2, y: TOP - 6 }, fault.kind));
  }
}

function drawHold(svg, hold, x, y, low, high) {
  const cut = (value) => x(Math.min(high, Math.max(low, value)));
  const end = hold.leaseEnd !== null && hold.leaseEnd < hold.to ? hold.leaseEnd : hold.to;
  const what = `client ${hold.client}${hold.shared ? ', shared' : ''}: ${seconds(hold.from)} to ${hold.open ? 'the end' : seconds(hold.to)}, ${hold.outcome}${hold.leaseEnd === null ? '' : `; lease to ${seconds(hold.leaseEnd)}`}`;
  svg.append(titled('rect', { class: `hold ${hold.outcome === 'ok' ? 'ok' : 'gone'}${hold.shared ? ' shared' : ''}`, x: cut(hold.from), y, width: Math.max(1.5, cut(Math.max(end, hold.from)) - cut(hold.from)), height: BAR, rx: 2 }, what));
  if (end < hold.to && hold.to >= low) svg.append(titled('rect', { class: 'hold beyond', x: cut(Math.max(end, hold.from)), y, width: Math.max(1.5, cut(hold.to) - cut(Math.max(end, hold.from))), height: BAR }, `${what}; held beyond its lease`));
  // If a client released in time, the end of its lease does not matter.
  const matters = hold.leaseEnd !== null && (hold.outcome !== 'ok' || hold.leaseEnd <= hold.to);
  if (matters && hold.leaseEnd >= low && hold.leaseEnd <= high) svg.append(titled('path', { class: 'lease', d: `M${x(hold.leaseEnd).toFixed(1)} ${y - 3}v${BAR + 6}m-3 0h6` }, `client ${hold.client}: lease ends at ${seconds(hold.leaseEnd)}`));
}

function render(shown, width, data, key, index) {
  const holds = data.holds.filter((hold) => hold.key === key);
  const [low, wide] = spanOf(data, holds, index), high = wide > low ? wide : low + 0.001;
  const clients = [...new Set(holds.map((hold) => hold.client))].sort((a, b) => a - b);
  const left = 64, height = clients.length * LANE, foot = TOP + height;
  const x = (value) => left + ((value - low) / (high - low)) * (width - left - 8);
  const overlaps = overlapsOf(holds);
  const words = sentence(holds, overlaps, low, high);
  const svg = element('svg', { class: 'timeline', viewBox: `0 0 ${width} ${foot + FOOT}`, width, height: foot + FOOT, role: 'img', 'aria-label': `Holders around the fault: ${words}` });
  drawFaults(svg, data, x, low, high, height);
  for (const { from, to } of overlaps) {
    if (to < low || from > high) continue;
    const start = x(Math.max(low, from));
    svg.append(titled('rect', { class: 'overlap', x: start, y: TOP, width: Math.max(2, x(Math.min(high, to)) - start), height }, `two holders, ${seconds(from)} to ${seconds(to)}`));
  }
  for (const [lane, client] of clients.entries()) {
    const y = TOP + lane * LANE;
    svg.append(element('line', { class: 'grid', x1: left, x2: width, y1: y + LANE, y2: y + LANE }));
    svg.append(element('text', { x: 0, y: y + 17 }, `client ${client}`));
    for (const hold of holds) {
      if (hold.client === client && hold.to >= low && hold.from <= high) drawHold(svg, hold, x, y + (LANE - BAR) / 2, low, high);
    }
  }
  axis(svg, { x, low, high, width, left, foot, label: (value) => `${number(value)} s` });
  shown.made.querySelector('svg')?.remove();
  shown.caption.textContent = ` ${words} Bars are holds; the marks that stand out of them are the ends of leases, dashed is what was held beyond; red: two holders; shaded: the fault.`;
  shown.canvas.append(svg);
}

export function drawTimeline(place, data) {
  const keys = [...new Set(data.holds.map((hold) => hold.key))].sort((a, b) => a - b);
  let key = data.against.find((operation) => keys.includes(operation.key))?.key ?? keys[0];
  let index = firstFault(data);
  const made = figure(place, 'Who held it.', '');
  const caption = document.createElement('span'), bar = document.createElement('div'), canvas = document.createElement('div');
  made.querySelector('figcaption').append(caption);
  bar.className = 'controls';
  canvas.className = 'wide';
  canvas.tabIndex = 0;
  made.append(bar, canvas);
  const again = () => render({ made, caption, canvas }, Math.max(420, place.clientWidth - 2), data, key, index);
  makeChoice(bar, 'Key', keys.map((value) => ({ value: String(value), text: String(value) })), String(key), (value) => { key = Number(value); again(); });
  const faults = data.faults.map((fault, at) => ({ value: String(at), text: `${fault.kind} at ${seconds(fault.from)}` }));
  makeChoice(bar, 'Around', [...faults, { value: '-1', text: 'all of it' }], String(index), (value) => { index = Number(value); again(); });
  let width = 0;
  new ResizeObserver(() => {
    if (place.clientWidth > 0 && place.clientWidth !== width) { width = place.clientWidth; again(); }
  }).observe(place);
  again();
}
