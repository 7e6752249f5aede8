// Where one writes code: at first a plain field, then the editor, which takes over what stands there.

import { element } from "./elements.mjs";
import { keep, read } from "./kept.mjs";

const NEAR = "600px"; // the editor is loaded where its place comes so near to the window
const KEYS =
  "Ctrl+Enter runs. While you write, Tab indents: press Escape, then Tab, to leave the editor.";

/** The field for an exercise: `box` is its element, `write(code)` replaces what stands in it. */
export function codeField(cell, onRun) {
  const text = read(cell.name) ?? cell.stub;
  const attributes = { "aria-label": `Your code for ${cell.name}`, spellcheck: "false" };
  const rows = Math.max(8, text.split("\n").length + 2);
  const plain = element("textarea", { value: text, rows });
  for (const [name, value] of Object.entries(attributes)) plain.setAttribute(name, value);
  plain.addEventListener("input", () => keep(cell.name, plain.value));
  const keys = element("p", { className: "own-small", id: `keys-${cell.name}`, hidden: true }, KEYS);
  const field = { box: element("div", {}, plain, keys) };
  field.write = (code) => (plain.value = code);
  attributes["aria-describedby"] = keys.id;
  const onChange = (code) => keep(cell.name, code);
  whenNear(plain, async () => {
    const { editor, write } = await import("./codemirror.mjs");
    const view = editor({ text: plain.value, attributes, onChange, onRun });
    takeOver(plain, view);
    keys.hidden = false;
    field.write = (code) => write(view, code);
  });
  return field;
}

/** Call `load` once, when an element is near the window or gets the focus. */
function whenNear(place, load) {
  const once = () => {
    near.disconnect();
    place.removeEventListener("focus", once);
    load();
  };
  const isNear = (seen) => seen.some(({ isIntersecting }) => isIntersecting);
  const near = new IntersectionObserver((seen) => isNear(seen) && once(), { rootMargin: NEAR });
  near.observe(place);
  place.addEventListener("focus", once);
}

/** Put the editor into the place of the plain field, with its focus and its cursor. */
function takeOver(plain, view) {
  const [hadFocus, at] = [document.activeElement === plain, plain.selectionStart];
  plain.replaceWith(view.dom);
  if (!hadFocus) return;
  view.dispatch({ selection: { anchor: at } });
  view.focus();
}
