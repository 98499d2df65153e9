// view: what all charts share: ECharts with the parts in use, controls, redrawing on choice, theme and width, SVG download.
import { init, use } from 'echarts/core';
import { BarChart, LineChart } from 'echarts/charts';
import { GridComponent, LegendComponent, TooltipComponent } from 'echarts/components';
import { LabelLayout } from 'echarts/features';
import { SVGRenderer } from 'echarts/renderers';
import { onThemeChange, readTheme } from './theme.js';

use([BarChart, LineChart, GridComponent, LegendComponent, TooltipComponent, LabelLayout, SVGRenderer]);

// Pixels; a sheet of A4 or Letter with margins has a little more. The page is laid out for paper only after this is drawn.
const PAPER_WIDTH = 660;

function makeSelect(name, choices, current, onPick) {
  const label = document.createElement('label');
  const select = document.createElement('select');
  for (const { value, text } of choices) select.add(new Option(text, value, false, String(value) === String(current)));
  select.addEventListener('change', () => onPick(select.value));
  label.append(name, select);
  return label;
}

function download(chart, name) {
  const url = URL.createObjectURL(new Blob([chart.renderToSVGString()], { type: 'image/svg+xml' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `${name}.svg`;
  link.click();
  URL.revokeObjectURL(url);
}

/**
 * A view is { id, label, controls(data), draw({ data, state, theme, choice }) }: controls gives
 * [{ key, name, choices, fallback }], draw gives { option, height? } or { empty: 'why' }.
 */
export function mount(place, view, data, state) {
  const controls = view.controls(data);
  const bar = document.createElement('div');
  const figure = document.createElement('figure');
  const canvas = document.createElement('div');
  const empty = document.createElement('p');
  const choice = (key) => state.get(`${view.id}.${key}`, controls.find((c) => c.key === key)?.fallback);
  bar.className = 'controls';
  canvas.className = 'canvas';
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', view.label);
  empty.className = 'empty';
  figure.append(canvas, empty);
  place.append(bar, figure);
  place.hidden = false;

  const chart = init(canvas, null, { renderer: 'svg' });
  for (const { key, name, choices } of controls) {
    if (choices.length > 1) bar.append(makeSelect(name, choices, choice(key), (value) => state.set(`${view.id}.${key}`, value)));
  }
  const save = document.createElement('button');
  save.type = 'button';
  save.textContent = 'Save as SVG';
  save.addEventListener('click', () => download(chart, view.id));
  bar.append(save);

  function draw() {
    const theme = readTheme();
    const { option, height, empty: why } = view.draw({ data, state, theme, choice });
    canvas.hidden = !option;
    empty.hidden = !!option;
    empty.textContent = why ?? '';
    if (!option) return;
    canvas.style.height = height ? `${height}px` : '';
    chart.resize(theme.printing ? { width: PAPER_WIDTH } : undefined);
    chart.setOption({ ...base(theme), ...option }, { notMerge: true });
  }
  state.onChange(draw);
  onThemeChange(draw);
  new ResizeObserver(() => {
    if (canvas.clientWidth > 0 && canvas.clientWidth !== chart.getWidth()) draw();
  }).observe(canvas);
  draw();
}

function base(theme) {
  return {
    animation: false,
    textStyle: { fontFamily: getComputedStyle(document.body).fontFamily, color: theme.ink },
    grid: { left: 8, right: theme.narrow ? 14 : 28, top: 34, bottom: 30, containLabel: true },
  };
}

/** An axis in the page's colours. */
export function axis(theme, more) {
  return {
    nameTextStyle: { color: theme.soft, fontSize: 12 },
    axisLabel: { color: theme.soft, fontSize: 12, hideOverlap: true, ...more.axisLabel },
    axisLine: { show: true, lineStyle: { color: theme.line } },
    axisTick: { lineStyle: { color: theme.line } },
    splitLine: { show: true, lineStyle: { color: theme.grid } },
    minorSplitLine: { show: false },
    ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== 'axisLabel')),
  };
}

export function tooltip(theme, more) {
  return {
    backgroundColor: theme.tooltip, borderColor: theme.line, textStyle: { color: theme.ink, fontSize: 13 }, confine: true, ...more,
  };
}

/** The groups to choose from, for views that show one at a time. */
export function groupControl(data, fallback, usable = () => true) {
  const groups = data.groups.filter(usable);
  return {
    key: 'group', name: 'Load', fallback: String((groups.includes(fallback) ? fallback : groups[0])?.index ?? 0),
    choices: groups.map((group) => ({ value: String(group.index), text: group.title })),
  };
}
