// Chapter 07: the map of the design space. A row is a drafter, a column a shape; verifier and timing are chosen above.
// State: entries and frame (from ch07/family.py, entries in order of time), at (the chosen one), verifier, timing.

import { fill, html, say, svg } from "./parts/elements.js";
import { line, picture, scale, words } from "./parts/charts.js";
import { button, buttons, chartBox, controls, panel, select, slider, verdictLine } from "./parts/controls.js";
import { change, mount } from "./parts/stage.js";

const SIGNS = { law: "●", greedy: "■", choice: "▲", lossy: "◆" };
const BOXES = { drafter: "who drafts", shape: "in which shape", verifier: "who verifies", timing: "when" };
// What stands in the four boxes of the first paper.
const FIRST = { drafter: "model", shape: "chain", verifier: "ratio", timing: "steps" };
const WIDE = 760; // pixels from which the columns stand side by side
const LEFT = "text-align: left; vertical-align: top; padding: 5px 8px; border-top: 1px solid var(--sd-line)";

/** The numbers of the entries that a choice of verifier and timing leaves. */
export function shown(entries, verifier, timing) {
  const fits = (entry) => [["verifier", verifier], ["timing", timing]].every(([box, wanted]) => wanted === "every" || entry[box] === wanted);
  return entries.flatMap((entry, i) => (fits(entry) ? [i] : []));
}

/** The boxes in which an entry differs from the first paper; "any" leaves a box as it is. */
export function changed(entry) {
  return Object.keys(FIRST).filter((box) => entry[box] !== FIRST[box] && entry[box] !== "any");
}

/** The place `step` shown entries on from `at`, kept between the first and the last of them. */
export function walk(places, at, step) {
  const onward = step > 0 ? places.filter((place) => place > at) : places.filter((place) => place < at).reverse();
  return onward[0] ?? at;
}

/** The time of an entry in years: the middle of its month. */
export function when(entry) {
  const [year, month] = entry.date.split("-").map(Number);
  return year + (month - 0.5) / 12;
}

/** For marks at `xs`, in order, the lowest lane on which each is at least `gap` from its neighbours. */
export function lanes(xs, gap) {
  const ends = [];
  return xs.map((x) => {
    let lane = ends.findIndex((end) => x - end >= gap);
    if (lane < 0) lane = ends.length;
    ends[lane] = x;
    return lane;
  });
}

/** The methods in order of time; the chosen one is ringed and named, what is left out is faint. */
function drawTrack(entries, at, left, width, pick) {
  const [first, last, gap, top] = [2018.5, 2026.9, 16, 26];
  const xOf = scale(first, last, 14, width - 14);
  const xs = entries.map((entry) => xOf(when(entry)));
  const rows = lanes(xs, gap);
  const base = top + (Math.max(...rows) + 1) * gap + 4;
  const chart = picture(width, base + 24, `${entries.length} methods from ${entries[0].date.slice(0, 4)} to ` +
    `${entries[entries.length - 1].date.slice(0, 4)}. Shown: ${entries[at].name}, ${entries[at].date.slice(0, 4)}.`);
  chart.append(line(4, base, width - 4, base, "sd-base"));
  for (let year = 2019; year <= 2026; year += 1) {
    chart.append(line(xOf(year), base, xOf(year), base + 5, "sd-base"),
      words(width < 420 ? `’${year - 2000}` : String(year), xOf(year), base + 19, "middle", "sd-tick"));
  }
  entries.forEach((entry, i) => {
    const y = base - 10 - rows[i] * gap;
    const mark = words(SIGNS[entry.kept], xs[i], y + 5, "middle", i === at ? "sd-strong" : "");
    chart.append(fill(mark, { onclick: () => pick(i), style: `cursor: pointer; opacity: ${left.includes(i) ? 1 : 0.25}` }, [svg("title", {}, entry.name)]));
    if (i === at) chart.append(svg("circle", { cx: xs[i], cy: y, r: 9, fill: "none", stroke: "currentColor" }));
  });
  const anchor = xs[at] < width / 3 ? "start" : xs[at] > (2 * width) / 3 ? "end" : "middle";
  chart.append(words(entries[at].name, xs[at], 14, anchor, "sd-strong"));
  return chart;
}

function chip(entry, onPick) {
  return html("button", { type: "button", class: "sd-button", "aria-label": `${entry.name}, ${entry.keptText}`,
    style: "padding: 2px 8px; margin: 2px 4px 2px 0; text-align: left", onclick: onPick }, `${SIGNS[entry.kept]} ${entry.name}`);
}

/** Puts the chips into a table, drafters by shapes; returns the table and its cells with the chips in each. */
function arrange(state, chips, wide) {
  const { frame, entries } = state;
  const [drafters, shapes] = [Object.entries(frame.drafter), Object.entries(frame.shape)];
  const cells = [];
  const cell = (drafter, shape, name) => {
    const inside = entries.flatMap((entry, i) => (entry.drafter === drafter && entry.shape === shape ? [i] : []));
    const none = html("span", { style: "color: var(--sd-soft)" }, "none");
    const label = wide ? [] : [html("span", { style: "color: var(--sd-soft)" }, `${name}: `)];
    const box = html("td", { style: LEFT }, ...label, none, ...inside.map((i) => chips[i]));
    cells.push({ box, none, inside });
    return box;
  };
  const head = (text, scope, more = {}) => html("th", { scope, style: LEFT, ...more }, text);
  const body = drafters.flatMap(([drafter, { name }]) => wide
    ? [html("tr", {}, head(name, "row"), ...shapes.map(([shape, option]) => cell(drafter, shape, option.name)))]
    : [html("tr", {}, head(name, "row")), ...shapes.map(([shape, option]) => html("tr", {}, cell(drafter, shape, option.name)))]);
  const columns = wide ? [html("thead", {}, html("tr", {}, head("who drafts", "col"), ...shapes.map(([, { name }]) => head(name, "col"))))] : [];
  const caption = html("caption", { class: "sd-unseen" }, "Methods by who drafts and in which shape");
  return { table: html("table", { style: "border-collapse: collapse; width: 100%; font-size: 13px" }, caption, ...columns, html("tbody", {}, ...body)), cells };
}

