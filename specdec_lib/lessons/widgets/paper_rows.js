// Chapter 05: expected speed-up over the block length for a row of the paper, with the interval that the
// rounding of its numbers leaves, and the printed and the measured value. State: rows, row, alpha, c, k.

const K_MAX = 12;
const HALF = 0.005; // alpha and c are printed with two places
const TENTH = 0.05; // speed-ups with one
const BAND = { fill: "var(--sd-line)", stroke: "var(--sd-base)", "stroke-width": 0.75 };

/** Tokens a block brings on average, correction or bonus counted: 1 + alpha + ... + alpha^k. */
export function expectedTokens(alpha, k) {
  let total = 0;
  for (let i = 0; i <= k; i += 1) total += alpha ** i;
  return total;
}

/** Speed over plain decoding, a verification costing one pass: expectedTokens / (c k + 1). */
export function speedup(alpha, c, k) {
  return expectedTokens(alpha, k) / (c * k + 1);
}

/** The speed-ups that fit an alpha and a c printed with two places, widened by the rounding of one place. */
export function interval(alpha, c, k) {
  return [
    speedup(Math.max(alpha - HALF, 0), c + HALF, k) - TENTH,
    speedup(Math.min(alpha + HALF, 1), Math.max(c - HALF, 0), k) + TENTH,
  ];
}

/** The c at which the formula would give the measured speed-up; below 0 where no cost can. */
export function neededCost(alpha, k, measured) {
  return (expectedTokens(alpha, k) / measured - 1) / k;
}

/** A row in a few words. */
export function rowName(row) {
  return `${row.task}, ${row.draft}, T = ${row.temperature}`;
}

/** The same in fewer letters, for a narrow chart. */
function shortName(row) {
  return `${row.task} ${row.draft.replace("T5-", "")} T=${row.temperature}`;
}

/** What the picture says, in two sentences. */
export function verdict(row, alpha, c, k) {
  const moved = alpha !== row.alpha || c !== row.c || k !== row.k;
  const [low, high] = interval(alpha, c, k);
  const told = `The formula gives ${low.toFixed(2)} to ${high.toFixed(2)} here; the clock said ${row.measured}. `;
  if (moved) return `${told}You have left the row's own numbers: alpha ${row.alpha}, c ${row.c}, K ${row.k}.`;
  const needed = neededCost(alpha, k, row.measured);
  if (needed < 0) return `${told}With this alpha no cost explains the clock: it would take a c below 0.`;
  return `${told}With this alpha the clock would need c = ${needed.toFixed(3)}; printed is ${row.c}.`;
}

// ---- one row over all K ------------------------------------------------------------------------

/** Pixels of the chart with K along the bottom and speed-up upwards. */
function scale(width, height) {
  const [left, right, top, bottom, most] = [40, 16, 16, 46, 5];
  return {
    left, end: width - right, floor: height - bottom,
    xOf: (k) => left + 8 + (k / K_MAX) * (width - left - right - 16),
    yOf: (value) => height - bottom - (Math.min(value, most) / most) * (height - top - bottom),
  };
}

/** A diamond for what was measured, a square for what was printed; each has a shape of its own. */
function diamond(x, y, size) {
  const points = `${x},${y - size} ${x + size},${y} ${x},${y + size} ${x - size},${y}`;
  return svg("polygon", { points, fill: "var(--sd-ink)", stroke: "var(--sd-paper)" });
}

function square(x, y, size) {
  return svg("rect", { x: x - size, y: y - size, width: 2 * size, height: 2 * size, fill: "var(--sd-paper)",
    stroke: "var(--sd-target)", "stroke-width": 2 });
}

