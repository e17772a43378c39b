// What is shown: the interval, the folds, what is dimmed or hidden, the theme. All of it lives in the address.

/**
 * @typedef {object} View
 * @property {number} from nanoseconds after the trace's first date
 * @property {number} to
 * @property {number | null} level containers at this depth are folded
 * @property {Set<number>} toggled containers that differ from that
 * @property {Set<number>} dimmed values
 * @property {Set<number>} hidden types
 */

/** @type {View} */
export const view = { from: 0, to: 1, level: null, toggled: new Set(), dimmed: new Set(), hidden: new Set() };

let whole = 1;
/** @type {((kind: "time" | "rows" | "look") => void)[]} */
const listeners = [];
let timer = 0;

/** @param {(kind: "time" | "rows" | "look") => void} listener */
export function onChange(listener) {
  listeners.push(listener);
}

/** @param {"time" | "rows" | "look"} kind */
export function changed(kind) {
  listeners.forEach((listener) => listener(kind));
}

/** Length of the trace. */
export function length() {
  return whole;
}

/** @param {number} duration */
export function start(duration) {
  whole = duration;
  read();
  window.addEventListener("popstate", () => {
    window.clearTimeout(timer);
    timer = 0;
    read();
    changed("rows");
  });
}

/**
 * Shows an interval; lengths and places are kept sane.
 * @param {number} from @param {number} to @param {boolean} [step] a step of the history by itself, not part of a movement
 */
export function show(from, to, step = false) {
  const least = 20;
  const span = Math.min(Math.max(to - from, least), whole * 1.5);
  const middle = (from + to) / 2;
  // A quarter of the picture may lie beyond the trace's ends.
  const first = Math.min(Math.max(middle - span / 2, -span / 4), Math.max(whole - span * 0.75, -span / 4));
  const [a, b] = [Math.round(first), Math.round(first + span)];
  if (a === view.from && b === view.to) return;
  if (step) keep();
  view.from = a;
  view.to = b;
  if (step) keep();
  else remember();
  changed("time");
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

/** Puts the view into the address; a pause in the movement makes a step of the history. */
export function remember() {
  if (timer) window.clearTimeout(timer);
  timer = window.setTimeout(keep, 250);
}

function keep() {
  window.clearTimeout(timer);
  timer = 0;
  if ((location.hash || "#") !== write()) history.pushState(null, "", write());
}

function write() {
  const parts = new URLSearchParams();
  if (view.from !== 0 || view.to !== whole) parts.set("t", `${view.from}-${view.to}`.replace("--", "-~"));
  if (view.level !== null) parts.set("level", String(view.level));
  for (const name of /** @type {const} */ (["toggled", "dimmed", "hidden"])) {
    if (view[name].size) parts.set(name, [...view[name]].join(" "));
  }
  return "#" + parts;
}

function read() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const times = /^(-?\d+)-(~?\d+)$/.exec(parts.get("t") ?? "");
  const [from, to] = times ? [Number(times[1]), Number(times[2].replace("~", "-"))] : [0, whole];
  [view.from, view.to] = from < to ? [from, to] : [0, whole];
  const level = parts.get("level");
  view.level = level !== null && /^\d+$/.test(level) ? Number(level) : null;
  for (const name of /** @type {const} */ (["toggled", "dimmed", "hidden"])) {
    view[name] = new Set((parts.get(name) ?? "").split(" ").filter((text) => /^\d+$/.test(text)).map(Number));
  }
}

/** The part of a question that says what is drawn and how. */
export function looks() {
  return {
    fill: document.querySelector(".scroller")?.clientHeight ?? 0,
    theme: document.documentElement.dataset.theme,
    level: view.level,
    toggled: [...view.toggled].join(","),
    dimmed: [...view.dimmed].join(","),
    hidden: [...view.hidden].join(","),
  };
}
