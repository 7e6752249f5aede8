// Chapter 07: a tree of draft tokens, its attention mask, and the tokens that each shape writes.
// State: drafts [{name, shares}], shapes [{name, parents}], which draft, shape and node is chosen, and c, the
// time of a draft step over that of a target pass.

import { fill, freshId, html, say, show, svg } from "./parts/elements.js";
import { area, line, picture, words } from "./parts/charts.js";
import { chartBox, controls, pair, panel, readout, slider, verdictLine } from "./parts/controls.js";
import { change, mount } from "./parts/stage.js";

/** The node itself and its ancestors, the node first. */
export function lineage(parents, node) {
  const seen = [];
  for (let at = node; at >= 0; at = parents[at]) seen.push(at);
  return seen;
}

/** Who sees whom: row i is true at i and at the ancestors of i. */
export function mask(parents) {
  return parents.map((_, i) => {
    const seen = lineage(parents, i);
    return parents.map((__, j) => seen.includes(j));
  });
}

/** The probability that each node is accepted: its parent's, times the share of its rank among its siblings. */
export function reached(parents, shares) {
  const children = new Map();
  const chances = [];
  parents.forEach((parent) => {
    const rank = children.get(parent) ?? 0;
    children.set(parent, rank + 1);
    chances.push((parent < 0 ? 1 : chances[parent]) * (shares[rank] ?? 0));
  });
  return chances;
}

/** Tokens a block: what is accepted, and the one that the target adds. */
export function tokens(parents, shares) {
  return 1 + reached(parents, shares).reduce((total, chance) => total + chance, 0);
}

/** Steps that draft the tree: one a level, since a level is drafted together. */
export function levels(parents) {
  const depths = [];
  parents.forEach((parent) => depths.push(parent < 0 ? 1 : depths[parent] + 1));
  return Math.max(0, ...depths);
}

/** Speed over plain decoding if a draft step costs `c`, and the pass over the tree what a pass over one token costs. */
export function speed(parents, shares, c) {
  return tokens(parents, shares) / (c * levels(parents) + 1);
}

/** Depth (1, 2, ...) and row of every node; leaves have rows of their own, parents stand in the middle. */
export function places(parents) {
  const found = [];
  let rows = 0;
  const put = (node, depth) => {
    const own = parents.flatMap((parent, i) => (parent === node ? [i] : []));
    const below = own.map((child) => put(child, depth + 1));
    const row = below.length ? (below[0] + below[below.length - 1]) / 2 : rows++;
    if (node >= 0) found[node] = { depth, row };
    return row;
  };
  const text = put(-1, 0);
  return { nodes: found, text, rows };
}

/** What the chosen node sees, in words. */
export function sees(parents, node) {
  const past = lineage(parents, node).slice(1).reverse();
  const own = past.length ? `the text, ${past.join(", then ")}, and itself` : "only the text and itself";
  return `Node ${node} sees ${own}. All others are on another branch, or come later.`;
}

// ---- pictures --------------------------------------------------------------------------------

function circle(x, y, style, label, chance, onPick) {
  const group = svg("g", { class: `sd-area sd-${style}`, onclick: onPick, style: "cursor: pointer" },
    svg("circle", { cx: x, cy: y, r: 15, class: "sd-flat" }), svg("circle", { cx: x, cy: y, r: 15, class: "sd-edge" }));
  if (style === "accepted") group.append(svg("circle", { cx: x, cy: y, r: 18.5, class: "sd-edge" }));
  group.append(words(label, x, y + 5, "middle", "sd-strong"), words(show(chance), x, y + 33, "middle", "sd-tick"));
  return group;
}

/** The tree; the chosen node and what it sees are filled and ringed. */
function drawTree(parents, chances, node, width, pick) {
  const { nodes, text, rows } = places(parents);
  const depth = Math.max(...nodes.map((place) => place.depth));
  const [left, step] = [30, Math.min(84, (width - 62) / depth)];
  const [top, gap] = [26, 62];
  const xOf = (at) => left + at * step;
  const yOf = (row) => top + row * gap;
  const seen = lineage(parents, node);
  const chart = picture(width, top + rows * gap, `A tree of ${parents.length} draft tokens with the parents ${parents.join(", ")}. ` +
    `${sees(parents, node)} Accepted with ${chances.map((chance, i) => `${i}: ${show(chance)}`).join(", ")}.`);
  parents.forEach((parent, i) => chart.append(line(
    parent < 0 ? xOf(0) + 16 : xOf(nodes[parent].depth) + 15, yOf(parent < 0 ? text : nodes[parent].row),
    xOf(nodes[i].depth) - 15, yOf(nodes[i].row), "sd-base", { "stroke-width": seen.includes(i) ? 3 : 1 })));
  chart.append(words("text", xOf(0), yOf(text) + 5, "middle", "sd-strong"));
  parents.forEach((_, i) => chart.append(circle(xOf(nodes[i].depth), yOf(nodes[i].row),
    seen.includes(i) ? "accepted" : "idle", String(i), chances[i], () => pick(i))));
  return chart;
}

