// Chapter 00: why checking tokens is cheap where writing them is slow. State: bandwidth (bytes/s), peak_flops
// (FLOP/s), n_params, bytes_per_param, tokens. Every time is the roofline's: the longer of reading and calculating.

import { html, say } from "./parts/elements.js";
import { addPatterns, area, axis, axisBelow, curve, dot, keyItem, keys, line, picture, scale, square, words } from "./parts/charts.js";
import { button, buttons, chartBox, controls, pair, panel, readout, slider, verdictLine } from "./parts/controls.js";
import { change, mount } from "./parts/stage.js";
import { whole } from "./parts/formulas.js";

/** The data sheets of the chapter: bytes/s and FLOP/s in bfloat16. */
export const MACHINES = [["A100", 2.039e12, 312e12], ["H100", 3.35e12, 989.5e12], ["B200", 8e12, 2.25e15], ["TPU v4", 1.2e12, 275e12]];
const BYTES = [0.5, 1, 2, 4];
const TOKENS = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512];
const powers = (from, to) => whole(20 * from, 20 * to).map((twentieth) => 10 ** (twentieth / 20));

/** FLOP per byte of a pass over n tokens. */
export function intensity(n, bytes) {
  return 2 * n / bytes;
}

/** Seconds that memory and arithmetic are busy in a pass over n tokens. */
export function busy(n, s) {
  return { read: s.n_params * s.bytes_per_param / s.bandwidth, calculate: 2 * n * s.n_params / s.peak_flops };
}

/** Seconds of a pass over n tokens. */
export function passTime(n, s) {
  const { read, calculate } = busy(n, s);
  return Math.max(read, calculate);
}

/** The most tokens whose pass takes no longer than one token's. */
export function freeTokens(s) {
  return Math.max(1, Math.floor(s.bytes_per_param * s.peak_flops / (2 * s.bandwidth)));
}

/** FLOP/s that a pass of this intensity can reach. */
export function reach(flopPerByte, s) {
  return Math.min(s.peak_flops, flopPerByte * s.bandwidth);
}

/** Three significant digits with a prefix: 3.35e12 is "3.35 T". */
export function prefixed(x) {
  const names = ["", "k", "M", "G", "T", "P", "E"];
  const step = Math.max(0, Math.min(names.length - 1, Math.floor(Math.log10(x) / 3 + 1e-9)));
  return `${Number((x / 1000 ** step).toPrecision(3))} ${names[step]}`;
}

/** Seconds with three significant digits, in s, ms or µs. */
export function duration(seconds) {
  const [scale, unit] = seconds >= 1 ? [1, "s"] : seconds >= 1e-3 ? [1e3, "ms"] : [1e6, "µs"];
  return `${Number((seconds * scale).toPrecision(3))} ${unit}`;
}

const counted = (x) => (x >= 1e9 ? `${Number((x / 1e9).toPrecision(3))} billion` : `${Number((x / 1e6).toPrecision(3))} million`);
const percent = (share) => (share < 0.001 ? "less than 0.1%" : `${Number((100 * share).toPrecision(2))}%`);
const tokens = (n) => (n === 1 ? "1 token" : `${n} tokens`);
const passes = (n) => (n === 1 ? "1 pass" : `${n} passes`);

/** What the sliders mean, in words. */
export function verdict(s) {
  const n = s.tokens;
  const [one, all, free] = [passTime(1, s), passTime(n, s), freeTokens(s)];
  const { read, calculate } = busy(n, s);
  if (all <= one * (1 + 1e-9)) {
    if (read < calculate) return "Even one token is compute-bound here: only that one is free.";
    return `Free: checking ${tokens(n)} takes as long as writing one, and so does any number up to ${free}. ` +
      `Memory sets the pace, and the arithmetic is busy ${percent(calculate / read)} of the time.`;
  }
  return `Not free: checking ${tokens(n)} takes ${Number((all / one).toPrecision(3))} times as long as writing one, as only ` +
    `${free} would be free. The arithmetic sets the pace, and memory is busy ${percent(read / calculate)} of the time.`;
}

// ---- when memory and arithmetic are busy ----------------------------------------------------------

