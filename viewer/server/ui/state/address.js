// The address of the page: it contains the state of the view and the settings of panels and dock.
// Each step of the browser's history is an earlier address.

import { readRuns, writeRuns } from "../util/number_runs.js";
import { showNote } from "../util/status_line.js";
import { notifyChange, setExtent, traceDuration, view } from "./view_state.js";

/** The zooms that led here, from the widest: each contains the next. @type {[number, number][]} */
let zooms = [];
let timer = 0;
/**
 * Whether a pending change makes no step of the history, because another pane's step moved this
 * one.
 */
let followsPane = false;
/** The number of earlier views in the history. */
let step = 0;
/**
 * The address that this page wrote last. A different address was typed by hand.
 * @type {string | null}
 */
let storedAddress = null;
/** @type {((rows: string, names: string) => void)[]} */
const storeListeners = [];

/**
 * @param {(rows: string, names: string) => void} listener receives the style of the rows and
 * the text searched in their names at each possible change
 */
export function onStore(listener) {
  storeListeners.push(listener);
}

function notifyStore() {
  const rows = rowParameters();
  storeListeners.forEach((listener) => listener(rows, view.names));
}

/**
 * Parts of the address that are no part of the view: the scroll position, the panel with its
 * settings, the dock with its cards, and the player.
 */
const SETTINGS = [
  "source",
  "clock",
  "scroll",
  "side",
  "tab",
  "form",
  "values",
  "amount",
  "order",
  "each",
  "of",
  "find",
  "inside",
  "everywhere",
  "drag",
  "dock",
  "part",
  "cards",
  "categories",
  "phase",
  "whatif",
  "large",
  "at",
  "rate",
  "loop",
  "stop",
];
/** @type {Map<string, string>} */
const settings = new Map();
let settingsTimer = 0;
/** The pending scroll position of the rows, applied once they are there. @type {number | null} */
let scroll = null;
/** Milliseconds between two changes of the address: browsers accept only a few each second. */
const SETTINGS_DELAY = 300;

/** @param {string} name @returns {string | null} the value in the address; null for the default */
export function setting(name) {
  return settings.get(name) ?? null;
}

/**
 * Writes a value to the address that makes no step of the history.
 * @param {string} name
 * @param {string | null} value
 */
export function setSetting(name, value) {
  if (setting(name) === value) return;
  if (value === null) settings.delete(name);
  else settings.set(name, value);
  settingsTimer ||= window.setTimeout(() => {
    settingsTimer = 0;
    // The end of a pending movement writes the address too.
    if (timer) return;
    history.replaceState({ zooms, step }, "", viewAddress());
    notifyChange("settings");
  }, SETTINGS_DELAY);
}

/** The pending scroll position of the rows. The second call returns null. */
export function takeScroll() {
  const to = scroll;
  scroll = null;
  return to;
}

/** The part of an address that makes steps of the history. @param {string} address */
function historyPart(address) {
  const parts = new URLSearchParams(address.slice(1));
  for (const name of SETTINGS) parts.delete(name);
  return String(parts);
}

/**
 * Restores the arrangement of the rows.
 * @param {string} rows
 * @param {string} names
 * @param {number} top the former scroll position
 */
export function restoreRows(rows, names, top) {
  view.names = names;
  scroll = top;
  readRows(new URLSearchParams(rows));
  storeView();
  notifyChange("rows");
}

/** The time ranges from the whole trace to the current view, in the order of zooming in. */
export function zoomHistory() {
  return zooms;
}

/** @param {[number, number][]} ranges */
export function setZoomHistory(ranges) {
  zooms = ranges;
}

/**
 * @param {number} duration
 * @param {string} storedRows the arrangement of the rows at the last visit of the trace
 * @param {number} number the generation
 */
