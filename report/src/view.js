// view: the code that all charts share: ECharts with the parts in use, controls, drawing when in sight, redrawing on
// choice, theme and width, the chart's figures as a table, pictures to save.
import { init, use } from 'echarts/core';
import { CustomChart, LineChart, ScatterChart } from 'echarts/charts';
import {
  GridComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent,
} from 'echarts/components';
import { LabelLayout } from 'echarts/features';
import { CanvasRenderer, SVGRenderer } from 'echarts/renderers';
import { renderTable, tableOf } from './table.js';
import { onThemeChange, readTheme } from './theme.js';

use([
  CustomChart, LineChart, ScatterChart, GridComponent, MarkAreaComponent, MarkLineComponent, TooltipComponent,
  LabelLayout, CanvasRenderer, SVGRenderer,
]);

// Pixels; a sheet of A4 or Letter with margins has a little more. The page is laid out for paper only after this is
// drawn.
const PAPER_WIDTH = 660;
const PICTURE_SCALE = 2;

/** The charts that were drawn, by their view's id: for tests, and for people who use the console. */
export const charts = {};

function make(tag, className, text) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text) element.textContent = text;
  return element;
}

/* A select, or a field for a number: { key, name, choices } or { key, name, number: { min, max } }. */
function makeControl({ name, choices, number }, onPick) {
  const label = make('label', '', name);
  const field = make(choices ? 'select' : 'input');
  if (choices) {
    for (const { value, text } of choices) field.add(new Option(text, value));
  } else {
    Object.assign(field, { type: 'number', step: 'any', ...number });
  }
  field.addEventListener('change', () => { if (field.checkValidity()) onPick(field.value); else field.reportValidity(); });
  label.append(field);
  return { label, field };
}

// The picture is drawn anew by the renderer for its kind, whatever renderer is on the screen.
function savePicture(name, type, option, width, height) {
  const svg = type === 'svg';
  const copy = init(svg ? null : make('div'), null, { renderer: svg ? 'svg' : 'canvas', ssr: svg, width, height });
  copy.setOption({ ...option, backgroundColor: readTheme().card });
  const link = make('a');
  link.href = copy.getDataURL({ type, pixelRatio: PICTURE_SCALE });
  link.download = `lockbench-${name}.${type}`;
  link.click();
  copy.dispose();
}

/* The table is filled when it is opened: a table of all points costs more than the chart. */
function makeFold(place, { title, open, ...table }, caption) {
  const fold = make('details', 'fold');
  const fill = () => { if (fold.open && fold.children.length < 2) fold.append(renderTable(table, caption)); };
  fold.append(make('summary', '', title ?? 'The figures of this chart'));
  fold.open = open;
  fold.addEventListener('toggle', fill);
  fill();
  place.append(fold);
}

/* The section of a view that has nothing to show goes into a fold behind the charts, and its link out of the navigation. */
function foldAway(place, why) {
  const section = place.closest('section');
  let fold = document.getElementById('missing');
  if (!fold) {
    fold = make('details', 'fold');
    fold.id = 'missing';
    fold.append(make('summary'));
    [...document.querySelectorAll('main section:has(.view)')].at(-1).after(fold);
  }
  fold.append(section);
  fold.firstChild.textContent = `Charts that this run has no figures for (${fold.children.length - 1})`;
  document.querySelector(`nav a[href="#${section.id}"]`)?.remove();
  place.append(make('p', 'empty', why));
  place.hidden = false;
}

/**
 * A view is { id, label, controls(data), draw({ data, state, theme, choice }) }. controls gives [{ key, name, fallback }]
 * with choices: [{ value, text }] for a select, or number: { min, max } for a field. draw gives { option, height?, tables?, note? }
 * or { empty: 'why' }; tables (table.js) are the figures that the chart draws, and others: without them they are taken
 * from the option, which does for one x and one y axis. 
 * missing?(data): why there is nothing to show, whatever is chosen; then its section is folded away.
 */
export function mount(place, view, data, state) {
  const missing = view.missing?.(data);
  if (missing) { foldAway(place, missing); return; }
  const controls = view.controls(data);
  const bar = make('div', 'controls'), figure = make('figure'), canvas = make('div', 'canvas');
  const empty = make('p', 'empty'), note = make('p', 'note'), tables = make('div', 'tables'), save = make('span', 'save');
  // The hash may have any text, so a value that is none of the choices is ignored.
  const choice = (key) => {
    const { choices, fallback } = controls.find((c) => c.key === key) ?? {}, value = state.get(`${view.id}.${key}`, fallback);
    return choices && !choices.some((one) => one.value === value) ? fallback : value;
  };
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', view.label);
  figure.append(canvas, empty, note);
  place.append(bar, figure, tables);
  place.hidden = false;

  const fields = [];
  for (const control of controls) {
    if (control.choices && control.choices.length < 2) continue;
    const { label, field } = makeControl(control, (value) => state.set(`${view.id}.${control.key}`, value));
    fields.push([control.key, field]);
    bar.append(label);
  }
  let chart = null, drawn = null, inSight = false, stale = true;
  for (const type of ['svg', 'png']) {
    const button = make('button', '', `Save as ${type.toUpperCase()}`);
    button.type = 'button';
    button.addEventListener('click', () => { if (drawn) savePicture(view.id, type, drawn, chart.getWidth(), chart.getHeight()); });
    save.append(button);
  }
  bar.append(save);

  function draw() {
    const theme = readTheme();
    const result = view.draw({ data, state, theme, choice });
    stale = false;
    for (const [key, field] of fields) field.value = choice(key);
    canvas.hidden = save.hidden = !result.option;
    empty.hidden = !!result.option;
    empty.textContent = result.empty ?? '';
    note.textContent = result.note ?? '';
    note.hidden = !result.note;
    const left = [...tables.children].map((fold) => fold.open);
    tables.replaceChildren();
    drawn = result.option ? { ...base(theme), ...result.option } : null;
    if (!drawn) return;
    for (const [i, table] of (result.tables ?? [tableOf(drawn)]).entries()) makeFold(tables, { ...table, open: left[i] ?? table.open ?? false }, table.title ? `${view.label}: ${table.title}` : view.label);
    canvas.style.height = result.height ? `${result.height}px` : '';
    chart ??= charts[view.id] = init(canvas, null, { renderer: 'svg' });
    chart.resize(theme.printing ? { width: PAPER_WIDTH } : undefined);
    chart.setOption(drawn, { notMerge: true });
  }
  // A chart that is out of sight is drawn when it comes into sight, or for paper.
  function refresh() {
    stale = true;
    if (inSight || readTheme().printing) draw();
  }
  state.onChange(refresh);
  onThemeChange(refresh);
  new IntersectionObserver((entries) => {
    inSight = entries[entries.length - 1].isIntersecting;
    if (inSight && stale) draw();
  }, { rootMargin: '50%' }).observe(place);
  new ResizeObserver(() => {
    if (chart && canvas.clientWidth > 0 && canvas.clientWidth !== chart.getWidth()) refresh();
  }).observe(canvas);
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
