// histogram: any percentile of the embedded histograms, decoded by HdrHistogram's own JavaScript.
//
// Only the decoder of hdr-histogram-js is used, 80 KB: its WebAssembly and its logs would be 60 KB more. A histogram
// is decoded when it is first asked for, and kept.
import { decompress, doDecode } from 'hdr-histogram-js/dist/JsHistogram.encoding';

const STEPS = 12; // points of a curve in each decade
const COUNT_BITS = 64;
const ABOVE = 5 * (1 - 1e-9); // a percentile needs so many times above it: quantile_supported in results/stats

const bytesOf = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

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

/** A row's percentile; undefined where too few times were recorded. */
export function percentileOf(row, metric, percent) {
  const histogram = row.histograms[metric];
  return histogram && isSupported(histogram.count, percent) ? histogram.at(percent) : undefined;
}

const percentAt = (x) => 100 * (1 - 1 / x);

/** [[x, ns], ...] of a row, x = 1 / (1 - quantile), in even steps of a logarithmic axis as far as there are enough times; the
 * last point is the maximum, seen once in so many. */
export function curveOf(row, metric) {
  const histogram = row.histograms[metric], points = [];
  for (let i = 0; ABOVE * 10 ** (i / STEPS) < histogram.count; i++) {
    const x = 10 ** (i / STEPS);
    points.push([x, histogram.at(percentAt(x) || Number.MIN_VALUE)]);
  }
  return [...points, [Math.max(histogram.count, 1.0001), histogram.max]];
}
