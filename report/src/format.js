// format: figures as the tables show them (report/doc/number.c): three significant digits, counts in
// full, a dash for the unknown.

export function number(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3 });
}

export function count(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  return value.toLocaleString('en-US', { maximumFractionDigits: 1 });
}

const units = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]];

export function time(ns) {
  if (ns === null || ns === undefined || !Number.isFinite(ns)) return '–';
  const [name, scale] = units.find(([, s]) => ns >= s) ?? units[3];
  return `${number(ns / scale)} ${name}`;
}

/** 1 / (1 - q) as a percentile: 1000 is "99.9 %". */
export function percentile(x) {
  if (x <= 1) return '0 %';
  const digits = Math.max(0, Math.ceil(Math.log10(x) - 1e-9) - 2);
  return `${(100 * (1 - 1 / x)).toFixed(digits)} %`;
}

/** Names come from servers and files; ECharts shows tooltips as HTML. */
export function escape(text) {
  return String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
