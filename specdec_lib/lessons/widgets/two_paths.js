// Chapter 03: acceptance and correction add up to p for every q, and a sample beside the exact law.
// p is the target, q the draft. State: weights of four tokens (target, draft), the sampler, its counts,
// the distances measured so far as [draws, total variation], and the seed of the next draw.

const TOKENS = ["A", "B", "C", "D"];
const SAMPLERS = {
  rule: "the rule: ratio, then residual",
  from_target: "wrong: replaced from p",
  argmax: "wrong: draft by argmax, full q",
};
const MOST = 10_000_000;

export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

/** Weights to probabilities, or null where all are 0. Slider positions are counted in whole hundredths,
 *  so that settings in the same proportion give the same floating-point numbers. */
export function normalise(weights) {
  const counts = weights.map((w) => (Math.abs(100 * w - Math.round(100 * w)) < 1e-9 ? Math.round(100 * w) : 100 * w));
  const total = sum(counts);
  return total > 0 ? counts.map((count) => count / total) : null;
}

/** Mass of each token by acceptance, min(p, q), and by correction, max(0, p - q). */
export function paths(p, q) {
  return [p.map((value, i) => Math.min(value, q[i])), p.map((value, i) => Math.max(0, value - q[i]))];
}

/** norm(max(0, p - q)); p where that is empty. */
export function residual(p, q) {
  const missing = paths(p, q)[1];
  const mass = sum(missing);
  return mass === 0 ? [...p] : missing.map((value) => value / mass);
}

/** Half the L1 distance. */
export function totalVariation(p, q) {
  return sum(p.map((value, i) => Math.abs(value - q[i]))) / 2;
}

/** What the draft token is drawn from: q, or all on its largest entry (the lowest index). */
function drawnFrom(sampler, q) {
  const best = q.indexOf(Math.max(...q));
  return sampler === "argmax" ? q.map((_, i) => (i === best ? 1 : 0)) : q;
}

function ratio(p, q) {
  return q > p ? p / q : 1;
}

/** The exact law of a sampler. */
export function law(sampler, p, q) {
  const accepted = drawnFrom(sampler, q).map((value, i) => value * ratio(p[i], q[i]));
  const replacement = sampler === "from_target" ? p : residual(p, q);
  const rejected = 1 - sum(accepted);
  return accepted.map((value, i) => value + rejected * replacement[i]);
}

/** Total variation to p that `draws` tokens from p itself show on average (normal approximation). */
export function noise(p, draws) {
  return Math.sqrt(2 / Math.PI / draws) * sum(p.map((value) => Math.sqrt(value * (1 - value)))) / 2;
}

/** A uniform number in [0, 1) and the next seed: mulberry32, which a test repeats in Python. */
export function uniform(seed) {
  const next = (seed + 0x6d2b79f5) >>> 0;
  let t = next;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return [((t ^ (t >>> 14)) >>> 0) / 4294967296, next];
}

/** The inverse CDF: the smallest index whose cumulative sum exceeds u, never one of probability 0. */
export function pick(probs, u) {
  let total = 0;
  for (let i = 0; i < probs.length; i += 1) {
    total += probs[i];
    if (total > u) return i;
  }
  return probs.findLastIndex((value) => value > 0);
}

/** `count` tokens more: draft, coin and replacement take one uniform number each, always in this order. */
export function draw(sampler, p, q, seed, count) {
  const [drafts, replacement] = [drawnFrom(sampler, q), sampler === "from_target" ? p : residual(p, q)];
  const counts = p.map(() => 0);
  for (let n = 0; n < count; n += 1) {
    const numbers = [];
    for (let i = 0; i < 3; i += 1) {
      const [u, next] = uniform(seed);
      numbers.push(u);
      seed = next;
    }
    const token = pick(drafts, numbers[0]);
    counts[numbers[1] * q[token] < p[token] ? token : pick(replacement, numbers[2])] += 1;
  }
  return { counts, seed };
}

// ---- two paths -------------------------------------------------------------------------------

const FRESH = { counts: [0, 0, 0, 0], history: [] };

/** Where the four columns stand; both panels use it. */
function columns(width) {
  const [left, right] = [40, 14];
  const step = (width - left - right) / TOKENS.length;
  const bar = Math.min(60, 0.44 * step);
  return { left, end: width - right, bar, xOf: (i) => left + step * (i + 0.5) - bar / 2 };
}

