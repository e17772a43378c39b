// Undo and redo of what is done to rows, filters and looks; moving through time is not undone, that is what Back is for.

import { note } from "./status.js";
import { dress, onKept } from "./view.js";

/** How the rows looked, and what was looked for in their names. @typedef {[string, string]} Look */

/** What the rows were like, the newest last. @type {Look[]} */
let past = [];
/** @type {Look[]} */
let future = [];
/** @type {Look | null} */
let now = null;
const MOST = 200;

onKept((rows, names) => {
  if (now !== null && (rows !== now[0] || names !== now[1])) {
    past = [...past.slice(1 - MOST), now];
    future = [];
  }
  now = [rows, names];
});

/** @param {Look[]} from @param {Look[]} to @param {string} none */
function go(from, to, none) {
  const look = from.pop();
  if (look === undefined || now === null) {
    note(none);
    return;
  }
  to.push(now);
  now = look;
  dress(...look);
}

export const undo = () => go(past, future, "There is nothing to undo");
export const redo = () => go(future, past, "There is nothing to redo");
