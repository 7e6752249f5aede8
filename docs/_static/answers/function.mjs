// A function of the reader's own: an editor, its check, and what the check says.

import { button, element } from "./elements.mjs";
import { codeField } from "./field.mjs";
import { forget, read } from "./kept.mjs";
import { check, isBusy, stop } from "./python.mjs";

const FETCHES =
  "The first run on a page loads Python and NumPy, some 15 MB, from cdn.jsdelivr.net. " +
  "Your code runs in this browser and is sent nowhere.";
const LATER = "Hints 2 and 3 open after you have written a line of your own and run it.";
const BUSY = "A check is running already: wait for it, or stop it.";
const VERDICT = { right: "Right.", wrong: "Not yet.", stopped: "Stopped.", failed: "Not checked." };

/** Fill `place` with the exercise `cell` of the chapter's `data`. */
export function showFunction(place, cell, data) {
  const [said, hints, ends] = [saidBelow(), hintsOf(cell), button("Stop", stop)];
  ends.hidden = true;
  const starts = button("Run and check", run);
  starts.className = "own-main";
  const field = codeField(cell, run);
  const stub = button("Back to the stub", () => {
    field.write(cell.stub);
    forget(cell.name);
    said.say("", "The stub is back. Ctrl+Z in the editor brings your code back.");
  });

  async function run() {
    if (isBusy()) return said.say("", BUSY);
    ends.hidden = false;
    const told = await check(jobOf(cell, data), (text) => said.say("", text));
    if (document.activeElement === ends) starts.focus();
    ends.hidden = true;
    if (told.started) hints.open();
    if (["right", "wrong"].includes(told.kind)) removeAll(".own-fetches");
    said.say(told.kind, told.text);
  }

  const points = element("span", { className: "own-small" }, `${cell.points} points in a class`);
  const bar = element("p", { className: "own-bar" }, starts, ends, stub, points);
  const fetches = element("p", { className: "own-small own-fetches" }, FETCHES);
  place.append(field.box, bar, fetches, said.box, hints.box);
}

/** What a check of `cell` runs: the chapter's own code, and what the reader has written so far. */
function jobOf(cell, { chapter, cells }) {
  const before = cells.slice(0, cells.indexOf(cell) + 1);
  const run = before.filter(({ kind }) => kind === "given" || kind === "function");
  const sources = run.map((each) => [each.name ?? "", each.source ?? read(each.name) ?? each.stub]);
  return { number: chapter.slice(0, 2), name: cell.name, cells: sources };
}

const removeAll = (selector) => document.querySelectorAll(selector).forEach((each) => each.remove());

/** The place of what a run says; `kind` is "", "right", "wrong", "stopped" or "failed". */
function saidBelow() {
  const box = element("div", { role: "status", className: "own-result" });
  const say = (kind, text) => {
    box.dataset.kind = kind;
    const verdict = VERDICT[kind] ? [element("strong", {}, VERDICT[kind])] : [];
    box.replaceChildren(...verdict, element("pre", {}, text));
  };
  return { box, say };
}

/** The hints, of which the second and the third open later. */
function hintsOf(cell) {
  const folded = cell.hints.map((hint, i) =>
    element("details", { hidden: i > 0 }, element("summary", {}, `Hint ${i + 1}`), element("p", {}, hint)),
  );
  const later = element("p", { className: "own-small" }, LATER);
  const open = () => {
    for (const each of folded) each.hidden = false;
    later.hidden = true;
  };
  return { box: element("div", { className: "own-hints" }, ...folded, later), open };
}