function inside(value, x, yTop, yBottom, style) {
  return yBottom - yTop < 19 ? [] : [words(show(value), x, (yTop + yBottom) / 2 + 5, "middle", style)];
}

/** Mass by acceptance and, on it, mass by correction; the target is a line across the column. */
function drawPaths(p, q, width) {
  const [height, top, bottom] = [270, 30, 28];
  const { left, end, bar, xOf } = columns(width);
  const [accepted, corrected] = paths(p, q);
  const full = Math.max(...p, ...q) <= 0.5 ? 0.5 : 1;
  const yOf = (value) => height - bottom - (value / full) * (height - top - bottom);
  const chart = picture(width, height, "Two masses a token. " + TOKENS.map((token, i) =>
    `${token}: by acceptance ${show(accepted[i])}, by correction ${show(corrected[i])}, target ${show(p[i])}`).join("; ") + ".");
  const ids = addPatterns(chart);
  chart.append(axis([0, 0.2, 0.4, 0.6, 0.8, 1].map((tick) => tick * full), yOf, left, end));
  TOKENS.forEach((token, i) => {
    const [x, low, high] = [xOf(i), accepted[i], accepted[i] + corrected[i]];
    if (low > 0) chart.append(area(ids, "accepted", x, yOf(low), bar, yOf(0) - yOf(low)));
    if (high > low) chart.append(area(ids, "residual", x, yOf(high), bar, yOf(low) - yOf(high)));
    chart.append(mark("target", yOf(p[i]), x - 9, x + bar + 9), mark("draft", yOf(q[i]), x - 4, x + bar + 4),
      words(`= ${show(high)}`, x + bar / 2, yOf(high) - 8, "middle", "sd-inside"),
      ...inside(low, x + bar / 2, yOf(low), yOf(0), "sd-strong"),
      ...inside(high - low, x + bar / 2, yOf(high), yOf(low), "sd-inside"),
      words(token, x + bar / 2, height - 8, "middle", "sd-strong"));
  });
  return chart;
}

/** Four sliders of one distribution; moving one throws the sample away. */
function weightSliders(model, key, letter) {
  const rows = TOKENS.map((token, i) => slider({
    short: token, name: `${key} weight`, role: key,
    onMove: (value) => change(model, { ...FRESH, [key]: model.get("state")[key].map((old, j) => (j === i ? value : old)) }),
  }));
  const box = html("fieldset", { class: "sd-weights" },
    html("legend", {}, `${key} `, html("i", {}, letter)), ...rows.map((row) => row.row));
  return { box, set: (weights, values) => rows.forEach((row, i) => row.set(weights[i], values ? show(values[i]) : "–")) };
}

/** What the upper panel says in words. */
export function summary(p, q) {
  if (!p || !q) return `All ${p ? "draft" : "target"} weights are 0, which is no distribution: raise at least one slider.`;
  const [accepted, corrected] = paths(p, q);
  if (sum(corrected) === 0) return "p and q are equal: everything comes by acceptance.";
  if (sum(accepted) === 0) return "p and q share no token: everything comes by correction, and the law is still p.";
  return `By acceptance ${show(sum(accepted))}, by correction ${show(sum(corrected))}. Token by token the two add up to p.`;
}

function pathsPanel(model) {
  const target = weightSliders(model, "target", "p");
  const draft = weightSliders(model, "draft", "q");
  const accepted = readout("accepted\n1 − TV(p, q)", "sd-large");
  const corrected = readout("corrected\nTV(p, q)", "sd-large");
  const verdict = html("p", { class: "sd-verdict", "aria-live": "polite" });
  const reset = button("Reset to the worked pair", () => change(model, model.get("reset")));
  const chart = html("div", { class: "sd-chart" });
  const root = panel("Two paths into each token",
    "Weights for four tokens, normalised to sum to 1. Solid lines mark the target, dashed ones the draft.",
    html("div", { class: "sd-controls" }, html("div", { class: "sd-pair" }, target.box, draft.box),
      html("div", { class: "sd-pair" }, accepted.box, corrected.box), verdict, reset), chart);
  function draw() {
    const state = model.get("state");
    const [p, q] = [normalise(state.target), normalise(state.draft)];
    target.set(state.target, p);
    draft.set(state.draft, q);
    accepted.set(p && q ? show(sum(paths(p, q)[0])) : "–");
    corrected.set(p && q ? show(totalVariation(p, q)) : "–");
    say(verdict, summary(p, q));
    chart.replaceChildren(...(p && q ? [html("div", { class: "sd-keys" }, keyItem("accepted", "by acceptance"),
      keyItem("residual", "by correction")), drawPaths(p, q, chart.clientWidth)] : []));
  }
  return { root, draw };
}

