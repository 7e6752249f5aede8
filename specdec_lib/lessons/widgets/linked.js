// Chapters 02 to 04: one picture of p and q. Drag their bars, and everything that follows from them moves together.
// State: the view; the distributions (target, draft) and the token touched last; K; what times are computed from: c, s,
// ms of a target pass, and where these come from (source). The paths view has a sample's state as well.

import { html, say, show } from "./parts/elements.js";
import { keyItem, keys } from "./parts/charts.js";
import { button, buttons, chartBox, panel, readout, slider, verdictLine } from "./parts/controls.js";
import { change, mount } from "./parts/stage.js";
import { expectedTokens, sum } from "./parts/formulas.js";
import { bestK, blockTime, overlap, speedup, straight } from "./linked_parts/formulas.js";
import { draggableBars } from "./linked_parts/bars.js";
import { pathsView, residualView } from "./linked_parts/views.js";
import { milliseconds, speedView } from "./linked_parts/speed.js";
import { FRESH, samplePanel } from "./linked_parts/sample.js";

const VIEWS = { residual: residualView, paths: pathsView, speed: speedView };
const TWO_COLUMNS = 760; // pixels

const NUMBERS = [
  ["accepted\nΣ min(p, q)", ({ rate }) => show(rate)],
  ["rejected\n1 − Σ min(p, q)", ({ rate }) => show(1 - rate)],
  ["tokens per block\nof K draft tokens", ({ tokens }) => show(tokens)],
  ["time per token\nin blocks of K", ({ time }) => milliseconds(time)],
];

/** Everything that follows from a state. */
export function computed({ target, draft, k, c, s, most, ms }) {
  const [rate, v] = [sum(overlap(target, draft)), straight(s, most)];
  const tokens = expectedTokens(rate, k);
  return { rate, c, v, tokens, time: (ms * blockTime(c, k, v)) / tokens, speed: speedup(rate, c, k, v), best: bestK(rate, c, v) };
}

/** What the times are computed from, in words. */
function sayTimes({ k, ms, source }, { c, v }) {
  return `A target pass takes ${milliseconds(ms)}, one over K + 1 = ${k + 1} tokens ${milliseconds(ms * v[k])}, ` +
    `a draft step ${milliseconds(ms * c)}. ${source}`;
}

/** The sliders below the numbers, only where a view is about blocks and their time. */
function sliders(model) {
  const { view, most } = model.get("state");
  const moves = (key) => (value) => change(model, { [key]: value });
  const all = {};
  if (view === "speed") {
    all.k = slider({ short: "K", name: "draft tokens in a block", max: most, step: 1, onMove: moves("k") });
    all.c = slider({ short: "c", name: "time of a draft step, in target passes", role: "draft", onMove: moves("c") });
    all.s = slider({ short: "s", name: "cost of each further token of a pass", role: "draft", onMove: moves("s") });
  }
  const set = (state) => Object.entries(all).forEach(([key, each]) => each.set(state[key], key === "k" ? String(state.k) : show(state[key])));
  return { rows: Object.values(all).map((each) => each.row), set };
}

function linkedPanel(model) {
  const name = model.get("state").view;
  const [view, fresh] = [VIEWS[name], name === "paths" ? FRESH : {}];
  const timed = name === "speed";
  const numbers = [...(timed ? NUMBERS : NUMBERS.slice(0, 2)), ...(view.numbers ?? [])].map(([label, of]) => ({ ...readout(label, "sd-large"), of }));
  const [bars, moving, told, times, below] = [draggableBars(model, fresh), sliders(model), verdictLine(), html("p", { class: "sd-lead" }), chartBox()];
  const legend = keys([keyItem("accepted", "overlap, accepted"), keyItem("excess", "draft excess, rejected"), keyItem("residual", "target excess, becomes the residual")]);
  const root = panel(view.title, "Drag a bar of p or q, or press Tab and the arrow keys. The other bars of the same model make room.",
    html("div", {}, legend, bars.root),
    html("div", { class: "sd-controls" }, html("div", { class: "sd-pair" }, ...numbers.map((each) => each.box)), told, html("div", {}, ...moving.rows), ...(timed ? [times] : []),
      buttons(button("Reset", () => change(model, model.get("start"))), button("Make q equal to p", () => change(model, { ...fresh, draft: model.get("state").target })))),
    below);
  root.classList.add("sd-linked");
  function draw(state) {
    root.classList.toggle("sd-two", root.clientWidth > TWO_COLUMNS);
    const now = computed(state);
    bars.draw(state);
    moving.set(state);
    numbers.forEach((each) => each.set(each.of(now)));
    say(told, view.say(state, now));
    say(times, sayTimes(state, now));
    below.replaceChildren(...view.charts(state, below.clientWidth, now));
  }
  return { root, draw };
}

/** Draws the simulator into `el`; returns a function that takes it down. */
function render({ model, el }) {
  const sample = model.get("state").view === "paths" ? [samplePanel(model)] : [];
  return mount(model, el, [linkedPanel(model), ...sample]);
}

export default { render };
