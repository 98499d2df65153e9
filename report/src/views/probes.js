// probes: a search for capacity: each probe at its load and its time beside the promised one, told apart by shape; the
// limit and the answer as lines, the answer's interval as a band.
import { count, escape, number, time } from '../format.js';
import { axis, tooltip } from '../view.js';

const verdicts = {
  kept: { name: 'kept the promise', symbol: 'circle', colour: (theme) => theme.palette[0] },
  broken: { name: 'broke it', symbol: 'diamond', colour: (theme) => theme.palette[1] },
  unsure: { name: 'too noisy to say', symbol: 'triangle', hollow: true, colour: (theme) => theme.soft },
};
const WIDE = 8; // a ratio: loads that are further apart are shown on a logarithmic axis
const ABOVE = 3; // the place of a probe whose requests were mostly never granted, as a multiple of the slowest

const isFigure = (value) => typeof value === 'number';

function answerSeries(theme, lock, load) {
  const { answer, slo } = lock;
  const data = [{ yAxis: slo.limit_ns, label: { formatter: `promised: ${slo.text}`, position: 'insideStartTop' } }];
  if (isFigure(answer?.value)) data.push({ xAxis: answer.value, label: { formatter: load(answer.value), position: 'end' } });
  const band = isFigure(answer?.low) && isFigure(answer?.high) ? [[{ xAxis: answer.low }, { xAxis: answer.high }]] : [];
  return {
    type: 'line', data: [], silent: true,
    markLine: { silent: true, symbol: 'none', data, lineStyle: { color: theme.ink, type: 'dashed' }, label: { color: theme.ink, fontSize: 12 } },
    markArea: { silent: true, data: band, itemStyle: { color: theme.palette[0], opacity: 0.15 } },
  };
}

function intervals(theme, probes) {
  return {
    type: 'line', silent: true, symbol: 'none', lineStyle: { color: theme.soft, width: 1.5 }, connectNulls: false,
    data: probes.filter((p) => isFigure(p.low_ns) && isFigure(p.high_ns))
      .flatMap((p) => [[p.value, p.low_ns], [p.value, p.high_ns], [null, null]]),
  };
}

function draw({ data, theme, choice }) {
  const lock = data.capacity[Number(choice('lock'))];
  if (!lock || lock.probes.length === 0) return { empty: 'No probe came to its end.' };
  const load = lock.by === 'rate' ? (value) => `${number(value)}/s` : (value) => `${count(value)} clients`;
  const loads = lock.probes.map(({ value }) => value), times = lock.probes.map((p) => p.quantile_ns).filter(isFigure);
  const never = ABOVE * Math.max(lock.slo.limit_ns, ...times), told = (ns) => (isFigure(ns) ? time(ns) : 'never');
  const series = Object.entries(verdicts).map(([verdict, { name, symbol, hollow, colour }]) => ({
    type: 'scatter', name, symbol, symbolSize: 13, z: 4, itemStyle: { color: hollow ? 'transparent' : colour(theme), borderColor: colour(theme), borderWidth: 1.5 },
    data: lock.probes.filter((p) => p.verdict === verdict).map((probe) => ({ value: [probe.value, probe.quantile_ns ?? never], probe })),
  })).filter((one) => one.data.length > 0);
  const wide = Math.max(...loads) > WIDE * Math.min(...loads);
  return {
    note: times.length < lock.probes.length ? 'A mark at the top edge: so many requests were never granted that the promised percentile is one of them.' : undefined,
    tables: [{
      columns: [{ name: 'probe' }, { name: 'load', format: load }, { name: 'verdict' }, { name: lock.slo.metric, format: time }, { name: 'low', format: time }, { name: 'high', format: time }, { name: 'samples' }, { name: 'not started' }],
      rows: lock.probes.map((p, i) => [i + 1, p.value, p.verdict, p.quantile_ns ?? 'never', p.low_ns ?? null, p.high_ns ?? null, p.samples ?? null, p.missed ?? null]),
    }],
    option: {
      tooltip: tooltip(theme, {
        trigger: 'item',
        formatter: ({ seriesName, data: { probe } }) => `<b>${load(probe.value)}: ${escape(seriesName)}</b><br>${told(probe.quantile_ns)}${isFigure(probe.low_ns) ? ` (${time(probe.low_ns)} to ${told(probe.high_ns)})` : ''}<br>${count(probe.samples)} samples`,
      }),
      legend: { bottom: 0, left: 0, selectedMode: false, textStyle: { color: theme.ink, fontSize: 12 }, data: series.map(({ name }) => name) },
      xAxis: axis(theme, { type: wide ? 'log' : 'value', scale: true, name: lock.by === 'rate' ? 'offered rate' : 'clients', nameLocation: 'middle', nameGap: 26, axisLabel: { formatter: lock.by === 'rate' ? load : number } }),
      yAxis: axis(theme, { type: 'log', name: `${lock.slo.text.split(/[<=]/)[0]} (log)`, nameTextStyle: { align: 'left', color: theme.soft }, axisLabel: { formatter: time } }),
      series: [answerSeries(theme, lock, load), intervals(theme, lock.probes), ...series],
      grid: { left: 8, right: 40, top: 40, bottom: 58, containLabel: true },
    },
  };
}

export default {
  id: 'probes',
  label: 'The probes of the search',
  controls: (data) => [{ key: 'lock', name: 'Lock', fallback: '0', choices: data.capacity.map(({ lock }, i) => ({ value: String(i), text: lock })) }],
  draw,
};
