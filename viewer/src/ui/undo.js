// Undo and redo of what is done to rows, filters and looks; moving through time is not undone, that is what Back is for.

import { note } from "./status.js";
import { dress, onKept } from "./view.js";

/** What the rows were like, the newest last. @type {string[]} */
let past = [];
/** @type {string[]} */
let future = [];
/** @type {string | null} */
let now = null;
const MOST = 200;

onKept((rows) => {
  if (now !== null && rows !== now) {
    past = [...past.slice(1 - MOST), now];
    future = [];
  }
  now = rows;
});

/** @param {string[]} from @param {string[]} to @param {string} none */
function go(from, to, none) {
  const rows = from.pop();
  if (rows === undefined || now === null) {
    note(none);
    return;
  }
  to.push(now);
  now = rows;
  dress(rows);
}

export const undo = () => go(past, future, "There is nothing to undo");
export const redo = () => go(future, past, "There is nothing to redo");
