// recovery: how long each trial took from the fault to the next grant: a dot for each trial, or bars when there are
// many, with the band that theory allows.
import { time } from '../format.js';
import { axis, element, figure, titled } from './svg.js';

const BINS = 60, DOTS_MAX = 300, FOOT = 26, TOP = 8, TALL = 84;

function unitOf(ns) {
  return [['s', 1e9], ['ms', 1e6], ['us', 1e3]].find(([, scale]) => ns >= scale) ?? ['ns', 1];
}

function words({ trials, theoryMin, theoryMax }) {
  const sorted = [...trials].sort((a, b) => a - b), middle = sorted[Math.ceil(sorted.length / 2) - 1];
  const said = `${sorted.length} trial${sorted.length === 1 ? '' : 's'}: ${time(sorted[0])} to ${time(sorted[sorted.length - 1])}, p50 ${time(middle)}`;
  if (theoryMax === null) return `${said}.`;
  const late = sorted.filter((ns) => ns > theoryMax).length;
  return `${said}. Theory (the band): ${theoryMax === 0 ? 'at once' : `${theoryMin ? time(theoryMin) : '0'} to ${time(theoryMax)}`}; ${late} took longer.`;
}

function render(canvas, width, data) {
  const left = 8, foot = TOP + TALL, high = Math.max(...data.trials, data.theoryMax ?? 0, 1) * 1.04;
  const x = (ns) => left + (ns / high) * (width - left - 12);
  const bins = Array.from({ length: BINS }, () => []);
  for (const ns of data.trials) bins[Math.min(BINS - 1, Math.floor((ns / high) * BINS))].push(ns);
  const most = Math.max(...bins.map((bin) => bin.length)), dots = data.trials.length <= DOTS_MAX;
  const step = Math.min(11, (TALL - 6) / most);
  const svg = element('svg', { class: 'recovery', viewBox: `0 0 ${width} ${foot + FOOT}`, width, height: foot + FOOT, role: 'img', 'aria-label': `Recovery, ${words(data)}` });
  if (data.theoryMax !== null) {
    const from = x(data.theoryMin ?? 0);
    svg.append(titled('rect', { class: 'theory', x: from, y: TOP, width: Math.max(2, x(data.theoryMax) - from), height: TALL }, 'what theory allows'));
  }
  for (const [index, bin] of bins.entries()) {
    const centre = x(((index + 0.5) * high) / BINS);
    if (!dots && bin.length) {
      const tall = (bin.length / most) * (TALL - 6);
      svg.append(titled('rect', { class: 'trial', x: centre - (width / BINS) * 0.4, y: foot - tall, width: (width / BINS) * 0.8, height: tall }, `${bin.length} trials around ${time(((index + 0.5) * high) / BINS)}`));
    }
    for (const [level, ns] of (dots ? bin : []).entries()) svg.append(titled('circle', { class: 'trial', cx: x(ns), cy: foot - 5 - level * step, r: Math.min(4, Math.max(1.5, step / 2)) }, time(ns)));
  }
  const [unit, scale] = unitOf(high);
  axis(svg, { x: (value) => x(value * scale), low: 0, high: high / scale, width, left, foot, label: (value) => `${Number(value.toPrecision(3))} ${unit}` });
  canvas.querySelector('svg')?.remove();
  canvas.append(svg);
}

export function drawRecovery(place, data) {
  const made = figure(place, 'How long until somebody got it again.', words(data));
  const canvas = document.createElement('div');
  canvas.className = 'wide';
  made.append(canvas);
  let width = 0;
  new ResizeObserver(() => {
    if (place.clientWidth > 0 && place.clientWidth !== width) { width = place.clientWidth; render(canvas, Math.max(420, width - 2), data); }
  }).observe(place);
  render(canvas, Math.max(420, place.clientWidth - 2), data);
}