/** The mask; the chosen node's row is filled, every true entry has a dot. */
function drawMask(parents, node, width, pick) {
  const rows = mask(parents);
  const cell = Math.min(34, (width - 50) / parents.length);
  const [left, top] = [44, 26];
  const chart = picture(width, top + cell * parents.length + 8, "Attention mask. " +
    rows.map((row, i) => `${i} sees ${row.flatMap((yes, j) => (yes ? [j] : [])).join(", ")}`).join("; ") + ".");
  rows.forEach((row, i) => {
    const chosen = i === node;
    chart.append(words(`${chosen ? "▶ " : ""}${i}`, left - 8, top + (i + 0.5) * cell + 5, "end", chosen ? "sd-strong" : "sd-tick"),
      words(String(i), left + (i + 0.5) * cell, top - 8, "middle", "sd-tick"));
    row.forEach((yes, j) => {
      const box = area({}, chosen && yes ? "accepted" : "idle", left + j * cell, top + i * cell, cell - 2, cell - 2);
      if (yes) box.append(svg("circle", { cx: left + (j + 0.5) * cell - 1, cy: top + (i + 0.5) * cell - 1, r: chosen ? 5 : 3, fill: "currentColor" }));
      fill(box, { onclick: () => pick(i), style: "cursor: pointer" }, []);
      chart.append(box);
    });
  });
  return chart;
}

// ---- controls --------------------------------------------------------------------------------

/** A group of radio buttons; `set` marks the chosen one. */
function choice(title, names, onPick) {
  const group = freshId();
  const inputs = names.map((_, i) => html("input", { type: "radio", name: group, id: `${group}-${i}`, onchange: () => onPick(i) }));
  const rows = names.map((name, i) => html("div", { style: "display: flex; gap: 6px; align-items: center; min-height: 26px" },
    inputs[i], html("label", { for: `${group}-${i}` }, name)));
  return {
    box: html("fieldset", { class: "sd-weights" }, html("legend", {}, title), ...rows),
    set(chosen) { inputs.forEach((input, i) => { input.checked = i === chosen; }); },
  };
}

/** Every shape with every draft: tokens, and the speed; a mark stands before the fastest of each column. */
function comparison(shapes, drafts, shape, c) {
  const columns = drafts.map(({ shares }) => shapes.map(({ parents }) => [tokens(parents, shares), speed(parents, shares, c)]));
  const fastest = columns.map((column) => Math.max(...column.map(([, each]) => each)));
  const cell = "text-align: right; padding: 2px 0 2px 14px";
  const row = ({ name }, i) => html("tr", { style: i === shape ? "font-weight: 650" : null },
    html("th", { scope: "row", style: "text-align: left; font-weight: inherit" }, `${i === shape ? "▶ " : ""}${name}`),
    ...columns.map((column, j) => html("td", { style: cell }, `${column[i][1] === fastest[j] ? "★ " : ""}${column[i][0].toFixed(2)}, ${column[i][1].toFixed(2)}x`)));
  return html("table", { style: "border-collapse: collapse; font-size: 13px" },
    html("caption", { style: "text-align: left; padding-bottom: 4px" }, "Tokens per pass, and speed with the drafting counted; ★ the fastest"),
    html("thead", {}, html("tr", {}, html("th", { scope: "col", style: "text-align: left" }, "shape"),
      ...drafts.map(({ name }) => html("th", { scope: "col", style: cell }, name)))),
    html("tbody", {}, ...shapes.map(row)));
}

function treePanel(model) {
  const { shapes, drafts } = model.get("state");
  const pick = (node) => change(model, { node });
  const shapeChoice = choice("shape", shapes.map((shape) => shape.name), (shape) => change(model, { shape }));
  const draftChoice = choice("draft", drafts.map((draft) => draft.name), (draft) => change(model, { draft }));
  const stepper = slider({ short: "node", name: "of the tree", role: "target", step: 1, room: ["3em", "2em"], onMove: pick });
  const cost = slider({ short: "c", name: "a draft step in target passes", role: "draft", max: 0.5, room: ["3em", "3em"], onMove: (c) => change(model, { c }) });
  const result = readout("tokens per pass", "sd-large");
  const fast = readout("times as fast as plain decoding", "sd-large");
  const verdict = verdictLine();
  const table = html("div");
  const chart = chartBox();
  const root = panel("A draft tree and its mask", "Click a node or a row, or step with the slider. Under each node: how likely it is to be accepted.",
    controls(pair(shapeChoice.box, draftChoice.box), cost.row, pair(result.box, fast.box), table, stepper.row, verdict), chart);
  function draw(state) {
    const { parents } = shapes[state.shape];
    const { shares } = drafts[state.draft];
    const node = Math.min(state.node, parents.length - 1);
    shapeChoice.set(state.shape);
    draftChoice.set(state.draft);
    stepper.limit(parents.length - 1);
    stepper.set(node, String(node), `node ${node}`);
    cost.set(state.c);
    result.set(tokens(parents, shares).toFixed(2));
    fast.set(speed(parents, shares, state.c).toFixed(2));
    say(verdict, sees(parents, node));
    table.replaceChildren(comparison(shapes, drafts, state.shape, state.c));
    const width = chart.clientWidth;
    chart.replaceChildren(drawTree(parents, reached(parents, shares), node, width, pick),
      html("div", { class: "sd-caption", style: "padding-left: 0" }, "Row i sees column j:"), drawMask(parents, node, width, pick));
  }
  return { root, draw };
}

/** Draws the simulator into `el`; returns a function that takes it down. */
function render({ model, el }) {
  return mount(model, el, [treePanel(model)]);
}

export default { render };
