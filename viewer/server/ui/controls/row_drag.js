// Drags a row to another place among its siblings. A press without movement is a click.

import { byId, make } from "../util/dom.js";
import { pinnedHeight, layout, toWindow } from "../state/rows.js";
import { focusRow } from "../view/tree.js";

/** @typedef {import("../state/rows.js").Row} Row */

/** Pixels of movement that turn a click into a drag. */
const DRAG_DISTANCE = 5;
/** Distance from the edges, in pixels, at which the rows scroll. */
const SCROLL_MARGIN = 28;

/**
 * @param {PointerEvent} event
 * @param {Row} row
 * @param {Row[]} siblings the rows among which it can be moved, including itself
 * @param {() => void} click
 * @param {(row: Row, before: Row | null) => void} move
 */
export function dragRow(event, row, siblings, click, move) {
  event.preventDefault();
  focusRow(row.id);
  const scroller = byId("scroller");
  const box = scroller.getBoundingClientRect();
  const places = [...siblings.map((row) => row.y), subtreeEnd(siblings[siblings.length - 1])];
  const start = event.clientY;
  /** @type {HTMLElement | null} */ let mark = null;
  /** @type {number | null} */ let to = null;
  const follow = (/** @type {PointerEvent} */ current) => {
    if (!mark && Math.abs(current.clientY - start) < DRAG_DISTANCE) return;
    mark ??= startDrag(row);
    const y = current.clientY - box.top;
    if (y < pinnedHeight() + SCROLL_MARGIN && !row.pinned) scroller.scrollTop -= 8;
    else if (y > box.height - SCROLL_MARGIN) scroller.scrollTop += 8;
    const distances = places.map((place) => Math.abs(toWindow(place) - y));
    to = distances.indexOf(Math.min(...distances));
    mark.style.top = `${places[to] - 2}px`;
    mark.hidden = to === siblings.indexOf(row) || to === siblings.indexOf(row) + 1;
  };
  const end = (/** @type {Event} */ endEvent) => {
    window.removeEventListener("pointermove", follow);
    window.removeEventListener("pointerup", end);
    window.removeEventListener("pointercancel", end);
    window.removeEventListener("keydown", cancel, true);
    document.body.classList.remove("dragging");
    const moved = mark !== null && !mark.hidden;
    mark?.remove();
    byId("tree").querySelector(".dragged")?.classList.remove("dragged");
    if (endEvent.type !== "pointerup") return;
    if (!mark) click();
    else if (moved && to !== null) move(row, siblings[to] ?? null);
  };
  const cancel = (/** @type {KeyboardEvent} */ keyEvent) => {
    if (keyEvent.key !== "Escape") return;
    keyEvent.stopPropagation();
    end(keyEvent);
  };
  window.addEventListener("pointermove", follow);
  window.addEventListener("pointerup", end);
  window.addEventListener("pointercancel", end);
  window.addEventListener("keydown", cancel, true);
}

/** The lower end of the rows of a container and its descendants. @param {Row} row */
function subtreeEnd(row) {
  const index = layout.rows.indexOf(row);
  let end = index + 1;
  while (
    end < layout.rows.length &&
    layout.rows[end].ancestors.includes(row.id) &&
    layout.rows[end].pinned === row.pinned
  )
    end += 1;
  return layout.rows[end - 1].y + layout.rows[end - 1].height;
}

/** @param {Row} row */
function startDrag(row) {
  document.body.classList.add("dragging");
  byId("tree").querySelector(`[data-id="${row.id}"]`)?.classList.add("dragged");
  const mark = make("div", { class: "drop-mark", "aria-hidden": "true" });
  byId("rows").append(mark);
  return mark;
}
