// The view of chapter 04: tokens per block and milliseconds per token over K.

import { html, show, svg } from "../parts/elements.js";
import { axis, axisBelow, curve, dot, line, picture, scale, square, words } from "../parts/charts.js";
import { expectedTokens, whole } from "../parts/formulas.js";
import { bestK, blockTime, speedup } from "./formulas.js";

const ROUND = [1, 2, 5, 10];

/** Milliseconds to three digits. */
export function milliseconds(ms) {
  return `${ms.toPrecision(3)} ms`;
}

/** What the setting amounts to, in words; `now` has what the picture computes. */
export function verdict({ k }, { rate, c, v }) {
  const [best, most] = [bestK(rate, c, v), v.length - 1];
  const price = (at) => show(c + v[at] - v[at - 1]);
  if (best === 0) {
    return `The first draft token brings ${show(rate)} and costs ${price(1)} of a pass: no K pays. Plain decoding, K = 0, is best.`;
  }
  if (k === best) {
    const next = k < most ? ` One token more would add ${show(rate ** (k + 1))} for ${price(k + 1)} of a pass.` : " No larger one is shown.";
    return `This is the best K.${next}`;
  }
  const way = k < best ? "Too few: one more draft token would still pay for itself." : "Too many: the last tokens are seldom reached, and each is paid for.";
  const lost = speedup(rate, c, k, v) < 1 ? " It is slower than plain decoding." : "";
  return `${way} K = ${best} is ${show(speedup(rate, c, best, v))} times as fast as plain decoding.${lost}`;
}

/** A round step for an axis that reaches `top`: some three to six lines. */
function axisStep(top) {
  const power = 10 ** Math.floor(Math.log10(top / 6));
  return power * ROUND.find((step) => top / (power * step) <= 6);
}

/** Values over K with the chosen K as a square and the best one in a ring; `level` is a line across. What lies above
 *  `top` is cut off. */
function overK({ name, unit, values, k, best, top, level = null, levelName = "" }, width) {
  const [height, left, right, above, below] = [210, 40, 22, 26, 46];
  const step = axisStep(1.15 * top);
  const full = step * Math.ceil((1.15 * top) / step);
  const xOf = scale(0, values.length - 1, left + 14, width - right - 14);
  const yOf = scale(0, full, height - below, above);
  const told = (i) => `K = ${i}: ${values[i].toPrecision(3)}`;
  const chart = picture(width, height, `${name} over K. ${told(k)}; best ${told(best)}; ${told(values.length - 1)}.` +
    (level === null ? "" : ` ${levelName}: ${level.toPrecision(3)}.`));
  const ticks = whole(0, values.length - 1).filter((i) => values.length < 12 || i % 5 === 0);
  chart.append(axis(whole(0, Math.round(full / step)).map((i) => i * step), yOf, left, width - right),
    axisBelow(ticks, xOf, height - below + 18), words("K, draft tokens in a block", (left + width - right) / 2, height - 8, "middle", "sd-tick"),
    words(unit, left - 32, 14, "start", "sd-tick"));
  if (level !== null) chart.append(line(left, yOf(level), width - right, yOf(level), "sd-plain"), words(levelName, width - right, yOf(level) - 6, "end", "sd-tick"));
  const points = values.map((value, i) => [xOf(i), yOf(value)]).filter(([, y]) => y >= above - 12);
  chart.append(curve(points), ...points.map(([x, y]) => dot(x, y, 3)), ...marked(best, k, values, xOf, (value) => Math.max(above, yOf(value)), level === null ? "" : "best "));
  return chart;
}

/** The ring of the best K, with `name` before its number, and the square of the chosen one with its number. */
function marked(best, k, values, xOf, yOf, name) {
  const ring = svg("circle", { cx: xOf(best), cy: yOf(values[best]), r: 9, fill: "none", stroke: "var(--sd-ink)", "stroke-width": 2 });
  const here = square(xOf(k), yOf(values[k]), 6, { fill: "var(--sd-excess)", stroke: "var(--sd-paper)" });
  const number = (i, text, down) => words(text + values[i].toPrecision(3), xOf(i), yOf(values[i]) + down, i === 0 ? "start" : "middle", "sd-inside");
  return [here, ring, number(best, name, 26), ...(k === best ? [] : [number(k, "", -14)])];
}

export const speedView = {
  title: "Tokens and time over K",
  numbers: [["times as fast\nas plain decoding", ({ speed }) => show(speed)], ["best K\nfor these times", ({ best }) => String(best)]],
  say: verdict,
  charts({ k, ms }, width, { rate, c, v, best }) {
    const tokens = v.map((_, i) => expectedTokens(rate, i));
    const times = v.map((_, i) => (ms * blockTime(c, i, v)) / tokens[i]);
    const title = (text) => html("div", { class: "sd-caption" }, text);
    return [
      title("Tokens per block: the first ones add most"),
      overK({ name: "Tokens per block", unit: "tokens", values: tokens, k, best, top: Math.max(...tokens) }, width),
      title("Time per token: lower is faster"),
      overK({ name: "Milliseconds per token", unit: "ms", values: times, k, best, top: Math.min(Math.max(...times), 2 * ms), level: ms, levelName: "plain decoding" }, width),
    ];
  },
};
