// The categories of values: busy, overhead, idle or ignored. Most are guessed from the names. The
// server keeps those that the user assigned for the next run of the program.

import { request, send } from "../net/api.js";

/** The words of the categories with their meaning. @type {[string, string][]} */
export const CATEGORIES = [["busy", "The unit computes"], ["overhead", "It communicates, synchronises or schedules"], ["idle", "It waits"], ["ignored", "The enclosing state decides"]];

/**
 * A value with the category that it has without an assignment.
 * @typedef {{ value: number, name: string, type: string, category: string, origin: "guess" | "trace" | "filter" }}
 * CategorizedValue
 */

/** The assigned categories by the numbers of the values. @type {Map<number, string>} */
const assigned = new Map();
/** @type {CategorizedValue[]} */
let values = [];

/** Loads the values, and the categories that were assigned earlier. */
export async function loadCategories() {
  const answer = await request("categories", {}, "categories");
  if (!answer) return;
  const isFirst = values.length === 0;
  values = answer.values;
  if (isFirst) for (const [value, category] of answer.assigned) assigned.set(value, category);
}

export function categorizedValues() {
  return values;
}

/** @param {number} value */
export function assignedCategory(value) {
  return assigned.get(value);
}

/** @param {number} value @param {string | null} category null: that without an assignment */
export function assign(value, category) {
  if (category === null) assigned.delete(value);
  else assigned.set(value, category);
  send("categories", [...assigned]).catch(() => {});
}

/** The assigned categories in the format of requests. */
export function categoryParameter() {
  return assigned.size ? JSON.stringify([...assigned]) : "";
}
