// What is said of a guess, as specdec_lib/lessons/common/answers.py says it.

/** Whether a guess is this number, written with two digits or more. */
function isSame(guess, { value, rounded }) {
  const far = Math.abs(guess - value);
  return far <= 0.005 * Math.max(Math.abs(guess), Math.abs(value)) || guess === rounded;
}

/** A guess as it is shown: ten digits at most, and thousands apart. */
export const shown = (guess) => guess.toLocaleString("en-US", { maximumSignificantDigits: 10 });

/** What is said of a guess; `close` is how far from the truth, as a part of it, is called close. */
export function judged(guess, { is, why, typical }, close) {
  const said = `You said ${shown(guess)}`;
  if (isSame(guess, is)) return `${said}, and it is ${is.shown}. ${why}`;
  const far = (each) => Math.abs(guess - each.value);
  const [nearest] = [...typical].sort((a, b) => far(a) - far(b));
  if (nearest && isSame(guess, nearest)) {
    return `${said}. It is ${is.shown}. ${nearest.shown} ${nearest.thought} ${why}`;
  }
  const near = far(is) <= close * Math.abs(is.value) ? " That is close." : "";
  return `${said}.${near} It is ${is.shown}. ${why}`;
}
