// Elements of the page.

/** An element with properties (`dataset` and attributes with a "-" too) and children. */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "dataset") Object.assign(made.dataset, value);
    else if (name.includes("-") || name === "role") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children);
  return made;
}

export const button = (text, onclick) => element("button", { type: "button", textContent: text, onclick });

/** The words that a screen reader says when they change. */
export const status = () => element("p", { role: "status", className: "own-says" });
