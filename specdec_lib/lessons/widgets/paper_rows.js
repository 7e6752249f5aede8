// Chapter 05: expected speed-up over the block length for a row of the paper, with the interval that the
// rounding of its numbers leaves, and the printed and the measured value. State: rows, row, alpha, c, k.

import { say, show, svg } from "./parts/elements.js";
import { axis, axisBelow, curve, dot, key, keys, line, picture, scale, square, words } from "./parts/charts.js";
import { button, chartBox, controls, pair, panel, readout, select, slider, verdictLine } from "./parts/controls.js";
import { change, mount } from "./parts/stage.js";
import { expectedTokens, whole } from "./parts/formulas.js";

const K_MAX = 12;
const HALF = 0.005; // alpha and c are printed with two places
const TENTH = 0.05; // speed-ups with one
const BAND = { fill: "var(--sd-line)", stroke: "var(--sd-base)", "stroke-width": 0.75 };

/** Speed over plain decoding, a verification costing one pass: expectedTokens / (c k + 1). */
export function speedup(alpha, c, k) {
  return expectedTokens(alpha, k) / (c * k + 1);
}

/** The speed-ups that fit an alpha and a c printed with two places, widened by the rounding of one place. */
export function interval(alpha, c, k) {
  return [
    speedup(Math.max(alpha - HALF, 0), c + HALF, k) - TENTH,
    speedup(Math.min(alpha + HALF, 1), Math.max(c - HALF, 0), k) + TENTH,
  ];
}

/** The c at which the formula would give the measured speed-up; below 0 where no cost can. */
export function neededCost(alpha, k, measured) {
  return (expectedTokens(alpha, k) / measured - 1) / k;
}

/** A row in a few words. */
export function rowName(row) {
  return `${row.task}, ${row.draft}, T = ${row.temperature}`;
}

/** The same in fewer letters, for a narrow chart. */
function shortName(row) {
  return `${row.task} ${row.draft.replace("T5-", "")} T=${row.temperature}`;
}

/** What the picture says, in two sentences. Which c the clock needs is told to those who have found it. */
export function verdict(row, alpha, c, k) {
  const [low, high] = interval(alpha, c, k);
  const told = `The formula gives ${low.toFixed(2)} to ${high.toFixed(2)} here; the clock said ${row.measured}. `;
  if (alpha !== row.alpha || k !== row.k) return `${told}You have left the row's own numbers: alpha ${row.alpha}, c ${row.c}, K ${row.k}.`;
  const met = low <= row.measured && row.measured <= high;
  if (met && c === row.c) return `${told}The two agree at the printed c.`;
  if (met) return `${told}The curve meets the clock: it needs c = ${Math.max(0, neededCost(alpha, k, row.measured)).toFixed(3)}; the paper prints ${row.c}.`;
  if (c === 0 && speedup(alpha, c, k) < row.measured) return `${told}Even a free draft is too slow: with this alpha no cost explains the clock.`;
  return `${told}Move c until the curve meets the diamond; the paper prints ${row.c}.`;
}

// ---- one row over all K ------------------------------------------------------------------------

/** A diamond for what was measured, a square for what was printed; each has a shape of its own. */
function measuredMark(x, y, size) {
  const points = `${x},${y - size} ${x + size},${y} ${x},${y + size} ${x - size},${y}`;
  return svg("polygon", { points, fill: "var(--sd-ink)", stroke: "var(--sd-paper)" });
}

function printedMark(x, y, size) {
  return square(x, y, size, { fill: "var(--sd-paper)", stroke: "var(--sd-target)", "stroke-width": 2 });
}

function drawCurve(row, alpha, c, k, width) {
  const [height, left, right, top, bottom, most] = [330, 40, 16, 16, 46, 5];
  const xOf = scale(0, K_MAX, left + 8, width - right - 8);
  const upTo = scale(0, most, height - bottom, top);
  const yOf = (value) => upTo(Math.min(value, most));
  const ks = whole(0, K_MAX);
  const bands = ks.map((each) => interval(alpha, c, each));
  const best = ks.reduce((a, b) => (speedup(alpha, c, b) > speedup(alpha, c, a) ? b : a));
  const chart = picture(width, height, `Expected speed-up over K at alpha ${show(alpha)} and c ${show(c)}: ` +
    ks.map((each) => `K ${each}: ${speedup(alpha, c, each).toFixed(2)}`).join("; ") +
    `. Best at K = ${best}. The paper, at K = ${row.k}: expected ${row.expected}, measured ${row.measured}.`);
  const edge = (side) => ks.map((each) => `${xOf(each)},${yOf(bands[each][side])}`);
  const points = ks.map((each) => [xOf(each), yOf(speedup(alpha, c, each))]);
  chart.append(axis([0, 1, 2, 3, 4, 5], yOf, left, width - right), line(left, yOf(1), width - right, yOf(1), "sd-base"),
    svg("polygon", { points: [...edge(1), ...edge(0).reverse()].join(" "), ...BAND }), curve(points),
    ...points.map(([x, y], each) => dot(x, y, each === k ? 6 : 3)), axisBelow(ks, xOf, height - bottom + 18, k),
    words("K, draft tokens per block", (left + width - right) / 2, height - 6, "middle", "sd-tick"),
    printedMark(xOf(row.k), yOf(row.expected), 6), measuredMark(xOf(row.k), yOf(row.measured), 7));
  return chart;
}

