// What is shown: the interval, the rows, what is dimmed or hidden, what is chosen and measured. All of it lives in the address.

import { note } from "./status.js";

/**
 * @typedef {object} View
 * @property {number} from nanoseconds after the trace's first date
 * @property {number} to
 * @property {number | null} level containers at this depth are folded
 * @property {Set<number>} toggled containers that differ from that
 * @property {number[]} pinned containers that stand on top, in this order
 * @property {Set<number>} gone containers that are not drawn
 * @property {[number, number][]} moved `[container, the sibling before which it goes]`, one after the other; 0 is the end
 * @property {string} names text that the names of the rows have in them
 * @property {Set<number>} dimmed values
 * @property {Set<number>} hidden types
 * @property {Set<number>} gradients variables that are drawn as gradients
 * @property {[string, boolean][]} filters expressions, and whether they act
 * @property {string | null} chosen the entity in the inspector
 * @property {boolean} chained whether the chain of links through it is lit
 * @property {[number, number] | null} measured two dates
 * @typedef {"time" | "rows" | "look" | "choice" | "place"} Change
 */

/** @type {View} */
export const view = {
  from: 0, to: 1, level: null, toggled: new Set(), pinned: [], gone: new Set(), moved: [], names: "", dimmed: new Set(), hidden: new Set(), gradients: new Set(),
  filters: [], chosen: null, chained: false, measured: null,
};

/** The zooms that led here, from the widest: each holds the next. @type {[number, number][]} */
let trail = [];
let whole = 1;
/** @type {((kind: Change) => void)[]} */
const listeners = [];
let timer = 0;
/** Whether what is not in the address yet is no step of the history: another pane's step moved it. */
let isOthers = false;
/** How many views are behind this one. */
let step = 0;
/** What is typed into the address by hand has come from elsewhere; all else is ours. @type {string | null} */
let written = null;
/** @type {((rows: string, names: string) => void)[]} */
const keepers = [];

/** @param {(rows: string, names: string) => void} keeper told how the rows look and what is looked for in their names, whenever that may have changed */
export function onKept(keeper) {
  keepers.push(keeper);
}

function save() {
  const rows = rowsPart();
  keepers.forEach((keeper) => keeper(rows, view.names));
}

/** What is seen beside the view, as the address says it: how far the rows are scrolled, the panel, and what its statistics show. */
const BESIDE = ["source", "clock", "scroll", "side", "tab", "form", "values", "amount", "order", "each", "of", "find", "inside", "selected"];
/** @type {Map<string, string>} */
const beside = new Map();
let besideTimer = 0;
/** How far the rows are to be scrolled, once they are there. @type {number | null} */
let scroll = null;
/** Milliseconds between two changes of the address: browsers stop taking more than a few each second. */
const SELDOM = 300;

/** @param {string} name @returns {string | null} what the address says; nothing for what is usual */
export function told(name) {
  return beside.get(name) ?? null;
}

/** Puts something into the address that is no step of the history. @param {string} name @param {string | null} value */
export function tellBeside(name, value) {
  if (told(name) === value) return;
  if (value === null) beside.delete(name);
  else beside.set(name, value);
  besideTimer ||= window.setTimeout(() => {
    besideTimer = 0;
    // A movement that comes to rest takes it along.
    if (timer) return;
    history.replaceState({ trail, step }, "", write());
    changed("place");
  }, SELDOM);
}

/** How far the rows are to be scrolled, once. */
export function takeScroll() {
  const to = scroll;
  scroll = null;
  return to;
}

/** The part of an address that makes steps of the history. @param {string} address */
function core(address) {
  const parts = new URLSearchParams(address.slice(1));
  for (const name of BESIDE) parts.delete(name);
  return String(parts);
}

/** Which of the server's traces this page shows. */
export const trace = Number(new URLSearchParams(location.search).get("trace") ?? 0);

