// The expression at which the player stops, in the language of Find, and steps to its matches.

import { selectedRowNumbers } from "../state/selection.js";
import { request, RefusedError } from "../net/api.js";
import { byId, isolate, joinNames } from "../util/dom.js";
import { formatTimestamp } from "../util/format.js";
import { showNote } from "../util/status_line.js";
import { overlay } from "../state/overlay_state.js";
import { cursorTime, setCursor } from "../state/time_cursor.js";
import { setSetting, setting } from "../state/address.js";
import { traceDuration } from "../state/view_state.js";
import { paintOverlay } from "../view/overlay.js";

/** @typedef {{ t: number, id: string, name: string, path: string[] }} Match */

/** @type {HTMLInputElement} */ const field = byId("stop-field");
/** @type {HTMLElement} */ const problem = byId("stop-error");

export const stopText = () => field.value.trim();

/** @param {string} text empty: no problem */
function showProblem(text) {
  field.setAttribute("aria-invalid", String(text !== ""));
  problem.textContent = text;
  problem.hidden = text === "";
}

/**
 * The next entity that matches. Forward: begins after `from` and not after `to`; backward: begins
 * before `to` and not before `from`.
 * @param {number} direction
 * @param {number} from
 * @param {number} to
 * @returns {Promise<Match | null | undefined>} undefined if the expression is wrong, or a newer
 * search began
 */
export async function findMatch(direction, from, to) {
  try {
    // The server refuses an empty time range.
    const answer = await request(
      "next_match",
      { text: stopText(), rows: selectedRowNumbers(), direction, from, to: Math.max(to, from + 1) },
      "next_match",
    );
    if (!answer) return undefined;
    showProblem("");
    return answer.t === null || answer.t > to ? null : answer;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    showProblem(error.message);
    return undefined;
  }
}

/** Reports the match at the cursor, and highlights it in the diagram. @param {Match} match */
export function showMatch({ id, t, name, path }) {
  overlay.stickyHighlights = [id];
  paintOverlay();
  showNote(`At ${formatTimestamp(t, 1)}: ${isolate(name)}, ${joinNames(path.slice(-2))}`);
}

/** Moves the cursor to the next match, or to the one before. @param {number} direction */
export async function stepToMatch(direction) {
  if (!stopText()) {
    showNote("Write an expression in the field “Stop at” first, such as MPI_Send");
    field.focus();
    return;
  }
  const match =
    direction > 0 ? await findMatch(1, cursorTime(), traceDuration()) : await findMatch(-1, 0, cursorTime());
  if (match === undefined) return;
  if (!match) {
    showNote(direction > 0 ? "There is no later match" : "There is no earlier match");
    return;
  }
  setCursor(match.t);
  showMatch(match);
}

/** @param {() => void} onChange called when the expression has changed */
export function listenToStop(onChange) {
  const store = () => setSetting("stop", stopText() || null);
  let lastText = "";
  const change = () => {
    store();
    if (lastText === stopText()) return;
    lastText = stopText();
    showProblem("");
    if (lastText) findMatch(1, 0, traceDuration()).catch(() => {});
    onChange();
  };
  field.addEventListener("input", () => {
    store();
    if (!stopText()) change();
  });
  field.addEventListener("change", change);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      field.value = "";
      change();
    } else if (event.key === "Enter") {
      event.preventDefault();
      change();
      stepToMatch(event.shiftKey ? -1 : 1).catch(() => {});
    }
  });
  byId("stop-next").addEventListener("click", () => {
    stepToMatch(1).catch(() => {});
  });
  byId("stop-previous").addEventListener("click", () => {
    stepToMatch(-1).catch(() => {});
  });
}

/** Restores the expression from the address. */
export function restoreStop() {
  const text = setting("stop") ?? "";
  if (field.value.trim() !== text) field.value = text;
}
