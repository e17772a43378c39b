// The time cursor `t` of the views, and the time range that they show.

import { selectedRange } from "./selection.js";
import { setSetting, setting } from "./address.js";
import { traceDuration } from "./view_state.js";

/** Nanoseconds after the trace's first timestamp; null until it is set. @type {number | null} */
let cursor = null;
/** @type {(() => void)[]} */
const listeners = [];

/** @param {() => void} listener called after each change of the cursor */
export function onCursor(listener) {
  listeners.push(listener);
}

/** The time range of the views: the selected one, or the visible one, within the trace. */
export function viewsRange() {
  const [from, to] = selectedRange();
  const inside = [Math.max(0, Math.round(from)), Math.min(traceDuration(), Math.round(to))];
  return inside[0] < inside[1] ? { from: inside[0], to: inside[1] } : { from: 0, to: traceDuration() };
}

/** The time cursor. Without a choice, the middle of the time range. */
export function cursorTime() {
  const { from, to } = viewsRange();
  return Math.min(cursor ?? Math.round((from + to) / 2), traceDuration());
}

/**
 * Moves the cursor.
 * @param {number} time
 * @param {boolean} [isMoving] whether more changes follow at once, so that the address can wait
 */
export function setCursor(time, isMoving = false) {
  const next = Math.min(Math.max(0, Math.round(time)), traceDuration());
  if (next === cursor && isMoving) return;
  cursor = next;
  if (!isMoving) storeCursor();
  listeners.forEach((listener) => listener());
}

/** Writes the cursor to the address. */
export function storeCursor() {
  setSetting("at", cursor === null ? null : String(cursor));
}

/** Restores the cursor from the address. */
export function restoreCursor() {
  const stored = setting("at");
  cursor = stored !== null && /^\d{1,19}$/.test(stored) ? Number(stored) : null;
  listeners.forEach((listener) => listener());
}
