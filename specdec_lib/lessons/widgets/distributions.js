// Two distributions over four tokens: their formulas, their sliders, and charts over the tokens.
// p is the target, q the draft. State: weights of four tokens (target, draft).

import { html, say, show } from "./elements.js";
import { addPatterns, area, axis, picture, scale, words } from "./charts.js";
import { button, chartBox, controls, pair, panel, readout, slider, verdictLine } from "./controls.js";
import { change } from "./stage.js";
import { sum, whole } from "./formulas.js";

export const LETTERS = ["A", "B", "C", "D"];

/** Mass both distributions share, token by token: min(p, q). */
export function overlap(p, q) {
  return p.map((value, i) => Math.min(value, q[i]));
}

/** What p has more than q, token by token: max(0, p - q). */
export function excess(p, q) {
  return p.map((value, i) => Math.max(0, value - q[i]));
}

/** The distribution drawn from after a rejection: norm(max(0, p - q)); a copy of p where that mass is 0. */
export function residual(p, q) {
  const left = excess(p, q);
  const mass = sum(left);
  return mass === 0 ? [...p] : left.map((value) => value / mass);
}

/** Weights to probabilities, or null where all are 0. Slider positions are counted in whole hundredths,
 *  so that settings in the same proportion give the same floating-point numbers. */
export function normalise(weights) {
  const counts = weights.map((w) => (Math.abs(100 * w - Math.round(100 * w)) < 1e-9 ? Math.round(100 * w) : 100 * w));
  const total = sum(counts);
  return total > 0 ? counts.map((count) => count / total) : null;
}

/** Four sliders of one distribution, their normalised values beside them; moving one also puts back `fresh`. */
function weightSliders(model, key, letter, fresh) {
  const rows = LETTERS.map((token, i) => slider({
    short: token, name: `${key} weight`, role: key,
    onMove: (value) => change(model, { ...fresh, [key]: model.get("state")[key].map((old, j) => (j === i ? value : old)) }),
  }));
  const box = html("fieldset", { class: "sd-weights" },
    html("legend", {}, `${key} `, html("i", {}, letter)), ...rows.map((row) => row.row));
  return { box, set: (weights, values) => rows.forEach((row, i) => row.set(weights[i], values ? show(values[i]) : "–")) };
}

/** What is wrong where one of the two is no distribution. */
function noDistribution(p) {
  return `All ${p ? "draft" : "target"} weights are 0, which is no distribution: raise at least one slider.`;
}

/** A panel over p and q: two columns of sliders, two readouts (each [name, number of p and q]), `summary(p, q)` in
 *  words, and the pictures that `charts(p, q, width)` gives. */
export function weightsPanel(model, { title, lead, readouts, summary, charts, fresh = {} }) {
  const [target, draft] = [weightSliders(model, "target", "p", fresh), weightSliders(model, "draft", "q", fresh)];
  const shown = readouts.map(([name]) => readout(name, "sd-large"));
  const [verdict, chart] = [verdictLine(), chartBox()];
  const reset = button("Reset to the worked pair", () => change(model, model.get("reset")));
  const root = panel(title, lead,
    controls(pair(target.box, draft.box), pair(...shown.map((each) => each.box)), verdict, reset), chart);
  function draw(state) {
    const [p, q] = [normalise(state.target), normalise(state.draft)];
    target.set(state.target, p);
    draft.set(state.draft, q);
    shown.forEach((each, i) => each.set(p && q ? show(readouts[i][1](p, q)) : "–"));
    say(verdict, p && q ? summary(p, q) : noDistribution(p));
    chart.replaceChildren(...(p && q ? charts(p, q, chart.clientWidth) : []));
  }
  return { root, draw };
}

/** An empty chart over the tokens from 0 to `full`, with axis and names; all charts of a panel line up. */
export function tokenChart({ width, height, top, full, step = 0.2 * full }, description) {
  const [left, right, bottom] = [40, 14, 28];
  const column = (width - left - right) / LETTERS.length;
  const bar = Math.min(60, 0.44 * column);
  const yOf = scale(0, full, height - bottom, top);
  const chart = picture(width, height, description);
  const ids = addPatterns(chart);
  const middle = (i) => left + column * (i + 0.5);
  chart.append(axis(whole(0, Math.round(full / step)).map((i) => i * step), yOf, left, width - right),
    ...LETTERS.map((token, i) => words(token, middle(i), height - 8, "middle", "sd-strong")));
  return { chart, ids, bar, yOf, middle, xOf: (i) => middle(i) - bar / 2 };
}

/** Half of the axis where no value needs more. */
export function fullHeight(...values) {
  return Math.max(...values) <= 0.5 ? 0.5 : 1;
}

/** An area from `low` to `high` and its number, where there is room for both; `style` keeps it legible on a hatch. */
export function filled({ ids, bar, yOf, middle }, i, role, low, high, style) {
  if (high <= low) return [];
  const [top, bottom] = [yOf(high), yOf(low)];
  const number = bottom - top < 19 ? [] : [words(show(high - low), middle(i), (top + bottom) / 2 + 5, "middle", style)];
  return [area(ids, role, middle(i) - bar / 2, top, bar, bottom - top), ...number];
}
