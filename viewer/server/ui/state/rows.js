// The rows that the server laid out, and their positions in the window: pinned ones stay, the
// others scroll below them.

import { byId } from "../util/dom.js";

/**
 * The layout. `bounds` of a strip are its largest and least value; `filter_name` is the name of a
 * row in filters, `members` the number of containers that it represents.
 * @typedef {{ kind: string, name: string, y: number, height: number, bounds: [string, string] |
 * null }} Strip
 * @typedef {{ id: number, name: string, type: string, depth: number, y: number, height: number,
 * expandable: boolean, folded: boolean, pinned: boolean, ancestors: number[], strips: Strip[],
 * filter_name: string, members: number }} Row
 * @typedef {{ id: number, name: string, path: string[], ancestors: number[] }} Place
 * @typedef {{ height: number, pinned: number, rows: Row[], hidden_rows: Place[] }} Rows
 */

/** @type {Rows} */
export let layout = { height: 0, pinned: 0, rows: [], hidden_rows: [] };
/** @type {Map<number, Row>} */
let byContainer = new Map();

/** Pixels of indentation per level of the tree. */
let indentation = 12;

/** @type {HTMLElement} */ const scroller = byId("scroller");

/** Adds the default values, which the server omits. @param {Rows} answer */
export function addDefaults(answer) {
  for (const row of answer.rows) {
    row.filter_name ??= row.name;
    row.members ??= 0;
    row.pinned ??= false;
    row.expandable ??= false;
    row.folded ??= false;
  }
  indentation = Math.min(12, 110 / answer.rows.reduce((deepest, row) => Math.max(deepest, row.depth), 1));
}

/** @param {Rows} next */
export function setRows(next) {
  layout = next;
  byContainer = new Map(next.rows.map((row) => [row.id, row]));
}

/** The scroll position of the rows. */
export function scrollTop() {
  return scroller.scrollTop;
}

/**
 * The height of the pinned rows that stay on top. Those that would leave too little room for the
 * others scroll with them.
 */
export function pinnedHeight(rows = layout) {
  return rows.pinned <= scroller.clientHeight * 0.6 ? rows.pinned : 0;
}

/** Converts a height in the window to one among the rows. @param {number} y */
export function toRows(y) {
  return y < pinnedHeight() ? y : y + scrollTop();
}

/** Converts a height among the rows to one in the window. @param {number} y */
export function toWindow(y) {
  return y < pinnedHeight() ? y : y - scrollTop();
}

/** The row at a height in the window. @param {number} y @returns {Row | undefined} */
export function rowAt(y) {
  const height = toRows(y);
  // Rows are sorted by height.
  let [low, high] = [0, layout.rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = layout.rows[middle];
    if (row.y + row.height <= height) low = middle + 1;
    else high = middle;
  }
  const row = layout.rows[low];
  return row && height >= row.y ? row : undefined;
}

/** The row of a container. @param {number} id */
export function rowOf(id) {
  return byContainer.get(id);
}

/** Scrolls until a row is visible. @param {Row} row */
export function reveal(row) {
  if (row.pinned && pinnedHeight() > 0) return;
  const visibleHeight = scroller.clientHeight;
  const y = toWindow(row.y);
  if (y < pinnedHeight() || y + row.height > visibleHeight)
    scroller.scrollTop = Math.max(0, row.y - pinnedHeight() - (visibleHeight - pinnedHeight() - row.height) / 2);
}

/**
 * The indentation per level, in pixels: smaller with many levels, so that there is room for names.
 */
export function indent() {
  return indentation;
}

/** The strips of a row that need a label besides the name of the row. @param {Row} row */
export function labelledStrips(row) {
  const several = row.strips.filter((strip) => strip.kind === "states" || strip.kind === "summary").length > 1;
  return row.strips.filter((strip) => strip.kind === "variable" || (several && strip.kind !== "events"));
}

/** Whether a strip has room for its least and largest value. @param {Strip} strip */
export function hasRoomForBounds(strip) {
  return strip.bounds !== null && strip.height >= 20;
}
