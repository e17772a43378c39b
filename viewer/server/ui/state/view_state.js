// The state of the view: the time range, the rows, dimmed and hidden values and types, the chosen
// entity and the selection; the duration and the generation of the trace.

import { setRequestSources } from "../net/api.js";

/**
 * The state of the view.
 * @typedef {object} View
 * @property {number} from nanoseconds after the trace's first timestamp
 * @property {number} to
 * @property {number | null} level containers at this depth are folded
 * @property {Set<number>} toggledRows containers that differ from that
 * @property {number[]} pinnedRows containers on top, in this order
 * @property {Set<number>} hiddenRows containers that are not drawn
 * @property {[number, number][]} rowMoves `[container, the next sibling]`, applied in order; 0 is
 * the end
 * @property {string} names text that the names of the rows contain
 * @property {Set<number>} dimmedValues numbers of values
 * @property {Set<number>} hiddenTypes numbers of types
 * @property {Set<number>} gradients variables that are drawn as gradients
 * @property {string | null} mode the mode of the diagram; null: the trace as recorded
 * @property {[string, boolean][]} filters expressions, and whether they act
 * @property {string | null} entity the entity in the inspector
 * @property {boolean} showsChain whether the chain of links through it is highlighted
 * @property {[number, number] | null} selectedTime the time range of the selection; null: any time
 * @property {Set<number>} selectedRows containers of the selection; none: all rows
 * @typedef {"time" | "rows" | "style" | "selection" | "shape" | "settings"} Change `shape`: the
 * selection is being dragged, so that only its drawing changes
 */

/** @type {View} */
export const view = {
  from: 0,
  to: 1,
  level: null,
  toggledRows: new Set(),
  pinnedRows: [],
  hiddenRows: new Set(),
  rowMoves: [],
  names: "",
  dimmedValues: new Set(),
  hiddenTypes: new Set(),
  gradients: new Set(),
  mode: null,
  filters: [],
  entity: null,
  showsChain: false,
  selectedTime: null,
  selectedRows: new Set(),
};

/** @type {((kind: Change) => void)[]} */
const listeners = [];
/** The duration of the trace, in nanoseconds. */
let duration = 1;
/** The generation of the trace: it changes while the trace is read or written. */
let generation = 0;

/** The generation that is shown. */
export function currentGeneration() {
  return generation;
}

/** @param {number} nextDuration @param {number} nextGeneration */
export function setExtent(nextDuration, nextGeneration) {
  [duration, generation] = [nextDuration, nextGeneration];
}

/** The duration of the trace, in nanoseconds. */
export function traceDuration() {
  return duration;
}

/** @param {(kind: Change) => void} listener */
export function onChange(listener) {
  listeners.push(listener);
}

/** @param {Change} kind */
export function notifyChange(kind) {
  listeners.forEach((listener) => listener(kind));
}

/** @param {Set<number>} set @param {number} member */
export function toggle(set, member) {
  if (!set.delete(member)) set.add(member);
}

/** The filters that act, in the format of the server. */
export function activeFilters() {
  const activeTexts = view.filters.filter((filter) => filter[1]).map((filter) => filter[0]);
  return activeTexts.length ? JSON.stringify(activeTexts) : "";
}

/** Writes a mode in the format of the server. */
let describeMode = (/** @type {string} */ name) => JSON.stringify({ name });

/** @param {(name: string) => string} description writes a mode with its options */
export function setModeDescription(description) {
  describeMode = description;
}

/** A mode of the diagram in the format of the server; by default, the present one. */
export function activeMode(name = view.mode) {
  return name ? describeMode(name) : "";
}
setRequestSources(activeFilters, activeMode);

/** The part of a request with the contents and the style of the image. */
export function imageParameters() {
  return {
    generation,
    fill: document.querySelector(".scroller")?.clientHeight ?? 0,
    filters: activeFilters(),
    mode: activeMode(),
    theme: document.documentElement.dataset.theme,
    level: view.level,
    toggled: [...view.toggledRows].join(","),
    pinned: view.pinnedRows.join(","),
    hidden_containers: [...view.hiddenRows].join(","),
    moved: view.rowMoves.map((pair) => pair.join("-")).join(","),
    names: view.names,
    dimmed: [...view.dimmedValues].join(","),
    hidden: [...view.hiddenTypes].join(","),
    gradients: [...view.gradients].join(","),
  };
}