/** One lane: `count` passes, in each of them busy for `share` of the pass's width. */
function lane(ids, role, share, count, x, y, wide, height) {
  if (wide < 4) return [area(ids, role, x, y + height * (1 - share), count * wide, height * share)];
  return Array.from({ length: count }, (_, i) => area(ids, role, x + i * wide, y, share * wide, height));
}

/** A heading and two lanes: `count` passes over `n` tokens each. */
function passRow(chart, ids, s, count, n, heading, y, scale, left) {
  const { read, calculate } = busy(n, s);
  const time = passTime(n, s);
  const wide = time * scale;
  const parts = [["target", read / time, "memory"], ["residual", calculate / time, "arithmetic"]];
  chart.append(words(heading, left, y + 14, "start", "sd-strong"));
  parts.forEach(([role, share, name], i) => {
    const top = y + 24 + 26 * i;
    chart.append(words(name, left - 8, top + 15, "end", "sd-tick"), ...lane(ids, role, share, count, left, top, wide, 20));
    chart.append(line(left, top + 20, left + Math.max(2, count * wide), top + 20, "sd-base"));
  });
}

function drawLanes(s, width) {
  const [height, left, right] = [178, 78, 10];
  const n = s.tokens;
  const [written, checked] = [n * passTime(1, s), passTime(n, s)];
  const scale = (width - left - right) / Math.max(written, checked);
  const chart = picture(width, height, `Time lines. Writing ${tokens(n)} takes ${passes(n)} and ${duration(written)}; ` +
    `checking them takes 1 pass and ${duration(checked)}. ${verdict(s)}`);
  const ids = addPatterns(chart);
  passRow(chart, ids, s, n, 1, `write ${n}: ${passes(n)}, ${duration(written)}`, 0, scale, left);
  passRow(chart, ids, s, 1, n, `check ${n}: 1 pass, ${duration(checked)}`, 98, scale, left);
  return chart;
}

// ---- the roofline -----------------------------------------------------------------------------------

const [LEAST, MOST] = [0.25, 4096]; // FLOP per byte
const decades = (low, high) => whole(Math.ceil(Math.log10(low)), Math.floor(Math.log10(high))).map((power) => 10 ** power);

function drawRoofline(s, width) {
  const [height, left, right, top, bottom] = [270, 64, 16, 16, 44];
  const high = 2 * reach(MOST, s);
  const low = Math.min(reach(LEAST, s) / 3, high / 1000);
  const xOf = scale(LEAST, MOST, left, width - right, Math.log);
  const yOf = scale(low, high, height - bottom, top, Math.log);
  const ridge = s.peak_flops / s.bandwidth;
  const points = [[1, "write"], [s.tokens, "check"]].map(([n, name]) => [intensity(n, s.bytes_per_param), name]);
  const chart = picture(width, height, `Roofline. It rises with ${prefixed(s.bandwidth)}B/s up to ${Number(ridge.toPrecision(3))} FLOP per byte and is ` +
    `flat at ${prefixed(s.peak_flops)}FLOP/s from there. ` + points.map(([x, name]) =>
    `${name}: ${Number(x.toPrecision(3))} FLOP per byte, ${prefixed(reach(x, s))}FLOP/s`).join("; ") + ".");
  chart.append(axis(decades(low, high), yOf, left, width - right, (y) => prefixed(y).trim()),
    axisBelow([1, 10, 100, 1000], xOf, height - bottom + 18), line(left, height - bottom, width - right, height - bottom, "sd-base"),
    words("FLOP per byte", (left + width - right) / 2, height - 8), words("FLOP/s", left - 8, height - bottom + 18, "end", "sd-tick"));
  drawRoof(chart, s, ridge, xOf, yOf, height - bottom);
  drawPoints(chart, s, points, xOf, yOf);
  return chart;
}

