// Chapter 04: how fast a block of K draft tokens is, for any alpha, c and price of a longer pass.
// Times are in target passes over one token. State: alpha, c, k, s with v(m) = 1 + s (m - 1).

import { say, show, svg } from "./elements.js";
import { axis, axisBelow, curve, dot, line, picture, scale, square, words } from "./charts.js";
import { button, chartBox, controls, pair, panel, readout, slider, verdictLine } from "./controls.js";
import { change, mount } from "./stage.js";
import { expectedTokens, whole } from "./formulas.js";

const K_MAX = 20;

/** Time of a block: k draft steps and one pass over k + 1 tokens. */
export function blockTime(c, k, s) {
  return c * k + 1 + s * k;
}

/** Times as fast as plain decoding. */
export function speedup(alpha, c, k, s) {
  return expectedTokens(alpha, k) / blockTime(c, k, s);
}

/** The smallest best K from 0 to kMax; speed-ups within 1e-12 of the best are equal to it. */
export function bestK(alpha, c, s, kMax = K_MAX) {
  const speeds = whole(0, kMax).map((k) => speedup(alpha, c, k, s));
  const most = Math.max(...speeds);
  return speeds.findIndex((speed) => speed >= most - 1e-12);
}

/** What the setting amounts to, in words. */
export function verdict({ alpha, c, k, s }) {
  const best = bestK(alpha, c, s);
  const here = speedup(alpha, c, k, s);
  const price = c + s;
  if (best === 0) {
    return `A draft token costs ${show(price)} and the first one brings ${show(alpha)}, not more: no K pays. Plain decoding, K = 0, is best.`;
  }
  if (best === K_MAX) return `The best K shown is the last one, ${K_MAX}. With c = 0 and s = 0 there is no best K at all: every further token helps a little.`;
  if (k === best) return `This is the best K. One token more would bring ${show(alpha ** (k + 1))} for ${show(price)}.`;
  const way = k < best ? "Too few: a further token would bring more for its time than the block does." : "Too many: the last tokens are seldom reached, and each is paid for.";
  const lost = here < 1 ? " It is slower than plain decoding." : "";
  return `${way} K = ${best} gives ${show(speedup(alpha, c, best, s))}.${lost}`;
}

// ---- the picture -------------------------------------------------------------------------------

/** A round step for a vertical axis that reaches `top`: some four to eight lines. */
function axisStep(top) {
  return [0.25, 0.5, 1, 2, 5].find((step) => top / step <= 8) ?? 5;
}

function drawCurve(state, width) {
  const { alpha, c, k, s } = state;
  const [height, left, right, top, bottom] = [330, 40, 18, 26, 46];
  const speeds = whole(0, K_MAX).map((i) => speedup(alpha, c, i, s));
  const best = bestK(alpha, c, s);
  const step = axisStep(Math.max(1.5, ...speeds));
  const full = step * Math.ceil((1.08 * Math.max(1.4, ...speeds)) / step);
  const xOf = scale(0, K_MAX, left + 14, width - right - 14);
  const yOf = scale(0, full, height - bottom, top);
  const chart = picture(width, height, `Speed-up over K from 0 to ${K_MAX}. K = ${k}: ${show(speeds[k])}. ` +
    `Best: K = ${best} with ${show(speeds[best])}. K = ${K_MAX}: ${show(speeds[K_MAX])}. Plain decoding is 1.`);
  chart.append(axis(whole(0, Math.round(full / step)).map((i) => i * step), yOf, left, width - right),
    axisBelow([0, 5, 10, 15, 20], xOf, height - bottom + 18),
    words("K, draft tokens in a block", (left + width - right) / 2, height - 8, "middle", "sd-tick"),
    words("times as fast", left - 32, 14, "start", "sd-tick"));
  chart.append(line(left, yOf(1), width - right, yOf(1), "sd-plain"),
    words("plain decoding", width - right, yOf(1) + (yOf(0) - yOf(1) < 24 ? -6 : 16), "end", "sd-tick"));
  const points = speeds.map((speed, i) => [xOf(i), yOf(speed)]);
  chart.append(curve(points), ...points.map(([x, y]) => dot(x, y, 3)), ...marked(best, k, speeds, xOf, yOf));
  return chart;
}

/** The ring of the best K and the square of the chosen one, with their numbers. */
function marked(best, k, speeds, xOf, yOf) {
  const ring = svg("circle", { cx: xOf(best), cy: yOf(speeds[best]), r: 9, fill: "none", stroke: "var(--sd-ink)", "stroke-width": 2 });
  const here = square(xOf(k), yOf(speeds[k]), 6, { fill: "var(--sd-excess)", stroke: "var(--sd-paper)" });
  const anchor = (i) => (i < 2 ? "start" : i > K_MAX - 3 ? "end" : "middle");
  const labels = [words(`best ${show(speeds[best])}`, xOf(best), yOf(speeds[best]) - 15, anchor(best), "sd-inside")];
  if (k !== best) labels.push(words(show(speeds[k]), xOf(k), yOf(speeds[k]) + 24, anchor(k), "sd-inside"));
  return [here, ring, ...labels];
}

// ---- the panel ---------------------------------------------------------------------------------

function explorerPanel(model) {
  const sliders = {
    alpha: slider({ short: "α", name: "acceptance rate alpha", role: "target", onMove: (alpha) => change(model, { alpha }) }),
    c: slider({ short: "c", name: "time of a draft step", role: "draft", onMove: (c) => change(model, { c }) }),
    s: slider({ short: "s", name: "cost of each further token of a pass", role: "draft", onMove: (s) => change(model, { s }) }),
    k: slider({ short: "K", name: "draft tokens in a block", role: "target", max: K_MAX, step: 1, onMove: (k) => change(model, { k }) }),
  };
  const tokens = readout("tokens a block");
  const time = readout("time of a block,\nin target passes");
  const speed = readout("speed-up", "sd-large");
  const best = readout("best K", "sd-large");
  const told = verdictLine();
  const reset = button("Reset", () => change(model, model.get("reset")));
  const chart = chartBox();
  const root = panel("Fast or accurate, and how many", "α: share of draft tokens accepted. c: a draft step. s: each further token of a target pass. K: draft tokens.",
    controls(...Object.values(sliders).map((each) => each.row),
      pair(tokens.box, time.box), pair(speed.box, best.box), told, reset), chart);
  function draw(state) {
    for (const key of ["alpha", "c", "s"]) sliders[key].set(state[key]);
    sliders.k.set(state.k, String(state.k));
    tokens.set(show(expectedTokens(state.alpha, state.k)));
    time.set(show(blockTime(state.c, state.k, state.s)));
    speed.set(show(speedup(state.alpha, state.c, state.k, state.s)));
    best.set(String(bestK(state.alpha, state.c, state.s)));
    say(told, verdict(state));
    chart.replaceChildren(drawCurve(state, chart.clientWidth));
  }
  return { root, draw };
}

/** Draws the simulator into `el`; returns a function that takes it down. */
function render({ model, el }) {
  return mount(model, el, [explorerPanel(model)]);
}

export default { render };
