// svg: small drawings in the page's own colours: classes of page.css, so that light, dark and paper need no redrawing.
const NAMESPACE = 'http://www.w3.org/2000/svg';

export function element(name, attributes = {}, text = undefined) {
  const made = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, typeof value === 'number' ? String(Math.round(value * 100) / 100) : value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** A shape with a text for the pointer. */
export function titled(name, attributes, title) {
  const made = element(name, attributes);
  made.append(element('title', {}, title));
  return made;
}

/** Round steps for an axis from low to high: about `count` of them. */
export function ticks(low, high, count) {
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const made = [];
  for (let value = Math.ceil(low / step - 1e-9) * step; value <= high + step * 1e-9; value += step) made.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  return made;
}

/** An axis of times at the foot of a drawing. */
export function axis(svg, { x, low, high, width, left, foot, label }) {
  svg.append(element('line', { class: 'axis', x1: left, x2: width, y1: foot, y2: foot }));
  for (const value of ticks(low, high, Math.max(2, Math.min(10, (width - left) / 80)))) {
    svg.append(element('line', { class: 'axis', x1: x(value), x2: x(value), y1: foot, y2: foot + 4 }));
    svg.append(element('text', { x: x(value), y: foot + 17, 'text-anchor': 'middle' }, label(value)));
  }
}

/** A figure with a drawing, its name, and a line of words below it that says the same as the drawing. */
export function figure(place, name, words) {
  const made = document.createElement('figure'), caption = document.createElement('figcaption'), head = document.createElement('b');
  head.textContent = name;
  caption.append(head, ` ${words}`);
  made.append(caption);
  place.append(made);
  return made;
}