function drawCurve(row, alpha, c, k, width) {
  const height = 330;
  const at = scale(width, height);
  const ks = Array.from({ length: K_MAX + 1 }, (_, i) => i);
  const bands = ks.map((each) => interval(alpha, c, each));
  const best = ks.reduce((a, b) => (speedup(alpha, c, b) > speedup(alpha, c, a) ? b : a));
  const chart = picture(width, height, `Expected speed-up over K at alpha ${show(alpha)} and c ${show(c)}: ` +
    ks.map((each) => `K ${each}: ${speedup(alpha, c, each).toFixed(2)}`).join("; ") +
    `. Best at K = ${best}. The paper, at K = ${row.k}: expected ${row.expected}, measured ${row.measured}.`);
  chart.append(axis([0, 1, 2, 3, 4, 5], at.yOf, at.left, at.end));
  chart.append(svg("line", { x1: at.left, x2: at.end, y1: at.yOf(1), y2: at.yOf(1), class: "sd-base" }));
  const edge = (side) => ks.map((each) => `${at.xOf(each)},${at.yOf(bands[each][side])}`);
  chart.append(svg("polygon", { points: [...edge(1), ...edge(0).reverse()].join(" "), ...BAND }));
  const line = ks.map((each) => `${at.xOf(each)},${at.yOf(speedup(alpha, c, each))}`).join(" ");
  chart.append(svg("polyline", { points: line, fill: "none", stroke: "var(--sd-target)", "stroke-width": 2 }));
  ks.forEach((each) => chart.append(
    svg("circle", { cx: at.xOf(each), cy: at.yOf(speedup(alpha, c, each)), r: each === k ? 6 : 3, fill: "var(--sd-target)" }),
    words(String(each), at.xOf(each), at.floor + 18, "middle", each === k ? "sd-strong" : "sd-tick")));
  chart.append(words("K, draft tokens a block", (at.left + at.end) / 2, height - 6, "middle", "sd-tick"),
    square(at.xOf(row.k), at.yOf(row.expected), 6), diamond(at.xOf(row.k), at.yOf(row.measured), 7));
  return chart;
}

/** Swatches that show the marks of the charts. */
function markKey(text, ...marks) {
  return html("span", { class: "sd-key" }, svg("svg", { width: 18, height: 16, "aria-hidden": "true" }, ...marks), text);
}

function curveKey() {
  return markKey("formula", svg("line", { x1: 0, x2: 18, y1: 8, y2: 8, stroke: "var(--sd-target)", "stroke-width": 2 }),
    svg("circle", { cx: 9, cy: 8, r: 3, fill: "var(--sd-target)" }));
}

function keys(...more) {
  return html("div", { class: "sd-keys" }, ...more,
    markKey(more.length ? "its rounding" : "formula, with the rounding", svg("rect", { x: 1, y: 2, width: 16, height: 12, ...BAND })),
    markKey("expected, printed", square(9, 8, 5)), markKey("measured", diamond(9, 8, 6)));
}

/** A slider with a range of its own. */
function ranged(short, name, max, step, onMove) {
  const made = slider({ short, name, role: "target", onMove });
  const input = made.row.querySelector("input");
  input.max = max;
  input.step = step;
  return made;
}