// ---- a sample ----------------------------------------------------------------------------------

/** A dashed level: the exact law of the sampler. */
function lawMark(y, from, to) {
  return svg("line", { x1: from, x2: to, y1: y, y2: y, style: "stroke: var(--sd-ink); stroke-width: 2.5; stroke-dasharray: 3 3" });
}

/** Frequencies as bars; the target as a solid line, the sampler's exact law as a dashed one. */
function drawFrequencies(shares, exact, p, width) {
  const [height, top, bottom] = [220, 26, 28];
  const { left, end, bar, xOf } = columns(width);
  const full = Math.max(...exact, ...p, ...shares) <= 0.5 ? 0.5 : 1;
  const yOf = (value) => height - bottom - (value / full) * (height - top - bottom);
  const chart = picture(width, height, "Frequencies of the sample. " + TOKENS.map((token, i) =>
    `${token}: ${shares[i].toFixed(4)}, exact law ${exact[i].toFixed(4)}, target ${p[i].toFixed(4)}`).join("; ") + ".");
  chart.append(axis([0, 0.2, 0.4, 0.6, 0.8, 1].map((tick) => tick * full), yOf, left, end));
  TOKENS.forEach((token, i) => {
    const x = xOf(i);
    if (shares[i] > 0) chart.append(area({}, "target", x, yOf(shares[i]), bar, yOf(0) - yOf(shares[i])));
    chart.append(mark("target", yOf(p[i]), x - 9, x + bar + 9), lawMark(yOf(exact[i]), x - 9, x + bar + 9),
      words(sum(shares) > 0 ? shares[i].toFixed(3) : "", x + bar / 2, yOf(Math.max(shares[i], exact[i], p[i])) - 8, "middle", "sd-strong"),
      words(token, x + bar / 2, height - 8, "middle", "sd-strong"));
  });
  return chart;
}

/** Total variation over the number of draws, both in powers of ten; the slope is the noise floor. */
function drawHistory(history, floor, exact, width) {
  const [height, left, right, top, bottom] = [220, 52, 14, 16, 28];
  const xOf = (draws) => left + ((Math.log10(draws) - 2) / 5) * (width - left - right);
  const yOf = (tv) => top + (-Math.log10(Math.min(1, Math.max(tv, 1e-5))) / 5) * (height - top - bottom);
  const last = history.at(-1);
  const chart = picture(width, height, last
    ? `Total variation to p after ${last[0]} draws: ${last[1].toFixed(5)}; noise floor ${floor(last[0]).toFixed(5)}; exact law ${exact.toFixed(5)}.`
    : `Nothing drawn yet. The total variation of the exact law is ${exact.toFixed(5)}.`);
  for (let power = 0; power >= -5; power -= 1) chart.append(
    svg("line", { x1: left, x2: width - right, y1: yOf(10 ** power), y2: yOf(10 ** power), class: "sd-grid" }),
    words(`1e${power}`.replace("1e0", "1"), left - 8, yOf(10 ** power) + 4, "end", "sd-tick"));
  for (const [draws, text] of [[100, "100"], [10_000, "10,000"], [1_000_000, "1 million"]]) chart.append(
    words(text, xOf(draws), height - bottom + 18, draws === 100 ? "start" : "middle", "sd-tick"));
  chart.append(svg("line", { x1: xOf(100), y1: yOf(floor(100)), x2: xOf(MOST), y2: yOf(floor(MOST)), class: "sd-base", style: "stroke-width: 2" }));
  if (exact > 1e-12) chart.append(lawMark(yOf(exact), left, width - right));
  for (const [draws, tv] of history) chart.append(svg("circle", { cx: xOf(draws), cy: yOf(tv), r: 4, style: "fill: var(--sd-ink)" }));
  return chart;
}

