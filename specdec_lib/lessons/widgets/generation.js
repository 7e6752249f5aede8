// Chapter 06: recorded blocks of the built-in pair, played with a clock. Tokens, p, q and r are recorded, and every
// verdict is worked out again. `start` holds the record. Where alpha is set, blocks of coins take their place.
// State: alpha, or null; k; c and v; the run, and how many half blocks are shown.

import { html, say, svg } from "./parts/elements.js";
import { axis, axisBelow, curve, line, picture, scale, words } from "./parts/charts.js";
import { button, buttons, chartBox, controls, pair, panel, player, readout, slider, verdictLine } from "./parts/controls.js";
import { acceptedOf, drawTokens, fates, inWords, kindKeys } from "./parts/blocks.js";
import { change, mount } from "./parts/stage.js";
import { expectedTokens, sum, uniforms, whole } from "./parts/formulas.js";

const COIN_BLOCKS = 16; // of a run of coins
const TICK = 420; // milliseconds a half block, while it plays
const NAMES = {
  drafted: "drafted, not yet judged", accepted: "accepted", rejected: "rejected", dropped: "dropped, never judged",
  corrected: "correction", bonus: "bonus",
};

/** A recorded block with its tokens as text. */
export function blockOf({ pieces }, [drafted, p, q, r, , token]) {
  return { drafted: drafted.map((id) => pieces[id]), p, q, r, token: pieces[token] };
}

/** A run of coins: draft token i of a block is accepted where its coin is below alpha. */
export function coinBlocks(alpha, k, seed) {
  const coins = uniforms(seed, COIN_BLOCKS * k);
  const drafted = whole(1, k).map(String);
  return whole(0, COIN_BLOCKS - 1).map((block) => ({
    drafted, p: drafted.map(() => alpha), q: drafted.map(() => 1), r: coins.slice(block * k, (block + 1) * k), token: String(k + 1),
  }));
}

/** Tokens over time, where plain decoding takes 1 a token and a block c k + v. */
export function speed(tokens, blocks, k, c, v) {
  return tokens / (blocks * (c * k + v));
}

/** Of recorded requests at one K: blocks, mean tokens per block, accepted and judged draft tokens. */
export function summaryOf({ k, accepted }) {
  const total = (value) => sum(accepted.map((count, n) => count * value(n)));
  const blocks = total(() => 1);
  const mean = total((n) => n + 1) / blocks;
  return { blocks, mean, passed: total((n) => n), judged: total((n) => Math.min(n + 1, k)) };
}

/** Accepted over judged draft tokens of all recorded requests. */
export function alphaOf(requests) {
  const found = requests.map(summaryOf);
  const add = (name) => sum(found.map((each) => each[name]));
  return add("passed") / add("judged");
}

/** The recorded K of the largest value; 0, plain decoding, where none is above 1. */
export function bestK(ks, value) {
  return ks.reduce((best, k) => (value(k) > (best ? value(best) : 1) ? k : best), 0);
}

/** Tokens that the first `count` blocks of a run have written. */
export function writtenBy(blocks, count) {
  return sum(blocks.slice(0, count).map((block) => acceptedOf(block) + 1));
}

/** The blocks that are shown; in the last one the draft may still wait for its verdict. */
function drawBlocks(blocks, shown, width) {
  const judged = Math.floor(shown / 2);
  const rows = blocks.slice(0, Math.ceil(shown / 2)).map((block, i) => (i < judged ? fates(block) : block.drafted.map((text) => ({ kind: "drafted", text }))));
  const told = rows.map((row, i) => `Block ${i + 1}: ${inWords(row)}`);
  // Of a token that nobody has judged there is nothing to read.
  const brief = rows.map((row) => row.map((token) => (token.kind === "dropped" ? { ...token, text: "" } : token)));
  return drawTokens(brief, width, told.join(". ") || "No block yet.", { names: rows.map((_, i) => String(i + 1)) });
}

// ---- speed against K -----------------------------------------------------------------------------

