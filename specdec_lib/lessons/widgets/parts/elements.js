// Elements and numbers.

const SVG_NS = "http://www.w3.org/2000/svg";
let madeIds = 0;

/** An id that no other simulator on the page has, even one from another copy of this module. */
export function freshId() {
  madeIds += 1;
  return `sd-${Math.random().toString(36).slice(2, 10)}-${madeIds}`;
}

export function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** An HTML element; attributes that start with "on" are event listeners. */
export function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG_NS, tag), attributes, children);
}

/** Two decimals where they are exact, else three: .8 is "0.80" and 2/3 is "0.667". Rounds for display only. */
export function show(x) {
  const hundredths = 100 * x;
  return x.toFixed(Math.abs(hundredths - Math.round(hundredths)) < 1e-9 ? 2 : 3);
}

/** Puts `text` into `element`; unchanged text is left alone, so that screen readers do not repeat it. */
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
