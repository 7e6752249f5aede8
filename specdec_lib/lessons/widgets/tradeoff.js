// Chapter 04: how fast a block of K draft tokens is, for any alpha, c and price of a longer pass.
// Times are in target passes over one token. State: alpha, c, k, s with v(m) = 1 + s (m - 1).

const K_MAX = 20;

/** Tokens that a block of k draft tokens writes on average: 1 + alpha + ... + alpha^k. */
export function expectedTokens(alpha, k) {
  let [tokens, power] = [1, 1];
  for (let i = 0; i < k; i += 1) tokens += (power *= alpha);
  return tokens;
}

/** Time of a block: k draft steps and one pass over k + 1 tokens. */
export function blockTime(c, k, s) {
  return c * k + 1 + s * k;
}

/** Times as fast as plain decoding. */
export function speedup(alpha, c, k, s) {
  return expectedTokens(alpha, k) / blockTime(c, k, s);
}

/** The smallest best K from 0 to kMax; speed-ups within 1e-12 of the best are equal to it. */
export function bestK(alpha, c, s, kMax = K_MAX) {
  const speeds = Array.from({ length: kMax + 1 }, (_, k) => speedup(alpha, c, k, s));
  const most = Math.max(...speeds);
  return speeds.findIndex((speed) => speed >= most - 1e-12);
}

/** What the setting amounts to, in words. */
export function verdict({ alpha, c, k, s }) {
  const best = bestK(alpha, c, s);
  const here = speedup(alpha, c, k, s);
  const price = c + s;
  if (best === 0) {
    return `A draft token costs ${show(price)} and the first one brings ${show(alpha)}, not more: no K pays. Plain decoding, K = 0, is best.`;
  }
  if (best === K_MAX) return `The best K shown is the last one, ${K_MAX}. With c = 0 and s = 0 there is no best K at all: every further token helps a little.`;
  if (k === best) return `This is the best K. One token more would bring ${show(alpha ** (k + 1))} for ${show(price)}.`;
  const way = k < best ? "Too few: a further token would bring more for its time than the block does." : "Too many: the last tokens are seldom reached, and each is paid for.";
  const lost = here < 1 ? " It is slower than plain decoding." : "";
  return `${way} K = ${best} gives ${show(speedup(alpha, c, best, s))}.${lost}`;
}

// ---- the picture -------------------------------------------------------------------------------

/** A round step for a vertical axis that reaches `top`: some four to eight lines. */
function axisStep(top) {
  return [0.25, 0.5, 1, 2, 5].find((step) => top / step <= 8) ?? 5;
}

function drawCurve(state, width) {
  const { alpha, c, k, s } = state;
  const [height, left, right, top, bottom] = [330, 40, 18, 26, 46];
  const speeds = Array.from({ length: K_MAX + 1 }, (_, i) => speedup(alpha, c, i, s));
  const best = bestK(alpha, c, s);
  const step = axisStep(Math.max(1.5, ...speeds));
  const full = step * Math.ceil((1.08 * Math.max(1.4, ...speeds)) / step);
  const xOf = (i) => left + 14 + (i / K_MAX) * (width - left - right - 28);
  const yOf = (value) => height - bottom - (value / full) * (height - top - bottom);
  const chart = picture(width, height, `Speed-up over K from 0 to ${K_MAX}. K = ${k}: ${show(speeds[k])}. ` +
    `Best: K = ${best} with ${show(speeds[best])}. K = ${K_MAX}: ${show(speeds[K_MAX])}. Plain decoding is 1.`);
  const ticks = Array.from({ length: Math.round(full / step) + 1 }, (_, i) => i * step);
  chart.append(axis(ticks, yOf, left, width - right));
  for (let i = 0; i <= K_MAX; i += 5) chart.append(words(String(i), xOf(i), height - bottom + 18, "middle", "sd-tick"));
  chart.append(words("K, draft tokens in a block", (left + width - right) / 2, height - 8, "middle", "sd-tick"),
    words("times as fast", left - 32, 14, "start", "sd-tick"));
  chart.append(svg("line", { x1: left, x2: width - right, y1: yOf(1), y2: yOf(1), stroke: "var(--sd-ink)", "stroke-dasharray": "6 4" }),
    words("plain decoding", width - right, yOf(1) + (yOf(0) - yOf(1) < 24 ? -6 : 16), "end", "sd-tick"));
  const points = speeds.map((speed, i) => `${xOf(i)},${yOf(speed)}`).join(" ");
  chart.append(svg("polyline", { points, fill: "none", stroke: "var(--sd-target)", "stroke-width": 2 }));
  speeds.forEach((speed, i) => chart.append(svg("circle", { cx: xOf(i), cy: yOf(speed), r: 3, fill: "var(--sd-target)" })));
  chart.append(...marked(best, k, speeds, xOf, yOf));
  return chart;
}

