// Undo and redo of changes to rows, filters and style. They do not revert movements through time;
// Back does.

import { scrollTop } from "./rows.js";
import { showNote } from "../util/status_line.js";
import { onStore, restoreRows } from "./address.js";

/**
 * The arrangement of the rows, the text searched in their names, and their scroll position.
 * @typedef {[string, string, number]} Arrangement
 */

/** Earlier arrangements, the newest last. @type {Arrangement[]} */
let past = [];
/** @type {Arrangement[]} */
let future = [];
/** @type {Arrangement | null} */
let current = null;
const MAX_STEPS = 200;

onStore((rows, names) => {
  // The new rows are not there yet, so that the scroll position is still that of the old ones.
  if (current !== null && (rows !== current[0] || names !== current[1])) {
    past = [...past.slice(1 - MAX_STEPS), [current[0], current[1], scrollTop()]];
    future = [];
  }
  current = [rows, names, 0];
});

/** @param {Arrangement[]} from @param {Arrangement[]} to @param {string} none */
function restore(from, to, none) {
  const arrangement = from.pop();
  if (arrangement === undefined || current === null) {
    showNote(none);
    return;
  }
  to.push([current[0], current[1], scrollTop()]);
  current = arrangement;
  restoreRows(...arrangement);
}

export const undo = () => restore(past, future, "There is nothing to undo");
export const redo = () => restore(future, past, "There is nothing to redo");