const CURVE_KEY = () => key("formula", () => [curve([[0, 8], [18, 8]]), dot(9, 8, 3)], 18, 16);

/** What the marks of both charts mean; `more` comes first. */
function markKeys(...more) {
  return keys([...more,
    key(more.length ? "its rounding" : "formula, with the rounding", () => svg("rect", { x: 1, y: 2, width: 16, height: 12, ...BAND }), 18, 16),
    key("expected, printed", () => printedMark(9, 8, 5), 18, 16), key("measured", () => measuredMark(9, 8, 6), 18, 16)]);
}

function rowPanel(model) {
  const { rows } = model.get("state");
  const goTo = (index) => change(model, { row: index, alpha: rows[index].alpha, c: rows[index].c, k: rows[index].k });
  const choice = select("Row of the paper", rows.map((row, i) => [String(i), rowName(row)]), (index) => goTo(Number(index)));
  const sliders = {
    alpha: slider({ short: "α", name: "acceptance rate alpha", role: "target", onMove: (alpha) => change(model, { alpha }) }),
    c: slider({ short: "c", name: "time of a draft step in target steps", role: "target", max: 0.5, onMove: (c) => change(model, { c }) }),
    k: slider({ short: "K", name: "draft tokens per block", role: "target", max: K_MAX, step: 1, onMove: (k) => change(model, { k }) }),
  };
  const result = readout("expected speed-up at this K", "sd-large");
  const range = readout("with the rounding", "");
  const said = verdictLine();
  const chart = chartBox();
  const root = panel("One row, every K", "Choose a row of the paper, then move its numbers.",
    controls(choice.row,
      sliders.alpha.row, sliders.c.row, sliders.k.row, pair(result.box, range.box), said,
      button("Back to the row's numbers", () => goTo(model.get("state").row))), chart);
  function draw({ row, alpha, c, k }) {
    const [low, high] = interval(alpha, c, k);
    choice.set(row);
    sliders.alpha.set(alpha);
    sliders.c.set(c);
    sliders.k.set(k, String(k));
    result.set(speedup(alpha, c, k).toFixed(2));
    range.set(`${low.toFixed(2)} to ${high.toFixed(2)}`);
    say(said, verdict(rows[row], alpha, c, k));
    chart.replaceChildren(markKeys(CURVE_KEY()), drawCurve(rows[row], alpha, c, k, chart.clientWidth));
  }
  return { root, draw };
}

// ---- all rows ----------------------------------------------------------------------------------

/** Every row as a line: its interval, the printed value, the measured one; the chosen row is framed. */
function drawRows(rows, chosen, width) {
  const narrow = width < 420;
  const [step, top, left, right] = [26, 8, narrow ? 142 : 190, 16];
  const height = top + step * rows.length + 44;
  const most = Math.ceil(Math.max(...rows.map((row) => Math.max(row.measured, row.expected))));
  const xOf = scale(1, most, left, width - right);
  const chart = picture(width, height, "Speed-ups of all rows. " + rows.map((row) =>
    `${rowName(row)}: expected ${row.expected}, measured ${row.measured}`).join("; ") + ".");
  for (let tick = 1; tick <= most; tick += 0.5) {
    chart.append(line(xOf(tick), top, xOf(tick), height - 40, tick === 1 ? "sd-base" : "sd-grid"),
      words(String(tick), xOf(tick), height - 24, "middle", "sd-tick"));
  }
  rows.forEach((row, i) => {
    const y = top + step * (i + 0.5);
    const [low, high] = interval(row.alpha, row.c, row.k);
    if (i === chosen) chart.append(svg("rect", { x: 1, y: y - step / 2 + 1, width: width - 2, height: step - 2, rx: 4, fill: "none", stroke: "var(--sd-base)", "stroke-width": 1.5 }));
    chart.append(words(narrow ? shortName(row) : rowName(row), left - 10, y + 4, "end", i === chosen ? "sd-strong" : ""),
      svg("rect", { x: xOf(low), y: y - 7, width: xOf(high) - xOf(low), height: 14, ...BAND }),
      printedMark(xOf(row.expected), y, narrow ? 3.5 : 5), measuredMark(xOf(row.measured), y, narrow ? 5 : 6));
  });
  chart.append(words("times as fast as plain decoding", (left + width - right) / 2, height - 6, "middle", "sd-tick"));
  return chart;
}

function tablePanel() {
  const chart = chartBox(true);
  const root = panel("All rows", "The chosen row is framed.", chart);
  function draw({ rows, row }) {
    chart.replaceChildren(markKeys(), drawRows(rows, row, chart.clientWidth));
  }
  return { root, draw };
}

/** Draws the simulator into `el`; returns a function that takes it down. */
function render({ model, el }) {
  return mount(model, el, [rowPanel(model), tablePanel()]);
}

export default { render };