/** The ring of the best K and the square of the chosen one, with their numbers. */
function marked(best, k, speeds, xOf, yOf) {
  const ring = svg("circle", { cx: xOf(best), cy: yOf(speeds[best]), r: 9, fill: "none", stroke: "var(--sd-ink)", "stroke-width": 2 });
  const square = svg("rect", { x: xOf(k) - 6, y: yOf(speeds[k]) - 6, width: 12, height: 12, fill: "var(--sd-excess)", stroke: "var(--sd-paper)" });
  const anchor = (i) => (i < 2 ? "start" : i > K_MAX - 3 ? "end" : "middle");
  const labels = [words(`best ${show(speeds[best])}`, xOf(best), yOf(speeds[best]) - 15, anchor(best), "sd-inside")];
  if (k !== best) labels.push(words(show(speeds[k]), xOf(k), yOf(speeds[k]) + 24, anchor(k), "sd-inside"));
  return [square, ring, ...labels];
}

// ---- the panel ---------------------------------------------------------------------------------

/** A slider for one part of the state; `range` changes what it counts in. */
function control(model, key, short, name, role, range = {}) {
  const made = slider({ short, name, role, onMove: (value) => change(model, { [key]: value }) });
  Object.assign(made.row.querySelector("input"), range);
  return made;
}

function explorerPanel(model) {
  const sliders = {
    alpha: control(model, "alpha", "α", "acceptance rate alpha", "target"),
    c: control(model, "c", "c", "time of a draft step", "draft"),
    s: control(model, "s", "s", "cost of each further token of a pass", "draft"),
    k: control(model, "k", "K", "draft tokens in a block", "target", { max: K_MAX, step: 1 }),
  };
  const tokens = readout("tokens a block");
  const time = readout("time of a block,\nin target passes");
  const speed = readout("speed-up", "sd-large");
  const best = readout("best K", "sd-large");
  const told = html("p", { class: "sd-verdict", "aria-live": "polite" });
  const reset = button("Reset", () => change(model, model.get("reset")));
  const chart = html("div", { class: "sd-chart" });
  const root = panel("Fast or accurate, and how many", "α: share of draft tokens accepted. c: a draft step. s: each further token of a target pass. K: draft tokens.",
    html("div", { class: "sd-controls" }, ...Object.values(sliders).map((each) => each.row),
      html("div", { class: "sd-pair" }, tokens.box, time.box), html("div", { class: "sd-pair" }, speed.box, best.box), told, reset), chart);
  function draw() {
    const state = model.get("state");
    for (const key of ["alpha", "c", "s"]) sliders[key].set(state[key]);
    sliders.k.set(state.k, String(state.k));
    tokens.set(show(expectedTokens(state.alpha, state.k)));
    time.set(show(blockTime(state.c, state.k, state.s)));
    speed.set(show(speedup(state.alpha, state.c, state.k, state.s)));
    best.set(String(bestK(state.alpha, state.c, state.s)));
    say(told, verdict(state));
    chart.replaceChildren(drawCurve(state, chart.clientWidth));
  }
  return { root, draw };
}

/** Draws the simulator into `el`; returns a function that takes it down. */
function render({ model, el }) {
  const part = explorerPanel(model);
  const root = html("div", { class: "sd-sim" }, part.root);
  el.append(root);
  return keepDrawn(model, root, () => part.draw());
}

export default { render };
