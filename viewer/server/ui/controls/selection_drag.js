// Makes, moves and resizes the selection with the pointer.

import * as chart from "../view/diagram.js";
import { byId } from "../util/dom.js";
import { leaveDiagram } from "./pointer.js";
import { layout, pinnedHeight, rowAt, toRows, toWindow } from "../state/rows.js";
import { selectionOfRows, select, selectedStretches } from "../state/selection.js";
import { view } from "../state/view_state.js";

/** @type {HTMLElement} */ const diagram = byId("chart");
/** @type {HTMLElement} */ const scroller = byId("scroller");
/** Pixels of movement that turn a click into a drag. */
const DRAG_DISTANCE = 4;
/** The distance from the upper and lower border within which a drag scrolls the rows. */
const SCROLL_DISTANCE = 12;

/** The selection without its methods. @typedef {{ time: [number, number] | null, rows: Set<number> }} Part */

/** @param {MouseEvent} event @returns {[number, number]} the position in the diagram's window */
function positionIn(event) {
  const { left, top } = diagram.getBoundingClientRect();
  return [event.clientX - left, event.clientY - top];
}

/** The index of the row at a height in the window; the nearest one outside of all rows. @param {number} y */
function indexAt(y) {
  const row = rowAt(y);
  if (row) return layout.rows.indexOf(row);
  return toRows(y) < 0 ? 0 : layout.rows.length - 1;
}

/**
 * Follows a drag, and changes the selection with it. A drag that is cancelled changes nothing.
 * @param {PointerEvent} event
 * @param {HTMLElement} element captures the pointer
 * @param {(x: number, y: number) => Part} partAt the selection for a position of the pointer
 * @param {() => void} [onClick]
 */
function followDrag(event, element, partAt, onClick = () => {}) {
  event.preventDefault();
  element.setPointerCapture(event.pointerId);
  const before = { time: view.selectedTime, rows: view.selectedRows };
  const [x0, y0] = positionIn(event);
  let moved = false;
  const update = (/** @type {PointerEvent} */ current, /** @type {"step" | "moving"} */ pace) => {
    const [x, y] = positionIn(current);
    const { time, rows } = partAt(Math.min(Math.max(x, 0), chart.size().width), y);
    select(time, rows, pace);
  };
  const move = (/** @type {PointerEvent} */ current) => {
    const [x, y] = positionIn(current);
    if (!moved && Math.hypot(x - x0, y - y0) <= DRAG_DISTANCE) return;
    if (!moved) leaveDiagram();
    moved = true;
    diagram.classList.add("selecting");
    if (y > chart.size().height - SCROLL_DISTANCE) scroller.scrollTop += SCROLL_DISTANCE;
    else if (y < pinnedHeight() + SCROLL_DISTANCE && y0 >= pinnedHeight()) scroller.scrollTop -= SCROLL_DISTANCE;
    update(current, "moving");
  };
  const end = (/** @type {PointerEvent} */ current) => {
    element.removeEventListener("pointermove", move);
    diagram.classList.remove("selecting");
    if (moved && current.type === "pointerup") update(current, "step");
    else if (moved) select(before.time, before.rows, "moving");
    else if (current.type === "pointerup") onClick();
  };
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", end, { once: true });
  element.addEventListener("pointercancel", end, { once: true });
}

/**
 * Rows between two places among the rows. Pinned rows do not scroll, so that a drag from them to
 * others contains only the visible rows in between.
 * @param {number} from a height among the rows
 * @param {number} to
 */
function rowsBetween(from, to) {
  const [above, below] = [Math.min(from, to), Math.max(from, to)];
  const isMixed = above < pinnedHeight() && below >= pinnedHeight();
  const isVisible = (/** @type {import("../state/rows.js").Row} */ row) =>
    row.pinned || toWindow(row.y) + row.height > pinnedHeight();
  return layout.rows.filter((row) => row.y <= below && row.y + row.height > above && (!isMixed || isVisible(row)));
}

/**
 * A drag in the diagram makes another selection.
 * @param {PointerEvent} event
 * @param {(x: number, y: number) => void} onClick
 */
export function pressToSelect(event, onClick) {
  if (event.button !== 0) return;
  const [x0, y0] = positionIn(event);
  const [start, height] = [chart.timeAt(x0), toRows(y0)];
  followDrag(
    event,
    diagram,
    (x, y) => ({ time: [start, chart.timeAt(x)], rows: selectionOfRows(rowsBetween(height, toRows(y))) }),
    () => onClick(x0, y0),
  );
}

/** The moved selection for a position of the pointer. @param {number} x0 @param {number} y0 */
function moveFrom(x0, y0) {
  const [time, rows, stretches, start] = [view.selectedTime, view.selectedRows, selectedStretches(), indexAt(y0)];
  return (/** @type {number} */ x, /** @type {number} */ y) => {
    const shift = chart.timeAt(x) - chart.timeAt(x0);
    return {
      time: time && /** @type {[number, number]} */ ([time[0] + shift, time[1] + shift]),
      rows: shiftedRows(rows, stretches, indexAt(y) - start),
    };
  };
}

/**
 * The rows that are some rows further down. Rows that are not next to each other stay.
 * @param {Set<number>} rows
 * @param {[number, number][]} stretches
 * @param {number} shift
 */
export function shiftedRows(rows, stretches, shift) {
  if (stretches.length !== 1 || shift === 0) return rows;
  const [first, last] = stretches[0];
  const inside = Math.min(Math.max(shift, -first), layout.rows.length - 1 - last);
  return selectionOfRows(layout.rows.slice(first + inside, last + inside + 1));
}

/**
 * A drag on the ruler selects a time range of all rows.
 * @param {PointerEvent} event
 */
export function pressToSelectTime(event) {
  if (event.button !== 0) return;
  const start = chart.timeAt(positionIn(event)[0]);
  followDrag(event, byId("ruler"), (x) => ({ time: [start, chart.timeAt(x)], rows: new Set() }));
}

/** Lets the edges and corners of the box be dragged, and the box by its size. */
export function listenToSelectionEdges() {
  byId("selection-size").addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.button === 0) followDrag(event, byId("selection-size"), moveFrom(...positionIn(event)));
  });
  for (const edge of /** @type {NodeListOf<HTMLElement>} */ (byId("selection").querySelectorAll("[data-edges]"))) {
    edge.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      event.stopPropagation();
      const sides = (edge.dataset.edges ?? "").split(" ");
      edge.focus();
      followDrag(event, edge, resizeBy(sides));
    });
    edge.addEventListener("dblclick", (event) => event.stopPropagation());
  }
}

/**
 * The resized selection for a position of the pointer.
 * @param {string[]} sides
 * @returns {(x: number, y: number) => Part}
 */
function resizeBy(sides) {
  const [time, rows, stretches] = [view.selectedTime, view.selectedRows, selectedStretches()];
  return (x, y) => {
    const fixedTime = time?.[sides.includes("left") ? 1 : 0] ?? 0;
    const isTimeMoved = time && (sides.includes("left") || sides.includes("right"));
    const isRowMoved = stretches.length === 1 && (sides.includes("top") || sides.includes("bottom"));
    const [fixedRow, row] = [stretches[0]?.[sides.includes("top") ? 1 : 0] ?? 0, isRowMoved ? indexAt(y) : 0];
    return {
      time: isTimeMoved ? [fixedTime, chart.timeAt(x)] : time,
      rows: isRowMoved
        ? selectionOfRows(layout.rows.slice(Math.min(fixedRow, row), Math.max(fixedRow, row) + 1))
        : rows,
    };
  };
}