/** The rows of the card: what is asked, and the entry's answer. */
export function card(entry, frame) {
  const why = entry.kept === "choice" ? "" : ` ${frame.verifier[entry.verifier].keeps}`;
  return [
    ["what it keeps", `${SIGNS[entry.kept]} ${entry.keptText}.${why}`],
    ["published figure", entry.reported], ["who ships it", entry.ships], ["training", entry.training], ["source", entry.source],
  ];
}

function formulas(entry, frame) {
  const news = changed(entry);
  const row = (box) => {
    const option = frame[box][entry[box]];
    const weight = `${LEFT}; font-weight: ${news.includes(box) ? 650 : 400}; color: var(${news.includes(box) ? "--sd-ink" : "--sd-soft"})`;
    return html("tr", {}, html("th", { scope: "row", style: weight }, `${news.includes(box) ? "▶ " : ""}${BOXES[box]}`),
      html("td", { style: weight }, option.name), html("td", { style: weight }, option.formula));
  };
  return html("table", { style: "border-collapse: collapse; width: 100%; font-size: 13px" },
    html("caption", { style: "text-align: left; padding-bottom: 4px" }, "speed-up = E / (D + v). ▶ differs from the first paper."),
    html("tbody", {}, ...Object.keys(BOXES).map(row)));
}

function details(entry, frame) {
  return html("dl", { style: "display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 3px 14px; margin: 0" },
    ...card(entry, frame).flatMap(([name, text]) => [html("dt", { style: "color: var(--sd-soft)" }, name), html("dd", { style: "margin: 0" }, text)]));
}

function mapPanel(model) {
  const { entries, frame } = model.get("state");
  const places = () => { const { verifier, timing } = model.get("state"); return shown(entries, verifier, timing); };
  const go = (step) => change(model, { at: walk(places(), model.get("state").at, step) });
  const chips = entries.map((entry, at) => chip(entry, () => change(model, { at })));
  const choices = (box) => [["every", "every one"], ...Object.entries(frame[box]).filter(([key]) => key !== "any").map(([key, { name }]) => [key, name])];
  const verifiers = select("who verifies", choices("verifier"), (verifier) => change(model, { verifier }));
  const timings = select("when", choices("timing"), (timing) => change(model, { timing }));
  const count = verdictLine();
  count.style.minHeight = "0";
  [verifiers, timings].forEach(({ row }) => { row.style.minWidth = "0"; });
  const slide = slider({ short: "method", name: "in order of time", role: "target", max: entries.length - 1, step: 1, room: ["4.2em", "3.2em"], onMove: (at) => change(model, { at }) });
  const name = html("div", { class: "sd-title", style: "font-size: 20px", "aria-live": "polite" });
  const idea = html("p", { class: "sd-verdict", style: "min-height: 0" });
  const [map, box] = [html("div", { class: "sd-wide" }), html("div", { class: "sd-wide", style: "display: grid; gap: 12px" })];
  const chart = chartBox(true);
  const signs = "● keeps the distribution   ■ keeps the greedy text   ▲ by how it is verified   ◆ gives it up";
  const root = panel("Map of the design space", "Choose a method. The card below says what it changes in the formula. The two lists leave out methods.",
    controls(verifiers.row, timings.row, count), html("p", { class: "sd-wide", style: "white-space: pre-wrap" }, signs), map, chart,
    controls(slide.row, buttons(button("← Earlier", () => go(-1)), button("Later →", () => go(1))), name, idea), box);
  let [wide, cells] = [null, []];
  function draw(state) {
    if (wide !== map.clientWidth >= WIDE) {
      wide = map.clientWidth >= WIDE;
      const made = arrange(state, chips, wide);
      cells = made.cells;
      map.replaceChildren(made.table);
    }
    const left = places();
    const entry = entries[state.at];
    chips.forEach((each, i) => {
      each.hidden = !left.includes(i);
      each.setAttribute("aria-pressed", String(i === state.at));
      each.style.fontWeight = i === state.at ? 650 : 400;
      each.style.borderWidth = i === state.at ? "2px" : "1px";
      each.style.borderColor = i === state.at ? "var(--sd-ink)" : "var(--sd-base)";
    });
    cells.forEach(({ box: place, none, inside }) => {
      none.hidden = inside.some((i) => left.includes(i));
      if (!wide) place.parentElement.hidden = !none.hidden;
    });
    slide.set(state.at, `${state.at + 1}/${entries.length}`, `${entries[state.at].name}, ${entries[state.at].date}`);
    verifiers.set(state.verifier);
    timings.set(state.timing);
    say(count, `${left.length} of ${entries.length} methods.`);
    say(name, `${entry.name} (${entry.date.slice(0, 4)})`);
    say(idea, entry.idea);
    chart.replaceChildren(drawTrack(entries, state.at, left, chart.clientWidth, (at) => change(model, { at })));
    box.replaceChildren(formulas(entry, frame), details(entry, frame));
  }
  return { root, draw };
}

/** Draws the map into `el`; returns a function that takes it down. */
function render({ model, el }) {
  return mount(model, el, [mapPanel(model)]);
}

export default { render };
