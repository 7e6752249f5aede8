// Chapter 08: a generated text, every token in the box of its fate, with p, q and their ratio.
// State: prompt, blocks [{ drafted, p, q, accepted, token }], and the chosen token of the text.

import { html, say } from "./parts/elements.js";
import { chartBox, controls, pair, panel, readout, slider, verdictLine } from "./parts/controls.js";
import { drawTokens, fates, inWords, kindKeys, visible } from "./parts/blocks.js";
import { change, mount } from "./parts/stage.js";

const NAMES = { accepted: "drafted and accepted", corrected: "correction", bonus: "bonus" };

/** The tokens of the text: [{ kind, text, block, place, p, q, draft }]; place counts from 1 in the block. */
export function tokensOf(blocks) {
  return blocks.flatMap((block, number) => {
    const all = fates(block);
    const refused = all.find(({ kind }) => kind === "rejected");
    const own = refused ? { ...all.at(-1), p: refused.p, q: refused.q, draft: refused.text } : all.at(-1);
    return [...all.filter(({ kind }) => kind === "accepted"), own].map((token, i) => ({ ...token, block: number, place: i + 1 }));
  });
}

/** A number with three significant digits, also a small one. */
export function shortly(x) {
  return x === 0 ? "0" : x >= 0.001 ? Number(x.toPrecision(3)).toString() : x.toExponential(1);
}

/** What happened at a token, in words. */
export function storyOf({ kind, text, block, place, p, q, draft }) {
  const where = `Block ${block + 1}, position ${place}: `;
  if (kind === "bonus") return `${where}bonus. The whole block was accepted, and the target's extra row gave ${visible(text)}.`;
  const chance = p === 0 ? 0 : q === 0 ? 1 : Math.min(1, p / q);
  const told = `(p = ${shortly(p)}, q = ${shortly(q)}), accepted with probability ${shortly(chance)}`;
  return kind === "accepted"
    ? `${where}the draft proposed ${visible(text)} ${told}, and it was.`
    : `${where}the draft proposed ${visible(draft)} ${told}; it was rejected. ${visible(text)} was drawn from the residual.`;
}

/** p, q and p/q of a token as they are printed; a bonus has none. */
export function numbersOf({ kind, p, q }) {
  if (kind === "bonus") return ["–", "–", "–"];
  return [shortly(p), shortly(q), q === 0 ? "–" : shortly(p / q)];
}

/** Accepted over judged tokens of the text, or "–" where none was judged. */
export function shareOf(tokens) {
  const judged = tokens.filter(({ kind }) => kind !== "bonus");
  return judged.length ? (judged.filter(({ kind }) => kind === "accepted").length / judged.length).toFixed(2) : "–";
}

function textPanel(model) {
  const state = model.get("state");
  const tokens = tokensOf(state.blocks);
  const pick = (chosen) => { if (chosen !== model.get("state").chosen) change(model, { chosen }); };
  const slide = slider({ short: "token", name: "of the text", role: "target", max: tokens.length - 1, step: 1, room: ["3.2em", "3em"], onMove: pick });
  const readouts = ["p, of the target", "q, of the draft", "p/q"].map((name) => readout(name));
  const share = readout("accepted\nof all judged draft tokens");
  const [story, chart] = [verdictLine(), chartBox(true)];
  const root = panel("A text, token by token", "Hover over a token, or step with the slider. · is a space, ·8 is eight spaces, ↵ ends a line.",
    controls(slide.row, story), controls(pair(...readouts.map(({ box }) => box), share.box)),
    html("div", { class: "sd-wide" }, kindKeys(NAMES), html("p", { class: "sd-text" }, `… ${visible(state.prompt)}`)), chart);
  function draw({ chosen }) {
    slide.set(chosen, String(chosen + 1), `token ${chosen + 1} of ${tokens.length}`);
    numbersOf(tokens[chosen]).forEach((text, i) => readouts[i].set(text));
    share.set(shareOf(tokens));
    say(story, storyOf(tokens[chosen]));
    chart.replaceChildren(drawTokens([tokens], chart.clientWidth, `${tokens.length} tokens: ${inWords(tokens)}.`, { chosen, pick }));
  }
  return { root, draw };
}

/** Draws the picture into `el`; returns a function that takes it down. */
function render({ model, el }) {
  return mount(model, el, [textPanel(model)]);
}

export default { render };