export function startView(duration, storedRows, number) {
  setExtent(duration, number);
  const address = location.hash.slice(1);
  readAddress(address || storedRows);
  zooms = history.state?.zooms ?? addZoom([], [view.from, view.to]);
  step = history.state?.step ?? 0;
  if (!address) storeView(true);
  else notifyStore();
  window.addEventListener("popstate", (event) => {
    window.clearTimeout(timer);
    timer = 0;
    window.clearTimeout(settingsTimer);
    settingsTimer = 0;
    const settingsBefore = event.state?.zooms ? new Map(settings) : null;
    readAddress(location.hash.slice(1));
    // Back and forward do not change the panel.
    if (settingsBefore)
      SETTINGS.filter((name) => name !== "scroll").forEach((name) =>
        setSetting(name, settingsBefore.get(name) ?? null),
      );
    else onSettings();
    zooms = event.state?.zooms ?? addZoom([], [view.from, view.to]);
    step = event.state?.step ?? step + 1;
    notifyStore();
    notifyChange("rows");
  });
}

/**
 * Schedules the view for the address; a pause in the movement makes a step of the history.
 * @param {boolean} [follows] another pane has moved: no step
 */
export function storeViewSoon(follows = false) {
  if (timer) window.clearTimeout(timer);
  followsPane = follows;
  timer = window.setTimeout(storeView, 250);
}

/** Returns to the previous time range or selection. An unfinished movement is a step already. */
export function showPreviousView() {
  if (timer) storeView();
  // This page does not know the steps of other panes.
  if (step > 0 || window.parent !== window) history.back();
  else showNote("This is the first view");
}

/**
 * Writes the view to the address as a step of the history by itself.
 * @param {boolean} [replaces] replaces the previous step
 */
export function storeView(replaces = false) {
  const follows = timer !== 0 && followsPane;
  window.clearTimeout(timer);
  timer = 0;
  const address = viewAddress();
  zooms = addZoom(zooms, [view.from, view.to]);
  const isStep = replaces !== true && !follows && historyPart(location.hash) !== historyPart(address);
  if (isStep) step += 1;
  if (isStep) history.pushState({ zooms, step }, "", address);
  else if (replaces === true || follows || (location.hash || "#") !== address)
    history.replaceState({ zooms, step }, "", address);
  if (storedAddress !== historyPart(address)) {
    storedAddress = historyPart(address);
    notifyStore();
    notifyChange("selection");
  }
}

/**
 * The zooms with one more. Earlier zooms remain if they contain it and are at least twice as
 * wide.
 * @param {[number, number][]} before
 * @param {[number, number]} now
 * @returns {[number, number][]}
 */
function addZoom(before, [from, to]) {
  /** @type {[number, number]} */
  const wholeRange = [0, traceDuration()];
  if (from <= 0 && to >= traceDuration()) return [wholeRange];
  const wider = before.filter(([a, b], index) => index > 0 && a <= from && b >= to && b - a >= 2 * (to - from));
  return [wholeRange, ...wider.slice(-4), [from, to]];
}

/** The sets of the view, and their names in the address. */
const SETS = /** @type {const} */ ([
  ["toggledRows", "toggled"],
  ["hiddenRows", "gone"],
  ["dimmedValues", "dimmed"],
  ["hiddenTypes", "hidden"],
  ["gradients", "gradients"],
]);

function viewAddress() {
  const parts = new URLSearchParams(rowParameters());
  if (view.from !== 0 || view.to !== traceDuration()) parts.set("t", `${view.from}-${view.to}`.replace("--", "-~"));
  if (view.names) parts.set("names", view.names);
  if (view.entity) parts.set("chosen", view.entity);
  if (view.entity && view.showsChain) parts.set("chain", "1");
  if (view.selectedTime) parts.set("range", view.selectedTime.join(" "));
  if (view.selectedRows.size) parts.set("selected", writeRuns(view.selectedRows));
  for (const [name, value] of settings) parts.set(name, value);
  return "#" + parts;
}

/** The part of the address with the style of the rows. It is remembered with the trace. */
function rowParameters() {
  const parts = new URLSearchParams();
  if (view.level !== null) parts.set("level", String(view.level));
  for (const [set, name] of SETS) {
    if (view[set].size) parts.set(name, [...view[set]].join(" "));
  }
  if (view.mode) parts.set("mode", view.mode);
  if (view.pinnedRows.length) parts.set("pinned", view.pinnedRows.join(" "));
  if (view.filters.length) parts.set("filters", JSON.stringify(view.filters.map(([text, on]) => (on ? text : [text]))));
  if (view.rowMoves.length) parts.set("moved", view.rowMoves.map((pair) => pair.join("-")).join(" "));
  return String(parts);
}