/** The filters that act, as the server takes them. */
export function filtersOn() {
  const on = view.filters.filter((one) => one[1]).map((one) => one[0]);
  return on.length ? JSON.stringify(on) : "";
}

/** Dresses the rows as they were. @param {string} rows @param {string} names @param {number} top how far they were scrolled */
export function dress(rows, names, top) {
  view.names = names;
  scroll = top;
  readRows(new URLSearchParams(rows));
  keep();
  changed("rows");
}

/** @param {(kind: Change) => void} listener */
export function onChange(listener) {
  listeners.push(listener);
}

/** @param {Change} kind */
export function changed(kind) {
  listeners.forEach((listener) => listener(kind));
}

/** How far traces beside this one reach. */
let reached = 0;

/** Lets the view go as far as another trace does. @param {number} duration */
export function reach(duration) {
  reached = duration;
}

/** Which picture of the trace this is: another while it is read or written. */
let generation = 0;

/** The number of the picture that is shown. */
export function picture() {
  return generation;
}

/**
 * Goes over to another picture of the trace. An interval at its end moves along with that, the whole stays the whole, and all else where it is.
 * @param {number} duration @param {number} later what dates of the page are more than before @param {number} next the picture's number
 */
export function grow(duration, later, next) {
  const [before, span] = [whole, view.to - view.from];
  const all = view.from <= 0 && view.to >= before;
  const atEnd = !all && Math.abs(view.to - before) <= span / 100;
  whole = duration;
  generation = next;
  const by = atEnd ? duration - before : later;
  [view.from, view.to] = all ? [0, duration] : [view.from + by, view.to + by];
  if (view.measured) view.measured = [view.measured[0] + later, view.measured[1] + later];
  trail = all ? [[0, duration]] : trail.map(([from, to], at) => (at === 0 ? [0, duration] : [from + by, to + by]));
  keep(true);
}

/** Length of the trace. */
export function length() {
  return whole;
}

/** The zooms that led here, the whole trace first. */
export function crumbs() {
  return trail;
}

/**
 * @param {number} duration @param {string} remembered how the rows were when the trace was last looked at @param {number} number of the picture
 */
export function start(duration, remembered, number) {
  whole = duration;
  generation = number;
  const here = location.hash.slice(1);
  read(here || remembered);
  trail = history.state?.trail ?? nested([], [view.from, view.to]);
  step = history.state?.step ?? 0;
  if (!here) keep(true);
  else save();
  window.addEventListener("popstate", (event) => {
    window.clearTimeout(timer);
    timer = 0;
    window.clearTimeout(besideTimer);
    besideTimer = 0;
    const kept = event.state?.trail ? new Map(beside) : null;
    read(location.hash.slice(1));
    // Back and forward leave the panel as it is.
    if (kept) BESIDE.filter((name) => name !== "scroll").forEach((name) => tellBeside(name, kept.get(name) ?? null));
    else onPlaced();
    trail = event.state?.trail ?? nested([], [view.from, view.to]);
    step = event.state?.step ?? step + 1;
    save();
    changed("rows");
  });
}

/**
 * Shows an interval; lengths and places are kept sane.
 * @param {number} from @param {number} to @param {boolean} [step] a step of the history by itself, not part of a movement
 * @param {boolean} [others] another pane has moved
 */
export function show(from, to, step = false, others = false) {
  const least = 20;
  const far = Math.max(whole, reached);
  const span = Math.min(Math.max(to - from, least), far * 1.5);
  const middle = (from + to) / 2;
  // A quarter of the picture may lie beyond the trace's ends.
  const first = Math.min(Math.max(middle - span / 2, -span / 4), Math.max(far - span * 0.75, -span / 4));
  const [a, b] = [Math.round(first), Math.round(first + span)];
  if (a === view.from && b === view.to) return;
  if (step) keep();
  view.from = a;
  view.to = b;
  if (step) keep();
  else remember(others);
  changed("time");
}

