// The rows that the server laid out, and where they are in the window: pinned ones stay, the others scroll below them.

import { byId } from "./dom.js";

/**
 * @typedef {{ kind: string, name: string, y: number, height: number, bounds: [string, string] | null }} Strip with its largest and least value
 * @typedef {{ id: number, name: string, type: string, depth: number, y: number, height: number, expandable: boolean, folded: boolean,
 *   pinned: boolean, above: number[], strips: Strip[], called: string, members: number }} Row with what filters call it, and how many it stands for
 * @typedef {{ id: number, name: string, path: string[], above: number[] }} Place
 * @typedef {{ height: number, pinned: number, rows: Row[], gone: Place[] }} Rows
 */

/** @type {Rows} */
export let layout = { height: 0, pinned: 0, rows: [], gone: [] };
/** @type {Map<number, Row>} */
let byContainer = new Map();

/** Pixels from a level of the tree to the next. */
let step = 12;

/** @type {HTMLElement} */ const scroller = byId("scroller");

/** What the server does not say of a row, as it is so of most. @param {Rows} answer */
export function complete(answer) {
  for (const row of answer.rows) {
    row.called ??= row.name;
    row.members ??= 0;
    row.pinned ??= false;
    row.expandable ??= false;
    row.folded ??= false;
  }
  step = Math.min(12, 110 / answer.rows.reduce((deepest, row) => Math.max(deepest, row.depth), 1));
}

/** @param {Rows} next */
export function setRows(next) {
  layout = next;
  byContainer = new Map(next.rows.map((row) => [row.id, row]));
}

/** How far the rows are scrolled. */
export function top() {
  return scroller.scrollTop;
}

/** Height of what stays on top. Pinned rows that would leave too little room for the others scroll with them. */
export function frozen(of = layout) {
  return of.pinned <= scroller.clientHeight * 0.6 ? of.pinned : 0;
}

/** The height among the rows of a height in the window. @param {number} y */
export function toRows(y) {
  return y < frozen() ? y : y + top();
}

/** The height in the window of a height among the rows. @param {number} y */
export function toWindow(y) {
  return y < frozen() ? y : y - top();
}

/** The row at a height in the window. @param {number} y @returns {Row | undefined} */
export function rowAt(y) {
  const at = toRows(y);
  // Rows are sorted by height.
  let [low, high] = [0, layout.rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = layout.rows[middle];
    if (row.y + row.height <= at) low = middle + 1;
    else high = middle;
  }
  const row = layout.rows[low];
  return row && at >= row.y ? row : undefined;
}

/** The row of a container. @param {number} id */
export function rowOf(id) {
  return byContainer.get(id);
}

/** Scrolls until a row is seen. @param {Row} row */
export function reveal(row) {
  if (row.pinned && frozen() > 0) return;
  const seen = scroller.clientHeight;
  const y = toWindow(row.y);
  if (y < frozen() || y + row.height > seen) scroller.scrollTop = Math.max(0, row.y - frozen() - (seen - frozen() - row.height) / 2);
}

/** How much further right the names of each level stand: less where levels are many, so that there is room for names. */
export function indent() {
  return step;
}

/** The strips of a row that its name alone does not explain. @param {Row} row */
export function labelled(row) {
  const several = row.strips.filter((strip) => strip.kind === "states" || strip.kind === "summary").length > 1;
  return row.strips.filter((strip) => strip.kind === "variable" || (several && strip.kind !== "events"));
}

/** Whether a strip has room for its least and largest value. @param {Strip} strip */
export function measured(strip) {
  return strip.bounds !== null && strip.height >= 20;
}
