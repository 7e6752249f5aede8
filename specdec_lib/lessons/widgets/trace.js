// Chapter 08: a generated text, every token in the dress of its fate, with p, q and their ratio.
// State: prompt, blocks [{drafted, p, q, accepted, token}], and the chosen token of the text.

/** The tokens of the text: [{kind, text, block, place, p, q, draft}]; place counts from 1 in the block. */
export function tokensOf(blocks) {
  return blocks.flatMap(({ drafted, p, q, accepted, token }, block) => {
    const passed = drafted.slice(0, accepted).map((text, i) => ({ kind: "accepted", text, block, place: i + 1, p: p[i], q: q[i] }));
    const whole = accepted === drafted.length;
    const last = whole ? { kind: "bonus" } : { kind: "corrected", p: p[accepted], q: q[accepted], draft: drafted[accepted] };
    return [...passed, { ...last, text: token, block, place: accepted + 1 }];
  });
}

/** The acceptance probability min(1, p/q); 0 where p is 0. */
export function acceptance(p, q) {
  if (p === 0) return 0;
  return q === 0 ? 1 : Math.min(1, p / q);
}

/** A number with three significant digits, also a small one. */
export function shortly(x) {
  return x === 0 ? "0" : x >= 0.001 ? Number(x.toPrecision(3)).toString() : x.toExponential(1);
}

/** What happened at a token, in words. */
export function storyOf(token) {
  const where = `Block ${token.block + 1}, position ${token.place}: `;
  if (token.kind === "bonus") return `${where}bonus. The whole block was accepted, and the target's extra row gave ${token.text}.`;
  const numbers = `p = ${shortly(token.p)}, q = ${shortly(token.q)}`;
  const chance = `accepted with probability ${shortly(acceptance(token.p, token.q))}`;
  return token.kind === "accepted"
    ? `${where}the draft proposed ${token.text} (${numbers}), ${chance}, and it was.`
    : `${where}the draft proposed ${token.draft} (${numbers}), ${chance}; it was rejected. ${token.text} was drawn from the residual.`;
}

const SIGNS = { accepted: "✓", corrected: "◆", bonus: "+" };
const DRESS = { accepted: "accepted", corrected: "residual", bonus: "target" };
const NAMES = { accepted: "drafted and accepted", corrected: "corrected", bonus: "bonus" };
const [CHARACTER, STRIP, LINE] = [8, 12, 30];

/** A token: accepted a filled box, corrected a cut-off one with dots, bonus a round one with a double edge. */
function drawToken(ids, kind, text, x, y, width, chosen) {
  const height = 22;
  const group = svg("g", { class: `sd-area sd-${DRESS[kind]}` });
  if (kind === "corrected") {
    const points = [[x + 6, y], [x + width - 6, y], [x + width, y + height / 2], [x + width - 6, y + height], [x + 6, y + height], [x, y + height / 2]];
    const outline = points.map((point) => point.join(",")).join(" ");
    group.append(svg("polygon", { points: outline, class: "sd-flat", style: "fill: var(--sd-paper)" }), svg("rect", { x: x + 4, y: y + 1, width: STRIP, height: height - 2, fill: `url(#${ids.residual})` }),
      svg("polygon", { points: outline, class: "sd-edge" }));
  } else {
    const round = kind === "bonus" ? 9 : 0;
    const box = { x, y, width, height, rx: round };
    group.append(svg("rect", { ...box, class: "sd-flat", style: kind === "bonus" ? "fill: var(--sd-paper)" : null }), svg("rect", { ...box, class: "sd-edge" }));
    if (kind === "bonus") group.append(svg("rect", { x: x + 2.5, y: y + 2.5, width: width - 5, height: height - 5, rx: 7, class: "sd-edge", "stroke-width": 0.8 }));
  }
  if (chosen) group.append(svg("rect", { x: x - 3, y: y - 3, width: width + 6, height: height + 6, fill: "none", stroke: "var(--sd-ink)", "stroke-width": 2, "stroke-dasharray": "4 2" }));
  const left = kind === "corrected" ? STRIP + 5 : 8;
  group.append(svg("text", { x: x + left, y: y + 15.5, style: "font-family: monospace" }, `${SIGNS[kind]} ${text}`));
  return group;
}