/** Goes where another pane is. The step of the history is that one's: this one's address follows, so that going back there brings both back. @param {number} from @param {number} to */
export function follow(from, to) {
  show(from, to, false, true);
}

export function fit() {
  show(0, whole, true);
}

/** @param {number} factor below 1 zooms in @param {number} [at] the date that stays where it is */
export function zoom(factor, at = (view.from + view.to) / 2) {
  show(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

/** @param {number} share of the interval */
export function pan(share) {
  const by = (view.to - view.from) * share;
  show(view.from + by, view.to + by);
}

/** @param {Set<number>} set @param {number} member */
export function toggle(set, member) {
  if (!set.delete(member)) set.add(member);
}

/** Puts the view into the address; a pause in the movement makes a step of the history. @param {boolean} [others] not if another pane has moved */
export function remember(others = false) {
  if (timer) window.clearTimeout(timer);
  isOthers = others;
  timer = window.setTimeout(keep, 250);
}

/** To the view before. A movement that has not come to rest yet is a step already. */
export function back() {
  if (timer) keep();
  // Those of other panes are not known here.
  if (step > 0 || window.parent !== window) history.back();
  else note("This is the first view");
}

/** Puts the view into the address as a step of the history by itself. @param {boolean} [instead] in place of the step before */
export function keep(instead = false) {
  const follows = timer !== 0 && isOthers;
  window.clearTimeout(timer);
  timer = 0;
  const address = write();
  trail = nested(trail, [view.from, view.to]);
  const isStep = instead !== true && !follows && core(location.hash) !== core(address);
  if (isStep) step += 1;
  if (isStep) history.pushState({ trail, step }, "", address);
  else if (instead === true || follows || (location.hash || "#") !== address) history.replaceState({ trail, step }, "", address);
  if (written !== core(address)) {
    written = core(address);
    save();
    listeners.forEach((listener) => listener("choice"));
  }
}

/**
 * A trail with one more zoom: those stay that hold it and are clearly wider.
 * @param {[number, number][]} before @param {[number, number]} now @returns {[number, number][]}
 */
function nested(before, [from, to]) {
  /** @type {[number, number]} */
  const all = [0, whole];
  if (from <= 0 && to >= whole) return [all];
  const wider = before.filter(([a, b], at) => at > 0 && a <= from && b >= to && b - a >= 2 * (to - from));
  return [all, ...wider.slice(-4), [from, to]];
}

const SETS = /** @type {const} */ (["toggled", "gone", "dimmed", "hidden", "gradients"]);

function write() {
  const parts = new URLSearchParams(rowsPart());
  if (view.from !== 0 || view.to !== whole) parts.set("t", `${view.from}-${view.to}`.replace("--", "-~"));
  if (view.names) parts.set("names", view.names);
  if (view.chosen) parts.set("chosen", view.chosen);
  if (view.chosen && view.chained) parts.set("chain", "1");
  if (view.measured) parts.set("measured", view.measured.join(" "));
  for (const [name, value] of beside) parts.set(name, value);
  return "#" + parts;
}

/** The part of the address that says how the rows look: it is remembered with the trace. */
function rowsPart() {
  const parts = new URLSearchParams();
  if (view.level !== null) parts.set("level", String(view.level));
  for (const name of SETS) {
    if (view[name].size) parts.set(name, [...view[name]].join(" "));
  }
  if (view.pinned.length) parts.set("pinned", view.pinned.join(" "));
  if (view.filters.length) parts.set("filters", JSON.stringify(view.filters.map(([text, on]) => (on ? text : [text]))));
  if (view.moved.length) parts.set("moved", view.moved.map((pair) => pair.join("-")).join(" "));
  return String(parts);
}

/** @type {() => void} */
let onPlaced = () => {};

/** @param {() => void} handler told when an address from elsewhere says what is beside the view */
export function watchPlaced(handler) {
  onPlaced = handler;
}

/** Nanoseconds of 290 years: no date is further away. */
const FAR = 2 ** 63;

/** @param {string} address */
function read(address) {
  const parts = new URLSearchParams(address);
  const words = (/** @type {string} */ name) => (parts.get(name) ?? "").split(" ");
  const times = /^(-?\d+)-(~?\d+)$/.exec(parts.get("t") ?? "");
  const [from, to] = times ? [Number(times[1]), Number(times[2].replace("~", "-"))] : [0, whole];
  // Further away there is nothing, whatever an address says.
  [view.from, view.to] = from < to && from > -FAR && to < FAR ? [from, to] : [0, whole];
  view.names = parts.get("names") ?? "";
  view.chosen = /^[cselv]\d+$/.exec(parts.get("chosen") ?? "")?.[0] ?? null;
  view.chained = parts.get("chain") === "1";
  const measured = words("measured").filter((text) => /^-?\d+$/.test(text)).map(Number);
  view.measured = measured.length === 2 ? [measured[0], measured[1]] : null;
  beside.clear();
  for (const name of BESIDE) if (parts.get(name)) beside.set(name, parts.get(name) ?? "");
  scroll = Number(/^\d+$/.exec(told("scroll") ?? "")?.[0] ?? 0);
  readRows(parts);
}

/** @param {URLSearchParams} parts */
function readRows(parts) {
  const words = (/** @type {string} */ name) => (parts.get(name) ?? "").split(" ");
  const numbers = (/** @type {string} */ name) => words(name).filter((text) => /^\d+$/.test(text)).map(Number);
  const level = parts.get("level");
  view.level = level !== null && /^\d+$/.test(level) ? Number(level) : null;
  for (const name of SETS) view[name] = new Set(numbers(name));
  view.pinned = numbers("pinned");
  view.moved = words("moved").map((text) => /^(\d+)-(\d+)$/.exec(text)).filter((pair) => pair !== null).map((pair) => [Number(pair[1]), Number(pair[2])]);
  view.filters = readFilters(parts.get("filters") ?? "");
}

/** Filters as the address has them; those in brackets are off. With a wrong one among them none is taken. @param {string} text @returns {[string, boolean][]} */
function readFilters(text) {
  /** @type {any} */ let all;
  try {
    all = JSON.parse(text || "[]");
  } catch {
    all = null;
  }
  const wrong = !Array.isArray(all) ? "they are no list of texts"
    : wrongFilter(all, (one) => typeof one === "string" ? one : Array.isArray(one) && one.length === 1 ? one[0] : null);
  if (!wrong) return all.map((/** @type {string | [string]} */ one) => (typeof one === "string" ? [one, true] : [one[0], false]));
  note(`The filters in the address were not taken: ${wrong}`);
  return [];
}

/** Which entry is no filter, in words; nothing when all are. @param {unknown[]} all @param {(one: any) => unknown} text what should be its text */
export function wrongFilter(all, text) {
  const at = all.findIndex((one) => { const found = text(one); return typeof found !== "string" || found.trim() === ""; });
  return at < 0 ? "" : `entry ${at + 1} of the filters is ${JSON.stringify(all[at]).slice(0, 60)}; a filter is a text such as "hide container a"`;
}

/** The part of a question that says what is drawn and how. */
export function looks() {
  return {
    picture: generation,
    fill: document.querySelector(".scroller")?.clientHeight ?? 0,
    filters: filtersOn(),
    theme: document.documentElement.dataset.theme,
    level: view.level,
    toggled: [...view.toggled].join(","),
    pinned: view.pinned.join(","),
    gone: [...view.gone].join(","),
    moved: view.moved.map((pair) => pair.join("-")).join(","),
    names: view.names,
    dimmed: [...view.dimmed].join(","),
    hidden: [...view.hidden].join(","),
    gradients: [...view.gradients].join(","),
  };
}
