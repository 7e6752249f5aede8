// The formulas of the linked picture; a test holds each against the library's. p is the target's distribution over the
// tokens, q the draft's. Times are in target passes over one token, and v has v(1), v(2), ...: v[k] is v(k + 1).

import { expectedTokens, sum, whole } from "../parts/formulas.js";

/** Probability that a drafted token is accepted: min(1, p/q); 0 where p is 0, 1 where only q is 0. */
export function acceptance(p, q) {
  if (p === 0) return 0;
  return q === 0 ? 1 : Math.min(1, p / q);
}

/** What both distributions have of each token: min(p, q). */
export function overlap(p, q) {
  return p.map((value, i) => Math.min(value, q[i]));
}

/** What p has more than q of each token: max(0, p - q). */
export function excess(p, q) {
  return p.map((value, i) => Math.max(0, value - q[i]));
}

/** The distribution drawn from after a rejection: max(0, p - q), normalised; p itself where that is 0, or rounding. */
export function residual(p, q) {
  const left = excess(p, q);
  const mass = sum(left);
  return mass < 1e-12 ? [...p] : left.map((value) => value / mass);
}

/** Probability that each token is written by acceptance, and by correction: drafted and accepted, rejected and redrawn. */
export function paths(p, q) {
  const accepted = q.map((value, i) => value * acceptance(p[i], value));
  const rejected = 1 - sum(accepted);
  return [accepted, residual(p, q).map((value) => rejected * value)];
}

/** Half the L1 distance. */
export function totalVariation(p, q) {
  return sum(p.map((value, i) => Math.abs(value - q[i]))) / 2;
}

/** `values` with `mass` on entry i. The others keep their proportions; where they are all 0 they get equal parts. */
export function withMass(values, i, mass) {
  const others = sum(values.filter((_, j) => j !== i));
  const part = (value) => (others > 0 ? value / others : 1 / (values.length - 1));
  return values.map((value, j) => (j === i ? mass : (1 - mass) * part(value)));
}

/** v(1) to v(most + 1) where each further token of a pass costs s: v(n) = 1 + s (n - 1). */
export function straight(s, most) {
  return whole(0, most).map((k) => 1 + s * k);
}

/** Time of a block: k draft steps and one pass over k + 1 tokens. */
export function blockTime(c, k, v) {
  return c * k + v[k];
}

/** Times as fast as plain decoding, if each judged draft token is accepted with probability `rate`. */
export function speedup(rate, c, k, v) {
  return expectedTokens(rate, k) / blockTime(c, k, v);
}

/** The smallest best K that v reaches, from 0 on; speed-ups within 1e-12 of the best are equal to it. */
export function bestK(rate, c, v) {
  const speeds = v.map((_, k) => speedup(rate, c, k, v));
  const most = Math.max(...speeds);
  return speeds.findIndex((speed) => speed >= most - 1e-12);
}
