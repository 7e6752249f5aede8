// A function of the reader's own: an editor, its check, and what the check says.

import { button, element } from "./elements.mjs";
import { forget, keep, read } from "./kept.mjs";
import { check, isBusy, stop } from "./python.mjs";

const NEAR = "600px"; // the editor is loaded where its place comes so near to the window
const FETCHES =
  "The first run on a page loads Python and NumPy, some 15 MB, from cdn.jsdelivr.net. " +
  "Your code runs in this browser and is sent nowhere.";
const KEYS = "Ctrl+Enter runs. While you write, Tab indents: press Escape, then Tab, to leave the editor.";
const LATER = "Hints 2 and 3 open after you have written a line of your own and run it.";
const VERDICT = { right: "Right.", wrong: "Not yet.", stopped: "Stopped.", failed: "Not checked." };

/** The cells that a check of `cell` runs: the chapter's own code, and what the reader has written. */
export function cellsUpTo(cell, cells) {
  const before = cells.slice(0, cells.indexOf(cell) + 1);
  const run = before.filter(({ kind }) => kind === "given" || kind === "function");
  return run.map((each) => [each.name ?? "", each.source ?? read(each.name) ?? each.stub]);
}

/** Fill `place` with the exercise `cell` of the chapter's `data`. */
export function showFunction(place, cell, { chapter, cells }) {
  const field = writingField(cell);
  const result = element("div", { role: "status", className: "own-result" });
  const hints = hintsOf(cell);
  const [ends, says] = [button("Stop", stop), (kind, text) => show(result, kind, text)];
  ends.hidden = true;
  const starts = button("Run and check", run);
  starts.className = "own-main";

  async function run() {
    if (isBusy()) return says("", "A check is running already: wait for it, or stop it.");
    ends.hidden = false;
    const job = { number: chapter.slice(0, 2), name: cell.name, cells: cellsUpTo(cell, cells) };
    const told = await check(job, (text) => says("", text));
    if (document.activeElement === ends) starts.focus();
    ends.hidden = true;
    hints.open(told.started);
    if (["right", "wrong"].includes(told.kind)) removeAll(".own-fetches");
    says(told.kind, told.text);
  }

  const stub = button("Back to the stub", () => {
    field.write(cell.stub);
    forget(cell.name);
    says("", "The stub is back. Ctrl+Z in the editor brings your code back.");
  });
  const points = element("span", { className: "own-points" }, `${cell.points} points in a class`);
  place.append(
    field.box,
    element("p", { className: "own-bar" }, starts, ends, stub, points),
    element("p", { className: "own-small own-fetches" }, FETCHES),
    result,
    hints.box,
  );
  field.onRun = run;
}

const removeAll = (selector) => document.querySelectorAll(selector).forEach((each) => each.remove());

/** Show what a run says; `kind` is "", "right", "wrong", "stopped" or "failed". */
function show(result, kind, text) {
  result.dataset.kind = kind;
  const verdict = VERDICT[kind] ? [element("strong", {}, VERDICT[kind])] : [];
  result.replaceChildren(...verdict, element("pre", {}, text));
}

/** Where one writes: at first a plain field, then the editor, which takes over what stands there. */
function writingField(cell) {
  const text = read(cell.name) ?? cell.stub;
  const plain = element("textarea", { value: text, spellcheck: false, rows: rowsOf(text) });
  const attributes = { "aria-label": `Your code for ${cell.name}`, spellcheck: "false" };
  for (const [name, value] of Object.entries(attributes)) plain.setAttribute(name, value);
  plain.addEventListener("input", () => keep(cell.name, plain.value));
  const keys = element("p", { className: "own-small", id: `keys-${cell.name}`, hidden: true }, KEYS);
  const field = { box: element("div", {}, plain, keys), onRun() {} };
  field.write = (code) => (plain.value = code);

  async function load() {
    near.disconnect();
    plain.removeEventListener("focus", load);
    const { editor, write } = await import("./codemirror.mjs");
    const view = editor({
      text: plain.value,
      attributes: { ...attributes, "aria-describedby": keys.id },
      onChange: (code) => keep(cell.name, code),
      onRun: () => field.onRun(),
    });
    const [hadFocus, at] = [document.activeElement === plain, plain.selectionStart];
    plain.replaceWith(view.dom);
    keys.hidden = false;
    field.write = (code) => write(view, code);
    if (hadFocus) {
      view.dispatch({ selection: { anchor: at } });
      view.focus();
    }
  }
  const near = new IntersectionObserver(
    (seen) => seen.some(({ isIntersecting }) => isIntersecting) && load(),
    { rootMargin: NEAR },
  );
  near.observe(plain);
  plain.addEventListener("focus", load);
  return field;
}

const rowsOf = (text) => Math.max(8, text.split("\n").length + 2);

/** The hints, of which the second and the third open later. */
function hintsOf(cell) {
  const folded = cell.hints.map((hint, i) =>
    element("details", { hidden: i > 0 }, element("summary", {}, `Hint ${i + 1}`), element("p", {}, hint)),
  );
  const later = element("p", { className: "own-small" }, LATER);
  const open = (started) => {
    if (!started) return;
    for (const each of folded) each.hidden = false;
    later.hidden = true;
  };
  return { box: element("div", { className: "own-hints" }, ...folded, later), open };
}

