// Chapter 01: recorded blocks, step by step. p is the target, q the draft, r the coin of a draft token.
// State: the prompt, the blocks (drafted, p, q, r, token) and the frame that is shown.

import { fill, html, say, svg } from "./parts/elements.js";
import { addPatterns, key, keys, line, picture, words } from "./parts/charts.js";
import { button, buttons, chartBox, panel, player, readout, verdictLine } from "./parts/controls.js";
import { change, mount } from "./parts/stage.js";

const PACE = 1100; // milliseconds a frame, while it plays

/** Whether a draft token is accepted: r q < p, as in the library. */
export function isAccepted(p, q, r) {
  return r * q < p;
}

/** How many draft tokens of a block are accepted, from the first. */
export function acceptedOf({ p, q, r }) {
  const first = p.findIndex((_, i) => !isAccepted(p[i], q[i], r[i]));
  return first < 0 ? p.length : first;
}

/** All frames: for each block the drafts one by one, the scoring, the verdicts one by one, the last token. */
export function frames(blocks) {
  const list = [{ block: 0, drafted: 0, scored: false, judged: 0, ended: false }];
  blocks.forEach((block, number) => {
    const size = block.drafted.length;
    const accepted = acceptedOf(block);
    for (let n = 1; n <= size; n += 1) list.push({ block: number, drafted: n, scored: false, judged: 0, ended: false });
    list.push({ block: number, drafted: size, scored: true, judged: 0, ended: false });
    for (let n = 1; n <= Math.min(accepted + 1, size); n += 1) list.push({ block: number, drafted: size, scored: true, judged: n, ended: false });
    list.push({ block: number, drafted: size, scored: true, judged: Math.min(accepted + 1, size), ended: true });
  });
  return list;
}

/** What draft token `i` is at this frame: "", drafted, accepted, rejected or dropped. */
export function kindOf(block, frame, i) {
  if (i >= frame.drafted) return "";
  if (i < frame.judged) return i < acceptedOf(block) ? "accepted" : "rejected";
  return frame.ended ? "dropped" : "drafted";
}

/** Passes of the target, calls of the draft and tokens written, up to and with this frame. */
export function counts(blocks, frame) {
  const total = { target: 0, draft: 0, written: 0 };
  blocks.forEach((block, number) => {
    if (number > frame.block) return;
    const now = number === frame.block;
    total.draft += now ? frame.drafted : block.drafted.length;
    total.target += now ? Number(frame.scored) : 1;
    total.written += !now || frame.ended ? acceptedOf(block) + 1 : Math.min(frame.judged, acceptedOf(block));
  });
  return total;
}

/** A token with its white space made visible. */
export function visible(token) {
  const lead = /^\n +/.exec(token);
  if (lead && lead[0].length > 2) return `⏎␣×${lead[0].length - 1}${token.slice(lead[0].length)}`;
  return token.replaceAll("\n", "⏎").replaceAll(" ", "␣");
}

const digits = (x) => (x < 0.001 ? x.toExponential(0) : x.toFixed(3));

/** What happens at this frame, in a sentence or two. */
export function caption(blocks, frame) {
  const block = blocks[frame.block];
  const [accepted, size] = [acceptedOf(block), block.drafted.length];
  const token = (i) => `“${visible(block.drafted[i])}”`;
  if (frame.ended && accepted === size) return `All ${size} are accepted. The row that is left over gives “${visible(block.token)}”, the bonus token: ${size + 1} tokens from one pass.`;
  if (frame.ended) {
    const rest = size - accepted - 1;
    return `The target's “${visible(block.token)}” takes the place of ${token(accepted)}: the correction. ` +
      `${rest === 0 ? "Nothing is left to drop" : `${rest} draft token${rest === 1 ? " is" : "s are"} dropped unread`}. ` +
      `One pass wrote ${accepted + 1} token${accepted === 0 ? "" : "s"}.`;
  }
  if (frame.judged > 0) {
    const i = frame.judged - 1;
    const ratio = Math.min(1, block.p[i] / block.q[i]);
    const passed = isAccepted(block.p[i], block.q[i], block.r[i]);
    return `${token(i)}: the coin ${digits(block.r[i])} is ${passed ? "below" : "not below"} min(1, p/q) = ${digits(ratio)}: ${passed ? "accepted" : "rejected"}.`;
  }
  if (frame.scored) return `One pass of the target reads the text and all ${size} draft tokens. It gives ${size + 1} rows: one for each draft token, and one for what comes after.`;
  if (frame.drafted > 0) return `Draft call ${frame.drafted} of ${size}: ${token(frame.drafted - 1)}, drawn with q = ${digits(block.q[frame.drafted - 1])}.`;
  return "The text so far. The draft model goes first.";
}

// ---- shapes: each kind has its own outline, hatch and sign --------------------------------------

const SIGNS = { drafted: "", accepted: "✓ ", rejected: "✗ ", dropped: "– ", corrected: "↺ ", bonus: "+ " };
const ROLES = { drafted: "draft", accepted: "accepted", rejected: "excess", dropped: "base", corrected: "residual", bonus: "target" };
const NAMES = Object.keys(SIGNS);

function outline(kind, x, y, width, height, attributes) {
  if (kind === "corrected") {
    const cut = 10;
    const points = [[x, y + height / 2], [x + cut, y], [x + width - cut, y], [x + width, y + height / 2], [x + width - cut, y + height], [x + cut, y + height]];
    return svg("polygon", { points: points.map((point) => point.join(",")).join(" "), ...attributes });
  }
  return svg("rect", { x, y, width, height, rx: kind === "bonus" ? 14 : 2, ...attributes });
}

