// Facts about entities: requested once, then kept.

import { ask } from "../net/api.js";
import { inLine } from "../util/dom.js";
import { date, grouped } from "../util/format.js";

/** @type {Map<string, any>} */
const known = new Map();

/**
 * @param {string} id
 * @param {string} [purpose] a request for pointing does not abort one for choosing
 * @returns {Promise<any>} `undefined` when a newer request was sent
 */
export async function facts(id, purpose = "point") {
  if (!known.has(id)) {
    const answer = await ask("facts", { id }, `facts to ${purpose}`);
    if (!answer) return undefined;
    learn(answer);
  }
  return known.get(id);
}

/** Clears the facts, because they depend on the filters. */
export function forgetFacts() {
  known.clear();
}

/** @param {any} answer */
export function learn(answer) {
  if (known.size > 2000) known.clear();
  known.set(answer.id, answer);
}

/**
 * The facts of an entity as pairs: time, endpoints, then its own fields. The timestamps of a link
 * are next to its endpoints.
 * @param {any} facts
 * @param {boolean} [whole] includes details for a minority of users: the position in the source,
 * and the key of a link
 * @returns {[string, string][]}
 */
export function pairs(facts, whole = true) {
  const span = Math.abs(facts.to - facts.from);
  const dates = [facts.from, facts.to].map((time) => date(time, Math.max(1, span / 1000)));
  /** @type {[string, string][]} */
  let fields = facts.fields;
  /** @type {[string, string][]} */
  let when = span === 0 ? [["At", dates[0]]] : [["From", dates[0]], ["To", dates[1]]];
  if (facts.kind === "Link") {
    const [from, to, key, ...own] = fields;
    const place = (/** @type {string} */ path) => inLine(path.split(" › ").slice(whole ? 0 : path.split(" › ").length > 2 ? 1 : -1));
    when = [["From", `${place(from[1])}, ${dates[0]}`], ["To", `${place(to[1])}, ${dates[1]}`]];
    // A key of the form `k1` is a number of the viewer's own; the trace does not contain it.
    fields = whole && !/^k\d+$/.test(key[1]) ? [...own, ["Key", key[1]]] : own;
  }
  /** @type {[string, string][]} */
  const source = whole && facts.source ? [["Source", `${facts.source[0]}:${facts.source[1]}`]] : [];
  const spaced = (/** @type {string} */ text) => /^\d{5,15}$/.test(text) ? grouped(Number(text)) : text;
  return [...when, .../** @type {[string, string][]} */ (fields.map(([name, text]) => [name, spaced(text)])), ...source];
}
