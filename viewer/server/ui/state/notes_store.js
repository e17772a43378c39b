// The known notes, for the modules that mark them.

/** @typedef {{ id: string, text: string, from: number, to: number, entity?: string, rows?: string
 * }} Note `rows` are the selected rows, as in the address */

/** @type {Note[]} */
export let notes = [];

/** @param {Note[]} next */
export function setNotes(next) {
  notes = next;
}
