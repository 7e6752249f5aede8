// A chapter's page that is worked on: every answer has its place there, and fills it.

import { showPrediction, showQuiz, showWritten } from "./asked.mjs";
import { button, element, status } from "./elements.mjs";
import { showFunction } from "./function.mjs";
import { clear, open } from "./kept.mjs";
import { download } from "./notebook.mjs";

const SHOW = {
  function: showFunction,
  prediction: showPrediction,
  quiz: showQuiz,
  written: showWritten,
};
const SURE = "Clear everything that you wrote on this page? It cannot be brought back.";
const LOST = "This browser keeps nothing for this page: download the notebook before you leave.";

/** The line at the top: what is kept, the notebook, and the way to clear all. */
function showBar(place, data, isKept) {
  const says = status();
  if (!isKept) says.textContent = LOST;
  const failed = ({ message }) => `The notebook could not be loaded: ${message}`;
  const save = async () => {
    says.textContent = await download(data).catch(failed);
  };
  const clearAll = () => {
    if (!confirm(SURE)) return;
    clear();
    location.reload();
  };
  const buttons = [
    button("Download the notebook with my answers", save),
    button("Clear this page", clearAll),
  ];
  place.append(element("p", { className: "own-bar" }, ...buttons), says);
}

/** The cell after a place, which the place stands in for. */
function hideNext(place) {
  place.nextElementSibling.hidden = true;
}

/** Keys that are pressed in an answer are no shortcuts of the page, such as "/" for its search. */
const keepKeys = (place) => place.addEventListener("keydown", (event) => event.stopPropagation());

const top = document.querySelector("[data-chapter]");
const file = new URL(`${top.dataset.chapter}.json`, import.meta.url);
const data = await (await fetch(file)).json();
showBar(top, data, open(data.chapter));
for (const place of document.querySelectorAll("[data-answer]")) {
  const cell = data.cells.find(({ name }) => name === place.dataset.answer);
  const reveals = [...document.querySelectorAll(`[data-reveal="${cell.name}"]`)];
  SHOW[cell.kind](place, cell, { ...data, reveals });
  keepKeys(place);
}
document.querySelectorAll("[data-instead]").forEach(hideNext);