/** What the lower panel says in words. */
export function verdictOn(draws, seen, floor, exact) {
  if (draws === 0) return `Nothing drawn yet. The exact law is ${exact.toFixed(4)} from the target in total variation.`;
  const text = `After ${draws.toLocaleString("en")} draws the sample is ${seen.toFixed(4)} from the target; a perfect sampler would be about ${floor.toFixed(4)}. `;
  if (exact < 1e-12) return `${text}This is noise: the exact law is the target.`;
  return text + (exact > 3 * floor ? `The exact law is off by ${exact.toFixed(4)}, and by now it shows.`
    : `The exact law is off by ${exact.toFixed(4)}: too little to be told from noise yet.`);
}

/** A choice among the samplers. */
function chooser(model) {
  const id = freshId();
  const box = html("select", { id, onchange: () => change(model, { ...FRESH, sampler: box.value }) },
    ...Object.entries(SAMPLERS).map(([value, text]) => html("option", { value }, text)));
  return { row: html("div", {}, html("label", { for: id }, "Sampler "), box), set(value) { box.value = value; } };
}

/** Draws `count` more tokens and keeps the distance of the whole sample. */
function more(model, count) {
  const state = model.get("state");
  const [p, q] = [normalise(state.target), normalise(state.draft)];
  const before = sum(state.counts);
  if (!p || !q || before + count > MOST) return;
  const { counts, seed } = draw(state.sampler, p, q, state.seed, count);
  const all = counts.map((value, i) => value + state.counts[i]);
  const draws = before + count;
  const distance = totalVariation(all.map((value) => value / draws), p);
  change(model, { counts: all, seed, history: [...state.history, [draws, distance]].slice(-200) });
}

function samplePanel(model) {
  const sampler = chooser(model);
  const buttons = html("div", { class: "sd-pair" }, ...[100, 1000, 10_000, 100_000].map((count) =>
    button(`Sample ${count.toLocaleString("en")}`, () => more(model, count))),
    button("Start again", () => change(model, { ...FRESH })));
  const seen = readout("total variation\nsample to p", "sd-large");
  const floor = readout("noise floor\nof a perfect sampler", "sd-large");
  const verdict = html("p", { class: "sd-verdict", "aria-live": "polite" });
  const chart = html("div", { class: "sd-chart" });
  const root = panel("A sample of it", "Bars are frequencies. Solid lines mark the target, dashed ones the sampler's exact law.",
    html("div", { class: "sd-controls" }, sampler.row, buttons, html("div", { class: "sd-pair" }, seen.box, floor.box), verdict), chart);
  function drawPanel() {
    const state = model.get("state");
    const [p, q] = [normalise(state.target), normalise(state.draft)];
    sampler.set(state.sampler);
    if (!p || !q) { seen.set("–"); floor.set("–"); say(verdict, ""); chart.replaceChildren(); return; }
    const draws = sum(state.counts);
    const exact = law(state.sampler, p, q);
    const error = totalVariation(exact, p);
    const shares = state.counts.map((count) => (draws ? count / draws : 0));
    const distance = draws ? totalVariation(shares, p) : 0;
    const level = draws ? noise(p, draws) : 0;
    seen.set(draws ? distance.toFixed(4) : "–");
    floor.set(draws ? level.toFixed(4) : "–");
    say(verdict, verdictOn(draws, distance, level, error));
    chart.replaceChildren(drawFrequencies(shares, exact, p, chart.clientWidth),
      html("div", { class: "sd-caption" }, "Total variation to p over the number of draws. Dots: the sample. Slope: the noise floor. Dashed: the exact law."),
      drawHistory(state.history, (n) => noise(p, n), error, chart.clientWidth));
  }
  return { root, draw: drawPanel };
}

/** Draws the simulator into `el`; returns a function that takes it down. */
function render({ model, el }) {
  const panels = [pathsPanel(model), samplePanel(model)];
  const root = html("div", { class: "sd-sim" }, ...panels.map((part) => part.root));
  el.append(root);
  return keepDrawn(model, root, () => panels.forEach((part) => part.draw()));
}

export default { render };
