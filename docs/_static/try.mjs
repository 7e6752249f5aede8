// The page "Try it here": an editor, a check, and Python in a worker of the reader's own browser.

const SECONDS = 10; // a check that takes longer is stopped, with the Python that runs it

const here = new URL(".", import.meta.url);
const page = {};
let worker = null;
let exercises = {};

/** The exercise that is chosen: its chapter and its entry. */
function chosen() {
  const [chapter, name] = page.exercise.value.split("/");
  return { chapter, entry: exercises[chapter].find((each) => each.name === name) };
}

const key = (chapter, name) => `specdec:${chapter}:${name}`;

/** The reader's answer, or the stub. Storage may be closed to a page: then nothing is kept. */
function answerTo(chapter, entry) {
  try {
    return localStorage.getItem(key(chapter, entry.name)) ?? entry.stub;
  } catch {
    return entry.stub;
  }
}

function keep() {
  const { chapter, entry } = chosen();
  try {
    localStorage.setItem(key(chapter, entry.name), page.code.value);
  } catch {
    /* nothing is kept */
  }
}

function showExercise() {
  const { chapter, entry } = chosen();
  page.code.value = answerTo(chapter, entry);
  page.code.rows = Math.max(12, page.code.value.split("\n").length + 4);
  page.chapter.href = `chapters/${chapter}.html#exercise-${entry.name.replaceAll("_", "-")}`;
  say("", "");
}

function startAgain() {
  const { entry } = chosen();
  page.code.value = entry.stub;
  keep();
  say("", "The stub is back.");
}

/** Show a result; `kind` is "", "right" or "wrong". */
function say(kind, text) {
  page.result.dataset.kind = kind;
  page.result.textContent = text;
}

/** Code that stands above the answer: the chapter's own, and the reader's earlier answers. */
function sources() {
  const { chapter, entry } = chosen();
  const all = exercises[chapter];
  const earlier = all.slice(0, all.indexOf(entry)).map((each) => answerTo(chapter, each));
  return [...entry.above, ...earlier, page.code.value];
}

function newWorker() {
  worker = new Worker(new URL("try-worker.mjs", here), { type: "module" });
  worker.onerror = () => {
    say("wrong", "Python could not be started. It comes from cdn.jsdelivr.net: is that reachable?");
    stop();
  };
}

function stop() {
  worker?.terminate();
  worker = null;
  page.check.disabled = false;
}

function check() {
  keep();
  page.check.disabled = true;
  if (worker === null) newWorker();
  const { chapter, entry } = chosen();
  let timer = null;
  worker.onmessage = ({ data }) => {
    if (data.status !== undefined) {
      say("", data.status);
    } else if (data.running) {
      timer = setTimeout(() => {
        stop();
        say("wrong", `It took longer than ${SECONDS} s and was stopped. Is there a loop that never ends?`);
      }, SECONDS * 1000);
    } else {
      clearTimeout(timer);
      page.check.disabled = false;
      const mark = data.passed ? "Right. " : "Not yet. ";
      say(data.passed ? "right" : "wrong", mark + data.message);
    }
  };
  worker.postMessage({ number: chapter.slice(0, 2), name: entry.name, sources: sources() });
}

function fillChoice() {
  for (const [chapter, entries] of Object.entries(exercises)) {
    const group = document.createElement("optgroup");
    group.label = chapter.replaceAll("_", " ");
    group.append(...entries.map(({ name }) => new Option(name, `${chapter}/${name}`)));
    page.exercise.append(group);
  }
  page.exercise.value = "02_rejection_sampling/speculative_accept";
}

for (const name of ["exercise", "chapter", "code", "check", "again", "result"]) {
  page[name] = document.getElementById(`try-${name}`);
}
exercises = await (await fetch(new URL("exercises.json", here))).json();
fillChoice();
showExercise();
page.exercise.addEventListener("change", showExercise);
page.code.addEventListener("input", keep);
page.check.addEventListener("click", check);
page.again.addEventListener("click", startAgain);
page.check.disabled = false;
