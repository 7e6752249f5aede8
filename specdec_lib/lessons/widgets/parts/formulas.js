// Formulas and random numbers that several simulators use.

/** Tokens that a block of k draft tokens writes on average, correction or bonus counted: 1 + alpha + ... + alpha^k. */
export function expectedTokens(alpha, k) {
  let [tokens, power] = [1, 1];
  for (let i = 0; i < k; i += 1) tokens += (power *= alpha);
  return tokens;
}

export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}

/** The whole numbers from `first` to `last`. */
export function whole(first, last) {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** A uniform number in [0, 1) and the next seed: mulberry32, which a test repeats in Python. */
export function uniform(seed) {
  const next = (seed + 0x6d2b79f5) >>> 0;
  let t = next;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return [((t ^ (t >>> 14)) >>> 0) / 4294967296, next];
}

/** `count` uniform numbers from a seed. */
export function uniforms(seed, count) {
  return Array.from({ length: count }, () => { const [u, next] = uniform(seed); seed = next; return u; });
}
