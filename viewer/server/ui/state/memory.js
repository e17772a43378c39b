// The memory of a trace between visits: the arrangement of its rows, and dimmed or hidden values
// and types.

import { tell } from "../net/api.js";
import { note } from "../util/status_line.js";
import { filtersOn, onKept, view } from "./view.js";
import { namesOf, renumbered, setTrace } from "./workspace.js";

/** The most traces in the memory; those not viewed for the longest time are removed. */
const MOST = 50;
const KEY = "tumit:traces";

/**
 * Names of traces, the arrangement of their rows, and the names of its numbers if another trace may
 * have the same name.
 * @returns {string[][]} newest last
 */
function all() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((one) => Array.isArray(one) && one.length >= 2 && one.every((part) => typeof part === "string")) : [];
  } catch {
    return [];
  }
}

/**
 * The name of a trace in the memory: container numbers have a meaning only in the same trace.
 * @param {any} summary
 */
export function nameOf(summary) {
  // A growing trace has no fixed size.
  if (summary.standing) return summary.name;
  return [summary.name, summary.origin, summary.duration, summary.containers, summary.states].join(" ");
}

/**
 * The initial arrangement of a trace: that of the command line, or that of the last visit, or that
 * of other traces of its model.
 * @param {string} trace
 * @param {any} summary
 */
export async function first(trace, { filters, look, standing }) {
  const rows = await recall(trace, Boolean(standing));
  if (filters.length) rows.set("filters", JSON.stringify(filters.map((/** @type {[string, boolean]} */ [text, on]) => (on ? text : [text]))));
  else if (look && ![...rows].length) {
    if (look.filters.length) rows.set("filters", JSON.stringify(look.filters));
    if (look.hidden.length) rows.set("hidden", look.hidden.join(" "));
    if (look.gradients?.length) rows.set("gradients", look.gradients.join(" "));
    if (look.dimmed.length) rows.set("dimmed", look.dimmed.join(" "));
  }
  return String(rows);
}

/**
 * Stores the rows of the trace here, and the style of its model at the server, for its next run.
 * @param {string} trace
 * @param {boolean} grows whether another trace may have the same name later
 */
export function listenToMemory(trace, grows) {
  setTrace(trace);
  let naming = 0;
  let told = "";
  let timer = 0;
  onKept((rows) => {
    memorise(trace, rows);
    window.clearTimeout(naming);
    if (grows && rows) naming = window.setTimeout(() => { namesOf(rows, filtersOn()).then((names) => memorise(trace, rows, JSON.stringify(names))).catch(() => {}); }, 300);
    const look = { filters: view.filters.filter(([text, on]) => on && /^(colou?r|shape|size|bright) /.test(text)).map(([text]) => text), hidden: [...view.hidden], gradients: [...view.gradients], dimmed: [...view.dimmed] };
    const text = JSON.stringify(look);
    const news = told !== "" && told !== text;
    told = text;
    if (!news) return;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => { tell("look", look).catch(() => {}); }, 100);
  });
}

/** The stored arrangement of the rows. @param {string} trace @param {boolean} grows */
async function recall(trace, grows) {
  const [, rows = "", names = "{}"] = all().find(([name]) => name === trace) ?? [];
  if (!grows || !rows) return new URLSearchParams(rows);
  try {
    const [here, missing] = await renumbered(rows, JSON.parse(names), "");
    if (missing) note(`Not in this trace, but remembered of the one before: ${missing}`);
    return new URLSearchParams(here);
  } catch {
    return new URLSearchParams();
  }
}

/** @param {string} trace @param {string} rows @param {...string} names */
function memorise(trace, rows, ...names) {
  const others = all().filter(([name]) => name !== trace);
  try {
    localStorage.setItem(KEY, JSON.stringify([...others.slice(1 - MOST), ...(rows ? [[trace, rows, ...names]] : [])]));
  } catch {
    // The storage is full or forbidden; the address still contains the view.
  }
}
