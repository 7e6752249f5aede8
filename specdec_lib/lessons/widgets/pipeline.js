// Recorded blocks, step by step. p is the target, q the draft, r the coin of a draft token.
// State: the prompt, the blocks (drafted, p, q, r, token) and the frame that is shown.

import { fill, html, say, svg } from "./parts/elements.js";
import { addPatterns, line, picture, words } from "./parts/charts.js";
import { button, buttons, chartBox, panel, player, readout, verdictLine } from "./parts/controls.js";
import { acceptedOf, fates, inWords, isAccepted, kindKeys, tokenBox, visible } from "./parts/blocks.js";
import { whole } from "./parts/formulas.js";
import { change, mount } from "./parts/stage.js";

const PACE = 1100; // milliseconds a frame, while it plays
const NAMES = Object.fromEntries(["drafted", "accepted", "rejected", "dropped", "corrected", "bonus"].map((kind) => [kind, kind]));

/** All frames: for each block the drafts one by one, the scoring, the verdicts one by one, the last token. */
export function frames(blocks) {
  const of = (block, drafted, judged = 0, scored = false, ended = false) => ({ block, drafted, scored, judged, ended });
  return [of(0, 0), ...blocks.flatMap((block, number) => {
    const size = block.drafted.length;
    const judged = Math.min(acceptedOf(block) + 1, size);
    return [...whole(1, size).map((n) => of(number, n)), ...whole(0, judged).map((n) => of(number, size, n, true)), of(number, size, judged, true, true)];
  })];
}

/** The tokens of the present block that are there at this frame; what is not yet judged is drafted. */
export function tokensAt(blocks, { block, drafted, judged, ended }) {
  const all = fates(blocks[block]);
  const shown = all.slice(0, drafted).map((token, i) => (i < judged || ended ? token : { ...token, kind: "drafted" }));
  return ended ? [...shown, all.at(-1)] : shown;
}

/** Passes of the target, calls of the draft and tokens written, up to and with this frame. */
export function counts(blocks, frame) {
  const total = { target: 0, draft: 0, written: 0 };
  blocks.slice(0, frame.block + 1).forEach((block, number) => {
    const now = number === frame.block;
    total.draft += now ? frame.drafted : block.drafted.length;
    total.target += now ? Number(frame.scored) : 1;
    total.written += !now || frame.ended ? acceptedOf(block) + 1 : Math.min(frame.judged, acceptedOf(block));
  });
  return total;
}

const digits = (x) => (x < 0.001 ? x.toExponential(0) : x.toFixed(3));
const quoted = (token) => `“${visible(token)}”`;

/** What happens at this frame, in a sentence or two. */
export function caption(blocks, frame) {
  const { drafted, p, q, r, token } = blocks[frame.block];
  const [accepted, size] = [acceptedOf(blocks[frame.block]), drafted.length];
  if (frame.ended && accepted === size) return `All ${size} are accepted. The row that is left over gives ${quoted(token)}, the bonus token: ${size + 1} tokens from one pass.`;
  if (frame.ended) {
    const rest = size - accepted - 1;
    return `The target's ${quoted(token)} takes the place of ${quoted(drafted[accepted])}: the correction. ` +
      `${rest === 0 ? "Nothing is left to drop" : `${rest} draft token${rest === 1 ? " is" : "s are"} dropped unread`}. ` +
      `One pass wrote ${accepted + 1} token${accepted === 0 ? "" : "s"}.`;
  }
  if (frame.judged > 0) {
    const i = frame.judged - 1;
    const passed = isAccepted(p[i], q[i], r[i]);
    return `${quoted(drafted[i])}: the coin ${digits(r[i])} is ${passed ? "below" : "not below"} min(1, p/q) = ${digits(Math.min(1, p[i] / q[i]))}: ${passed ? "accepted" : "rejected"}.`;
  }
  if (frame.scored) return `One pass of the target reads the text and all ${size} draft tokens. It gives ${size + 1} rows: one for each draft token, and one for what comes after.`;
  if (frame.drafted > 0) return `Draft call ${frame.drafted} of ${size}: ${quoted(drafted[frame.drafted - 1])}, drawn with q = ${digits(q[frame.drafted - 1])}.`;
  return "The text so far. The draft model goes first.";
}

/** The block at this frame: the draft above, the rows of the one pass, what is written below. */
function drawBlock(blocks, frame, width) {
  const { drafted, p, q, r } = blocks[frame.block];
  const step = width / (drafted.length + 1);
  const box = Math.min(150, step - 8);
  const middle = (i) => step * (i + 0.5);
  const chart = picture(width, 236, describe(blocks, frame));
  const ids = addPatterns(chart);
  chart.append(words("draft", 2, 14, "start", "sd-tick"), words("written", 2, 182, "start", "sd-tick"),
    line(0, 112, width, 112, frame.scored ? "sd-base" : "sd-grid", { "stroke-dasharray": frame.scored ? null : "4 4" }));
  const put = (token, i, y) => chart.append(tokenBox(ids, token, middle(i) - box / 2, y, box, 36));
  tokensAt(blocks, frame).forEach((token, i) => {
    if (i === drafted.length) { put(token, acceptedOf(blocks[frame.block]), 190); return; }
    put(token, i, 22);
    if (token.kind === "accepted") put(token, i, 190);
    chart.append(words(`q ${digits(q[i])}`, middle(i), 76));
    if (frame.scored) chart.append(...rowBox(`p ${digits(p[i])}`, i < frame.judged ? `r ${digits(r[i])}` : "", middle(i), step - 3));
  });
  if (frame.scored) chart.append(...rowBox("row K", "", middle(drafted.length), step - 3));
  return chart;
}

