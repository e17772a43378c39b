// Bookmarks and notes: time ranges with a text, stored next to the trace and marked on the ruler.

import { request, send } from "../net/api.js";
import { openInspector } from "./inspected_entity.js";
import { byId, make } from "../util/dom.js";
import { formatTimestamp, formatDuration, groupDigits } from "../util/format.js";
import { readRuns } from "../util/number_runs.js";
import { notes, setNotes } from "../state/notes_store.js";
import { rowOf, reveal } from "../state/rows.js";
import { select, selectedRange, selectedRowNumbers } from "../state/selection.js";
import { showTab } from "./side_panel.js";
import { showNote } from "../util/status_line.js";
import { notifyChange, view } from "../state/view_state.js";
import { show } from "../state/viewport.js";

/** @typedef {import("../state/notes_store.js").Note} Note */

/** The free share on each side of the rows and time range of a note. */
const SELECTION_MARGIN = 0.1;

let path = "";
/**
 * The number of changes that were begun, and of those without an answer yet. An answer to an
 * earlier request would undo them here.
 */
let [startedChanges, openChanges] = [0, 0];
/** The last change: changes are made one after the other. @type {Promise<unknown>} */
let lastChange = Promise.resolve();

export async function showNotes() {
  const before = openChanges ? -1 : startedChanges;
  const answer = await request("notes", { filters: "" }).catch((error) => {
    showError(error);
  });
  if (answer && before === startedChanges) applyAnswer(answer);
}

/** @param {any} answer */
function applyAnswer(answer) {
  path = answer.path;
  setNotes(answer.notes);
  fill();
  notifyChange("selection");
}

/** @param {unknown} error */
function showError(error) {
  byId("notes-status").textContent = error instanceof Error ? error.message : String(error);
}

/** @param {unknown} change @returns {Promise<boolean>} whether it was stored */
function sendChange(change) {
  startedChanges += 1;
  openChanges += 1;
  const stored = lastChange
    .then(() => send("notes", change))
    .then((answer) => {
      applyAnswer(answer);
      return true;
    })
    .catch((error) => {
      showError(error);
      return false;
    })
    .finally(() => {
      openChanges -= 1;
    });
  lastChange = stored;
  return stored;
}

/**
 * Marks the selected time range (or the shown one), the selected rows and the chosen entity; then
 * its text can be typed.
 */
export async function bookmark() {
  const [from, to] = selectedRange();
  const id = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join(
    "",
  );
  await showTab("notes").catch(() => {});
  const isStored = await sendChange({
    put: {
      id,
      text: "",
      from,
      to,
      ...(view.entity ? { entity: view.entity } : {}),
      ...(view.selectedRows.size ? { rows: selectedRowNumbers() } : {}),
    },
  });
  if (!isStored) {
    showNote("The mark was not stored");
    return;
  }
  /** @type {HTMLElement | null} */ (byId("notes-list").querySelector(`[data-key="${id}"] input`))?.focus();
  showNote("Marked. You can type a note now");
}

/** Shows the notes. Existing lines stay, because the user may be typing in one. */
function fill() {
  const list = byId("notes-list");
  for (const line of [...list.children]) if (!notes.some((note) => note.id === line.dataset.key)) line.remove();
  /** @type {Map<string, HTMLElement>} */
  const lines = new Map([...list.children].map((line) => [line.dataset.key, line]));
  /** @type {Element | null} */
  let place = list.firstElementChild;
  for (const note of notes) {
    const line = lines.get(note.id) ?? emptyLine(note.id);
    if (line === place) place = line.nextElementSibling;
    else list.insertBefore(line, place);
    const [text, remove, go] = /** @type {any} */ (line.children);
    const name = note.text || formatTimestamp(note.from, (note.to - note.from) / 1000);
    if (text !== document.activeElement) text.value = note.text;
    remove.setAttribute("aria-label", `Remove note ${name}`);
    go.setAttribute("aria-label", `Go to note ${name}`);
    const span = note.to - note.from;
    const start = formatTimestamp(note.from, span / 1000);
    go.textContent = `${start}, ${formatDuration(span)}${note.rows ? `, ${noteRows(note.rows)}` : ""}`;
  }
  byId("notes-status").textContent = notes.length
    ? `Stored in ${path}`
    : "Press b to mark the visible or the selected time range and write a note. Notes are stored next to the trace.";
}

/** An empty line for a note. @param {string} id */
function emptyLine(id) {
  // Another window may have removed the note.
  const withNote = (/** @type {(note: Note) => unknown} */ act) => {
    const note = notes.find((note) => note.id === id);
    if (note) act(note);
  };
  return make(
    "li",
    { "data-key": id },
    make("input", {
      "aria-label": "Note",
      placeholder: "no text",
      maxlength: 1000,
      autocomplete: "off",
      onchange: (/** @type {Event} */ event) =>
        withNote((note) =>
          sendChange({ put: { ...note, text: /** @type {HTMLInputElement} */ (event.target).value } }),
        ),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Enter" || event.key === "Escape") /** @type {HTMLInputElement} */ (event.target).blur();
      },
    }),
    make("button", { class: "icon-button", title: "Remove", text: "×", onclick: () => sendChange({ remove: id }) }),
    make("button", { class: "go-to-note", onclick: () => withNote(goToNote) }),
  );
}

/** The rows of a note in words. @param {string} rows */
function noteRows(rows) {
  const numbers = readRuns(rows);
  return numbers.length === 1 ? (rowOf(numbers[0])?.name ?? "1 row") : `${groupDigits(numbers.length)} rows`;
}

/**
 * Shows a note: its time range with some time around it, and its rows as the selection.
 * @param {Note} note
 */
function goToNote(note) {
  const rows = readRuns(note.rows ?? "");
  const margin = rows.length ? (note.to - note.from) * SELECTION_MARGIN : 0;
  show(note.from - margin, note.to + margin, true);
  if (rows.length) {
    select([note.from, note.to], new Set(rows));
    const row = rows.map((id) => rowOf(id)).find(Boolean);
    if (row) reveal(row);
  }
  if (note.entity) openInspector(note.entity);
}
