// Below the paths of chapter 03: a sample from p and q beside its sampler's exact distribution. State: the sampler, its
// counts, the distances measured so far as [draws, total variation], and the seed of the next draw.

import { html, say } from "../parts/elements.js";
import { area, axis, dot, line, mark, picture, scale, words } from "../parts/charts.js";
import { button, chartBox, controls, pair, panel, readout, select, verdictLine } from "../parts/controls.js";
import { change } from "../parts/stage.js";
import { sum, uniform, whole } from "../parts/formulas.js";
import { acceptance, residual, totalVariation } from "./formulas.js";
import { byToken, fullHeight, LETTERS, tokenChart } from "./bars.js";

/** A sample before anything is drawn. */
export const FRESH = { counts: [0, 0, 0, 0], history: [] };

const SAMPLERS = {
  rule: "the rule: ratio, then residual",
  from_target: "wrong: replaced from p",
  argmax: "wrong: draft by argmax, full q",
};
const MOST = 10_000_000;

/** What the draft token is drawn from: q, or all on its largest entry (the lowest index). */
function drawnFrom(sampler, q) {
  const best = q.indexOf(Math.max(...q));
  return sampler === "argmax" ? q.map((_, i) => (i === best ? 1 : 0)) : q;
}

/** The exact distribution of a sampler. */
export function law(sampler, p, q) {
  const accepted = drawnFrom(sampler, q).map((value, i) => value * acceptance(p[i], q[i]));
  const replacement = sampler === "from_target" ? p : residual(p, q);
  const rejected = 1 - sum(accepted);
  return accepted.map((value, i) => value + rejected * replacement[i]);
}

/** Total variation to p that `draws` tokens from p itself show on average (normal approximation). */
export function noise(p, draws) {
  return Math.sqrt(2 / Math.PI / draws) * sum(p.map((value) => Math.sqrt(value * (1 - value)))) / 2;
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
    const numbers = whole(1, 3).map(() => { const [u, next] = uniform(seed); seed = next; return u; });
    const token = pick(drafts, numbers[0]);
    counts[numbers[1] * q[token] < p[token] ? token : pick(replacement, numbers[2])] += 1;
  }
  return { counts, seed };
}

/** A dashed level: the exact distribution of the sampler. */
function lawMark(y, from, to) {
  return line(from, y, to, y, "sd-law");
}

/** Frequencies as bars; the target as a solid line, the sampler's exact distribution as a dashed one. */
function drawFrequencies(shares, exact, p, width) {
  const { chart, bar, xOf, yOf, middle } = tokenChart({ width, height: 220, top: 26, full: fullHeight(...exact, ...p, ...shares) },
    "Frequencies of the sample. " +
    `${byToken((i) => `${shares[i].toFixed(4)}, exact distribution ${exact[i].toFixed(4)}, target ${p[i].toFixed(4)}`)}.`);
  LETTERS.forEach((_, i) => {
    const x = xOf(i);
    if (shares[i] > 0) chart.append(area({}, "target", x, yOf(shares[i]), bar, yOf(0) - yOf(shares[i])));
    chart.append(mark("target", yOf(p[i]), x - 9, x + bar + 9), lawMark(yOf(exact[i]), x - 9, x + bar + 9),
      words(sum(shares) > 0 ? shares[i].toFixed(3) : "", middle(i), yOf(Math.max(shares[i], exact[i], p[i])) - 8, "middle", "sd-strong"));
  });
  return chart;
}

/** Total variation over the number of draws, both in powers of ten; the slope is the noise floor. */
function drawHistory(history, floor, exact, width) {
  const [height, left, right, top, bottom] = [220, 52, 14, 16, 28];
  const xOf = scale(100, MOST, left, width - right, Math.log);
  const yOf = scale(1e-5, 1, height - bottom, top, (tv) => Math.log(Math.min(1, Math.max(tv, 1e-5))));
  const last = history.at(-1);
  const chart = picture(width, height, last
    ? `Total variation to p after ${last[0]} draws: ${last[1].toFixed(5)}; noise floor ${floor(last[0]).toFixed(5)}; exact distribution ${exact.toFixed(5)}.`
    : `Nothing drawn yet. The total variation of the exact distribution is ${exact.toFixed(5)}.`);
  chart.append(axis(whole(-5, 0).map((power) => 10 ** power), yOf, left, width - right, (tv) => (tv === 1 ? "1" : tv.toExponential(0))));
  for (const [draws, text] of [[100, "100"], [10_000, "10,000"], [1_000_000, "1 million"]]) chart.append(
    words(text, xOf(draws), height - bottom + 18, draws === 100 ? "start" : "middle", "sd-tick"));
  chart.append(line(xOf(100), yOf(floor(100)), xOf(MOST), yOf(floor(MOST)), "sd-base", { "stroke-width": 2 }));
  if (exact > 1e-12) chart.append(lawMark(yOf(exact), left, width - right));
  for (const [draws, tv] of history) chart.append(dot(xOf(draws), yOf(tv), 4, "ink"));
  return chart;
}

/** What the lower panel says in words. */
export function verdictOn(draws, seen, floor, exact) {
  if (draws === 0) return `Nothing drawn yet. The exact distribution is ${exact.toFixed(4)} from the target in total variation.`;
  const text = `After ${draws.toLocaleString("en")} draws the sample is ${seen.toFixed(4)} from the target; a perfect sampler would be about ${floor.toFixed(4)}. `;
  if (exact < 1e-12) return `${text}This is noise: the exact distribution is the target.`;
  return text + (exact > 3 * floor ? `The exact distribution is off by ${exact.toFixed(4)}, and by now it shows.`
    : `The exact distribution is off by ${exact.toFixed(4)}: too little to be told from noise yet.`);
}

/** Draws `count` more tokens and keeps the distance of the whole sample. */
function more(model, count) {
  const state = model.get("state");
  const { target: p, draft: q } = state;
  const before = sum(state.counts);
  if (before + count > MOST) return;
  const { counts, seed } = draw(state.sampler, p, q, state.seed, count);
  const all = counts.map((value, i) => value + state.counts[i]);
  const draws = before + count;
  const distance = totalVariation(all.map((value) => value / draws), p);
  change(model, { counts: all, seed, history: [...state.history, [draws, distance]].slice(-200) });
}

/** A sampler to choose, buttons that draw, and what the sample shows. */
export function samplePanel(model) {
  const sampler = select("Sampler ", Object.entries(SAMPLERS), (name) => change(model, { ...FRESH, sampler: name }));
  const amounts = [100, 1000, 10_000, 100_000].map((count) => button(`Sample ${count.toLocaleString("en")}`, () => more(model, count)));
  const [seen, floor] = [readout("total variation\nsample to p", "sd-large"), readout("noise floor\nof a perfect sampler", "sd-large")];
  const [verdict, chart] = [verdictLine(), chartBox()];
  const root = panel("A sample of it", "Bars are frequencies. Solid lines mark the target, dashed ones the sampler's exact distribution.",
    controls(sampler.row, pair(...amounts, button("Start again", () => change(model, { ...FRESH }))), pair(seen.box, floor.box), verdict), chart);
  function drawPanel(state) {
    const { target: p, draft: q } = state;
    sampler.set(state.sampler);
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
      html("div", { class: "sd-caption" }, "Total variation to p over the number of draws. Dots: the sample. Sloping line: the noise floor. Dashed line: the exact distribution."),
      drawHistory(state.history, (n) => noise(p, n), error, chart.clientWidth));
  }
  return { root, draw: drawPanel };
}
