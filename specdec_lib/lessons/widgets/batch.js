// Chapter 06: a batch of rows of coins, in lock-step and ragged, with the same coins in both.
// State: alpha, k, rows, seed of the coins, and how many target passes are shown.

import { html, say } from "./parts/elements.js";
import { addPatterns, area, axisBelow, dashed, key, keyItem, keys, picture, words } from "./parts/charts.js";
import { button, chartBox, controls, pair, panel, player, readout, slider, verdictLine } from "./parts/controls.js";
import { change, mount } from "./parts/stage.js";
import { expectedTokens, sum, uniforms, whole } from "./parts/formulas.js";

const TOKENS = 24; // that every row writes
const TICK = 450; // milliseconds a pass, while it plays

/** Accepted tokens of a block, up to the first coin that is not below alpha. */
export function simulateBlock(alpha, k, r) {
  const first = r.slice(0, k).findIndex((coin) => coin >= alpha);
  return first < 0 ? k : first;
}

/** Expected tokens a step and row in lock-step; with one row, of that row alone. */
export function lockstepTokens(alpha, k, rows) {
  return expectedTokens(alpha ** rows, k);
}

/** wrote[row][pass]: what every row could write in each of `passes` passes, bonus included. */
export function wroteBy(alpha, k, rows, passes, seed) {
  const coins = uniforms(seed, rows * passes * k);
  return Array.from({ length: rows }, (_, row) => Array.from({ length: passes }, (_, pass) => {
    const start = (row * passes + pass) * k;
    return 1 + simulateBlock(alpha, k, coins.slice(start, start + k));
  }));
}

/** Passes until `tokens` are written. */
export function passesFor(wrote, tokens) {
  let written = 0;
  return 1 + wrote.findIndex((count) => (written += count) >= tokens);
}

/** What happens to the same rows in both ways. `lost` counts tokens, `idle` passes of single rows. */
export function compare(wrote, tokens) {
  const slowest = wrote[0].map((_, pass) => Math.min(...wrote.map((row) => row[pass])));
  const steps = passesFor(slowest, tokens);
  const ends = wrote.map((row) => passesFor(row, tokens));
  const last = Math.max(...ends);
  let lost = 0;
  wrote.forEach((row) => row.slice(0, steps).forEach((count, pass) => { lost += count - slowest[pass]; }));
  return { slowest, steps, ends, last, lost, idle: sum(ends.map((end) => last - end)) };
}

// ---- drawing ---------------------------------------------------------------------------------

/** One track a row. Each pass has room for k + 1 tokens; `kept(row, pass)` of them are written. */
function drawTracks({ k, passes, columns }, wrote, ends, kept, width, description) {
  const [left, line, top] = [46, 26, 4];
  const shown = Math.max(...ends);
  const height = top + line * wrote.length + 24;
  const step = Math.min(64, (width - left - 12) / columns);
  const chart = picture(width, height, description);
  const ids = addPatterns(chart);
  const unit = (step - 3) / (k + 1);
  wrote.forEach((row, r) => {
    const y = top + line * r;
    chart.append(words(`row ${r + 1}`, left - 6, y + 16, "end", "sd-tick"));
    for (let pass = 0; pass < Math.min(passes, shown); pass += 1) {
      const [x, mine] = [left + step * pass, kept(r, pass)];
      if (pass >= ends[r]) { chart.append(dashed(x, y, step - 3, line - 6)); continue; }
      chart.append(area(ids, "accepted", x, y, unit * mine, line - 6));
      if (row[pass] > mine) chart.append(area(ids, "excess", x + unit * mine, y, unit * (row[pass] - mine), line - 6));
      if (step >= 20) chart.append(words(String(mine), x + 3, y + 15, "start", "sd-inside"));
    }
  });
  const ticks = whole(0, columns).filter((tick) => tick % (columns > 10 ? 4 : 2) === 0);
  chart.append(axisBelow(ticks, (tick) => left + step * tick - 1, height - 6));
  return chart;
}

