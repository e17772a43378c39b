// The time cursor of the views as a line in the diagram and in the minimap: dragged, or moved by
// keys.

import * as chart from "./diagram.js";
import { byId } from "../util/dom.js";
import { formatTimestamp } from "../util/format.js";
import { cursorTime, setCursor, viewsRange } from "../state/time_cursor.js";
import { traceDuration, view } from "../state/view_state.js";

/** The share of the shown time range that a key moves the cursor by. */
const KEY_STEP = 1 / 200;

/**
 * A line. `xOf` is its position, `timeAt` the time at a position in its box, and `span` the shown
 * time range.
 * @typedef {{ line: HTMLElement, box: HTMLElement, width: () => number, xOf: (time: number) => number,
 * timeAt: (x: number) => number, span: () => number }} CursorLine
 */
const minimap = byId("minimap");
/** @type {CursorLine[]} */
const LINES = [
  {
    line: byId("time-cursor"),
    box: byId("chart"),
    width: () => chart.size().width,
    xOf: chart.xOf,
    timeAt: chart.timeAt,
    span: () => view.to - view.from,
  },
  {
    line: byId("minimap-cursor"),
    box: minimap,
    width: () => minimap.clientWidth,
    span: traceDuration,
    xOf: (time) => (time / traceDuration()) * minimap.clientWidth,
    timeAt: (x) => (x / Math.max(1, minimap.clientWidth)) * traceDuration(),
  },
];

/** Whether the views are open. */
let isShown = false;

/** @param {boolean} shown */
export function showCursorLine(shown) {
  isShown = shown;
  placeCursorLine();
}

/** Puts the lines at the cursor. */
export function placeCursorLine() {
  const time = cursorTime();
  for (const { line, width, xOf, span } of LINES) {
    const x = xOf(time);
    line.hidden = !isShown || !(x >= 0 && x <= width());
    if (line.hidden) continue;
    line.style.left = `${x}px`;
    line.setAttribute("aria-valuemax", String(traceDuration()));
    line.setAttribute("aria-valuenow", String(time));
    line.setAttribute("aria-valuetext", formatTimestamp(time, span() / 10000));
  }
}

export function listenToCursorLine() {
  LINES.forEach(listenTo);
}

/** @param {CursorLine} cursorLine */
function listenTo({ line, box, width, timeAt, span }) {
  line.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    // The diagram below does not move.
    event.stopPropagation();
    line.setPointerCapture(event.pointerId);
    const { left } = box.getBoundingClientRect();
    const pointerTime = (/** @type {PointerEvent} */ current) =>
      timeAt(Math.min(Math.max(current.clientX - left, 0), width()));
    const move = (/** @type {PointerEvent} */ current) => setCursor(pointerTime(current), true);
    const end = (/** @type {PointerEvent} */ current) => {
      line.removeEventListener("pointermove", move);
      setCursor(current.type === "pointerup" ? pointerTime(current) : cursorTime());
    };
    line.addEventListener("pointermove", move);
    line.addEventListener("pointerup", end, { once: true });
    line.addEventListener("pointercancel", end, { once: true });
  });
  line.addEventListener("dblclick", (event) => event.stopPropagation());
  line.addEventListener("keydown", (event) => {
    const step = span() * KEY_STEP * (event.shiftKey ? 10 : 1);
    /** @type {Record<string, () => number>} */
    const times = {
      ArrowLeft: () => cursorTime() - step,
      ArrowRight: () => cursorTime() + step,
      Home: () => viewsRange().from,
      End: () => viewsRange().to,
    };
    if (!times[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    setCursor(times[event.key]());
  });
}
