// Chapter 08: a generated text, every token in the dress of its fate, with p, q and their ratio.
// State: prompt, blocks [{drafted, p, q, accepted, token}], and the chosen token of the text.

import { fill, html, say, svg } from "./parts/elements.js";
import { addPatterns, key, keys, picture } from "./parts/charts.js";
import { chartBox, controls, pair, panel, readout, slider, verdictLine } from "./parts/controls.js";
import { change, mount } from "./parts/stage.js";

/** The tokens of the text: [{kind, text, block, place, p, q, draft}]; place counts from 1 in the block. */
export function tokensOf(blocks) {
  return blocks.flatMap(({ drafted, p, q, accepted, token }, block) => {
    const passed = drafted.slice(0, accepted).map((text, i) => ({ kind: "accepted", text, block, place: i + 1, p: p[i], q: q[i] }));
    const whole = accepted === drafted.length;
    const last = whole ? { kind: "bonus" } : { kind: "corrected", p: p[accepted], q: q[accepted], draft: drafted[accepted] };
    return [...passed, { ...last, text: token, block, place: accepted + 1 }];
  });
}

/** The acceptance probability min(1, p/q); 0 where p is 0. */
export function acceptance(p, q) {
  if (p === 0) return 0;
  return q === 0 ? 1 : Math.min(1, p / q);
}

/** A number with three significant digits, also a small one. */
export function shortly(x) {
  return x === 0 ? "0" : x >= 0.001 ? Number(x.toPrecision(3)).toString() : x.toExponential(1);
}

/** What happened at a token, in words. */
export function storyOf(token) {
  const where = `Block ${token.block + 1}, position ${token.place}: `;
  if (token.kind === "bonus") return `${where}bonus. The whole block was accepted, and the target's extra row gave ${token.text}.`;
  const numbers = `p = ${shortly(token.p)}, q = ${shortly(token.q)}`;
  const chance = `accepted with probability ${shortly(acceptance(token.p, token.q))}`;
  return token.kind === "accepted"
    ? `${where}the draft proposed ${token.text} (${numbers}), ${chance}, and it was.`
    : `${where}the draft proposed ${token.draft} (${numbers}), ${chance}; it was rejected. ${token.text} was drawn from the residual.`;
}

const SIGNS = { accepted: "✓", corrected: "◆", bonus: "+" };
const DRESS = { accepted: "accepted", corrected: "residual", bonus: "target" };
const NAMES = { accepted: "drafted and accepted", corrected: "corrected", bonus: "bonus" };
const [CHARACTER, STRIP, LINE, HIGH] = [8, 12, 30, 22];
const PAPER = "fill: var(--sd-paper)";

/** A corrected token's shape: a box with its upper corners cut off, and dots at its left. */
function cutOff(ids, x, y, width) {
  const points = [[x + 6, y], [x + width - 6, y], [x + width, y + HIGH / 2], [x + width - 6, y + HIGH], [x + 6, y + HIGH], [x, y + HIGH / 2]].map(String).join(" ");
  return [svg("polygon", { points, class: "sd-flat", style: PAPER }),
    svg("rect", { x: x + 4, y: y + 1, width: STRIP, height: HIGH - 2, fill: `url(#${ids.residual})` }), svg("polygon", { points, class: "sd-edge" })];
}

/** A bonus token's shape: a round box with a double edge. */
function doubled(x, y, width) {
  const box = { x, y, width, height: HIGH, rx: 9 };
  return [svg("rect", { ...box, class: "sd-flat", style: PAPER }), svg("rect", { ...box, class: "sd-edge" }),
    svg("rect", { x: x + 2.5, y: y + 2.5, width: width - 5, height: HIGH - 5, rx: 7, class: "sd-edge", "stroke-width": 0.8 })];
}

/** The shape of a fate; an accepted token is a filled box. */
function shapeOf(ids, kind, x, y, width) {
  if (kind === "corrected") return cutOff(ids, x, y, width);
  if (kind === "bonus") return doubled(x, y, width);
  return ["sd-flat", "sd-edge"].map((style) => svg("rect", { x, y, width, height: HIGH, class: style }));
}

