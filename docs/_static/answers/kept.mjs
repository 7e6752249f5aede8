// What the reader has written on this page, by the names of the answers, kept in this browser.

const written = new Map(); // what the browser does not keep lasts as long as the page
let prefix = "";

/** Read what was kept of this chapter; false where the browser lends the page no storage. */
export function open(chapter) {
  prefix = `specdec:${chapter}:`;
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
    for (const key of keys) written.set(key.slice(prefix.length), localStorage.getItem(key));
    return true;
  } catch {
    return false;
  }
}

export const read = (name) => written.get(name);

export function keep(name, text) {
  written.set(name, text);
  try {
    localStorage.setItem(prefix + name, text);
  } catch {
    /* it lasts as long as the page */
  }
}

export function forget(name) {
  written.delete(name);
  try {
    localStorage.removeItem(prefix + name);
  } catch {
    /* nothing was kept */
  }
}

/** Forget all that was written on this page. */
export function clear() {
  for (const name of [...written.keys()]) forget(name);
}
