// Chapter 02: why accepting with min(1, p/q) and drawing again from the residual gives exactly p.
// State: p and q of one token; weights of four tokens (target, draft).

import { html, say, show } from "./elements.js";
import { addPatterns, area, axis, keyItem, keys, line, mark, picture, scale, words } from "./charts.js";
import { chartBox, controls, panel, readout, slider, verdictLine } from "./controls.js";
import { change, mount } from "./stage.js";
import { sum } from "./formulas.js";
import { excess, filled, fullHeight, LETTERS, overlap, residual, tokenChart, weightsPanel } from "./distributions.js";

/** Probability that a drafted token is accepted: min(1, p/q); 0 where p is 0, 1 where only q is 0. */
export function acceptance(p, q) {
  if (p === 0) return 0;
  return q === 0 ? 1 : Math.min(1, p / q);
}

/** Which of the cases holds for one token, in words. */
export function whichCase(p, q) {
  if (p === 0 && q === 0) return "p = 0 and q = 0: neither model produces this token. It is never drafted; the ratio counts as 0.";
  if (p === 0) return "p = 0: the target never produces this token, so it is never accepted, however often it is drafted.";
  if (q === 0) return "q = 0: the draft never proposes this token, so there is nothing to judge. As p > 0, the ratio counts as 1.";
  if (p >= q) return "p ≥ q: the draft proposes this token no more often than the target wants it. It is always accepted.";
  return `p < q: the draft proposes this token too often. A coin accepts it with probability ${show(p / q)}; the hatched part is rejected.`;
}

// ---- one token -------------------------------------------------------------------------------

/** Two bars, p and q; the draft's is split at min(p, q). */
function drawToken(p, q, width) {
  const [height, left, right, top, bottom] = [268, 40, 128, 30, 30];
  const shared = Math.min(p, q);
  const yOf = scale(0, 1, height - bottom, top);
  const bar = Math.min(76, (width - left - right) / 3.2);
  const gap = (width - left - right - 2 * bar) / 3;
  const [xP, xQ] = [left + gap, left + 2 * gap + bar];
  const chart = picture(width, height, `Two bars. Target p = ${show(p)}. Draft q = ${show(q)}, of which ${show(shared)} ` +
    `is accepted and ${show(q - shared)} is rejected. Acceptance probability ${show(acceptance(p, q))}.`);
  const ids = addPatterns(chart);
  chart.append(axis([0, 0.25, 0.5, 0.75, 1], yOf, left, width - right + 8));
  chart.append(area(ids, "target", xP, yOf(p), bar, yOf(0) - yOf(p)));
  if (shared > 0) chart.append(area(ids, "accepted", xQ, yOf(shared), bar, yOf(0) - yOf(shared)));
  if (q > shared) chart.append(area(ids, "excess", xQ, yOf(q), bar, yOf(shared) - yOf(q)));
  chart.append(line(xP + bar, yOf(p), xQ + bar, yOf(p), "sd-level"),
    mark("target", yOf(p), xP, xP + bar), mark("draft", yOf(q), xQ, xQ + bar),
    words(`p = ${show(p)}`, xP + bar / 2, yOf(p) - 9, "middle", "sd-strong"),
    words(`q = ${show(q)}`, xQ + bar / 2, yOf(q) - 9, "middle", "sd-inside"),
    words("target", xP + bar / 2, height - 9), words("draft", xQ + bar / 2, height - 9),
    ...tokenLabels(q, shared, yOf, xQ + bar + 12));
  return chart;
}

/** The names of the draft bar's two parts, beside them and never on top of each other. */
function tokenLabels(q, shared, yOf, x) {
  if (q === 0) return [words("no draft bar", x, yOf(0) - 6, "start")];
  const accepted = yOf(shared / 2) + 5;
  const rejected = Math.min(yOf((q + shared) / 2) + 5, accepted - 20);
  const labels = [];
  if (shared > 0) labels.push(words(`accepted ${show(shared)}`, x, accepted, "start"));
  if (q > shared) labels.push(words(`rejected ${show(q - shared)}`, x, shared > 0 ? rejected : yOf(q / 2) + 5, "start"));
  return labels;
}

