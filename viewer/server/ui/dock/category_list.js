// The categories of values: busy, overhead, idle or ignored. Most are guessed from the names. The
// server keeps those that the user assigned for the next run of the program, and the address
// contains them.

import { request, send } from "../net/api.js";
import { setSetting, setting } from "../state/address.js";

/** The words of the categories with their meaning. @type {[string, string][]} */
export const CATEGORIES = [
  ["busy", "The unit computes"],
  ["overhead", "It communicates, synchronises or schedules"],
  ["idle", "It waits"],
  ["ignored", "The enclosing state decides"],
];

/**
 * A value with the category that it has without an assignment.
 * @typedef {{ value: number, name: string, type: string, counts: boolean, category: string,
 * origin: "guess" | "trace" | "filter" }} CategorizedValue
 */

/** The assigned categories by the numbers of the values. @type {Map<number, string>} */
const assigned = new Map();
/** @type {CategorizedValue[]} */
let values = [];
/** The categories of the address that are applied. @type {string | null} */
let appliedAddress = null;
/** @type {(() => void)[]} */
const listeners = [];

/** @param {() => void} listener called after each change of an assigned category */
export function onAssign(listener) {
  listeners.push(listener);
}

/** Loads the values, and the categories that were assigned earlier. Those of the address decide. */
export async function loadCategories() {
  restoreCategories();
  const answer = await request("categories", {}, "categories");
  if (!answer) return;
  const isFirst = values.length === 0;
  values = answer.values;
  if (!isFirst || assigned.size > 0) return;
  for (const [value, category] of answer.assigned) assigned.set(value, category);
  storeCategories();
}

/** Takes the categories of the address, if they are others. */
export function restoreCategories() {
  const stored = setting("categories");
  if (stored === appliedAddress) return;
  appliedAddress = stored;
  assigned.clear();
  for (const part of (stored ?? "").split(" ")) {
    const [, value, category] = /^(\d{1,9})-([a-z]+)$/.exec(part) ?? [];
    if (CATEGORIES.some(([word]) => word === category)) assigned.set(Number(value), category);
  }
  // Before the first answer, nothing shows categories.
  if (values.length) listeners.forEach((listener) => listener());
}

/** Writes the assigned categories to the address. */
function storeCategories() {
  appliedAddress = assigned.size
    ? categoryList()
        .map((pair) => pair.join("-"))
        .join(" ")
    : null;
  setSetting("categories", appliedAddress);
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
  storeCategories();
  send("categories", [...assigned]).catch(() => {});
  listeners.forEach((listener) => listener());
}

/** The assigned categories by value. @returns {[number, string][]} */
export function categoryList() {
  return [...assigned].sort((a, b) => a[0] - b[0]);
}

/** The assigned categories in the format of requests. */
export function categoryParameter() {
  return assigned.size ? JSON.stringify(categoryList()) : "";
}
