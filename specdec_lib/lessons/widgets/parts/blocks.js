// Recorded blocks: what became of every draft token, and the boxes that the pictures of chapters 06 and 08 draw.
// A block is { drafted, p, q, r, token }: texts of draft tokens, their probabilities by target and draft, the coins of
// those that were judged, and the target's own token. Where no coins were kept, `accepted` counts.

import { svg } from "./elements.js";
import { addPatterns, key, keys, picture, words } from "./charts.js";

/** Whether a draft token is accepted: r q < p, as in the library. */
export function isAccepted(p, q, r) {
  return r * q < p;
}

/** How many draft tokens of a block are accepted, from the first. */
export function acceptedOf({ p, q, r, accepted }) {
  if (!r) return accepted;
  const first = r.findIndex((coin, i) => !isAccepted(p[i], q[i], coin));
  return first < 0 ? r.length : first;
}

/** The tokens of a block by their fate: the draft's, [{ kind, text, p, q }], and last the target's own. */
export function fates(block) {
  const passed = acceptedOf(block);
  const kind = (i) => (i < passed ? "accepted" : i === passed ? "rejected" : "dropped");
  const drafted = block.drafted.map((text, i) => ({ kind: kind(i), text, p: block.p[i], q: block.q[i] }));
  return [...drafted, { kind: passed < drafted.length ? "corrected" : "bonus", text: block.token }];
}

/** A token with its white space to be seen: "\n    x" is "↵·4x". */
export function visible(token) {
  return token.replace(/ {2,}/g, (run) => `·${run.length}`).replaceAll(" ", "·").replaceAll("\n", "↵").replaceAll("\t", "⇥");
}

/** Tokens with their kinds, in words. */
export function inWords(tokens) {
  return tokens.map(({ kind, text }) => `${visible(text)} ${kind}`).join(", ");
}

// ---- boxes: each kind has its own outline, hatch and sign ------------------------------------------------------

const KIND_SIGNS = { drafted: "", accepted: "✓ ", rejected: "✗ ", dropped: "– ", corrected: "↺ ", bonus: "+ " };
const KIND_ROLES = { drafted: "draft", accepted: "accepted", rejected: "excess", dropped: "base", corrected: "residual", bonus: "target" };
const CHARACTER = 7.83; // pixels, in 13 px monospace
const [BOX, GAP] = [24, 7]; // pixels, of a box in a text and below it

function outline(kind, x, y, width, height, attributes) {
  if (kind !== "corrected") return svg("rect", { x, y, width, height, rx: kind === "bonus" ? 0.4 * height : 2, ...attributes });
  const [cut, middle, right, low] = [8, y + height / 2, x + width, y + height];
  const points = [[x, middle], [x + cut, y], [right - cut, y], [right, middle], [right - cut, low], [x + cut, low]];
  return svg("polygon", { points: points.map(String).join(" "), ...attributes });
}

/** One token in the shape of its kind, cut where there is no room for all of it. */
export function tokenBox(ids, { kind, text }, x, y, width, height) {
  const [colour, hatch] = [`var(--sd-${KIND_ROLES[kind]})`, ids[KIND_ROLES[kind]]];
  const tint = kind === "accepted" || kind === "bonus" ? `color-mix(in srgb, ${colour} 30%, var(--sd-paper))` : "var(--sd-paper)";
  const group = svg("g", { "data-kind": kind }, outline(kind, x, y, width, height, { style: `fill: ${tint}` }));
  if (hatch) group.append(outline(kind, x, y, width, height, { fill: `url(#${hatch})` }));
  const dash = kind === "dropped" ? "; stroke-dasharray: 5 4" : "";
  group.append(outline(kind, x, y, width, height, { style: `fill: none; stroke: ${colour}; stroke-width: 2${dash}` }));
  if (kind === "bonus") group.append(outline(kind, x + 3, y + 3, width - 6, height - 6, { style: `fill: none; stroke: ${colour}` }));
  if (kind === "rejected") group.append(svg("path", { d: `M${x},${y} l${width},${height} M${x},${y + height} l${width},${-height}`, style: `stroke: ${colour}; fill: none` }));
  const letters = [...KIND_SIGNS[kind], ...visible(text)];
  const room = Math.max(1, Math.floor((width - 8) / CHARACTER));
  const shown = letters.length <= room || !text ? letters.join("").trim() : `${letters.slice(0, room - 1).join("")}…`;
  if (hatch && shown) {
    const wide = CHARACTER * shown.length + 6; // what keeps a text legible on its hatch
    group.append(svg("rect", { x: x + (width - wide) / 2, y: y + height / 2 - 8, width: wide, height: 16, style: "fill: var(--sd-paper)" }));
  }
  group.append(words(shown, x + width / 2, y + height / 2 + 5, "middle", "sd-strong sd-mono"));
  return group;
}

/** Rows of tokens as text that wraps, each row on a line of its own after its name. `chosen` is framed in the first
 *  row, and `pick` is told which of its tokens is pointed at. */
export function drawTokens(rows, width, description, { names = [], chosen = null, pick = null } = {}) {
  const [group, left] = [svg("g"), names.length ? 26 : 4];
  const ids = addPatterns(group);
  let y = 5;
  rows.forEach((row, n) => {
    let x = left;
    if (names[n]) group.append(words(names[n], left - 8, y + 17, "end", "sd-tick"));
    row.forEach((token, i) => {
      const size = token.text ? CHARACTER * (KIND_SIGNS[token.kind].length + visible(token.text).length) + 22 : 16;
      if (x + size > width - 4 && x > left) [x, y] = [left, y + BOX + GAP];
      const box = tokenBox(ids, token, x, y, Math.min(size, width - 4 - left), BOX);
      if (pick) ["mouseenter", "click"].forEach((event) => box.addEventListener(event, () => pick(i)));
      if (i === chosen) box.append(svg("rect", { x: x - 3, y: y - 3, width: size + 6, height: BOX + 6, class: "sd-chosen" }));
      group.append(box);
      x += size + 5;
    });
    y += BOX + GAP;
  });
  const chart = picture(width, y, description);
  chart.append(group);
  return chart;
}

/** What the boxes mean; `names` has the words of each kind. */
export function kindKeys(names) {
  return keys(Object.entries(names).map(([kind, name]) => key(name, (ids) => tokenBox(ids, { kind, text: "" }, 1, 1, 32, 20), 34, 22)), true);
}
