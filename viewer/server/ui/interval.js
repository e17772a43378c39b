// The shown interval as text, written and read: `0.2..0.4 s`, `12ms..`, `..1 h 30 min`, `200 ms + 5
// ms`.

import { byId } from "./dom.js";
import { date, duration, fromOrigin } from "./format.js";
import { note } from "./status.js";
import { parseTime, parseTimeRange } from "./time_range.js";
import { length, show, view } from "./view.js";

/** @type {HTMLInputElement} */ const field = byId("interval-field");
/** @type {HTMLElement} */ const complaint = byId("interval-wrong");

/** The interval as text, as exact as it is drawn. */
function written() {
  const span = view.to - view.from;
  return `${date(view.from, span / 10000)} .. ${date(view.to, span / 10000)}`;
}

/** Writes the interval into its field, unless the user is typing there. */
export function tellInterval() {
  if (field !== document.activeElement) {
    field.value = written();
    // The field is as wide as its text, because the digits of a short interval matter.
    field.style.width = `${Math.min(300, Math.max(innerWidth > 900 ? 200 : 150, field.value.length * 7.4 + 20))}px`;
    wrong(null);
  }
  byId("duration").textContent = duration(view.to - view.from);
}

export function editInterval() {
  field.focus();
  field.select();
}

export function listenToInterval() {
  byId("interval").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const read = parseInterval(field.value, view);
    if ("wrong" in read) {
      wrong(read.wrong);
      return;
    }
    field.blur();
    show(read.from, read.to, true);
    tellInterval();
    if (Math.round(read.from) !== view.from || Math.round(read.to) !== view.to) note("Not all of that can be shown: this is the nearest that can");
  });
  // Firefox places the caret at the pointer after the focus event, and so removes the selection.
  let isNew = false;
  field.addEventListener("focus", () => { isNew = true; field.select(); });
  field.addEventListener("click", () => { if (isNew && field.selectionStart === field.selectionEnd) field.select(); isNew = false; });
  field.addEventListener("input", () => wrong(null));
  field.addEventListener("blur", () => window.setTimeout(tellInterval, 0));
  field.addEventListener("keydown", (event) => { if (event.key === "Escape") field.blur(); });
}

/** @param {string | null} text */
function wrong(text) {
  field.setAttribute("aria-invalid", String(text !== null));
  complaint.hidden = text === null;
  complaint.textContent = text ?? "";
}

/**
 * Reads an interval. A missing bound is that of the trace. A single timestamp becomes the middle.
 * @param {string} text
 * @param {{ from: number, to: number }} shown
 * @returns {{ from: number, to: number } | { wrong: string }}
 */
export function parseInterval(text, shown) {
  const read = parseTimeRange(text);
  if ("wrong" in read) {
    const at = parseTime(text);
    if (typeof at !== "bigint") return read;
    const half = (shown.to - shown.from) / 2;
    return { from: fromOrigin(at) - half, to: fromOrigin(at) + half };
  }
  const from = read.from === null ? 0 : fromOrigin(read.from);
  const to = read.to === null ? length() : fromOrigin(read.to);
  if (from < to) return { from, to };
  return { wrong: `the time range \`${text.trim()}\` is outside the trace, which is \`${date(0, 1)} .. ${date(length(), 1)}\`` };
}
