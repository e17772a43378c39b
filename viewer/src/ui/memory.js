// What is remembered of a trace between visits: how its rows were arranged, and what was dimmed or hidden.

/** Traces remembered; the ones looked at longest ago are forgotten. */
const MOST = 50;
const KEY = "tumit:traces";

/** @returns {[string, string][]} newest last */
function all() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => Array.isArray(one) && one.length === 2 && one.every((part) => typeof part === "string")) : [];
  } catch {
    return [];
  }
}

/** A trace's own name here: container numbers mean the same only in the same trace. @param {any} summary */
export function nameOf(summary) {
  return [summary.name, summary.origin, summary.duration, summary.containers, summary.states].join(" ");
}

/** @param {string} trace */
export function recall(trace) {
  return all().find(([name]) => name === trace)?.[1] ?? "";
}

/** @param {string} trace @param {string} rows */
export function memorise(trace, rows) {
  const others = all().filter(([name]) => name !== trace);
  try {
    localStorage.setItem(KEY, JSON.stringify([...others.slice(1 - MOST), ...(rows ? [[trace, rows]] : [])]));
  } catch {
    // A full or forbidden storage: the address still holds the view.
  }
}
