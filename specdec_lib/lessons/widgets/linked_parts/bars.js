// The bars of p and q, which the reader drags, and charts over the same tokens.

import { freshId, html, show } from "../parts/elements.js";
import { addPatterns, area, axis, mark, picture, scale, words } from "../parts/charts.js";
import { change } from "../parts/stage.js";
import { whole } from "../parts/formulas.js";
import { withMass } from "./formulas.js";

export const LETTERS = ["A", "B", "C", "D"];
const LETTER_OF = { target: "p", draft: "q" };
const GRIP = 24; // pixels along the bar in which a finger finds its top; shared.css has the same number

/** A list over the tokens in words: "A: 0.45; B: 0.30; ...". */
export function byToken(text) {
  return LETTERS.map((token, i) => `${token}: ${text(i)}`).join("; ");
}

/** An empty chart over the tokens from 0 to `full`, with axis and names; all charts of a panel line up. `bars` stand
 *  side by side in a column, and `foot` is the room below the axis. */
export function tokenChart({ width, height, top, full, bars = 1, foot = 28, step = 0.25 }, description) {
  const [left, right] = [40, 14];
  const column = (width - left - right) / LETTERS.length;
  const bar = bars === 1 ? Math.min(60, 0.44 * column) : Math.min(44, 0.36 * column);
  const gap = 0.1 * column;
  const yOf = scale(0, full, height - foot, top);
  const chart = picture(width, height, description);
  const ids = addPatterns(chart);
  const middle = (i) => left + column * (i + 0.5);
  const xOf = (i, nth = 0) => middle(i) - (bars * bar + (bars - 1) * gap) / 2 + nth * (bar + gap);
  chart.append(axis(whole(0, Math.round(full / step)).map((i) => i * step), yOf, left, width - right),
    ...LETTERS.map((token, i) => words(token, middle(i), height - 8, "middle", "sd-strong")));
  return { chart, ids, bar, yOf, middle, xOf };
}

/** An area of column `i` from `low` to `high` and its number, where there is room for both. */
export function filled({ ids, bar, yOf, middle }, i, role, low, high, style) {
  if (high - low < 1e-12) return [];
  const [top, bottom] = [yOf(high), yOf(low)];
  const number = bottom - top < 19 ? [] : [words(show(high - low), middle(i), (top + bottom) / 2 + 5, "middle", style)];
  return [area(ids, role, middle(i) - bar / 2, top, bar, bottom - top), ...number];
}

/** Half or three quarters of the axis where no value needs more. */
export function fullHeight(...values) {
  return Math.max(0.5, Math.ceil(4 * Math.max(...values) - 1e-9) / 4);
}

// ---- p and q -----------------------------------------------------------------------------------

/** One bar: what both distributions have of the token, and on it what this one has more. */
function drawBar({ chart, ids, bar, xOf, yOf }, i, key, value, shared) {
  const [nth, role] = key === "target" ? [0, "residual"] : [1, "excess"];
  const x = xOf(i, nth);
  if (shared > 0) chart.append(area(ids, "accepted", x, yOf(shared), bar, yOf(0) - yOf(shared)));
  if (value - shared > 1e-12) chart.append(area(ids, role, x, yOf(value), bar, yOf(shared) - yOf(value)));
  chart.append(mark(key, yOf(value), x, x + bar), words(LETTER_OF[key], x + bar / 2, yOf(0) + 17, "middle", "sd-tick"));
}

/** The numbers above the bars, smaller on a narrow page; one goes up where it would lie on its neighbour. */
function drawNumbers({ chart, bar, xOf, yOf }, p, q) {
  const placed = [];
  const [apart, look] = xOf(0, 1) - xOf(0, 0) > 31 ? [31, "sd-inside"] : [26, "sd-inside sd-small"];
  p.flatMap((value, i) => [[value, xOf(i, 0)], [q[i], xOf(i, 1)]]).forEach(([value, left]) => {
    const [x, level] = [left + bar / 2, yOf(value) - 10];
    const free = (y) => placed.every((other) => Math.abs(other.x - x) > apart || Math.abs(other.y - y) >= 14);
    const y = whole(0, 16).map((up) => level - 14 * up).find(free);
    placed.push({ x, y });
    chart.append(words(value.toFixed(2), x, y, "middle", look));
  });
}

function drawPair(p, q, width) {
  const over = tokenChart({ width, height: 280, top: 26, full: 1, bars: 2, foot: 46 },
    `Bars of p and q. ${byToken((i) => `p ${show(p[i])}, q ${show(q[i])}, both have ${show(Math.min(p[i], q[i]))}`)}.`);
  LETTERS.forEach((_, i) => {
    const shared = Math.min(p[i], q[i]);
    drawBar(over, i, "target", p[i], shared);
    drawBar(over, i, "draft", q[i], shared);
  });
  drawNumbers(over, p, q);
  return over;
}

/** A native slider that lies over one bar, turned upright. The other bars of its distribution make room in proportion
 *  to what they were when this one was taken hold of. */
function grip(model, key, i, fresh) {
  const id = freshId();
  let held = null;
  const hold = () => { held = model.get("state")[key]; };
  const move = () => change(model, { ...fresh, token: i, [key]: withMass(held ?? model.get("state")[key], i, Number(input.value)) });
  const input = html("input", {
    id, type: "range", min: 0, max: 1, step: 0.01, class: "sd-grip", "data-role": key, "aria-orientation": "vertical",
    onpointerdown: hold, onfocus: hold, oninput: move,
  });
  const label = html("label", { for: id, class: "sd-unseen" }, `${key} ${LETTER_OF[key]} of ${LETTERS[i]}`);
  function set(value, { bar, xOf, yOf }) {
    if (Number(input.value) !== value) input.value = value;
    input.setAttribute("aria-valuetext", show(value));
    const [length, x] = [yOf(0) - yOf(1) + GRIP, xOf(i, key === "target" ? 0 : 1)];
    input.style.setProperty("--bar", `${bar}px`);
    input.style.width = `${length}px`;
    input.style.left = `${x + (bar - length) / 2}px`;
    input.style.top = `${(yOf(0) + yOf(1) - bar) / 2}px`;
  }
  return { input, label, set };
}

/** The bars of p and q with a grip on each; moving one also puts back `fresh`. */
export function draggableBars(model, fresh = {}) {
  const grips = LETTERS.flatMap((_, i) => ["target", "draft"].map((key) => ({ key, i, ...grip(model, key, i, fresh) })));
  const drawing = html("div", { class: "sd-chart" });
  const root = html("div", { class: "sd-bars" }, drawing, ...grips.flatMap((each) => [each.label, each.input]));
  function draw(state) {
    const over = drawPair(state.target, state.draft, drawing.clientWidth);
    drawing.replaceChildren(over.chart);
    grips.forEach((each) => each.set(state[each.key][each.i], over));
  }
  return { root, draw };
}
