// The editor of the chapters' pages: CodeMirror 6 with Python. `python -m autograde.tools.editor`
// bundles this file with what it imports into docs/_static/answers/codemirror.mjs.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

/** An editor with `text` in it. `attributes` are those of the field where one writes.
 *
 * `onRun` is called on Ctrl+Enter (Command+Enter on a Mac). Tab indents while one writes; after
 * Escape it leaves, as CodeMirror does it by itself.
 */
export function editor({ text, attributes, onChange, onRun }) {
  const run = () => {
    onRun();
    return true;
  };
  return new EditorView({
    doc: text,
    extensions: [
      lineNumbers(),
      history(),
      python(),
      indentUnit.of("    "),
      indentOnInput(),
      bracketMatching(),
      syntaxHighlighting(classHighlighter), // class names; site.css has the colours
      EditorState.tabSize.of(4),
      EditorView.contentAttributes.of({ ...attributes, tabindex: "0" }),
      tabsAreForMoving(),
      EditorView.updateListener.of((update) => update.docChanged && onChange(textOf(update.view))),
      keymap.of([{ key: "Mod-Enter", run }, indentWithTab, ...defaultKeymap, ...historyKeymap]),
    ],
  });
}

/** Who comes by Tab leaves by Tab, until the first key that is for the code: nobody is trapped who
 * only passes. */
function tabsAreForMoving() {
  const passing = ["Tab", "Shift", "Control", "Alt", "Meta", "Escape"];
  const isForCode = ({ key, ctrlKey, metaKey }) => !passing.includes(key) && !ctrlKey && !metaKey;
  return EditorView.domEventHandlers({
    focus: (_, view) => view.setTabFocusMode(true),
    click: (_, view) => view.setTabFocusMode(false),
    keydown: (event, view) => {
      if (isForCode(event)) view.setTabFocusMode(false);
    },
  });
}

/** What stands in an editor. */
export const textOf = (view) => view.state.doc.toString();

/** Put `text` in the place of all that stands there; Ctrl+Z brings it back. */
export function write(view, text) {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}