/** The two parts of the roof, and a dashed line where they meet. */
function drawRoof(chart, s, ridge, xOf, yOf, floor) {
  const corner = Math.min(MOST, Math.max(LEAST, ridge));
  if (corner === ridge) {
    chart.append(line(xOf(ridge), yOf(reach(ridge, s)), xOf(ridge), floor, "sd-level"));
    if (xOf(ridge) - xOf(LEAST) > 110) chart.append(words("memory-bound", xOf(ridge) - 8, floor - 8, "end", "sd-tick"));
    if (xOf(MOST) - xOf(ridge) > 110) chart.append(words("compute-bound", xOf(ridge) + 8, floor - 8, "start", "sd-tick"));
  }
  chart.append(curve([LEAST, corner, MOST].map((x) => [xOf(x), yOf(reach(x, s))]), "ink", 2.5));
}

/** A circle for writing, a square for checking, each with its name. */
function drawPoints(chart, s, points, xOf, yOf) {
  const [[writeX], [checkX]] = points;
  const [x1, y1] = [xOf(writeX), yOf(reach(writeX, s))];
  const [x2, y2] = [xOf(checkX), yOf(reach(checkX, s))];
  chart.append(square(x2, y2, 8, { fill: "var(--sd-paper)", stroke: "var(--sd-residual)", "stroke-width": 3 }), dot(x1, y1, 5));
  const near = x2 - x1 < 60;
  chart.append(words(near ? "write, check" : "write", x1 + 10, y1 + 22, "start", "sd-strong"));
  if (!near) chart.append(words("check", x2, y2 + 26, "middle", "sd-inside"));
}

// ---- the two panels -----------------------------------------------------------------------------------

function timePanel(model) {
  const dial = (short, key, values) => slider({ short, values, room: ["7.4em", "7.2em"], onMove: (value) => change(model, { [key]: value }) });
  const dials = [
    ["bandwidth", dial("bandwidth", "bandwidth", powers(9, 14)), (x) => `${prefixed(x)}B/s`],
    ["peak_flops", dial("arithmetic", "peak_flops", powers(9, 16)), (x) => `${prefixed(x)}FLOP/s`],
    ["bytes_per_param", dial("bytes/weight", "bytes_per_param", BYTES), String],
    ["tokens", dial("tokens", "tokens", TOKENS), String],
  ];
  const readouts = {
    written: readout("write them\none by one", "sd-large"), checked: readout("check them\nin one pass", "sd-large"),
    free: readout("free tokens"), ratio: readout("writing ÷ checking"),
  };
  const text = verdictLine();
  const presets = MACHINES.map(([name, bandwidth, peak_flops]) => button(name, () => change(model, { bandwidth, peak_flops })));
  const reset = button("Back to the start", () => change(model, model.get("start")));
  const lead = html("span");
  const chart = chartBox();
  const root = panel("Writing and checking", lead,
    controls(...dials.map(([, each]) => each.row), buttons(...presets, reset)),
    controls(
      pair(readouts.written.box, readouts.checked.box, readouts.free.box, readouts.ratio.box), text),
    html("div", { class: "sd-wide" },
      keys([keyItem("target", "memory: reading the weights"), keyItem("residual", "arithmetic: calculating")], true), chart));
  function draw(s) {
    dials.forEach(([key, each, text]) => each.set(s[key], text(s[key])));
    const [written, checked] = [s.tokens * passTime(1, s), passTime(s.tokens, s)];
    say(lead, `A model of ${counted(s.n_params)} parameters. Each bar is the time that one part is busy in a pass; where it ends early, the part waits.`);
    readouts.written.set(duration(written));
    readouts.checked.set(duration(checked));
    readouts.free.set(String(freeTokens(s)));
    readouts.ratio.set(`${Number((written / checked).toPrecision(3))}`);
    say(text, verdict(s));
    chart.replaceChildren(drawLanes(s, chart.clientWidth));
  }
  return { root, draw };
}

function rooflinePanel() {
  const chart = chartBox(true);
  const root = panel("The roofline", "The speed that a pass can reach, by FLOP per byte read. The circle is a pass " +
    "that writes one token, the square the pass that checks all of them.", chart);
  return { root, draw: (s) => chart.replaceChildren(drawRoofline(s, chart.clientWidth)) };
}

/** Draws the simulator into `el`; returns a function that takes it down. */
function render({ model, el }) {
  return mount(model, el, [timePanel(model), rooflinePanel()]);
}

export default { render };