/** The tokens in lines as wide as the picture. */
function drawText(tokens, chosen, width, pick) {
  const told = tokens.map(({ kind, text }) => `${text} ${NAMES[kind]}`).join(", ");
  const placed = [];
  let [x, y] = [4, 6];
  tokens.forEach((token) => {
    const size = CHARACTER * (token.text.length + 2) + (token.kind === "corrected" ? STRIP + 11 : 16);
    if (x + size > width - 4 && x > 4) { x = 4; y += LINE; }
    placed.push({ x, y, size });
    x += size + 5;
  });
  const chart = picture(width, y + LINE, `${tokens.length} tokens: ${told}.`);
  const ids = addPatterns(chart);
  tokens.forEach((token, i) => {
    const { x: left, y: top, size } = placed[i];
    const group = drawToken(ids, token.kind, token.text, left, top, size, i === chosen);
    chart.append(fill(group, { onmouseenter: () => pick(i), onclick: () => pick(i), style: "cursor: pointer" }, []));
  });
  return chart;
}

/** Swatch and words for each fate. */
function keys() {
  return html("div", { class: "sd-keys", style: "padding-left: 0" }, ...Object.entries(NAMES).map(([kind, name]) => {
    const drawing = svg("svg", { width: 44, height: 24, "aria-hidden": "true" });
    drawing.append(drawToken(addPatterns(drawing), kind, "", 1, 1, 40, false));
    return html("span", { class: "sd-key" }, drawing, name);
  }));
}

/** A slider that steps through the tokens. */
function stepper(onMove) {
  const id = freshId();
  const input = html("input", { id, type: "range", min: 0, max: 1, step: 1, "data-role": "target", oninput: () => onMove(Number(input.value)) });
  const number = html("output", { for: id, "aria-live": "off" });
  const label = html("label", { for: id }, "token", html("span", { class: "sd-unseen" }, " of the text"));
  return {
    row: html("div", { class: "sd-slider", style: "grid-template-columns: 3.2em minmax(0, 1fr) 3em" }, label, input, number),
    set(token, count) {
      input.max = count - 1;
      input.value = token;
      input.setAttribute("aria-valuetext", `token ${token + 1} of ${count}`);
      say(number, String(token + 1));
    },
  };
}

function textPanel(model) {
  const pick = (chosen) => { if (chosen !== model.get("state").chosen) change(model, { chosen }); };
  const slide = stepper(pick);
  const numbers = { p: readout("p, of the target"), q: readout("q, of the draft"), ratio: readout("p/q") };
  const share = readout("accepted\nof all judged draft tokens");
  const story = html("p", { class: "sd-verdict", "aria-live": "polite" });
  const prompt = html("p", { style: "font-family: monospace; font-size: 13px; white-space: pre-wrap; color: var(--sd-soft); overflow-wrap: anywhere" });
  const chart = html("div", { class: "sd-chart" });
  const text = html("div", { style: "grid-column: 1 / -1; display: grid; gap: 10px; min-width: 0" }, keys(), prompt, chart);
  const root = panel("A text, token by token", "Hover over a token, or step with the slider. · is a space, ·8 are eight, ↵ ends a line.",
    html("div", { class: "sd-controls" }, slide.row, story),
    html("div", { class: "sd-controls" }, html("div", { class: "sd-pair" }, numbers.p.box, numbers.q.box, numbers.ratio.box, share.box)), text);
  function draw() {
    const state = model.get("state");
    const tokens = tokensOf(state.blocks);
    const chosen = Math.min(state.chosen, tokens.length - 1);
    const token = tokens[chosen];
    slide.set(chosen, tokens.length);
    const known = token.kind !== "bonus";
    numbers.p.set(known ? shortly(token.p) : "–");
    numbers.q.set(known ? shortly(token.q) : "–");
    numbers.ratio.set(known ? (token.q === 0 ? "–" : shortly(token.p / token.q)) : "–");
    const judged = tokens.filter(({ kind }) => kind !== "bonus").length;
    share.set(judged ? (tokens.filter(({ kind }) => kind === "accepted").length / judged).toFixed(2) : "–");
    say(story, storyOf(token));
    say(prompt, `… ${state.prompt}`);
    chart.replaceChildren(drawText(tokens, chosen, chart.clientWidth, pick));
  }
  return { root, draw };
}

/** Draws the picture into `el`; returns a function that takes it down. */
function render({ model, el }) {
  const part = textPanel(model);
  const root = html("div", { class: "sd-sim" }, part.root);
  el.append(root);
  return keepDrawn(model, root, part.draw);
}

export default { render };
