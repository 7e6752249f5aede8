// A simulator on its page: its state, its keys, and when it is drawn.

import { html } from "./elements.js";

/** Keeps plain keys for the focused control: JupyterLab would take the arrows and Enter for its shortcuts (and
 *  a D pressed twice would delete the cell). Ctrl, Cmd, Alt and Shift+Enter stay JupyterLab's, so that Ctrl+S saves.
 *  JupyterLab listens on the document and reads the attribute off the focused element; the window comes first. */
function keepKeys(root) {
  const decide = (event) => {
    if (!root.contains(event.target)) return;
    const theirs = event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key === "Enter");
    event.target.toggleAttribute("data-lm-suppress-shortcuts", !theirs);
  };
  window.addEventListener("keydown", decide, true);
  return () => window.removeEventListener("keydown", decide, true);
}

// Pixels. What is narrower is a layout in the making: charts would have less than no room beside their labels.
const NARROWEST = 230;

/** Calls `draw` whenever the state or the width changes; returns the clean-up.
 *  Nothing is drawn while the element has next to no width, as in a notebook before its first layout. */
function keepDrawn(model, root, draw) {
  let width = 0;
  const redraw = () => { if (width >= NARROWEST) draw(); };
  const watcher = new ResizeObserver(() => {
    if (root.clientWidth !== width) { width = root.clientWidth; redraw(); }
  });
  model.on("change:state", redraw);
  watcher.observe(root);
  const releaseKeys = keepKeys(root);
  return () => { watcher.disconnect(); model.off("change:state", redraw); releaseKeys(); };
}

/** Writes part of the state back, to this page and, where there is one, to the kernel. */
export function change(model, part) {
  model.set("state", { ...model.get("state"), ...part });
  model.save_changes();
}

/** Shows `panels`, each { root, draw }, in `el`; every draw gets `view()`. Returns what takes the simulator down. */
export function mount(model, el, panels, view = () => model.get("state"), end = () => {}) {
  const root = html("div", { class: "sd-sim" }, ...panels.map((part) => part.root));
  el.append(root);
  const release = keepDrawn(model, root, () => { const now = view(); panels.forEach((part) => part.draw(now)); });
  return () => { end(); release(); };
}