function drawToken(ids, kind, text, x, y, width, chosen = false) {
  const group = svg("g", { class: `sd-area sd-${DRESS[kind]}` }, ...shapeOf(ids, kind, x, y, width));
  const around = { x: x - 3, y: y - 3, width: width + 6, height: HIGH + 6, fill: "none", "stroke-width": 2, "stroke-dasharray": "4 2" };
  if (chosen) group.append(svg("rect", { ...around, stroke: "var(--sd-ink)" }));
  const left = kind === "corrected" ? STRIP + 5 : 8;
  group.append(svg("text", { x: x + left, y: y + 15.5, style: "font-family: monospace" }, `${SIGNS[kind]} ${text}`));
  return group;
}

/** Where each token stands, in lines of `width`: {x, y, size}. */
export function placesOf(tokens, width) {
  let [x, y] = [4, 6];
  return tokens.map(({ kind, text }) => {
    const size = CHARACTER * (text.length + 2) + (kind === "corrected" ? STRIP + 11 : 16);
    if (x + size > width - 4 && x > 4) { x = 4; y += LINE; }
    const place = { x, y, size };
    x += size + 5;
    return place;
  });
}

function drawText(tokens, chosen, width, pick) {
  const told = tokens.map(({ kind, text }) => `${text} ${NAMES[kind]}`).join(", ");
  const places = placesOf(tokens, width);
  const chart = picture(width, places[places.length - 1].y + LINE, `${tokens.length} tokens: ${told}.`);
  const ids = addPatterns(chart);
  tokens.forEach(({ kind, text }, i) => {
    const { x, y, size } = places[i];
    const take = { onmouseenter: () => pick(i), onclick: () => pick(i), style: "cursor: pointer" };
    chart.append(fill(drawToken(ids, kind, text, x, y, size, i === chosen), take, []));
  });
  return chart;
}

/** p, q and p/q of a token as they are printed; a bonus has none. */
export function numbersOf({ kind, p, q }) {
  if (kind === "bonus") return ["–", "–", "–"];
  return [shortly(p), shortly(q), q === 0 ? "–" : shortly(p / q)];
}

/** Accepted over judged tokens of the text, or "–" where none was judged. */
export function shareOf(tokens) {
  const judged = tokens.filter(({ kind }) => kind !== "bonus");
  return judged.length ? (judged.filter(({ kind }) => kind === "accepted").length / judged.length).toFixed(2) : "–";
}

function textPanel(model) {
  const state = model.get("state");
  const tokens = tokensOf(state.blocks);
  const pick = (chosen) => { if (chosen !== model.get("state").chosen) change(model, { chosen }); };
  const slide = slider({ short: "token", name: "of the text", role: "target", max: tokens.length - 1, step: 1, room: ["3.2em", "3em"], onMove: pick });
  const readouts = ["p, of the target", "q, of the draft", "p/q"].map((name) => readout(name));
  const share = readout("accepted\nof all judged draft tokens");
  const story = verdictLine();
  const chart = chartBox(true);
  const fates = keys(Object.entries(NAMES).map(([kind, name]) => key(name, (ids) => drawToken(ids, kind, "", 1, 1, 40), 44, 24)), true);
  const root = panel("A text, token by token", "Hover over a token, or step with the slider. · is a space, ·8 are eight, ↵ ends a line.",
    controls(slide.row, story), controls(pair(...readouts.map(({ box }) => box), share.box)),
    html("div", { class: "sd-wide" }, fates, html("p", { class: "sd-text" }, `… ${state.prompt}`)), chart);
  function draw({ chosen }) {
    slide.set(chosen, String(chosen + 1), `token ${chosen + 1} of ${tokens.length}`);
    numbersOf(tokens[chosen]).forEach((text, i) => readouts[i].set(text));
    share.set(shareOf(tokens));
    say(story, storyOf(tokens[chosen]));
    chart.replaceChildren(drawText(tokens, chosen, chart.clientWidth, pick));
  }
  return { root, draw };
}

/** Draws the picture into `el`; returns a function that takes it down. */
function render({ model, el }) {
  return mount(model, el, [textPanel(model)]);
}

export default { render };
