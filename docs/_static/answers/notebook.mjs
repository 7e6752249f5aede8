// The chapter's notebook with the reader's answers in it, to go on with in Jupyter.

import { element } from "./elements.mjs";
import { read } from "./kept.mjs";

/** The source of an answer's cell, or undefined if nothing was written. */
export function sourceOf({ kind, name, stub }) {
  const written = read(name);
  if (!written?.trim()) return undefined;
  if (kind === "prediction") return stub.replace("None", () => written);
  if (kind === "quiz") return stub.replace('""', `"${written}"`);
  return written;
}

/** Put the answers into the notebook's own cells; returns how many there are. */
export function fill(notebook, cells) {
  const homes = new Map(notebook.cells.map((cell) => [cell.metadata.nbgrader?.grade_id, cell]));
  const answers = cells.filter(({ kind }) => kind !== "given");
  const filled = answers.filter((each) => sourceOf(each) !== undefined);
  for (const each of filled) homes.get(each.name).source = sourceOf(each);
  return filled.length;
}

/** Have the browser save the notebook under its own name; resolves to what to say. */
export async function download({ chapter, cells }) {
  const name = `${chapter}.ipynb`;
  const answer = await fetch(new URL(`../notebooks/${name}`, import.meta.url));
  const notebook = await answer.json();
  const count = fill(notebook, cells);
  const file = new Blob([JSON.stringify(notebook, null, 1), "\n"], { type: "application/x-ipynb+json" });
  const link = element("a", { href: URL.createObjectURL(file), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
  return `${name} has ${count} answers of this page in it. Put it into work/${chapter}/.`;
}
