// The view of a trace that the browser saves between visits: the arrangement of its rows, and dimmed
// or hidden values and types.

import { send } from "../net/api.js";
import { showNote } from "../util/status_line.js";
import { onStore } from "./address.js";
import { activeFilters, view } from "./view_state.js";
import { namesOf, renumber, setTrace } from "./workspace.js";

/**
 * Maximum number of traces with a saved view: a browser saves only a few megabytes. Those not viewed
 * for the longest time are removed.
 */
const MAX_TRACES = 50;
const KEY = "tumit:traces";

/**
 * Names of traces, the arrangement of their rows, and the names of its numbers if another trace may
 * have the same name.
 * @returns {string[][]} newest last
 */
function readEntries() {
  try {
    const stored = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored)
      ? stored.filter(
          (entry) => Array.isArray(entry) && entry.length >= 2 && entry.every((part) => typeof part === "string"),
        )
      : [];
  } catch {
    return [];
  }
}

/**
 * The name of a trace among the saved views: container numbers have a meaning only in the same trace.
 * @param {any} summary
 */
export function traceIdentity(summary) {
  // A growing trace has no fixed size.
  if (summary.availability) return summary.name;
  return [summary.name, summary.origin, summary.duration, summary.containers, summary.states].join(" ");
}

/**
 * The initial arrangement of a trace: that of the command line, or that of the last visit, or that
 * of other traces of its model.
 * @param {string} trace
 * @param {any} summary
 */
export async function initialRows(trace, { filters, style, availability }) {
  const rows = await readRows(trace, Boolean(availability));
  if (filters.length)
    rows.set(
      "filters",
      JSON.stringify(filters.map((/** @type {[string, boolean]} */ [text, on]) => (on ? text : [text]))),
    );
  else if (style && ![...rows].length) {
    if (style.filters.length) rows.set("filters", JSON.stringify(style.filters));
    if (style.hidden.length) rows.set("hidden", style.hidden.join(" "));
    if (style.gradients?.length) rows.set("gradients", style.gradients.join(" "));
    if (style.dimmed.length) rows.set("dimmed", style.dimmed.join(" "));
  }
  return String(rows);
}

/**
 * Stores the rows of the trace here, and the style of its model at the server, for its next run.
 * @param {string} trace
 * @param {boolean} isGrowing whether another trace may have the same name later
 */
export function saveChanges(trace, isGrowing) {
  setTrace(trace);
  let namingTimer = 0;
  let sentStyle = "";
  let timer = 0;
  onStore((rows) => {
    storeRows(trace, rows);
    window.clearTimeout(namingTimer);
    if (isGrowing && rows)
      namingTimer = window.setTimeout(() => {
        namesOf(rows, activeFilters())
          .then((names) => storeRows(trace, rows, JSON.stringify(names)))
          .catch(() => {});
      }, 300);
    const style = {
      filters: view.filters
        .filter(([text, on]) => on && /^(colou?r|shape|size|bright) /.test(text))
        .map(([text]) => text),
      hidden: [...view.hiddenTypes],
      gradients: [...view.gradients],
      dimmed: [...view.dimmedValues],
    };
    const text = JSON.stringify(style);
    const isChanged = sentStyle !== "" && sentStyle !== text;
    sentStyle = text;
    if (!isChanged) return;
    window.clearTimeout(timer);
    timer = window.setTimeout(() => {
      send("style", style).catch(() => {});
    }, 100);
  });
}

/** The stored arrangement of the rows. @param {string} trace @param {boolean} isGrowing */
async function readRows(trace, isGrowing) {
  const [, rows = "", names = "{}"] = readEntries().find(([name]) => name === trace) ?? [];
  if (!isGrowing || !rows) return new URLSearchParams(rows);
  try {
    const [localRows, missing] = await renumber(rows, JSON.parse(names), "");
    if (missing) showNote(`Not in this trace, but in the previous one: ${missing}`);
    return new URLSearchParams(localRows);
  } catch {
    return new URLSearchParams();
  }
}

/** @param {string} trace @param {string} rows @param {...string} names */
function storeRows(trace, rows, ...names) {
  const entries = readEntries().filter(([name]) => name !== trace);
  try {
    localStorage.setItem(
      KEY,
      JSON.stringify([...entries.slice(1 - MAX_TRACES), ...(rows ? [[trace, rows, ...names]] : [])]),
    );
  } catch {
    // The storage is full or forbidden; the address still contains the state.
  }
}
