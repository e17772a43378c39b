// The shown time range as text, written and read: `0.2..0.4 s`, `12ms..`, `..1 h 30 min`,
// `200 ms + 5 ms`.

import { byId } from "../util/dom.js";
import { formatTimestamp, formatDuration, fromOrigin } from "../util/format.js";
import { showNote } from "../util/status_line.js";
import { parseTime, parseTimeRange } from "../util/time_range.js";
import { select } from "../state/selection.js";
import { traceDuration, view } from "../state/view_state.js";
import { show } from "../state/viewport.js";

/** @type {HTMLInputElement} */ const field = byId("time-range-field");
/** @type {HTMLElement} */ const errorLine = byId("time-range-error");

/** The time range as text, as exact as it is drawn. */
function timeRangeText() {
  const span = view.to - view.from;
  return `${formatTimestamp(view.from, span / 10000)} .. ${formatTimestamp(view.to, span / 10000)}`;
}

/** Writes the time range into its field, unless the user is typing there. */
export function showTimeRange() {
  if (field !== document.activeElement) {
    field.value = timeRangeText();
    // The field is as wide as its text, because the digits of a short time range matter.
    field.style.width = `${Math.min(300, Math.max(innerWidth > 900 ? 200 : 150, field.value.length * 7.4 + 20))}px`;
    showError(null);
  }
  byId("duration").textContent = formatDuration(view.to - view.from);
}

export function editTimeRange() {
  field.focus();
  field.select();
}

export function listenToTimeRange() {
  byId("time-range").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const range = parseShownTimeRange(field.value, view);
    if ("error" in range) {
      showError(range.error);
      return;
    }
    field.blur();
    show(range.from, range.to, true);
    showTimeRange();
    if (Math.round(range.from) !== view.from || Math.round(range.to) !== view.to)
      showNote("The page cannot show all of this time range: this is the nearest one");
  });
  // Firefox places the caret at the pointer after the focus event, and so removes the selection.
  let hasNewFocus = false;
  field.addEventListener("focus", () => {
    hasNewFocus = true;
    field.select();
  });
  field.addEventListener("click", () => {
    if (hasNewFocus && field.selectionStart === field.selectionEnd) field.select();
    hasNewFocus = false;
  });
  field.addEventListener("input", () => showError(null));
  field.addEventListener("blur", () => window.setTimeout(showTimeRange, 0));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") field.blur();
    if (event.key !== "Enter" || !event.shiftKey) return;
    event.preventDefault();
    const range = parseShownTimeRange(field.value, view);
    if ("error" in range) return showError(range.error);
    field.blur();
    select([range.from, range.to], view.selectedRows);
  });
}

/** @param {string | null} text */
function showError(text) {
  field.setAttribute("aria-invalid", String(text !== null));
  errorLine.hidden = text === null;
  errorLine.textContent = text ?? "";
}

/**
 * Reads a time range. A missing bound is that of the trace. A single timestamp becomes the middle.
 * @param {string} text
 * @param {{ from: number, to: number }} current the shown time range
 * @returns {{ from: number, to: number } | { error: string }}
 */
export function parseShownTimeRange(text, current) {
  const range = parseTimeRange(text);
  if ("error" in range) {
    const time = parseTime(text);
    if (typeof time !== "bigint") return range;
    const half = (current.to - current.from) / 2;
    return { from: fromOrigin(time) - half, to: fromOrigin(time) + half };
  }
  const from = range.from === null ? 0 : fromOrigin(range.from);
  const to = range.to === null ? traceDuration() : fromOrigin(range.to);
  if (from < to) return { from, to };
  return {
    error:
      `the time range \`${text.trim()}\` is outside the trace, ` +
      `which is \`${formatTimestamp(0, 1)} .. ${formatTimestamp(traceDuration(), 1)}\``,
  };
}