/** One token in the shape of its kind. */
function tokenBox(ids, kind, token, x, y, width, height) {
  const colour = `var(--sd-${ROLES[kind]})`;
  const group = svg("g", { "data-kind": kind });
  const tint = kind === "accepted" || kind === "bonus" ? `color-mix(in srgb, ${colour} 30%, var(--sd-paper))` : "var(--sd-paper)";
  group.append(outline(kind, x, y, width, height, { style: `fill: ${tint}` }));
  const hatch = ids[ROLES[kind]];
  if (hatch) group.append(outline(kind, x, y, width, height, { fill: `url(#${hatch})` }));
  const dash = kind === "dropped" ? "; stroke-dasharray: 5 4" : "";
  group.append(outline(kind, x, y, width, height, { style: `fill: none; stroke: ${colour}; stroke-width: 2${dash}` }));
  if (kind === "bonus") group.append(outline(kind, x + 4, y + 4, width - 8, height - 8, { style: `fill: none; stroke: ${colour}` }));
  if (kind === "rejected") group.append(svg("path", { d: `M${x},${y} l${width},${height} M${x},${y + height} l${width},${-height}`, style: `stroke: ${colour}; fill: none` }));
  group.append(words(fit(SIGNS[kind] + visible(token), width), x + width / 2, y + height / 2 + 5, "middle", "sd-inside"));
  return group;
}

/** As many characters as there is room for. */
function fit(text, width) {
  const room = Math.max(2, Math.floor((width - 6) / 7.6));
  const letters = [...text];
  return letters.length <= room ? text : `${letters.slice(0, room - 1).join("")}…`;
}

// ---- the picture ---------------------------------------------------------------------------------

/** The block at this frame: the draft above, the gates of the one pass, what is written below. */
function drawBlock(blocks, frame, width) {
  const block = blocks[frame.block];
  const size = block.drafted.length;
  const accepted = acceptedOf(block);
  const step = width / (size + 1);
  const box = Math.min(150, step - 8);
  const xOf = (i) => step * (i + 0.5) - box / 2;
  const chart = picture(width, 236, describe(blocks, frame));
  const ids = addPatterns(chart);
  chart.append(words("draft", 2, 14, "start", "sd-tick"), words("written", 2, 182, "start", "sd-tick"));
  chart.append(line(0, 112, width, 112, frame.scored ? "sd-base" : "sd-grid", { "stroke-dasharray": frame.scored ? null : "4 4" }));
  block.drafted.forEach((token, i) => {
    const kind = kindOf(block, frame, i);
    if (kind) chart.append(tokenBox(ids, kind, token, xOf(i), 22, box, 36));
    if (kind) chart.append(words(`q ${digits(block.q[i])}`, step * (i + 0.5), 76));
    if (frame.scored) chart.append(...gate(`p ${digits(block.p[i])}`, i < frame.judged ? `r ${digits(block.r[i])}` : "", step * (i + 0.5), step - 3));
    if (kind === "accepted") chart.append(tokenBox(ids, kind, token, xOf(i), 190, box, 36));
  });
  if (frame.scored) chart.append(...gate("row K", "", step * (size + 0.5), step - 3));
  if (frame.ended) chart.append(tokenBox(ids, accepted < size ? "corrected" : "bonus", block.token, xOf(accepted), 190, box, 36));
  return chart;
}

/** One gate of the pass: the target's number and, once it was tossed, the coin. */
function gate(first, second, x, room) {
  const width = Math.min(room, 84);
  return [svg("rect", { x: x - width / 2, y: 90, width, height: 44, rx: 4, style: "fill: var(--sd-paper); stroke: var(--sd-base)" }),
    words(first, x, second ? 108 : 117, "middle", room < 70 ? "" : "sd-strong"), ...(second ? [words(second, x, 126)] : [])];
}

/** The picture in words. */
export function describe(blocks, frame) {
  const block = blocks[frame.block];
  const parts = block.drafted.map((token, i) => [visible(token), kindOf(block, frame, i)]).filter(([, kind]) => kind)
    .map(([token, kind]) => `${token} ${kind}`);
  if (frame.ended) parts.push(`${visible(block.token)} ${acceptedOf(block) < block.drafted.length ? "corrected" : "bonus"}`);
  return `Block ${frame.block + 1} of ${blocks.length}. ${parts.length ? `${parts.join(", ")}.` : "Nothing is drafted yet."}`;
}

/** The text up to this frame; the target's own tokens stand in brackets, as `specdec generate --show` has them. */
export function written(blocks, frame) {
  return blocks.slice(0, frame.block + 1).map((block, number) => {
    const now = number === frame.block;
    const accepted = acceptedOf(block);
    const text = block.drafted.slice(0, now ? Math.min(frame.judged, accepted) : accepted).join("");
    if (now && !frame.ended) return text;
    return text + (accepted < block.drafted.length ? `⟦${block.token}⟧` : `⟪${block.token}⟫`);
  }).join("");
}

// ---- the panel -----------------------------------------------------------------------------------

/** Where the animation stands, and the ways to move it. */
function walk(model) {
  const all = () => frames(model.get("state").blocks);
  const here = () => Math.min(model.get("state").frame, all().length - 1);
  const go = (to) => change(model, { frame: Math.max(0, Math.min(to, all().length - 1)) });
  const blockEnd = () => {
    const later = all().slice(here() + 1).findIndex((frame) => frame.ended);
    return later < 0 ? all().length - 1 : here() + 1 + later;
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
  const kinds = NAMES.map((kind) => key(kind, (ids) => tokenBox(ids, kind, "", 1, 1, 28, 18), 30, 20));
  const root = panel("Draft, score, accept, correct", "Keys, once a button has the focus: → forward, ← back, Home first, P play or pause.",
    html("div", { class: "sd-wide sd-controls" }, walking.row, keys(kinds, true), chart, message,
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
