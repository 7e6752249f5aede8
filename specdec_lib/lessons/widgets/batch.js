// Chapter 06: a batch of rows of coins, in lock-step and ragged, with the same coins in both.
// State: alpha, k, rows, seed of the coins, and how many target passes are shown.

const TOKENS = 24; // that every row writes
const TICK = 450; // milliseconds a pass, while it plays

/** Uniform numbers in [0, 1) from a seed: the generator mulberry32. */
export function uniforms(seed, count) {
  let a = seed >>> 0;
  return Array.from({ length: count }, () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  });
}

/** Accepted tokens of a block, up to the first coin that is not below alpha. */
export function simulateBlock(alpha, k, r) {
  const first = r.slice(0, k).findIndex((coin) => coin >= alpha);
  return first < 0 ? k : first;
}

/** Expected tokens a step and row in lock-step; with one row, of that row alone. */
export function lockstepTokens(alpha, k, rows) {
  let [sum, term] = [0, 1];
  for (let i = 0; i <= k; i += 1) { sum += term; term *= alpha ** rows; }
  return sum;
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
  let sum = 0;
  return 1 + wrote.findIndex((count) => (sum += count) >= tokens);
}

/** What happens to the same rows in both ways. `lost` counts tokens, `idle` passes of single rows. */
export function compare(wrote, tokens) {
  const slowest = wrote[0].map((_, pass) => Math.min(...wrote.map((row) => row[pass])));
  const steps = passesFor(slowest, tokens);
  const ends = wrote.map((row) => passesFor(row, tokens));
  const last = Math.max(...ends);
  let lost = 0;
  wrote.forEach((row) => row.slice(0, steps).forEach((count, pass) => { lost += count - slowest[pass]; }));
  return { slowest, steps, ends, last, lost, idle: ends.reduce((sum, end) => sum + last - end, 0) };
}

// ---- drawing ---------------------------------------------------------------------------------

/** A box with a dashed edge: a row that sits idle. */
function dashed(x, y, width, height) {
  const look = { fill: "none", stroke: "var(--sd-base)", "stroke-dasharray": "3 3" };
  return svg("rect", { x, y, width, height, ...look });
}

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
  const ticks = Array.from({ length: columns + 1 }, (_, tick) => tick).filter((tick) => tick % (columns > 10 ? 4 : 2) === 0);
  ticks.forEach((tick) => chart.append(words(String(tick), left + step * tick - 1, height - 6, "middle", "sd-tick")));
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

/** Swatch and words for a dashed box. */
function idleKey() {
  const drawing = svg("svg", { width: 18, height: 14, "aria-hidden": "true" });
  drawing.append(dashed(1, 1, 16, 12));
  return html("span", { class: "sd-key" }, drawing, "idle");
}

/** A slider over whole numbers. */
function wholeSlider(short, name, least, most, onMove) {
  const one = slider({ short, name, role: "plain", onMove });
  Object.entries({ min: least, max: most, step: 1 }).forEach(([key, value]) => one.row.querySelector("input").setAttribute(key, value));
  return one;
}

function controls(model, play) {
  const put = (part) => change(model, { passes: TOKENS, ...part });
  const sliders = {
    alpha: slider({ short: "α", name: "acceptance rate of a coin", role: "plain", onMove: (alpha) => put({ alpha }) }),
    k: wholeSlider("K", "draft tokens a block", 1, 16, (k) => put({ k })),
    rows: wholeSlider("B", "rows of the batch", 1, 16, (rows) => put({ rows })),
    passes: wholeSlider("t", "target passes shown", 0, TOKENS, (passes) => change(model, { passes })),
  };
  const fresh = () => put({ seed: (model.get("state").seed + 1) >>> 0 });
  const buttons = html("div", { class: "sd-pair" }, play.button, button("New coins", fresh));
  return { sliders, buttons };
}

/** A button that shows one pass after the other; at once where motion is not wanted. */
function playing(model) {
  let timer = null;
  const stop = () => { clearInterval(timer); timer = null; };
  const advance = () => {
    const { passes, columns } = viewOf(model);
    if (passes >= columns) stop(); else change(model, { passes: passes + 1 });
  };
  const start = () => {
    stop();
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) { change(model, { passes: TOKENS }); return; }
    change(model, { passes: 0 });
    timer = setInterval(advance, TICK);
  };
  return { button: button("Play", start), stop };
}

/** Draws the simulator into `el`; returns a function that takes it down. */
function render({ model, el }) {
  const play = playing(model);
  const { sliders, buttons } = controls(model, play);
  const expected = { lock: readout("lock-step, expected\ntokens a pass and row", "sd-large"), ragged: readout("ragged, expected\ntokens a pass and row", "sd-large") };
  const verdict = html("p", { class: "sd-verdict", "aria-live": "polite" });
  const chart = html("div", { class: "sd-chart" });
  const part = panel("A batch, with the same coins twice", "A box is one row in one target pass, and has room for K + 1 tokens. The number in it is what the row writes.",
    html("div", { class: "sd-controls" }, ...Object.values(sliders).map((each) => each.row), buttons),
    html("div", { class: "sd-controls" }, html("div", { class: "sd-pair" }, expected.lock.box, expected.ragged.box), verdict));
  chart.style.gridColumn = "1 / -1";
  part.append(chart);
  const root = html("div", { class: "sd-sim" }, part);
  el.append(root);
  const draw = () => {
    const view = viewOf(model);
    const { alpha, k, rows, passes, columns, wrote, run } = view;
    sliders.passes.row.querySelector("input").max = columns;
    sliders.alpha.set(alpha);
    sliders.k.set(k, String(k));
    sliders.rows.set(rows, String(rows));
    sliders.passes.set(passes, String(passes));
    expected.lock.set(lockstepTokens(alpha, k, rows).toFixed(2));
    expected.ragged.set(lockstepTokens(alpha, k, 1).toFixed(2));
    say(verdict, `${TOKENS} tokens in every row. Lock-step: ${run.steps} passes, ${run.lost} accepted tokens thrown away. ` +
      `Ragged: the last row ends after ${run.last} passes, and ${run.idle} of ${run.last * rows} row-passes are idle.`);
    chart.replaceChildren(
      html("div", { class: "sd-keys" }, keyItem("accepted", "written"), keyItem("excess", "accepted, thrown away"), idleKey()),
      html("div", { class: "sd-caption" }, `Lock-step: ${run.steps} passes`),
      drawTracks(view, wrote, wrote.map(() => run.steps), (_, pass) => run.slowest[pass], chart.clientWidth,
        `Lock-step: in every row, pass by pass, ${run.slowest.slice(0, run.steps).join(", ")} tokens are written.`),
      html("div", { class: "sd-caption" }, `Ragged: ${run.last} passes`),
      drawTracks(view, wrote, run.ends, (row, pass) => wrote[row][pass], chart.clientWidth,
        `Ragged: ${run.ends.map((end, row) => `row ${row + 1} ends after ${end} passes`).join("; ")}.`));
  };
  const takeDown = keepDrawn(model, root, draw);
  return () => { play.stop(); takeDown(); };
}

export default { render };
