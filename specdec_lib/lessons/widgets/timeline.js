// Chapter 07: the family of methods in order of time, one after the other.
// State: entries (from ch07/family.py, ordered), and at, the entry that is shown.

import { fill, html, say, svg } from "./elements.js";
import { key, keys, line, picture, scale, square, words } from "./charts.js";
import { button, buttons, chartBox, controls, panel, slider } from "./controls.js";
import { change, mount } from "./stage.js";
import { whole } from "./formulas.js";

const WORDS = { law: "●", greedy: "■", choice: "▲" };
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const ROLE = { law: "accepted", greedy: "target", choice: "excess" };

/** The time of an entry in years: the middle of its month. */
export function when(entry) {
  return entry.year + (entry.month - 0.5) / 12;
}

/** The place `step` entries on, kept between the first and the last. */
export function walk(count, at, step) {
  return Math.max(0, Math.min(count - 1, at + step));
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

/** The mark of an entry: circle, square or triangle by what becomes of the target's distribution. */
function symbol(kept, x, y, size, chosen) {
  const shapes = {
    law: (r, style) => svg("circle", { cx: x, cy: y, r, class: style }),
    greedy: (r, style) => square(x, y, 0.9 * r, { class: style }),
    choice: (r, style) => svg("path", { d: `M${x},${y - 1.15 * r} L${x + 1.1 * r},${y + 0.85 * r} L${x - 1.1 * r},${y + 0.85 * r} Z`, class: style }),
  };
  const make = shapes[kept];
  const group = svg("g", { class: `sd-area sd-${chosen ? ROLE[kept] : "idle"}`, style: `--role: var(--sd-${ROLE[kept]}); cursor: pointer` },
    make(size, "sd-flat"), make(size, "sd-edge"));
  if (chosen) group.append(make(size + 4.5, "sd-edge"));
  return group;
}

function drawTrack(entries, at, width, pick) {
  const [left, right, gap, top] = [22, 26, 21, 34];
  const [first, last] = [2018.5, 2026.9];
  const xOf = scale(first, last, left, width - right);
  const xs = entries.map((entry) => xOf(when(entry)));
  const rows = lanes(xs, gap);
  const base = top + (Math.max(...rows) + 1) * gap;
  const chart = picture(width, base + 26, `${entries.length} methods from ${entries[0].year} to ${entries[entries.length - 1].year}. ` +
    `Shown: ${entries[at].name}, ${entries[at].year}.`);
  chart.append(line(left - 8, base, width - right + 8, base, "sd-base"));
  for (const year of whole(2019, 2026)) {
    chart.append(line(xOf(year), base, xOf(year), base + 5, "sd-base"),
      words(width < 420 ? `’${year - 2000}` : String(year), xOf(year), base + 20, "middle", "sd-tick"));
  }
  entries.forEach((entry, i) => {
    const y = base - 14 - rows[i] * gap;
    if (i === at) chart.append(line(xs[i], y, xs[i], base, "sd-level"));
    chart.append(fill(symbol(entry.kept, xs[i], y, 7, i === at), { onclick: () => pick(i) }, [svg("title", {}, entry.name)]));
  });
  const anchor = xs[at] < width / 3 ? "start" : xs[at] > (2 * width) / 3 ? "end" : "middle";
  chart.append(words(entries[at].name, xs[at], 18, anchor, "sd-strong"));
  return chart;
}

/** The rows of the card: what is asked, and the entry's answer. */
export function card(entry) {
  return [
    ["when", `${MONTHS[entry.month - 1]} ${entry.year}`], ["what drafts", entry.drafts], ["what verifies", entry.verifies],
    ["the target's distribution", `${WORDS[entry.kept]} ${entry.keptText}`], ["training", entry.training],
    ["reported there", entry.reported || "no figure quoted here"], ["source", entry.source],
  ];
}

function details(entry) {
  return html("dl", { style: "display: grid; grid-template-columns: minmax(7em, auto) 1fr; gap: 3px 14px; margin: 0" },
    ...card(entry).flatMap(([name, text]) => [html("dt", { style: "color: var(--sd-soft)" }, name), html("dd", { style: "margin: 0" }, text)]));
}

function timelinePanel(model) {
  const { entries } = model.get("state");
  const pick = (at) => change(model, { at });
  const go = (step) => pick(walk(entries.length, model.get("state").at, step));
  const slide = slider({ short: "place", name: "on the timeline", role: "target", max: entries.length - 1, step: 1, room: ["3.2em", "3.2em"], onMove: pick });
  const name = html("div", { class: "sd-title", style: "font-size: 20px", "aria-live": "polite" });
  const relation = html("p", { class: "sd-verdict", style: "min-height: 3em" });
  const box = html("div");
  const chart = chartBox(true);
  const marks = [["law", "kept at every temperature"], ["greedy", "greedy text kept"], ["choice", "depends on the verification"]];
  const shapes = keys(marks.map(([kept, text]) => key(text, () => symbol(kept, 11, 9, 6, false), 22, 18)), true);
  const root = panel("Timeline of the family", "Walk with the slider's arrow keys, the buttons, or a click. The shape of a mark says what happens to the target's distribution.",
    chart, shapes, controls(slide.row, buttons(button("← Earlier", () => go(-1)), button("Later →", () => go(1))), name, relation), box);
  function draw({ at }) {
    slide.set(at, `${at + 1}/${entries.length}`, `${entries[at].name}, ${entries[at].year}`);
    say(name, `${entries[at].name} (${entries[at].year})`);
    say(relation, entries[at].relation);
    box.replaceChildren(details(entries[at]));
    chart.replaceChildren(drawTrack(entries, at, chart.clientWidth, pick));
  }
  return { root, draw };
}

/** Draws the timeline into `el`; returns a function that takes it down. */
function render({ model, el }) {
  return mount(model, el, [timelinePanel(model)]);
}

export default { render };
