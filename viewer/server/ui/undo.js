// Undo and redo of what is done to rows, filters and looks; moving through time is not undone, that is what Back is for.

import { top } from "./rows.js";
import { note } from "./status.js";
import { dress, onKept } from "./view.js";

/** How the rows looked, what was looked for in their names, and how far they were scrolled. @typedef {[string, string, number]} Look */

/** What the rows were like, the newest last. @type {Look[]} */
let past = [];
/** @type {Look[]} */
let future = [];
/** @type {Look | null} */
let now = null;
const MOST = 200;

onKept((rows, names) => {
  // The rows that are wanted are not there yet: they are scrolled as they were.
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
