// Bookmarks and notes: time ranges with a text, stored next to the trace and marked on the ruler.

import { ask, tell } from "../net/api.js";
import { open } from "./selection.js";
import { byId, make } from "../util/dom.js";
import { date, duration } from "../util/format.js";
import { notes, setNotes } from "../state/notes_store.js";
import { showTab } from "./side_panel.js";
import { note as say } from "../util/status_line.js";
import { changed, show, view } from "../state/view.js";

/** @typedef {import("../state/notes_store.js").Note} Note */

let path = "";
/**
 * The number of changes that were begun, and of those without an answer yet. An answer to an
 * earlier request would undo them here.
 */
let [begun, waiting] = [0, 0];
/** The last change: changes are made one after the other. @type {Promise<unknown>} */
let last = Promise.resolve();

export async function showNotes() {
  const before = waiting ? -1 : begun;
  const answer = await ask("notes", { filters: "" }).catch((error) => { tellWrong(error); });
  if (answer && before === begun) take(answer);
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

/** @param {unknown} change @returns {Promise<boolean>} whether it was stored */
function change(change) {
  begun += 1;
  waiting += 1;
  const made = last.then(() => tell("notes", change)).then((answer) => { take(answer); return true; }).catch((error) => { tellWrong(error); return false; }).finally(() => { waiting -= 1; });
  last = made;
  return made;
}

/**
 * Marks the measured time range (or the shown one) and the chosen entity; then its text can be
 * typed.
 */
export async function bookmark() {
  const [from, to] = view.measured ?? [view.from, view.to];
  const id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  await showTab("notes").catch(() => {});
  const kept = await change({ put: { id, text: "", from, to, ...(view.chosen ? { entity: view.chosen } : {}) } });
  if (!kept) {
    say("This place was not marked");
    return;
  }
  /** @type {HTMLElement | null} */ (byId("notes-list").querySelector(`[data-key="${id}"] input`))?.focus();
  say("Marked; type a note if you like");
}

/** Shows the notes. Existing lines stay, because the user may be typing in one. */
function fill() {
  const list = byId("notes-list");
  for (const line of [...list.children]) if (!notes.some((one) => one.id === line.dataset.key)) line.remove();
  /** @type {Map<string, HTMLElement>} */
  const lines = new Map([...list.children].map((line) => [line.dataset.key, line]));
  /** @type {Element | null} */
  let place = list.firstElementChild;
  for (const one of notes) {
    const line = lines.get(one.id) ?? blank(one.id);
    if (line === place) place = line.nextElementSibling;
    else list.insertBefore(line, place);
    const [text, remove, go] = /** @type {any} */ (line.children);
    const name = one.text || date(one.from, (one.to - one.from) / 1000);
    if (text !== document.activeElement) text.value = one.text;
    remove.setAttribute("aria-label", `Remove note ${name}`);
    go.setAttribute("aria-label", `Go to note ${name}`);
    go.textContent = `${date(one.from, (one.to - one.from) / 1000)}, ${duration(one.to - one.from)}`;
  }
  byId("notes-say").textContent = notes.length ? `Kept in ${path}` : "Press b to mark what is shown, or what is measured, and write a note. Notes are kept beside the trace.";
}

/** An empty line for a note. @param {string} id */
function blank(id) {
  // Another window may have removed the note.
  const of = (/** @type {(one: Note) => unknown} */ act) => { const one = notes.find((one) => one.id === id); if (one) act(one); };
  return make("li", { "data-key": id },
    make("input", { "aria-label": "Note", placeholder: "no text", maxlength: 1000, autocomplete: "off", onchange: (/** @type {Event} */ event) => of((one) => change({ put: { ...one, text: /** @type {HTMLInputElement} */ (event.target).value } })),
      onkeydown: (/** @type {KeyboardEvent} */ event) => { if (event.key === "Enter" || event.key === "Escape") /** @type {HTMLInputElement} */ (event.target).blur(); } }),
    make("button", { class: "icon-button", title: "Remove", text: "×", onclick: () => change({ remove: id }) }),
    make("button", { class: "go", onclick: () => of(visit) }));
}

/** @param {Note} one */
function visit(one) {
  show(one.from, one.to, true);
  if (one.entity) open(one.entity);
}
