// The line below the diagram: the entity at the pointer, the selection, and short answers
// to requests without a result.

import { byId, make } from "./dom.js";

/**
 * The line of the pointer. Direction signs in a name affect that name alone.
 * @param {string} time
 * @param {string} name
 * @param {string} [where]
 */
export function showReadout(time, name, where = "") {
  byId("readout").replaceChildren(
    make("b", { text: time }),
    name ? "   " : "",
    make("bdi", { dir: "ltr", text: name }),
    where ? " · " : "",
    make("bdi", { dir: "ltr", text: where }),
  );
}

export function clearReadout() {
  byId("readout").replaceChildren();
}

/** Whether the note describes an unfinished action. */
let isSticky = false;

/**
 * A short answer, until the next action.
 * @param {string} text
 * @param {boolean} [sticky] keeps it until another note
 */
export function showNote(text, sticky = false) {
  const line = byId("note");
  isSticky = sticky;
  line.textContent = text;
  line.hidden = text === "";
}

/** Removes an answer that has been read. */
export function clearNote() {
  if (!isSticky) showNote("");
}

/** Shows which contents the image draws as one. @param {string[]} notes */
export function showImageNotes(notes) {
  const line = byId("image-notes");
  line.hidden = notes.length === 0;
  line.textContent = notes.join("; ");
}
