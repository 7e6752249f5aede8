// A simulator in a frame, where no kernel is.

/** Shows a simulator in this page, and tells the page around how high it is. The model has the methods that a live
 *  widget's has. */
export function showInFrame(render, values) {
  const listeners = {};
  const model = {
    get: (name) => values[name],
    set(name, value) {
      values[name] = value;
      (listeners[`change:${name}`] ?? []).forEach((tell) => tell());
    },
    on(event, tell) { (listeners[event] ??= []).push(tell); },
    off(event, tell) { listeners[event] = (listeners[event] ?? []).filter((old) => old !== tell); },
    save_changes() {},
  };
  render({ model, el: document.body });
  const height = () => Math.ceil(document.body.getBoundingClientRect().height);
  const tellHeight = () => parent.postMessage({ specdecHeight: height() }, "*");
  new ResizeObserver(tellHeight).observe(document.body);
  tellHeight();
}
