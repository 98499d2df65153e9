// histogram: any percentile of the embedded histograms, decoded by HdrHistogram's own JavaScript.
//
// Only the decoder of hdr-histogram-js is used, 80 KB: its WebAssembly and its logs would be 60 KB more. A histogram
// is decoded when it is first asked for, and kept.
import { decompress, doDecode } from 'hdr-histogram-js/dist/JsHistogram.encoding';

const STEPS = 12; // points of a curve in each decade
const COUNT_BITS = 64;
const ABOVE = 5 * (1 - 1e-9); // a percentile needs so many times above it: quantile_supported in results/stats

const bytesOf = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

function median(values) {
  const sorted = [...values].sort((a, b) => a - b), middle = sorted.length / 2;
  return sorted.length % 2 ? sorted[Math.floor(middle)] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** { count, max, at(percent) } of an entry of the page's JSON. at: what that many per cent of the times are at most, in ns. */
export function makeHistogram({ count, max, hdr }) {
  let decoded = null;
  const known = new Map();
  return {
    count, max,
    at(percent) {
      decoded ??= doDecode(decompress(bytesOf(hdr)), COUNT_BITS);
      if (!known.has(percent)) known.set(percent, Math.min(decoded.getValueAtPercentile(percent), max));
      return known.get(percent);
    },
  };
}

/** True if so many times are enough for a percentile; 100 is the maximum. */
const isSupported = (count, percent) => percent === 100 || count * (1 - percent / 100) > ABOVE;

/** The histograms of a metric, one for each repeat, the typical repeat's first. */
export const histogramsOf = (row, metric) => row.repeats.map((repeat) => repeat[metric]).filter(Boolean);

/** A row's percentile: the median over its repeats, as in the tables; undefined where too few times were recorded. */
export function percentileOf(row, metric, percent) {
  const histograms = histogramsOf(row, metric).filter(({ count }) => isSupported(count, percent));
  return histograms.length ? median(histograms.map((h) => h.at(percent))) : undefined;
}

/** The x = 1 / (1 - quantile) of a curve through histograms: even steps of a logarithmic axis, as far as each supports them. */
function stepsOf(histograms) {
  const end = Math.min(...histograms.map((h) => h.count));
  const steps = [];
  for (let i = 0; ABOVE * 10 ** (i / STEPS) < end; i++) steps.push(10 ** (i / STEPS));
  return steps;
}

const percentAt = (x) => 100 * (1 - 1 / x);

/** [[x, ns], ...] of a row; the last point is the maximum, seen once in so many. */
export function curveOf(row, metric) {
  const histograms = histogramsOf(row, metric);
  if (histograms.length === 0) return null;
  const points = stepsOf(histograms).map((x) => [x, median(histograms.map((h) => h.at(percentAt(x) || Number.MIN_VALUE)))]);
  points.push([Math.max(median(histograms.map((h) => h.count)), 1.0001), median(histograms.map((h) => h.max))]);
  return points;
}
