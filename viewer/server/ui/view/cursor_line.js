// The time cursor of the views as a line in the diagram: dragged, or moved by keys.

import * as chart from "./chart.js";
import { byId } from "../util/dom.js";
import { formatTimestamp } from "../util/format.js";
import { cursorTime, setCursor, viewsRange } from "../state/time_cursor.js";
import { traceDuration, view } from "../state/view.js";

/** @type {HTMLElement} */ const line = byId("time-cursor");
/** The share of the visible time range that a key moves the cursor by. */
const KEY_STEP = 1 / 200;

/** Whether the views are open. */
let isShown = false;

/** @param {boolean} shown */
export function showCursorLine(shown) {
  isShown = shown;
  placeCursorLine();
}

/** Puts the line at the cursor. */
export function placeCursorLine() {
  const time = cursorTime();
  const x = chart.xOf(time);
  line.hidden = !isShown || !(x >= 0 && x <= chart.size().width);
  if (line.hidden) return;
  line.style.left = `${x}px`;
  line.setAttribute("aria-valuemax", String(traceDuration()));
  line.setAttribute("aria-valuenow", String(time));
  line.setAttribute("aria-valuetext", formatTimestamp(time, (view.to - view.from) / 10000));
}

export function listenToCursorLine() {
  line.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    // The diagram below does not move.
    event.stopPropagation();
    line.setPointerCapture(event.pointerId);
    const { left } = byId("chart").getBoundingClientRect();
    const timeAt = (/** @type {PointerEvent} */ current) => chart.timeAt(Math.min(Math.max(current.clientX - left, 0), chart.size().width));
    const move = (/** @type {PointerEvent} */ current) => setCursor(timeAt(current), true);
    const end = (/** @type {PointerEvent} */ current) => {
      line.removeEventListener("pointermove", move);
      setCursor(current.type === "pointerup" ? timeAt(current) : cursorTime());
    };
    line.addEventListener("pointermove", move);
    line.addEventListener("pointerup", end, { once: true });
    line.addEventListener("pointercancel", end, { once: true });
  });
  line.addEventListener("dblclick", (event) => event.stopPropagation());
  line.addEventListener("keydown", (event) => {
    const step = (view.to - view.from) * KEY_STEP * (event.shiftKey ? 10 : 1);
    /** @type {Record<string, () => number>} */
    const times = { ArrowLeft: () => cursorTime() - step, ArrowRight: () => cursorTime() + step, Home: () => viewsRange().from, End: () => viewsRange().to };
    if (!times[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    setCursor(times[event.key]());
  });
}
