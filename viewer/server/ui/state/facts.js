// Facts about entities: requested once, then kept.

import { request } from "../net/api.js";
import { joinNames } from "../util/dom.js";
import { formatTimestamp, groupDigits } from "../util/format.js";

/** @type {Map<string, any>} */
const cache = new Map();

/**
 * @param {string} id
 * @param {string} [purpose] a request for the pointer does not cancel one for the selection
 * @returns {Promise<any>} `undefined` when a newer request was sent
 */
export async function facts(id, purpose = "point") {
  if (!cache.has(id)) {
    const answer = await request("facts", { id }, `facts to ${purpose}`);
    if (!answer) return undefined;
    storeFacts(answer);
  }
  return cache.get(id);
}

/** Clears the facts, because they depend on the filters. */
export function clearFacts() {
  cache.clear();
}

/** @param {any} answer */
export function storeFacts(answer) {
  if (cache.size > 2000) cache.clear();
  cache.set(answer.id, answer);
}

/**
 * The facts of an entity as pairs: time, endpoints, then its fields. The timestamps of a link
 * are next to its endpoints.
 * @param {any} facts
 * @param {boolean} [hasDetails] whether details for a minority of users are included: the position
 * in the source, and the key of a link
 * @returns {[string, string][]}
 */
export function factPairs(facts, hasDetails = true) {
  const span = Math.abs(facts.to - facts.from);
  const ends = [facts.from, facts.to].map((time) => formatTimestamp(time, Math.max(1, span / 1000)));
  /** @type {[string, string][]} */
  let fields = facts.fields;
  /** @type {[string, string][]} */
  let times =
    span === 0
      ? [["At", ends[0]]]
      : [
          ["From", ends[0]],
          ["To", ends[1]],
        ];
  if (facts.kind === "Link") {
    const [from, to, key, ...others] = fields;
    const place = (/** @type {string} */ path) =>
      joinNames(path.split(" › ").slice(hasDetails ? 0 : path.split(" › ").length > 2 ? 1 : -1));
    times = [
      ["From", `${place(from[1])}, ${ends[0]}`],
      ["To", `${place(to[1])}, ${ends[1]}`],
    ];
    // A key of the form `k1` is a number of the viewer. The trace does not contain it.
    fields = hasDetails && !/^k\d+$/.test(key[1]) ? [...others, ["Key", key[1]]] : others;
  }
  /** @type {[string, string][]} */
  const source = hasDetails && facts.source ? [["Source", `${facts.source[0]}:${facts.source[1]}`]] : [];
  const grouped = (/** @type {string} */ text) => (/^\d{5,15}$/.test(text) ? groupDigits(Number(text)) : text);
  return [
    ...times,
    .../** @type {[string, string][]} */ (fields.map(([name, text]) => [name, grouped(text)])),
    ...source,
  ];
}
