// Two views of the linked picture: the residual (chapter 02), and the two paths into each token (chapter 03).

import { html, show } from "../parts/elements.js";
import { area, keyItem, keys, mark, picture, words } from "../parts/charts.js";
import { sum } from "../parts/formulas.js";
import { acceptance, excess, overlap, paths, residual } from "./formulas.js";
import { byToken, filled, fullHeight, LETTERS, tokenChart } from "./bars.js";

/** What is to be said of a whole pair that has no two sides; null of any other. */
function extreme(p, q) {
  if (sum(excess(q, p)) < 1e-12) return "p and q are equal: every draft token is accepted, and nothing is ever corrected.";
  if (sum(overlap(p, q)) < 1e-12) return "p and q share no token: every draft token is rejected, and the residual is p.";
  return null;
}

function caption(text) {
  return html("div", { class: "sd-caption" }, text);
}

// ---- the residual ------------------------------------------------------------------------------

/** Which of the cases holds for one token, in words. */
export function whichCase(p, q) {
  if (p === 0 && q === 0) return "p = 0 and q = 0: neither model produces this token. It is never drafted; the ratio counts as 0.";
  if (p === 0) return "p = 0: the target never produces this token, so it is never accepted, however often it is drafted.";
  if (q === 0) return "q = 0: the draft never proposes this token, so there is nothing to judge. As p > 0, the ratio counts as 1.";
  if (p >= q) return "p ≥ q: the draft proposes this token no more often than the target wants it. It is always accepted.";
  return `p < q: the draft proposes this token too often. A coin accepts it with p ÷ q = ${show(p)} ÷ ${show(q)} = ${show(p / q)}.`;
}

/** One number under each column. */
function drawRatios(p, q, width) {
  const ratios = p.map((value, i) => show(acceptance(value, q[i])));
  const { middle } = tokenChart({ width, height: 100, top: 0, full: 1 }, "");
  const row = picture(width, 24, `Accepted with probability ${byToken((i) => ratios[i])}.`);
  row.append(...ratios.map((ratio, i) => words(ratio, middle(i), 17, "middle", "sd-strong")));
  return row;
}

function drawResidual(values, used, width) {
  const { chart, ids, bar, xOf, yOf, middle } = tokenChart({ width, height: 140, top: 26, full: 1, step: 0.5 },
    `Residual distribution${used ? "" : ", not used"}. ${byToken((i) => show(values[i]))}.`);
  values.forEach((value, i) => {
    if (value > 0) chart.append(area(used ? ids : {}, used ? "residual" : "idle", xOf(i), yOf(value), bar, yOf(0) - yOf(value)));
    chart.append(words(show(value), middle(i), yOf(value) - 7, "middle", value > 0 ? "sd-strong" : ""));
  });
  return chart;
}

export const residualView = {
  title: "Overlap and residual",
  say: ({ target: p, draft: q, token }) => extreme(p, q) ?? `${LETTERS[token]}: ${whichCase(p[token], q[token])}`,
  charts({ target: p, draft: q }, width) {
    const mass = sum(excess(p, q));
    const used = mass >= 1e-12;
    const below = used ? `The residual: the dotted parts ÷ their sum ${show(mass)}` : "The residual is not used: nothing is rejected";
    return [caption("A drafted token is accepted with min(1, p/q):"), drawRatios(p, q, width),
      caption(below), drawResidual(residual(p, q), used, width)];
  },
};

// ---- the two paths -----------------------------------------------------------------------------

/** Mass by acceptance and, on it, mass by correction; the target is a line across the column. */
function drawPaths(p, q, width) {
  const [accepted, corrected] = paths(p, q);
  const over = tokenChart({ width, height: 290, top: 30, full: fullHeight(...p) }, "Two paths into each token. " +
    `${byToken((i) => `by acceptance ${show(accepted[i])}, by correction ${show(corrected[i])}, target ${show(p[i])}`)}.`);
  const { chart, bar, xOf, yOf, middle } = over;
  LETTERS.forEach((_, i) => {
    const [x, low, high] = [xOf(i), accepted[i], accepted[i] + corrected[i]];
    chart.append(...filled(over, i, "accepted", 0, low, "sd-strong"), ...filled(over, i, "residual", low, high, "sd-inside"),
      mark("target", yOf(p[i]), x - 9, x + bar + 9), words(`= ${show(high)}`, middle(i), yOf(high) - 8, "middle", "sd-inside"));
  });
  return chart;
}

function sayPaths({ target: p, draft: q, token }) {
  const [accepted, corrected] = paths(p, q).map((masses) => show(masses[token]));
  return extreme(p, q) ?? `${LETTERS[token]}: ${accepted} by acceptance and ${corrected} by correction are ${show(p[token])}, its p.`;
}

export const pathsView = {
  title: "Two paths into each token",
  say: sayPaths,
  charts: ({ target: p, draft: q }, width) => [
    caption("What is written: drafted and accepted, or drawn after a rejection. Blue lines mark p."),
    keys([keyItem("accepted", "by acceptance"), keyItem("residual", "by correction")]),
    drawPaths(p, q, width),
  ],
};
