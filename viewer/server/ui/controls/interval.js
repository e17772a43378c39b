// The shown interval as text, written and read: `0.2..0.4 s`, `12ms..`, `..1 h 30 min`, `200 ms + 5
// ms`.

import { byId } from "../util/dom.js";
import { date, duration, parseDate, unitIn } from "../util/format.js";
import { note } from "../util/status_line.js";
import { length, show, view } from "../state/view.js";

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
 * Reads an interval. An omitted end is that of the trace; a timestamp without a unit has the first
 * unit of the other one.
 * @param {string} text
 * @param {{ from: number, to: number }} shown
 * @returns {{ from: number, to: number } | { wrong: string }}
 */
export function parseInterval(text, shown) {
  const example = "write two dates, such as 0.2..0.4 s, 12ms.. or 200 ms + 5 ms";
  const parts = /^(.*?)(\.\.|–|\bto\b|\+)(.*)$/.exec(text.trim());
  if (!parts) {
    const at = parseDate(text);
    if (at === null) return { wrong: `“${text.trim()}” is no interval: ${example}` };
    // A single timestamp becomes the middle.
    const half = (shown.to - shown.from) / 2;
    return { from: at - half, to: at + half };
  }
  let [first, second] = [parts[1].trim(), parts[3].trim()];
  if (first && second && parts[2] !== "+") {
    const units = [unitIn(first), unitIn(second)];
    if (!units[0]) first += units[1] ?? "";
    if (!units[1]) second += units[0] ?? "";
  }
  const from = first ? parseDate(first) : 0;
  if (from === null) return { wrong: `“${first}” is no date: ${example}` };
  if (parts[2] === "+") {
    const long = parseDate(second, 0n);
    if (long === null || long <= 0) return { wrong: `“${second}” is no duration: ${example}` };
    return { from, to: from + long };
  }
  const to = second ? parseDate(second) : length();
  if (to === null) return { wrong: `“${second}” is no date: ${example}` };
  if (to <= from) return { wrong: `The interval ends before it begins: ${date(from, 1)} is not before ${date(to, 1)}` };
  return { from, to };
}
