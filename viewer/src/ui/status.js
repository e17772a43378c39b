// The line below the diagram: what is under the pointer, what is measured, and short answers to what was asked in vain.

import { byId, make } from "./dom.js";

/** The line of the pointer. @param {string} now @param {string} name @param {string} [where] */
export function say(now, name, where = "") {
  byId("readout").replaceChildren(make("b", { text: now }), name ? `   ${name}` : "", where ? ` · ${where}` : "");
}

export function sayNothing() {
  byId("readout").replaceChildren();
}

/** Answers that something cannot be done; the next answer replaces it. @param {string} text */
export function note(text) {
  const line = byId("note");
  line.textContent = text;
  line.hidden = text === "";
}

/** Says what the picture leaves out. @param {string[]} notes */
export function missing(notes) {
  const line = byId("missing");
  line.hidden = notes.length === 0;
  line.textContent = notes.join("; ");
}