function tokenPanel(model) {
  const sliders = {
    p: slider({ short: "p", name: "target probability of the drafted token", role: "target", onMove: (p) => change(model, { p }) }),
    q: slider({ short: "q", name: "draft probability of the drafted token", role: "draft", onMove: (q) => change(model, { q }) }),
  };
  const result = readout("acceptance probability min(1, p/q)", "sd-large");
  const ratio = html("p", { class: "sd-ratio" });
  const [verdict, chart] = [verdictLine(), chartBox()];
  const root = panel("One drafted token", "Its probability under the target (p) and under the draft (q) decide whether it stays.",
    controls(sliders.p.row, sliders.q.row, result.box, ratio, verdict), chart);
  function draw({ p, q }) {
    const probability = acceptance(p, q);
    sliders.p.set(p);
    sliders.q.set(q);
    result.set(show(probability));
    say(ratio, q === 0 ? "The draft bar has no height to divide by."
      : `accepted height ÷ draft height = ${show(Math.min(p, q))} ÷ ${show(q)} = ${show(probability)}`);
    say(verdict, whichCase(p, q));
    chart.replaceChildren(drawToken(p, q, chart.clientWidth));
  }
  return { root, draw };
}

// ---- a whole distribution ----------------------------------------------------------------------

/** Overlapping bars of p and q for the four tokens: the overlap, and on it what one of the two has more. */
function drawOverlap(p, q, width) {
  const over = tokenChart({ width, height: 252, top: 14, full: fullHeight(...p, ...q) },
    "Overlapping bars of target p and draft q. " + LETTERS.map((token, i) =>
      `${token}: p ${show(p[i])}, q ${show(q[i])}, overlap ${show(Math.min(p[i], q[i]))}`).join("; ") + ".");
  const { chart, bar, xOf, yOf } = over;
  LETTERS.forEach((_, i) => {
    const [x, low, high] = [xOf(i), Math.min(p[i], q[i]), Math.max(p[i], q[i])];
    chart.append(...filled(over, i, "accepted", 0, low, "sd-strong"),
      ...filled(over, i, p[i] > q[i] ? "residual" : "excess", low, high, "sd-inside"),
      mark("target", yOf(p[i]), x - 7, x + bar), mark("draft", yOf(q[i]), x, x + bar + 7),
      words("p", x - 10, yOf(p[i]) + 4, "end", "sd-strong"), words("q", x + bar + 10, yOf(q[i]) + 4, "start", "sd-strong"));
  });
  return chart;
}

/** The residual as a row of small bars under the same columns. */
function drawResidual(values, used, width) {
  const { chart, ids, bar, xOf, yOf, middle } = tokenChart({ width, height: 128, top: 26, full: 1, step: 0.5 },
    `Residual distribution${used ? "" : ", not used"}. ` + LETTERS.map((token, i) => `${token}: ${show(values[i])}`).join("; ") + ".");
  values.forEach((value, i) => {
    if (value > 0) chart.append(area(used ? ids : {}, used ? "residual" : "idle", xOf(i), yOf(value), bar, yOf(0) - yOf(value)));
    chart.append(words(show(value), middle(i), yOf(value) - 7, "middle", value > 0 ? "sd-strong" : ""));
  });
  return chart;
}

/** What the whole picture says, in one or two sentences. */
export function summary(p, q) {
  const rejected = sum(excess(q, p));
  if (rejected === 0) return "p and q are equal: every draft token is accepted and the residual is never used (by convention it is then p itself).";
  if (sum(overlap(p, q)) === 0) return "p and q share no token: every draft token is rejected, and the residual is p.";
  return `On average ${show(1 - rejected)} of the draft tokens are accepted. The other ${show(rejected)} are drawn again from the residual, ` +
    `which holds exactly what the target is still owed.`;
}

function distributionCharts(p, q, width) {
  const mass = sum(excess(p, q));
  const caption = mass === 0 ? "Residual: not used, nothing is rejected"
    : `Residual: the dotted parts ÷ their mass ${show(mass)}`;
  return [
    keys([keyItem("accepted", "overlap, accepted"), keyItem("excess", "draft excess, rejected"),
      keyItem("residual", "target excess, becomes the residual")]),
    drawOverlap(p, q, width),
    html("div", { class: "sd-caption" }, caption),
    drawResidual(residual(p, q), mass > 0, width),
  ];
}

/** Draws the simulator into `el`; returns a function that takes it down. */
function render({ model, el }) {
  return mount(model, el, [tokenPanel(model), weightsPanel(model, {
    title: "A whole distribution",
    lead: "Weights for four tokens, normalised to sum to 1. Where the bars overlap, drafts are accepted.",
    readouts: [["accepted share β\nΣ min(p, q)", (p, q) => sum(overlap(p, q))], ["rejected share\n1 − β", (p, q) => sum(excess(q, p))]],
    summary, charts: distributionCharts,
  })]);
}

export default { render };