/** The state, what it leads to, and the passes that the drawing has room for. */
function viewOf(model) {
  const state = model.get("state");
  const wrote = wroteBy(state.alpha, state.k, state.rows, TOKENS, state.seed);
  const run = compare(wrote, TOKENS);
  const columns = Math.max(run.steps, run.last);
  return { ...state, wrote, run, columns, passes: Math.min(state.passes, columns) };
}

/** Shows one pass after the other. */
function playing(model) {
  const advance = () => {
    const { passes, columns } = viewOf(model);
    if (passes < columns) change(model, { passes: passes + 1 });
    return passes + 1 < columns;
  };
  return player(TICK, advance, () => change(model, { passes: TOKENS }));
}

function sliders(model) {
  const put = (part) => change(model, { passes: TOKENS, ...part });
  const room = ["2.4em", "3em"];
  return {
    alpha: slider({ short: "α", name: "acceptance rate of a coin", room, onMove: (alpha) => put({ alpha }) }),
    k: slider({ short: "K", name: "draft tokens per block", min: 1, max: 16, step: 1, room, onMove: (k) => put({ k }) }),
    rows: slider({ short: "rows", name: "of the batch", min: 1, max: 16, step: 1, room, onMove: (rows) => put({ rows }) }),
    passes: slider({ short: "t", name: "target passes shown", max: TOKENS, step: 1, room, onMove: (passes) => change(model, { passes }) }),
  };
}

function batchPanel(model, play) {
  const { alpha, k, rows, passes } = sliders(model);
  const start = () => { play.play(); if (!play.still()) change(model, { passes: 0 }); };
  const fresh = () => change(model, { passes: TOKENS, seed: (model.get("state").seed + 1) >>> 0 });
  const lock = readout("lock-step, expected\ntokens per pass and row", "sd-large");
  const ragged = readout("ragged, expected\ntokens per pass and row", "sd-large");
  const [verdict, chart] = [verdictLine(), chartBox(true)];
  const root = panel("A batch, with the same coins twice", "A box is one row in one target pass, and has room for K + 1 tokens. The number in it is what the row writes.",
    controls(alpha.row, k.row, rows.row, passes.row, pair(button("Play", start), button("New coins", fresh))),
    controls(pair(lock.box, ragged.box), verdict), chart);
  function draw(view) {
    const { run } = view;
    passes.limit(view.columns);
    alpha.set(view.alpha);
    for (const [each, value] of [[k, view.k], [rows, view.rows], [passes, view.passes]]) each.set(value, String(value));
    lock.set(lockstepTokens(view.alpha, view.k, view.rows).toFixed(2));
    ragged.set(lockstepTokens(view.alpha, view.k, 1).toFixed(2));
    say(verdict, `${TOKENS} tokens in every row. Lock-step: ${run.steps} passes, ${run.lost} accepted tokens thrown away. ` +
      `Ragged: the last row ends after ${run.last} passes, and ${run.idle} of ${run.last * view.rows} row-passes are idle.`);
    chart.replaceChildren(...bothTracks(view, chart.clientWidth));
  }
  return { root, draw };
}

function bothTracks(view, width) {
  const { wrote, run } = view;
  return [
    keys([keyItem("accepted", "written"), keyItem("excess", "accepted, thrown away"), key("idle", () => dashed(1, 1, 16, 12))]),
    html("div", { class: "sd-caption" }, `Lock-step: ${run.steps} passes`),
    drawTracks(view, wrote, wrote.map(() => run.steps), (_, pass) => run.slowest[pass], width,
      `Lock-step: in every row, pass by pass, ${run.slowest.slice(0, run.steps).join(", ")} tokens are written.`),
    html("div", { class: "sd-caption" }, `Ragged: ${run.last} passes`),
    drawTracks(view, wrote, run.ends, (row, pass) => wrote[row][pass], width,
      `Ragged: ${run.ends.map((end, row) => `row ${row + 1} ends after ${end} passes`).join("; ")}.`),
  ];
}

/** Draws the simulator into `el`; returns a function that takes it down. */
function render({ model, el }) {
  const play = playing(model);
  return mount(model, el, [batchPanel(model, play)], () => viewOf(model), play.end);
}

export default { render };
