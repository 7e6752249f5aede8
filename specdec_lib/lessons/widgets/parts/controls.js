// Controls and what stands around a picture.

import { freshId, html, say, show } from "./elements.js";

/** Index of the value that is nearest in proportion; all are above 0. */
function nearest(values, value) {
  const far = values.map((other) => Math.abs(Math.log(other / value)));
  return far.indexOf(Math.min(...far));
}

/** A labelled range input with its number beside it, over min to max or through a list of values.
 *  `short` is printed and `name` read out after it; `room` has the widths of the label and of the number. */
export function slider({ short, name = "", role = null, min = 0, max = 1, step = 0.01, values = null, room = null, onMove }) {
  const id = freshId();
  const range = values ? { min: 0, max: values.length - 1, step: 1 } : { min, max, step };
  const read = () => (values ? values[Number(input.value)] : Number(input.value));
  const input = html("input", { id, type: "range", ...range, "data-role": role, oninput: () => onMove(read()) });
  const label = html("label", { for: id }, short, ...(name ? [html("span", { class: "sd-unseen" }, ` ${name}`)] : []));
  const number = html("output", { for: id, "aria-live": "off" });
  const style = room && `grid-template-columns: ${room[0]} minmax(0, 1fr) ${room[1]}`;
  return {
    row: html("div", { class: "sd-slider", style }, label, input, number),
    limit(most) { input.max = most; },
    set(value, text = show(value), spoken = text) {
      const at = values ? nearest(values, value) : value;
      if (Number(input.value) !== at) input.value = at;
      input.setAttribute("aria-valuetext", spoken);
      say(number, text);
    },
  };
}

/** A readout: a short name and the number under it; `set` changes the number. */
export function readout(name, style = "") {
  const number = html("span", { class: "sd-number" });
  return {
    box: html("div", { class: `sd-readout ${style}` }, html("span", { class: "sd-name" }, name), number),
    set(text) { say(number, text); },
  };
}

/** A push button. */
export function button(text, onPress) {
  return html("button", { type: "button", class: "sd-button", onclick: onPress }, text);
}

/** Buttons in a row that wraps. */
export function buttons(...all) {
  return html("div", { class: "sd-buttons" }, ...all);
}

/** A drop-down list with its label; `choices` are [value, text], and the values are strings. */
export function select(label, choices, onPick) {
  const id = freshId();
  const box = html("select", { id, class: "sd-button", onchange: () => onPick(box.value) },
    ...choices.map(([value, text]) => html("option", { value }, text)));
  return { row: html("div", { class: "sd-select" }, html("label", { for: id }, label), box), set(value) { box.value = value; } };
}

/** A sentence that is read out when it changes. */
export function verdictLine() {
  return html("p", { class: "sd-verdict", "aria-live": "polite" });
}

/** Where a picture goes; `wide` takes the whole panel. */
export function chartBox(wide = false) {
  return html("div", { class: wide ? "sd-chart sd-wide" : "sd-chart" });
}

/** Controls one below the other. */
export function controls(...parts) {
  return html("div", { class: "sd-controls" }, ...parts);
}

/** Two parts in a row. */
export function pair(...parts) {
  return html("div", { class: "sd-pair" }, ...parts);
}

/** A titled part of a simulator. */
export function panel(title, lead, ...children) {
  const id = freshId();
  return html("section", { class: "sd-panel", "aria-labelledby": id },
    html("div", { class: "sd-head" },
      html("div", { class: "sd-title", id, role: "heading", "aria-level": 3 }, title),
      html("p", { class: "sd-lead" }, lead)),
    ...children);
}

/** A timer for what plays: `advance` goes one step and says whether there is another one. Where motion is not
 *  wanted `atOnce` takes its place. */
export function player(tick, advance, atOnce) {
  const motion = window.matchMedia("(prefers-reduced-motion: reduce)");
  let timer = null;
  const stop = () => { clearInterval(timer); timer = null; };
  motion.addEventListener("change", stop);
  return {
    stop,
    play() {
      stop();
      if (motion.matches) atOnce(); else timer = setInterval(() => { if (!advance()) stop(); }, tick);
    },
    plays: () => timer !== null,
    still: () => motion.matches,
    end() { stop(); motion.removeEventListener("change", stop); },
  };
}
