// What is remembered of a trace between visits: how its rows were arranged, and what was dimmed or hidden.

import { tell } from "./api.js";
import { onKept, view } from "./view.js";

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
  // One that grows has no size of its own.
  if (summary.standing) return summary.name;
  return [summary.name, summary.origin, summary.duration, summary.containers, summary.states].join(" ");
}

/**
 * How a trace looks at first: as the command line says, else as it was left, else as others of its model.
 * @param {string} trace @param {any} summary
 */
export function first(trace, { filters, look }) {
  const rows = new URLSearchParams(recall(trace));
  if (filters.length) rows.set("filters", JSON.stringify(filters.map((/** @type {[string, boolean]} */ [text, on]) => (on ? text : [text]))));
  else if (look && ![...rows].length) {
    if (look.filters.length) rows.set("filters", JSON.stringify(look.filters));
    if (look.hidden.length) rows.set("hidden", look.hidden.join(" "));
    if (look.gradients?.length) rows.set("gradients", look.gradients.join(" "));
    if (look.dimmed.length) rows.set("dimmed", look.dimmed.join(" "));
  }
  return String(rows);
}

/** Remembers the trace's rows here, and the look of its model at the server, for its next run. @param {string} trace */
export function listenToMemory(trace) {
  let told = "";
  let timer = 0;
  onKept((rows) => {
    memorise(trace, rows);
    const look = { filters: view.filters.filter(([text, on]) => on && /^(colou?r|shape|size|bright) /.test(text)).map(([text]) => text), hidden: [...view.hidden], gradients: [...view.gradients], dimmed: [...view.dimmed] };
    const text = JSON.stringify(look);
    const news = told !== "" && told !== text;
    told = text;
    if (!news) return;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => { tell("look", look).catch(() => {}); }, 100);
  });
}

/** @param {string} trace */
function recall(trace) {
  return all().find(([name]) => name === trace)?.[1] ?? "";
}

/** @param {string} trace @param {string} rows */
function memorise(trace, rows) {
  const others = all().filter(([name]) => name !== trace);
  try {
    localStorage.setItem(KEY, JSON.stringify([...others.slice(1 - MOST), ...(rows ? [[trace, rows]] : [])]));
  } catch {
    // A full or forbidden storage: the address still holds the view.
  }
}
