// holders: the holders of a key around a fault: a lane for each client, or for each load host where there are several,
// a bar for each hold, gaps are handoffs, overlaps red, faults shaded.
import { guaranteeOf } from '../data.js';
import { escape, number, time } from '../format.js';
import { axis, tooltip } from '../view.js';
import { overlapsOf } from '../check/data.js';

const HOLDS_MAX = 300; // the most holds of one key; html_holders.c has the same limit
const seconds = (value) => `${Number(value.toFixed(6))} s`;
const isFigure = (value) => typeof value === 'number'; // a file may contain anything
const red = (theme) => theme.palette[9];

/* Holds of a key in the order of their begin. One that was never released lasts as long as its lease: after that
 * its holder, which may have been killed, had no claim. Without a lease it lasts to the end of the record. */
function holdsOf(stage, key) {
  const mine = stage.holds.filter((hold) => hold.key === key && isFigure(hold.from) && isFigure(hold.client)).sort((a, b) => a.from - b.from).slice(0, HOLDS_MAX);
  const last = Math.max(...mine.map((hold) => hold.to ?? hold.from), ...stage.faults.map((fault) => fault.to ?? fault.from));
  return mine.map((hold) => ({ ...hold, open: hold.to === null, to: hold.to ?? Math.max(hold.from, hold.leaseEnd ?? last) }));
}

/** From each release to the next grant; nothing while another client still held. */
export function gapsOf(holds) {
  let end = null;
  return holds.flatMap((hold) => {
    const gap = end !== null && hold.from >= end ? [{ from: end, to: hold.from }] : [];
    end = Math.max(end ?? hold.to, hold.to);
    return gap;
  });
}

/** The lanes: the clients of the holds; or the load hosts, whose clients follow each other. laneOf: of a client. */
export function lanesOf(stage, clients) {
  const ends = [];
  for (const { clients: count } of stage.hosts) ends.push((ends.at(-1) ?? 0) + (count ?? 0));
  if (ends.length === 0) return { names: clients.map((client) => `client ${client}`), laneOf: (client) => clients.indexOf(client) };
  return { names: stage.hosts.map(({ name }, i) => `${i + 1} ${name ?? ''}`), laneOf: (client) => ends.findIndex((end) => client < end) };
}

// Bars of a lane: [from, to, lane].
function bars(params, api) {
  const [x1, y] = api.coord([api.value(0), api.value(2)]), [x2] = api.coord([api.value(1), api.value(2)]);
  const tall = api.size([0, 1])[1] * 0.6, { x: left, width } = params.coordSys;
  const from = Math.max(left, x1), to = Math.min(left + width, Math.max(x2, x1 + 1.5));
  return to < from ? undefined : { type: 'rect', shape: { x: from, y: y - tall / 2, width: to - from, height: tall }, style: api.style() };
}

const shade = (items, colour, opacity) => ({ silent: true, itemStyle: { color: colour, opacity }, data: items.map(({ from, to, name }) => [{ xAxis: from, name }, { xAxis: to }]) });

// The part to show first: around the contradiction, else around a fault that acted, else everything.
function spanOf(stage, holds, around) {
  const ends = holds.flatMap(({ from, to }) => [from, to]);
  const all = [Math.min(...ends), Math.max(...ends)];
  const fault = stage.faults[around];
  if (!fault) return all;
  const to = fault.to ?? all[1], reach = Math.max(0.05, to - fault.from);
  const span = [Math.max(all[0], fault.from - reach), Math.min(all[1], to + 2 * reach)];
  return span[1] > span[0] ? span : all;
}

