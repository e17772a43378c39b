// What is known of entities: asked once, then remembered.

import { ask } from "./api.js";
import { inLine } from "./dom.js";
import { date, grouped } from "./format.js";

/** @type {Map<string, any>} */
const known = new Map();

/** @param {string} id @param {string} [purpose] pointing does not cut off choosing @returns {Promise<any>} `undefined` when something newer was asked */
export async function facts(id, purpose = "point") {
  if (!known.has(id)) {
    const answer = await ask("facts", { id }, `facts to ${purpose}`);
    if (!answer) return undefined;
    learn(answer);
  }
  return known.get(id);
}

/** What was known, behind other filters. */
export function forgetFacts() {
  known.clear();
}

/** @param {any} answer */
export function learn(answer) {
  if (known.size > 2000) known.clear();
  known.set(answer.id, answer);
}

/**
 * What is known of an entity, as pairs: when, then from where to where, then its own fields. A link's dates stand beside its ends.
 * @param {any} facts @param {boolean} [whole] also what matters to few: where in the source, and the key of a link
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
    // A key that the trace does not spell out is a number of the viewer's own.
    fields = whole && !/^k\d+$/.test(key[1]) ? [...own, ["Key", key[1]]] : own;
  }
  /** @type {[string, string][]} */
  const source = whole && facts.source ? [["Source", `${facts.source[0]}:${facts.source[1]}`]] : [];
  const spaced = (/** @type {string} */ text) => /^\d{5,15}$/.test(text) ? grouped(Number(text)) : text;
  return [...when, .../** @type {[string, string][]} */ (fields.map(([name, text]) => [name, spaced(text)])), ...source];
}
