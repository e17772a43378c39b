// Undo and redo of changes to rows, filters and style. They do not revert movements through time;
// Back does.

import { top } from "./rows.js";
import { note } from "../util/status_line.js";
import { dress, onKept } from "./view.js";

/**
 * The arrangement of the rows, the text searched in their names, and their scroll position.
 * @typedef {[string, string, number]} Look
 */

/** Earlier arrangements, the newest last. @type {Look[]} */
let past = [];
/** @type {Look[]} */
let future = [];
/** @type {Look | null} */
let now = null;
const MOST = 200;

onKept((rows, names) => {
  // The new rows are not there yet, so that the scroll position is still that of the old ones.
  if (now !== null && (rows !== now[0] || names !== now[1])) {
    past = [...past.slice(1 - MOST), [now[0], now[1], top()]];
    future = [];
  }
  now = [rows, names, 0];
});

/** @param {Look[]} from @param {Look[]} to @param {string} none */
function go(from, to, none) {
  const look = from.pop();
  if (look === undefined || now === null) {
    note(none);
    return;
  }
  to.push([now[0], now[1], top()]);
  now = look;
  dress(...look);
}

export const undo = () => go(past, future, "There is nothing to undo");
export const redo = () => go(future, past, "There is nothing to redo");
