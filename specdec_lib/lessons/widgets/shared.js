// Helpers that every simulator uses. Python puts this file before the simulator's own file, so that
// what is delivered is one ES module without imports. Colours are CSS variables made from palette.json.

const SVG_NS = "http://www.w3.org/2000/svg";
let madeIds = 0;

/** An id that no other simulator on the page has, even one from another copy of this module. */
function freshId() {
  madeIds += 1;
  return `sd-${Math.random().toString(36).slice(2, 10)}-${madeIds}`;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** An HTML element; attributes that start with "on" are event listeners. */
function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG_NS, tag), attributes, children);
}

/** Two decimals where they are exact, else three: .8 is "0.80" and 2/3 is "0.667". Rounds for display only. */
export function show(x) {
  const hundredths = 100 * x;
  return x.toFixed(Math.abs(hundredths - Math.round(hundredths)) < 1e-9 ? 2 : 3);
}

/** A labelled range input with its number beside it. `name` is read out, `short` is printed. */
function slider({ name, short, role, onMove }) {
  const id = freshId();
  const input = html("input", {
    id, type: "range", min: 0, max: 1, step: 0.01, "data-role": role,
    oninput: () => onMove(Number(input.value)),
  });
  const label = html("label", { for: id }, short, html("span", { class: "sd-unseen" }, ` ${name}`));
  const number = html("output", { for: id, "aria-live": "off" });
  return {
    row: html("div", { class: "sd-slider" }, label, input, number),
    set(value, text = show(value)) {
      if (Number(input.value) !== value) input.value = value;
      input.setAttribute("aria-valuetext", text);
      say(number, text);
    },
  };
}

/** Swatch and words, for the key under a picture. */
function keyItem(role, text) {
  const drawing = svg("svg", { width: 18, height: 14, "aria-hidden": "true" });
  const ids = addPatterns(drawing);
  drawing.append(area(ids, role, 1, 1, 16, 12));
  return html("span", { class: "sd-key" }, drawing, text);
}

/** Adds the hatch of rejected mass and the dots of the residual; returns their ids. */
function addPatterns(drawing) {
  const ids = { excess: freshId(), residual: freshId() };
  const box = (id, size, ...marks) =>
    svg("pattern", { id, width: size, height: size, patternUnits: "userSpaceOnUse" }, ...marks);
  const stripes = "M-1.5,1.5 l3,-3 M0,6 l6,-6 M4.5,7.5 l3,-3";
  drawing.append(svg("defs", {},
    box(ids.excess, 6, svg("path", { d: stripes, class: "sd-stripe" })),
    box(ids.residual, 6, svg("circle", { cx: 1.5, cy: 1.5, r: 1.2, class: "sd-dot" }),
      svg("circle", { cx: 4.5, cy: 4.5, r: 1.2, class: "sd-dot" }))));
  return ids;
}

/** A rectangle in the dress of its role: flat, hatched (excess) or dotted (residual), always outlined. */
function area(ids, role, x, y, width, height) {
  const box = { x, y, width, height: Math.max(0, height) };
  const group = svg("g", { class: `sd-area sd-${role}` }, svg("rect", { ...box, class: "sd-flat" }));
  if (ids[role]) group.append(svg("rect", { ...box, fill: `url(#${ids[role]})` }));
  group.append(svg("rect", { ...box, class: "sd-edge" }));
  return group;
}

/** Text in a drawing; `anchor` is start, middle or end. */
function words(text, x, y, anchor = "middle", style = "") {
  return svg("text", { x, y, "text-anchor": anchor, class: `sd-words ${style}` }, text);
}

/** The level of the target (solid) or of the draft (dashed). */
function mark(role, y, from, to) {
  return svg("line", { x1: from, x2: to, y1: y, y2: y, class: `sd-mark sd-mark-${role}` });
}

/** Grid lines and numbers of a vertical axis from 0 to `top`. `yOf` maps a value to pixels. */
function axis(ticks, yOf, left, right) {
  return svg("g", { class: "sd-axis" }, ...ticks.flatMap((tick) => [
    svg("line", { x1: left, x2: right, y1: yOf(tick), y2: yOf(tick), class: tick === 0 ? "sd-base" : "sd-grid" }),
    words(tick === 0 ? "0" : String(Number(tick.toFixed(2))), left - 8, yOf(tick) + 4, "end", "sd-tick"),
  ]));
}

/** An empty picture of the given size, described in words for who cannot see it. */
function picture(width, height, description) {
  return svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": description });
}

/** Puts `text` into `element`; unchanged text is left alone, so that screen readers do not repeat it. */
function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** A readout: a short name and the number under it; `set` changes the number. */
function readout(name, style = "") {
  const number = html("span", { class: "sd-number" });
  return {
    box: html("div", { class: `sd-readout ${style}` }, html("span", { class: "sd-name" }, name), number),
    set(text) { say(number, text); },
  };
}

/** A push button. */
function button(text, onPress) {
  return html("button", { type: "button", class: "sd-button", onclick: onPress }, text);
}

/** A titled part of a simulator. */
function panel(title, lead, ...children) {
  const id = freshId();
  return html("section", { class: "sd-panel", "aria-labelledby": id },
    html("div", { class: "sd-head" },
      html("div", { class: "sd-title", id, role: "heading", "aria-level": 3 }, title),
      html("p", { class: "sd-lead" }, lead)),
    ...children);
}

/** Keeps plain keys for the focused control: JupyterLab would take the arrows and Enter for its shortcuts (and
 *  a D pressed twice would delete the cell). Ctrl, Cmd, Alt and Shift+Enter stay JupyterLab's, so that Ctrl+S saves.
 *  JupyterLab listens on the document and reads the attribute off the focused element; the window comes first. */
function keepKeys(root) {
  const decide = (event) => {
    if (!root.contains(event.target)) return;
    const theirs = event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key === "Enter");
    event.target.toggleAttribute("data-lm-suppress-shortcuts", !theirs);
  };
  window.addEventListener("keydown", decide, true);
  return () => window.removeEventListener("keydown", decide, true);
}

/** Calls `draw` whenever the state or the width changes; returns the clean-up.
 *  Nothing is drawn while the element has no width, as in a notebook before its first layout. */
function keepDrawn(model, root, draw) {
  let width = 0;
  const redraw = () => { if (width > 0) draw(); };
  const watcher = new ResizeObserver(() => {
    if (root.clientWidth !== width) { width = root.clientWidth; redraw(); }
  });
  model.on("change:state", redraw);
  watcher.observe(root);
  const releaseKeys = keepKeys(root);
  return () => { watcher.disconnect(); model.off("change:state", redraw); releaseKeys(); };
}

/** Writes part of the state back, to this page and, where there is one, to the kernel. */
function change(model, part) {
  model.set("state", { ...model.get("state"), ...part });
  model.save_changes();
}
