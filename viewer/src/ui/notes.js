// Bookmarks and notes: parts of time, with a text, kept beside the trace. They are marked on the ruler.

import { ask, tell } from "./api.js";
import { open } from "./choice.js";
import { byId, make } from "./dom.js";
import { date, duration } from "./format.js";
import { notes, setNotes } from "./noted.js";
import { showTab } from "./panel.js";
import { note as say } from "./status.js";
import { changed, show, view } from "./view.js";

/** @typedef {import("./noted.js").Note} Note */

let path = "";

export async function showNotes() {
  const answer = await ask("notes", { filters: "" }).catch((error) => { tellWrong(error); });
  if (answer) take(answer);
}

/** @param {any} answer */
function take(answer) {
  path = answer.path;
  setNotes(answer.notes);
  fill();
  changed("choice");
}

/** @param {unknown} error */
function tellWrong(error) {
  byId("notes-say").textContent = error instanceof Error ? error.message : String(error);
}

/** @param {unknown} change */
function change(change) {
  return tell("notes", change).then(take).catch(tellWrong);
}

/** Marks what is measured, else what is shown, with what is chosen; then its text can be typed. */
export async function bookmark() {
  const [from, to] = view.measured ?? [view.from, view.to];
  const id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  await showTab("notes");
  await change({ put: { id, text: "", from, to, ...(view.chosen ? { entity: view.chosen } : {}) } });
  /** @type {HTMLElement | null} */ (byId("notes-list").querySelector(`[data-key="${id}"]`))?.focus();
  say("Marked; type a note if you like");
}

function fill() {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.key;
  byId("notes-list").replaceChildren(...notes.map((one) => make("li", {},
    make("input", { "aria-label": "Note", "data-key": one.id, value: one.text, placeholder: "no text", maxlength: 1000, autocomplete: "off", onchange: (/** @type {Event} */ event) => change({ put: { ...one, text: /** @type {HTMLInputElement} */ (event.target).value } }),
      onkeydown: (/** @type {KeyboardEvent} */ event) => { if (event.key === "Enter" || event.key === "Escape") /** @type {HTMLInputElement} */ (event.target).blur(); } }),
    make("button", { type: "button", class: "icon-button", "aria-label": `Remove note ${one.text || date(one.from, (one.to - one.from) / 1000)}`, title: "Remove", text: "×", onclick: () => change({ remove: one.id }) }),
    make("button", { type: "button", class: "go", "aria-label": `Go to note ${one.text || date(one.from, (one.to - one.from) / 1000)}`, text: `${date(one.from, (one.to - one.from) / 1000)}, ${duration(one.to - one.from)}`, onclick: () => visit(one) }))));
  byId("notes-say").textContent = notes.length ? `Kept in ${path}` : "Press b to mark what is shown, or what is measured, and write a note. Notes are kept beside the trace.";
  if (focused) /** @type {HTMLElement | null} */ (byId("notes-list").querySelector(`[data-key="${focused}"]`))?.focus();
}

/** @param {Note} one */
function visit(one) {
  show(one.from, one.to, true);
  if (one.entity) open(one.entity);
}
