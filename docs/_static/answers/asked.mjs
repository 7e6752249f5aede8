// Predictions, quizzes and questions that are answered in words.

import { button, element, status } from "./elements.mjs";
import { judged } from "./judged.mjs";
import { keep, read } from "./kept.mjs";

/** A number to guess. Once there is one, the places of `reveals` say what it is. */
export function showPrediction(place, cell, { close, reveals }) {
  const range = `a number from ${cell.low} to ${cell.high}`;
  const guess = element("input", { type: "text", inputMode: "decimal", autocomplete: "off" });
  guess.value = read(cell.name) ?? "";
  const says = status();
  const tell = (words) => reveals.forEach((each) => (each.textContent = words));
  const reveal = (number) => cell.told && tell(judged(number, cell.told, close));
  const ask = element("form", { className: "own-bar" });
  ask.append(element("label", {}, `Your guess, ${range}`, guess));
  ask.append(element("button", { textContent: "Write it down" }));
  ask.addEventListener("submit", (event) => {
    event.preventDefault();
    const number = numberIn(guess.value, cell);
    says.textContent = number === null ? `Write ${range}. Any guess counts.` : written(number, cell);
    if (number === null) return;
    keep(cell.name, String(number));
    reveal(number);
  });
  place.append(ask, says);
  tell(`This waits for your guess of ${cell.name}.`);
  if (read(cell.name)) reveal(Number(read(cell.name)));
  // From here on a screen reader says what changes there, and nothing as the page is opened.
  for (const each of reveals) each.setAttribute("role", "status");
}

/** The number of a guess, or null if it is none in range. */
function numberIn(text, { low, high }) {
  const number = text.trim() === "" ? NaN : Number(text);
  return number >= low && number <= high ? number : null;
}

function written(number, { told }) {
  const where = told ? "What it is stands below." : "What was measured is folded below.";
  return `${number} is written down. Right or wrong, it counts. ${where}`;
}

/** One of four letters. What there is to say of it is said when it is given. */
export function showQuiz(place, cell) {
  const says = status();
  const choices = Object.keys(cell.told).map((letter) => {
    const checked = letter === read(cell.name);
    const radio = element("input", { type: "radio", name: cell.name, value: letter, checked });
    return element("label", {}, radio, ` ${letter} `);
  });
  const answer = button("Answer", () => {
    const chosen = place.querySelector("input:checked");
    says.textContent = chosen ? cell.told[chosen.value] : "Choose one of the letters first.";
    if (chosen) keep(cell.name, chosen.value);
  });
  const legend = element("legend", {}, `Your answer to ${cell.name}`);
  place.append(element("fieldset", { className: "own-bar" }, legend, ...choices, answer), says);
  if (read(cell.name)) says.textContent = cell.told[read(cell.name)] ?? "";
}

/** An answer in words, which a person marks. */
export function showWritten(place, cell) {
  const text = element("textarea", { rows: 6, value: read(cell.name) ?? "" });
  text.addEventListener("input", () => keep(cell.name, text.value));
  const note = `Your answer in words (in a class a person marks it, ${cell.points} points)`;
  place.append(element("label", {}, note, text));
}