/** @type {() => void} */
let onSettings = () => {};

/**
 * @param {() => void} handler called when an address from outside changes values outside the view
 */
export function watchSettings(handler) {
  onSettings = handler;
}

/** Nanoseconds of 290 years: no timestamp is further away. */
const MAX_TIMESTAMP = 2 ** 63;

/** @param {string} address */
function readAddress(address) {
  const parts = new URLSearchParams(address);
  const words = (/** @type {string} */ name) => (parts.get(name) ?? "").split(" ");
  const times = /^(-?\d+)-(~?\d+)$/.exec(parts.get("t") ?? "");
  const [from, to] = times ? [Number(times[1]), Number(times[2].replace("~", "-"))] : [0, traceDuration()];
  // Larger timestamps in an address are ignored: no trace extends that far.
  [view.from, view.to] = from < to && from > -MAX_TIMESTAMP && to < MAX_TIMESTAMP ? [from, to] : [0, traceDuration()];
  view.names = parts.get("names") ?? "";
  view.entity = /^[cselv]\d+$/.exec(parts.get("chosen") ?? "")?.[0] ?? null;
  view.showsChain = parts.get("chain") === "1";
  const range = words("range")
    .filter((text) => /^-?\d{1,18}$/.test(text))
    .map(Number);
  view.selectedTime = range.length === 2 && range[0] < range[1] ? [range[0], range[1]] : null;
  view.selectedRows = new Set(readRuns(parts.get("selected") ?? ""));
  settings.clear();
  for (const name of SETTINGS) if (parts.get(name)) settings.set(name, parts.get(name) ?? "");
  scroll = Number(/^\d+$/.exec(setting("scroll") ?? "")?.[0] ?? 0);
  readRows(parts);
}

/** @param {URLSearchParams} parts */
function readRows(parts) {
  const words = (/** @type {string} */ name) => (parts.get(name) ?? "").split(" ");
  const numbers = (/** @type {string} */ name) =>
    words(name)
      .filter((text) => /^\d+$/.test(text))
      .map(Number);
  const level = parts.get("level");
  view.level = level !== null && /^\d+$/.test(level) ? Number(level) : null;
  for (const [set, name] of SETS) view[set] = new Set(numbers(name));
  view.mode = /^[a-z-]{1,40}$/.exec(parts.get("mode") ?? "")?.[0] ?? null;
  view.pinnedRows = numbers("pinned");
  view.rowMoves = words("moved")
    .map((text) => /^(\d+)-(\d+)$/.exec(text))
    .filter((pair) => pair !== null)
    .map((pair) => [Number(pair[1]), Number(pair[2])]);
  view.filters = readFilters(parts.get("filters") ?? "");
}

/**
 * The filters of the address; those in brackets are off. If one is invalid, none is taken.
 * @param {string} text
 * @returns {[string, boolean][]}
 */
function readFilters(text) {
  /** @type {any} */ let entries;
  try {
    entries = JSON.parse(text || "[]");
  } catch {
    entries = null;
  }
  const error = !Array.isArray(entries)
    ? "they are not a list of texts"
    : describeInvalidFilter(entries, (entry) =>
        typeof entry === "string" ? entry : Array.isArray(entry) && entry.length === 1 ? entry[0] : null,
      );
  if (!error)
    return entries.map((/** @type {string | [string]} */ entry) =>
      typeof entry === "string" ? [entry, true] : [entry[0], false],
    );
  showNote(`The filters in the address were not applied: ${error}`);
  return [];
}

/**
 * Describes the first entry that is no filter; an empty text if all are filters.
 * @param {unknown[]} entries
 * @param {(entry: any) => unknown} text returns the text of an entry
 */
export function describeInvalidFilter(entries, text) {
  const index = entries.findIndex((entry) => {
    const value = text(entry);
    return typeof value !== "string" || value.trim() === "";
  });
  return index < 0
    ? ""
    : `entry ${index + 1} of the filters is ${JSON.stringify(entries[index]).slice(0, 60)}; ` +
        'a filter is a text such as "hide container a"';
}