function rowPanel(model) {
  const { rows } = model.get("state");
  const goTo = (index) => change(model, { row: index, alpha: rows[index].alpha, c: rows[index].c, k: rows[index].k });
  const id = freshId();
  const choice = html("select", { id, class: "sd-button", onchange: () => goTo(Number(choice.value)) },
    ...rows.map((row, i) => html("option", { value: i }, rowName(row))));
  const sliders = {
    alpha: ranged("α", "acceptance rate alpha", 1, 0.01, (alpha) => change(model, { alpha })),
    c: ranged("c", "time of a draft step in target steps", 0.5, 0.01, (c) => change(model, { c })),
    k: ranged("K", "draft tokens a block", K_MAX, 1, (k) => change(model, { k })),
  };
  const result = readout("expected speed-up at this K", "sd-large");
  const range = readout("with the rounding", "");
  const said = html("p", { class: "sd-verdict", "aria-live": "polite" });
  const chart = html("div", { class: "sd-chart" });
  const root = panel("One row, every K", "Choose a row of the paper, then move its numbers.",
    html("div", { class: "sd-controls" }, html("label", { for: id }, "Row of the paper"), choice,
      sliders.alpha.row, sliders.c.row, sliders.k.row, html("div", { class: "sd-pair" }, result.box, range.box), said,
      button("Back to the row's numbers", () => goTo(model.get("state").row))), chart);
  function draw() {
    const { row, alpha, c, k } = model.get("state");
    const [low, high] = interval(alpha, c, k);
    choice.value = row;
    sliders.alpha.set(alpha);
    sliders.c.set(c);
    sliders.k.set(k, String(k));
    result.set(speedup(alpha, c, k).toFixed(2));
    range.set(`${low.toFixed(2)} to ${high.toFixed(2)}`);
    say(said, verdict(rows[row], alpha, c, k));
    chart.replaceChildren(keys(curveKey()), drawCurve(rows[row], alpha, c, k, chart.clientWidth));
  }
  return { root, draw };
}

// ---- all rows ----------------------------------------------------------------------------------

/** Every row as a line: its interval, the printed value, the measured one; the chosen row is framed. */
function drawRows(rows, chosen, width) {
  const narrow = width < 420;
  const [step, top, left, right] = [26, 8, narrow ? 142 : 190, 16];
  const height = top + step * rows.length + 44;
  const most = Math.ceil(Math.max(...rows.map((row) => Math.max(row.measured, row.expected))));
  const xOf = (value) => left + ((value - 1) / (most - 1)) * (width - left - right);
  const chart = picture(width, height, "Speed-ups of all rows. " + rows.map((row) =>
    `${rowName(row)}: expected ${row.expected}, measured ${row.measured}`).join("; ") + ".");
  for (let tick = 1; tick <= most; tick += 0.5) {
    chart.append(svg("line", { x1: xOf(tick), x2: xOf(tick), y1: top, y2: height - 40, class: tick === 1 ? "sd-base" : "sd-grid" }),
      words(String(tick), xOf(tick), height - 24, "middle", "sd-tick"));
  }
  rows.forEach((row, i) => {
    const y = top + step * (i + 0.5);
    const [low, high] = interval(row.alpha, row.c, row.k);
    if (i === chosen) chart.append(svg("rect", { x: 1, y: y - step / 2 + 1, width: width - 2, height: step - 2, rx: 4, fill: "none", stroke: "var(--sd-base)", "stroke-width": 1.5 }));
    chart.append(words(narrow ? shortName(row) : rowName(row), left - 10, y + 4, "end", i === chosen ? "sd-strong" : ""),
      svg("rect", { x: xOf(low), y: y - 7, width: xOf(high) - xOf(low), height: 14, ...BAND }),
      square(xOf(row.expected), y, narrow ? 3.5 : 5), diamond(xOf(row.measured), y, narrow ? 5 : 6));
  });
  chart.append(words("times as fast as plain decoding", (left + width - right) / 2, height - 6, "middle", "sd-tick"));
  return chart;
}

function tablePanel(model) {
  const chart = html("div", { class: "sd-chart" });
  const root = panel("All rows", "The chosen row is framed.", chart);
  chart.style.gridColumn = "1 / -1";
  function draw() {
    const { rows, row } = model.get("state");
    chart.replaceChildren(keys(), drawRows(rows, row, chart.clientWidth));
  }
  return { root, draw };
}

/** Draws the simulator into `el`; returns a function that takes it down. */
function render({ model, el }) {
  const panels = [rowPanel(model), tablePanel(model)];
  const root = html("div", { class: "sd-sim" }, ...panels.map((part) => part.root));
  el.append(root);
  return keepDrawn(model, root, () => panels.forEach((part) => part.draw()));
}

export default { render };