/** One row of the pass: the target's number and, once it was tossed, the coin. */
function rowBox(first, second, x, room) {
  const width = Math.min(room, 84);
  return [svg("rect", { x: x - width / 2, y: 90, width, height: 44, rx: 4, style: "fill: var(--sd-paper); stroke: var(--sd-base)" }),
    words(first, x, second ? 108 : 117, "middle", room < 70 ? "" : "sd-strong"), ...(second ? [words(second, x, 126)] : [])];
}

/** The picture in words. */
export function describe(blocks, frame) {
  return `Block ${frame.block + 1} of ${blocks.length}. ${inWords(tokensAt(blocks, frame)) || "Nothing is drafted yet"}.`;
}

/** The text up to this frame; the target's own tokens stand in brackets, the bonus in double ones. */
export function written(blocks, frame) {
  return blocks.slice(0, frame.block + 1).map((block, number) => {
    const accepted = acceptedOf(block);
    const open = number === frame.block && !frame.ended;
    const text = block.drafted.slice(0, open ? Math.min(frame.judged, accepted) : accepted).join("");
    if (open) return text;
    return text + (accepted < block.drafted.length ? `⟦${block.token}⟧` : `⟪${block.token}⟫`);
  }).join("");
}

/** Where the animation stands, and the ways to move it. */
function walk(model) {
  const all = () => frames(model.get("state").blocks);
  const here = () => Math.min(model.get("state").frame, all().length - 1);
  const go = (to) => change(model, { frame: Math.max(0, Math.min(to, all().length - 1)) });
  const blockEnd = () => {
    const later = all().findIndex((frame, i) => i > here() && frame.ended);
    return later < 0 ? all().length - 1 : later;
  };
  return { here, go, blockEnd, frame: () => all()[here()], atEnd: () => here() === all().length - 1 };
}

/** Buttons and keys that step, and the one that plays; `quiet` is told whether it plays. */
function steps(model, at, quiet) {
  const play = player(PACE, () => { at.go(at.here() + 1); return !at.atEnd(); }, () => at.go(at.blockEnd()), () => named());
  const toggle = button("", () => {
    if (play.plays()) { play.stop(); return; }
    if (!play.still() && at.atEnd()) at.go(0);
    play.play();
    named();
  });
  function named() {
    say(toggle, play.plays() ? "Pause" : play.still() ? "Play to the end of the block" : "Play");
    quiet(play.plays());
  }
  named();
  const move = (to) => () => { play.stop(); at.go(to()); };
  const [back, forward, first] = [move(() => at.here() - 1), move(() => at.here() + 1), move(() => 0)];
  const row = buttons(button("First", first), button("Back", back), toggle, button("Forward", forward), button("Next block", move(at.blockEnd)));
  fill(row, { role: "group", "aria-label": "Steps" }, []);
  return { row, end: play.end, keys: { ArrowRight: forward, ArrowLeft: back, Home: first, p: () => toggle.click() } };
}

/** Plain keys, with the functions that they call. */
function listen(root, known) {
  root.addEventListener("keydown", (event) => {
    const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(known, name)) return;
    known[name]();
    event.preventDefault();
  });
}

function stagePanel(model) {
  const at = walk(model);
  const [message, chart, text] = [verdictLine(), chartBox(true), html("pre", { class: "sd-caption sd-text sd-written" })];
  const walking = steps(model, at, (plays) => message.setAttribute("aria-live", plays ? "off" : "polite"));
  const readouts = { target: readout("target passes"), draft: readout("draft calls"), written: readout("tokens written") };
  const root = panel("Draft, score, accept, correct", "Keys, once a button has the focus: → forward, ← back, Home first, P play or pause.",
    html("div", { class: "sd-wide sd-controls" }, walking.row, kindKeys(NAMES), chart, message,
      html("div", { class: "sd-readouts" }, ...Object.values(readouts).map((part) => part.box)), text));
  listen(root, walking.keys);
  function draw({ prompt, blocks }) {
    const frame = at.frame();
    chart.replaceChildren(drawBlock(blocks, frame, chart.clientWidth));
    say(message, caption(blocks, frame));
    say(text, prompt + written(blocks, frame));
    const total = counts(blocks, frame);
    Object.entries(readouts).forEach(([name, part]) => part.set(String(total[name])));
  }
  return { root, draw, end: walking.end };
}

/** Draws the animation into `el`; returns a function that takes it down. */
function render({ model, el }) {
  const part = stagePanel(model);
  return mount(model, el, [part], undefined, part.end);
}

export default { render };
