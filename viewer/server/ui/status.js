// The line below the diagram: what is under the pointer, what is measured, and short answers to what was asked in vain.

import { byId, make } from "./dom.js";

/** The line of the pointer. Signs of direction in a name turn that name alone. @param {string} now @param {string} name @param {string} [where] */
export function say(now, name, where = "") {
  byId("readout").replaceChildren(make("b", { text: now }), name ? "   " : "", make("bdi", { dir: "ltr", text: name }), where ? " · " : "", make("bdi", { dir: "ltr", text: where }));
}

export function sayNothing() {
  byId("readout").replaceChildren();
}

/** Whether the note says what is still going on. */
let stays = false;

/** A short answer, until the next thing is done. @param {string} text @param {boolean} [still] until another note */
export function note(text, still = false) {
  const line = byId("note");
  stays = still;
  line.textContent = text;
  line.hidden = text === "";
}

/** Takes an answer away that has been read. */
export function forgetNote() {
  if (!stays) note("");
}

/** Says what the picture draws as one. @param {string[]} notes */
export function missing(notes) {
  const line = byId("missing");
  line.hidden = notes.length === 0;
  line.textContent = notes.join("; ");
}
