// Chapter 02: why accepting with min(1, p/q) and drawing again from the residual gives exactly p.
// p is the target, q the draft. State: p and q of one token; weights of four tokens (target, draft).

const TOKENS = ["A", "B", "C", "D"];

/** Probability that a drafted token is accepted: min(1, p/q); 0 where p is 0, 1 where only q is 0. */
export function acceptance(p, q) {
  if (p === 0) return 0;
  return q === 0 ? 1 : Math.min(1, p / q);
}

/** Mass both distributions share, token by token: min(p, q). */
export function overlap(p, q) {
  return p.map((value, i) => Math.min(value, q[i]));
}

/** What p has more than q, token by token: max(0, p - q). */
export function excess(p, q) {
  return p.map((value, i) => Math.max(0, value - q[i]));
}

export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
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
  const yOf = (value) => height - bottom - value * (height - top - bottom);
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
  chart.append(svg("line", { x1: xP + bar, x2: xQ + bar, y1: yOf(p), y2: yOf(p), class: "sd-level" }),
    mark("target", yOf(p), xP, xP + bar), mark("draft", yOf(q), xQ, xQ + bar));
  chart.append(words(`p = ${show(p)}`, xP + bar / 2, yOf(p) - 9, "middle", "sd-strong"),
    words(`q = ${show(q)}`, xQ + bar / 2, yOf(q) - 9, "middle", "sd-inside"),
    words("target", xP + bar / 2, height - 9), words("draft", xQ + bar / 2, height - 9));
  chart.append(...tokenLabels(q, shared, yOf, xQ + bar + 12));
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
  const verdict = html("p", { class: "sd-verdict", "aria-live": "polite" });
  const chart = html("div", { class: "sd-chart" });
  const root = panel("One drafted token", "Its probability under the target (p) and under the draft (q) decide whether it stays.",
    html("div", { class: "sd-controls" }, sliders.p.row, sliders.q.row, result.box, ratio, verdict), chart);
  function draw() {
    const { p, q } = model.get("state");
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

/** Where the four columns stand; both charts of the panel use it, so that they line up. */
function columns(width) {
  const [left, right] = [40, 14];
  const step = (width - left - right) / TOKENS.length;
  const bar = Math.min(60, 0.44 * step);
  return { left, end: width - right, bar, xOf: (i) => left + step * (i + 0.5) - bar / 2 };
}

/** A number inside its area, where there is room for it; `style` keeps it legible on a hatch. */
function inside(value, x, yTop, yBottom, style) {
  return yBottom - yTop < 19 ? [] : [words(show(value), x, (yTop + yBottom) / 2 + 5, "middle", style)];
}

/** One column: the overlap, and on it what one of the two has more. */
function drawColumn(ids, p, q, x, bar, yOf) {
  const [low, high] = [Math.min(p, q), Math.max(p, q)];
  const parts = [];
  if (low > 0) parts.push(area(ids, "accepted", x, yOf(low), bar, yOf(0) - yOf(low)));
  if (high > low) parts.push(area(ids, p > q ? "residual" : "excess", x, yOf(high), bar, yOf(low) - yOf(high)));
  parts.push(mark("target", yOf(p), x - 7, x + bar), mark("draft", yOf(q), x, x + bar + 7),
    words("p", x - 10, yOf(p) + 4, "end", "sd-strong"), words("q", x + bar + 10, yOf(q) + 4, "start", "sd-strong"),
    ...inside(low, x + bar / 2, yOf(low), yOf(0), "sd-strong"),
    ...inside(high - low, x + bar / 2, yOf(high), yOf(low), "sd-inside"));
  return parts;
}

/** Overlapping bars of p and q for the four tokens. */
function drawOverlap(p, q, width) {
  const [height, top, bottom] = [252, 14, 28];
  const { left, end, bar, xOf } = columns(width);
  const full = Math.max(...p, ...q) <= 0.5 ? 0.5 : 1;
  const yOf = (value) => height - bottom - (value / full) * (height - top - bottom);
  const chart = picture(width, height, "Overlapping bars of target p and draft q. " + TOKENS.map((token, i) =>
    `${token}: p ${show(p[i])}, q ${show(q[i])}, overlap ${show(Math.min(p[i], q[i]))}`).join("; ") + ".");
  const ids = addPatterns(chart);
  chart.append(axis([0, 0.2, 0.4, 0.6, 0.8, 1].map((tick) => tick * full), yOf, left, end));
  TOKENS.forEach((token, i) => chart.append(...drawColumn(ids, p[i], q[i], xOf(i), bar, yOf),
    words(token, xOf(i) + bar / 2, height - 8, "middle", "sd-strong")));
  return chart;
}

/** The residual as a row of small bars under the same columns. */
function drawResidual(values, used, width) {
  const [height, top, bottom] = [128, 26, 28];
  const { left, end, bar, xOf } = columns(width);
  const yOf = (value) => height - bottom - value * (height - top - bottom);
  const chart = picture(width, height, `Residual distribution${used ? "" : ", not used"}. ` +
    TOKENS.map((token, i) => `${token}: ${show(values[i])}`).join("; ") + ".");
  const ids = addPatterns(chart);
  chart.append(axis([0, 0.5, 1], yOf, left, end));
  values.forEach((value, i) => {
    if (value > 0) chart.append(area(used ? ids : {}, used ? "residual" : "idle", xOf(i), yOf(value), bar, yOf(0) - yOf(value)));
    chart.append(words(show(value), xOf(i) + bar / 2, yOf(value) - 7, "middle", value > 0 ? "sd-strong" : ""),
      words(TOKENS[i], xOf(i) + bar / 2, height - 8, "middle", "sd-strong"));
  });
  return chart;
}

/** Four sliders of one distribution, their normalised values beside them. */
function weightSliders(model, key, letter) {
  const rows = TOKENS.map((token, i) => slider({
    short: token, name: `${key} weight`, role: key,
    onMove: (value) => change(model, { [key]: model.get("state")[key].map((old, j) => (j === i ? value : old)) }),
  }));
  const box = html("fieldset", { class: "sd-weights" },
    html("legend", {}, `${key} `, html("i", {}, letter)), ...rows.map((row) => row.row));
  return { box, set: (weights, values) => rows.forEach((row, i) => row.set(weights[i], values ? show(values[i]) : "–")) };
}

/** What the whole picture says, in one or two sentences. */
export function summary(p, q) {
  if (!p || !q) return `All ${p ? "draft" : "target"} weights are 0, which is no distribution: raise at least one slider.`;
  const rejected = sum(excess(q, p));
  if (rejected === 0) return "p and q are equal: every draft token is accepted and the residual is never used (by convention it is then p itself).";
  if (sum(overlap(p, q)) === 0) return "p and q share no token: every draft token is rejected, and the residual is p.";
  return `On average ${show(1 - rejected)} of the draft tokens are accepted. The other ${show(rejected)} are drawn again from the residual, ` +
    `which holds exactly what the target is still owed.`;
}

function distributionPanel(model) {
  const target = weightSliders(model, "target", "p");
  const draft = weightSliders(model, "draft", "q");
  const beta = readout("accepted share β\nΣ min(p, q)", "sd-large");
  const rejected = readout("rejected share\n1 − β", "sd-large");
  const verdict = html("p", { class: "sd-verdict", "aria-live": "polite" });
  const reset = button("Reset to the worked pair", () => change(model, model.get("reset")));
  const chart = html("div", { class: "sd-chart" });
  const root = panel("A whole distribution",
    "Weights for four tokens, normalised to sum to 1. Where the bars overlap, drafts are accepted.",
    html("div", { class: "sd-controls" }, html("div", { class: "sd-pair" }, target.box, draft.box),
      html("div", { class: "sd-pair" }, beta.box, rejected.box), verdict, reset), chart);
  function draw() {
    const { target: targetWeights, draft: draftWeights } = model.get("state");
    const [p, q] = [normalise(targetWeights), normalise(draftWeights)];
    target.set(targetWeights, p);
    draft.set(draftWeights, q);
    beta.set(p && q ? show(sum(overlap(p, q))) : "–");
    rejected.set(p && q ? show(sum(excess(q, p))) : "–");
    say(verdict, summary(p, q));
    chart.replaceChildren(...(p && q ? distributionCharts(p, q, chart.clientWidth) : []));
  }
  return { root, draw };
}

function distributionCharts(p, q, width) {
  const mass = sum(excess(p, q));
  const caption = mass === 0 ? "Residual: not used, nothing is rejected"
    : `Residual: the dotted parts ÷ their mass ${show(mass)}`;
  return [
    html("div", { class: "sd-keys" }, keyItem("accepted", "overlap, accepted"), keyItem("excess", "draft excess, rejected"),
      keyItem("residual", "target excess, becomes the residual")),
    drawOverlap(p, q, width),
    html("div", { class: "sd-caption" }, caption),
    drawResidual(residual(p, q), mass > 0, width),
  ];
}

/** Draws the simulator into `el`; returns a function that takes it down. */
function render({ model, el }) {
  const panels = [tokenPanel(model), distributionPanel(model)];
  const root = html("div", { class: "sd-sim" }, ...panels.map((part) => part.root));
  el.append(root);
  return keepDrawn(model, root, () => panels.forEach((part) => part.draw()));
}

export default { render };