/** The formula's line and the recorded means; the current K is marked. */
function drawSpeeds(view, width) {
  const { ks, k, predicted, recorded } = view;
  const [height, left, top, bottom] = [250, 40, 14, 40];
  const most = Math.max(2, ...ks.map((each) => Math.max(predicted(each), recorded(each))));
  const xOf = scale(1, ks.at(-1), left + 14, width - 26);
  const yOf = scale(0, 1.08 * most, height - bottom, top);
  const numbers = ks.map((each) => `K = ${each}: ${recorded(each).toFixed(2)}, predicted ${predicted(each).toFixed(2)}`);
  const chart = picture(width, height, `Recorded speed by K, and the formula. ${numbers.join("; ")}. Now K = ${k}.`);
  chart.append(axis([0, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5].filter((tick) => tick <= 1.05 * most), yOf, left, width - 8),
    line(left, yOf(1), width - 8, yOf(1), "sd-plain"), words("plain decoding", left + 6, yOf(1) + 15, "start", "sd-tick"),
    curve(ks.map((each) => [xOf(each), yOf(predicted(each))]), "ink", 1.5));
  ks.forEach((each) => {
    const [x, y] = [xOf(each), yOf(recorded(each))];
    const here = each === k;
    chart.append(svg("circle", { cx: x, cy: y, r: here ? 7 : 4.5, fill: here ? "var(--sd-target)" : "var(--sd-paper)", stroke: "var(--sd-target)", "stroke-width": 2 }));
  });
  chart.append(axisBelow(ks, xOf, height - 20, k), words("K", (left + width) / 2, height - 4, "middle", "sd-tick"));
  return chart;
}

// ---- the panels ----------------------------------------------------------------------------------

/** Everything that the two panels show, from the state. */
function viewOf(model) {
  const [state, { record }] = [model.get("state"), model.get("start")];
  const ks = record.requests.map((each) => each.k);
  const runs = record.runs.filter((run) => run.k === state.k);
  const { passage, blocks: raw } = runs[state.run % runs.length];
  const coins = state.alpha !== null;
  const blocks = coins ? coinBlocks(state.alpha, state.k, state.run) : raw.map((each) => blockOf(record, each));
  const found = Object.fromEntries(record.requests.map((each) => [each.k, summaryOf(each)]));
  const alpha = coins ? state.alpha : alphaOf(record.requests);
  const end = 2 * blocks.length;
  const shown = Math.min(state.shown, end); // the slider of K asks for all of a run, however long it is
  const judged = Math.floor(shown / 2);
  const time = (k) => state.c * k + state.v;
  return {
    ...state, ks, blocks, prompt: coins ? "Coins, no text: the numbers are places in the block." : `… ${record.passages[passage]}`, alpha, coins, found, time,
    end, shown, judged, written: writtenBy(blocks, judged),
    predicted: (k) => expectedTokens(alpha, k) / time(k), recorded: (k) => found[k].mean / time(k),
  };
}

const counted = (n, name) => `${n} ${name}${n === 1 ? "" : "s"}`;

/** What the run so far means, in one or two sentences. */
function verdictOf(view) {
  const { judged, written, k, found, ks, predicted, coins, alpha } = view;
  if (view.shown === 0) return "Press Generate.";
  if (judged === 0) return "The draft has proposed; the next step judges it.";
  const best = bestK(ks, predicted);
  const unjudged = 1 - (coins ? expectedTokens(alpha, k - 1) : found[k].judged / found[k].blocks) / k;
  const place = best === 0 ? "No K beats plain decoding at these costs." : k > best
    ? `K = ${k} is past the best, K = ${best}: ${coins ? "with these coins" : "in the record"}, ${(100 * unjudged).toFixed(0)}% of its draft tokens are never judged.`
    : k === best ? `K = ${k} is the best of these by the formula.` : `The best K by the formula is ${best}.`;
  return `${counted(written, "token")} in ${counted(judged, "block")}: ${(judged * view.time(k)).toFixed(1)} target passes of time, where plain decoding takes ${written}. ${place}`;
}