function draw({ data, state, theme, choice }) {
  const whole = data.holders[choice('stage')], stage = whole && { ...whole, faults: whole.faults.filter((fault) => isFigure(fault.from)) };
  if (!stage || !state.shows(data.locks[stage.lock])) return { empty: 'The lock of this stage is not picked.' };
  const keys = [...new Set(stage.holds.map((hold) => hold.key))].sort((a, b) => a - b);
  const key = keys.includes(Number(choice('key'))) && choice('key') !== '' ? Number(choice('key')) : (stage.against.find((op) => keys.includes(op.key))?.key ?? keys[0]);
  const holds = holdsOf(stage, key);
  if (holds.length === 0) return { empty: 'The holds of this stage have no times: the file was cut down. The run that is named at the end of the page, once more, fills this.' };
  const overlaps = overlapsOf(holds), gaps = gapsOf(holds);
  const [low, high] = spanOf(stage, holds, choice('around') === 'all' ? -1 : Math.max(0, stage.faults.findIndex((fault) => fault.acted)));
  const clients = [...new Set(holds.map((hold) => hold.client))].sort((a, b) => a - b);
  const { names, laneOf } = lanesOf(stage, clients);
  const inside = overlaps.filter(({ from, to }) => to >= low && from <= high);
  const faults = stage.faults.map((fault) => ({ ...fault, name: fault.kind, to: fault.to ?? high }));
  const widest = gaps.reduce((a, b) => (a && a.to - a.from >= b.to - b.from ? a : b), null);
  const said = overlaps.slice(0, 3).map(({ from, to, clients: [a, b] }) => `clients ${a} and ${b} both held from ${seconds(from)} to ${seconds(to)}`);
  return {
    height: 110 + 26 * names.length,
    note: `${guaranteeOf(data, data.locks[stage.lock]).join(', ')}; key ${key}: ${holds.length} holds of ${clients.length} clients${stage.total > stage.holds.length ? ` (the first ${stage.holds.length} of ${stage.total})` : ''}; ${overlaps.length ? `${said.join('; ')}${overlaps.length > 3 ? `, and ${overlaps.length - 3} more` : ''}` : 'nobody held beside another'}${widest ? `; longest gap ${time((widest.to - widest.from) * 1e9)}` : ''}. Gaps between bars are handoffs, as far as the record has every hold; red: two holders; shaded: the fault.${stage.hosts.length ? ' Bars are shorter than the holds by the error of the clocks at both ends.' : ''}`,
    option: {
      tooltip: tooltip(theme, {
        trigger: 'item',
        formatter: ({ data: { hold } }) => (hold ? `<b>client ${hold.client}</b>${hold.shared ? ', shared' : ''}<br>${seconds(hold.from)} to ${seconds(hold.to)}${hold.open ? ', never released' : ''}: ${time((hold.to - hold.from) * 1e9)}<br>${escape(hold.outcome ?? '?')}${hold.leaseEnd === null ? '' : `; lease to ${seconds(hold.leaseEnd)}`}` : ''),
      }),
      xAxis: axis(theme, { type: 'value', min: low, max: high, name: 'seconds from the window\'s begin', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: (value) => number(value) } }),
      yAxis: axis(theme, { type: 'category', inverse: true, data: names, axisLabel: { color: theme.ink, hideOverlap: false } }),
      series: [
        { type: 'custom', name: 'held', renderItem: bars, clip: true, encode: { x: [0, 1], y: 2 },
          data: holds.map((hold) => ({ value: [hold.from, hold.to, laneOf(hold.client)], hold, itemStyle: { color: hold.outcome === 'ok' ? theme.palette[0] : theme.palette[4], opacity: hold.shared ? 0.55 : 1 } })),
          markArea: { ...shade(faults.filter(({ from, to }) => to >= low && from <= high), theme.soft, 0.18), label: { color: theme.soft, fontSize: 11, position: 'insideTop' } } },
        { type: 'custom', name: 'two holders', renderItem: bars, clip: true, encode: { x: [0, 1], y: 2 }, silent: true, z: 3,
          data: inside.flatMap(({ from, to, clients: both }) => both.map((client) => ({ value: [from, to, laneOf(client)], itemStyle: { color: red(theme) } }))) },
      ],
      grid: { left: 8, right: 28, top: 26, bottom: 34, containLabel: true },
    },
    tables: [{
      columns: [{ name: 'client' }, { name: 'from', format: seconds }, { name: 'to', format: seconds }, { name: 'lease end', format: seconds }, { name: 'release' }, { name: 'beside another' }],
      rows: holds.map((hold) => [`client ${hold.client}`, hold.from, hold.open ? null : hold.to, hold.leaseEnd, hold.outcome ?? '–', overlaps.some(({ from, to, clients: both }) => both.includes(hold.client) && from < hold.to && to > hold.from) ? 'yes' : 'no']),
    }, ...(stage.faults.length ? [{ title: 'What was done', columns: [{ name: 'fault' }, { name: 'target' }, { name: 'from', format: seconds }, { name: 'to', format: seconds }, { name: 'acted' }],
      rows: stage.faults.map((fault) => [fault.kind ?? '–', fault.target ?? '–', fault.from, fault.to, fault.acted ? 'yes' : 'no']) }] : [])],
  };
}

export default {
  id: 'holders',
  label: 'Who held a key, and when: a lane a client, or a load host',
  missing: (data) => data.holders.length === 0 && 'No stage has a history. A run under faults fills this: lockbench run crash --lock …, or any with --set check.history=yes.',
  controls(data) {
    const worst = data.holders.findIndex(({ against }) => against.length > 0);
    const keys = [...new Set(data.holders.flatMap(({ holds }) => holds.map((hold) => hold.key)))].sort((a, b) => a - b).slice(0, 64);
    return [
      { key: 'stage', name: 'Stage', fallback: String(Math.max(0, worst)), choices: data.holders.map(({ lock, stage }, value) => ({ value: String(value), text: `${data.locks[lock].label}: ${stage}` })) },
      { key: 'key', name: 'Key', fallback: '', choices: keys.length > 1 ? [{ value: '', text: 'the one that matters' }, ...keys.map((key) => ({ value: String(key), text: String(key) }))] : [{ value: '', text: 'the only one' }] },
      { key: 'around', name: 'Show', fallback: 'fault', choices: data.holders.some(({ faults }) => faults.length) ? [{ value: 'fault', text: 'around the first fault that acted' }, { value: 'all', text: 'all of it' }] : [{ value: 'all', text: 'all of it' }] },
    ];
  },
  draw,
};
