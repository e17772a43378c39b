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
let undoSteps = [];
/** @type {Arrangement[]} */
let redoSteps = [];
/** @type {Arrangement | null} */
let currentArrangement = null;
const MAX_STEPS = 200;

onStore((rows, names) => {
  // The new rows are not there yet, so that the scroll position is still that of the old ones.
  if (currentArrangement !== null && (rows !== currentArrangement[0] || names !== currentArrangement[1])) {
    undoSteps = [...undoSteps.slice(1 - MAX_STEPS), [currentArrangement[0], currentArrangement[1], scrollTop()]];
    redoSteps = [];
  }
  currentArrangement = [rows, names, 0];
});

/** @param {Arrangement[]} from @param {Arrangement[]} to @param {string} none */
function restore(from, to, none) {
  const arrangement = from.pop();
  if (arrangement === undefined || currentArrangement === null) {
    showNote(none);
    return;
  }
  to.push([currentArrangement[0], currentArrangement[1], scrollTop()]);
  currentArrangement = arrangement;
  restoreRows(...arrangement);
}

export const undo = () => restore(undoSteps, redoSteps, "There is nothing to undo");
export const redo = () => restore(redoSteps, undoSteps, "There is nothing to redo");