/** Plays a run in half blocks: drafted, then judged. */
function playing(model) {
  const advance = () => {
    const { shown, end } = viewOf(model);
    if (shown < end) change(model, { shown: shown + 1 });
    return shown < end;
  };
  return player(TICK, advance, () => change(model, { shown: viewOf(model).end }));
}

/** Buttons for a run: from its start, one half block on, to its end. */
function runButtons(model, play) {
  const generate = () => {
    const { run, shown } = model.get("state");
    play.stop();
    change(model, { run: shown > 0 ? run + 1 : run, shown: 0 });
    play.play();
    if (!play.still()) change(model, { shown: 1 });
  };
  const step = () => {
    play.stop();
    const { shown, end } = viewOf(model);
    change(model, shown < end ? { shown: shown + 1 } : { run: model.get("state").run + 1, shown: 1 });
  };
  const toEnd = () => { play.stop(); change(model, { shown: viewOf(model).end }); };
  return buttons(button("Generate", generate), button("Next step", step), button("To the end", toEnd));
}

function runPanel(model, play) {
  const ks = model.get("start").record.requests.map((each) => each.k);
  const sliders = {
    alpha: slider({ short: "α", name: "acceptance rate of coins", onMove: (alpha) => { play.stop(); change(model, { alpha, shown: 2 * 10 ** 5 }); } }),
    k: slider({ short: "K", name: "draft tokens per block", values: ks, onMove: (k) => { play.stop(); change(model, { k, shown: 2 * 10 ** 5 }); } }),
    c: slider({ short: "c", name: "time of a draft step", max: 0.5, onMove: (c) => change(model, { c }) }),
    v: slider({ short: "v", name: "time of a verification", min: 1, max: 3, step: 0.05, onMove: (v) => change(model, { v }) }),
  };
  const now = readout("times as fast\nas plain decoding", "sd-large");
  const ahead = readout("predicted\nby the formula", "sd-large");
  const passes = readout("tokens per target pass\nno clock in it");
  const rate = readout("acceptance rate\nα of the formula");
  const back = () => { play.stop(); change(model, { alpha: null, run: 0, shown: 0 }); };
  const verdict = verdictLine();
  const prompt = html("p", { class: "sd-text" });
  const chart = chartBox();
  const text = html("div", { class: "sd-wide sd-controls" }, kindKeys(NAMES), prompt, chart);
  const root = panel("Recorded text, and a clock", "Each row is one block: drafted first, then judged. · is a space, ·7 is seven spaces, ↵ ends a line.",
    controls(sliders.k.row, sliders.c.row, sliders.v.row, runButtons(model, play), sliders.alpha.row, buttons(button("Recorded text", back))),
    controls(pair(now.box, ahead.box, passes.box, rate.box), verdict), text);
  function draw(view) {
    const { k, c, v, judged, written, shown, end } = view;
    sliders.alpha.set(view.alpha);
    sliders.k.set(k, String(k));
    sliders.c.set(c, c.toFixed(2));
    sliders.v.set(v, v.toFixed(2));
    now.set(judged ? speed(written, judged, k, c, v).toFixed(2) : "–");
    ahead.set(view.predicted(k).toFixed(2));
    passes.set(judged ? (written / judged).toFixed(2) : "–");
    rate.set(view.alpha.toFixed(3));
    if (!play.plays() || shown >= end) say(verdict, verdictOf(view));
    say(prompt, view.prompt);
    chart.replaceChildren(drawBlocks(view.blocks, shown, chart.clientWidth));
  }
  return { root, draw };
}

function speedPanel() {
  const chart = chartBox(true);
  const root = panel("Speed against K, all recorded blocks", "Line: the formula. Circles: recorded means, with standard errors smaller than a circle; the filled one is the current K.", chart);
  // Before the first run the picture would answer what the reader is asked to guess.
  const draw = (view) => chart.replaceChildren(view.shown ? drawSpeeds(view, chart.clientWidth) : "It is drawn once you have pressed Generate.");
  return { root, draw };
}

/** Draws the simulator into `el`; returns a function that takes it down. */
function render({ model, el }) {
  const play = playing(model);
  return mount(model, el, [runPanel(model, play), speedPanel()], () => viewOf(model), play.end);
}

export default { render };
