// Parts of pictures. Colours are CSS variables made from palette.json; colour is never the only signal.

import { freshId, html, svg } from "./elements.js";

/** An empty picture of the given size, described in words for who cannot see it. */
export function picture(width, height, description) {
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": description });
}

/** A map from values to pixels: `low` stands at `start` and `high` at `end`; `by` is Math.log for powers of ten. */
export function scale(low, high, start, end, by = (x) => x) {
  return (x) => start + ((end - start) * (by(x) - by(low))) / (by(high) - by(low));
}

/** Text in a drawing; `anchor` is start, middle or end. */
export function words(text, x, y, anchor = "middle", style = "") {
  return svg("text", { x, y, "text-anchor": anchor, class: `sd-words ${style}` }, text);
}

/** A straight line of a class of the style sheet. */
export function line(x1, y1, x2, y2, style, more = {}) {
  return svg("line", { x1, x2, y1, y2, class: style, ...more });
}

/** The level of the target (solid) or of the draft (dashed). */
export function mark(role, y, from, to) {
  return line(from, y, to, y, `sd-mark sd-mark-${role}`);
}

/** A line through `points`, each [x, y]. */
export function curve(points, colour = "target", width = 2) {
  return svg("polyline", { points: points.map(String).join(" "), fill: "none", stroke: `var(--sd-${colour})`, "stroke-width": width });
}

/** A filled circle. */
export function dot(x, y, r, colour = "target") {
  return svg("circle", { cx: x, cy: y, r, fill: `var(--sd-${colour})` });
}

/** A square around (x, y). */
export function square(x, y, size, attributes) {
  return svg("rect", { x: x - size, y: y - size, width: 2 * size, height: 2 * size, ...attributes });
}

/** A box with a dashed edge: what does not count, as never judged or idle. */
export function dashed(x, y, width, height) {
  return svg("rect", { x, y, width, height, fill: "none", stroke: "var(--sd-base)", "stroke-dasharray": "3 3" });
}

/** Grid lines and numbers of a vertical axis. `yOf` maps a value to pixels; the line at 0 is the base. */
export function axis(ticks, yOf, left, right, text = (tick) => String(Number(tick.toFixed(2)))) {
  return svg("g", {}, ...ticks.flatMap((tick) => [
    line(left, yOf(tick), right, yOf(tick), tick === 0 ? "sd-base" : "sd-grid"),
    words(text(tick), left - 8, yOf(tick) + 4, "end", "sd-tick"),
  ]));
}

/** Numbers along the bottom; the one at `strong` is bold. */
export function axisBelow(ticks, xOf, y, strong = null) {
  return svg("g", {}, ...ticks.map((tick) => words(String(tick), xOf(tick), y, "middle", tick === strong ? "sd-strong" : "sd-tick")));
}

/** Adds the hatches of a draft, of rejected mass and of the residual; returns their ids by role. */
export function addPatterns(drawing) {
  const ids = { draft: freshId(), excess: freshId(), residual: freshId() };
  const pattern = (role, size, ...marks) =>
    svg("pattern", { id: ids[role], width: size, height: size, patternUnits: "userSpaceOnUse" }, ...marks);
  const [stripes, back] = ["M-1.5,1.5 l3,-3 M0,6 l6,-6 M4.5,7.5 l3,-3", "M-1.75,-1.75 l10.5,10.5 M5.25,-1.75 l3.5,3.5 M-1.75,5.25 l3.5,3.5"];
  drawing.append(svg("defs", {},
    pattern("draft", 7, svg("path", { d: back, class: "sd-back" })),
    pattern("excess", 6, svg("path", { d: stripes, class: "sd-stripe" })),
    pattern("residual", 6, ...[1.5, 4.5].map((at) => svg("circle", { cx: at, cy: at, r: 1.2, class: "sd-dot" })))));
  return ids;
}

/** A rectangle in the dress of its role: flat, hatched (draft, excess) or dotted (residual), always outlined. */
export function area(ids, role, x, y, width, height) {
  const box = { x, y, width, height: Math.max(0, height) };
  const group = svg("g", { class: `sd-area sd-${role}` }, svg("rect", { ...box, class: "sd-flat" }));
  if (ids[role]) group.append(svg("rect", { ...box, fill: `url(#${ids[role]})` }));
  group.append(svg("rect", { ...box, class: "sd-edge" }));
  return group;
}

/** Swatch and words; `draw` gets the ids of the hatches and gives one mark or a list of them. */
export function key(text, draw, width = 18, height = 14) {
  const drawing = svg("svg", { width, height, "aria-hidden": "true" });
  drawing.append(...[draw(addPatterns(drawing))].flat());
  return html("span", { class: "sd-key" }, drawing, text);
}

/** The key of an area in the dress of a role. */
export function keyItem(role, text) {
  return key(text, (ids) => area(ids, role, 1, 1, 16, 12));
}

/** What the marks of a picture mean, above it; `flush` where the picture has no axis at the left. */
export function keys(items, flush = false) {
  return html("div", { class: flush ? "sd-keys sd-flush" : "sd-keys" }, ...items);
}
