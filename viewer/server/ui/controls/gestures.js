// Pointer input on the diagram: wheel, drag, click, double click.

import * as chart from "../view/diagram.js";
import { inspectAt } from "../panels/inspected_entity.js";
import { byId } from "../util/dom.js";
import { setMeasurement, snap } from "./measurement.js";
import { overlay } from "../state/overlay_state.js";
import { hideTooltip, leaveDiagram, pointAt, pointToMeasure, repaint } from "./pointer.js";
import { rowAt } from "../state/rows.js";
import { isSelectMode, select } from "../state/selection.js";
import { pressToSelect, pressToSelectTime } from "./selection_drag.js";
import { view } from "../state/view_state.js";
import { fit, pan, show, zoom } from "../state/viewport.js";

/** @type {HTMLElement} */ const diagram = byId("chart");
/** @type {HTMLElement} */ const scroller = byId("scroller");
/** Pixels of movement that turn a click into a drag. */
const DRAG_DISTANCE = 4;

export function listenToDiagram() {
  diagram.addEventListener("wheel", wheel, { passive: false });
  byId("ruler").addEventListener("wheel", wheel, { passive: false });
  diagram.addEventListener("pointerdown", (event) => {
    if (event.ctrlKey || event.metaKey) pressToMeasure(event);
    else if (isSelectMode() !== event.shiftKey)
      pressToSelect(event, (x, y) => {
        inspectAt(x, y, rowAt(y));
      });
    else press(event, diagram, false);
  });
  byId("ruler").addEventListener("pointerdown", (/** @type {PointerEvent} */ event) =>
    isSelectMode() !== event.shiftKey ? pressToSelectTime(event) : press(event, byId("ruler"), true),
  );
  diagram.addEventListener("pointermove", (event) => {
    if (!event.buttons) pointAt(...positionIn(event, diagram), event).catch(() => {});
  });
  diagram.addEventListener("pointerleave", leaveDiagram);
  byId("ruler").addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (!event.buttons) {
      overlay.x = positionIn(event, byId("ruler"))[0];
      repaint();
    }
  });
  byId("ruler").addEventListener("pointerleave", leaveDiagram);
  diagram.addEventListener("dblclick", fit);
  byId("ruler").addEventListener("dblclick", fit);
}

/** @param {MouseEvent} event @param {HTMLElement} element @returns {[number, number]} */
function positionIn(event, element) {
  const box = element.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
}

/** @param {WheelEvent} event */
function wheel(event) {
  event.preventDefault();
  const pixels = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
  const [dx, dy] = [event.deltaX * pixels, event.deltaY * pixels];
  const { width } = chart.size();
  if (event.shiftKey) {
    scroller.scrollTop += dy || dx;
  } else if (Math.abs(dx) > Math.abs(dy)) {
    pan(dx / width);
  } else {
    const [x] = positionIn(event, diagram);
    hideTooltip();
    zoom(Math.exp(Math.max(-120, Math.min(120, dy)) * 0.0028), chart.timeAt(x));
  }
}

/**
 * A drag that moves the diagram, or on the ruler chooses the visible time range.
 * @param {PointerEvent} event
 * @param {HTMLElement} element
 * @param {boolean} isZooming
 */
function press(event, element, isZooming) {
  if (event.button !== 0) return;
  element.setPointerCapture(event.pointerId);
  const [x0, y0] = positionIn(event, element);
  const [from, to, scroll] = [view.from, view.to, scroller.scrollTop];
  const { width } = chart.size();
  let moved = false;
  const move = (/** @type {PointerEvent} */ current) => {
    const [x, y] = positionIn(current, element);
    moved ||= Math.hypot(x - x0, y - y0) > DRAG_DISTANCE;
    if (!moved) return;
    hideTooltip();
    if (isZooming) {
      const inside = Math.min(Math.max(x, 0), width);
      overlay.dragRange = [Math.min(x0, inside), Math.max(x0, inside)];
      diagram.classList.add("choosing");
    } else {
      const shift = ((x0 - x) / width) * (to - from);
      diagram.classList.add("moving");
      show(from + shift, to + shift);
      scroller.scrollTop = scroll + y0 - y;
    }
    repaint();
  };
  const end = (/** @type {PointerEvent} */ current) => {
    element.removeEventListener("pointermove", move);
    diagram.classList.remove("moving", "choosing");
    const range = overlay.dragRange;
    overlay.dragRange = null;
    if (range && current.type === "pointerup" && range[1] - range[0] > DRAG_DISTANCE)
      show(chart.timeAt(range[0]), chart.timeAt(range[1]), true);
    else if (!moved && current.type === "pointerup" && element === diagram) {
      const [x, y] = positionIn(current, element);
      inspectAt(x, y, rowAt(y));
    }
    repaint();
  };
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", end, { once: true });
  element.addEventListener("pointercancel", end, { once: true });
}

/**
 * Ctrl and a drag measure. Both ends snap to a nearby begin or end of an entity.
 * @param {PointerEvent} event
 */
function pressToMeasure(event) {
  if (event.button !== 0) return;
  event.preventDefault();
  diagram.setPointerCapture(event.pointerId);
  const first = snap(...positionIn(event, diagram));
  const before = view.selectedTime;
  let moved = false;
  const move = (/** @type {PointerEvent} */ current) => {
    const [x, y] = positionIn(current, diagram);
    moved ||= Math.abs(chart.xOf(first.time) - x) > DRAG_DISTANCE;
    if (!moved) return;
    pointToMeasure(x, y);
    diagram.classList.add("selecting");
    select([first.time, overlay.snap?.time ?? chart.timeAt(x)], view.selectedRows, "moving");
  };
  const end = (/** @type {PointerEvent} */ current) => {
    diagram.removeEventListener("pointermove", move);
    diagram.classList.remove("selecting");
    if (moved && current.type === "pointerup") setMeasurement(first, snap(...positionIn(current, diagram)));
    else if (moved) select(before, view.selectedRows, "moving");
    repaint();
  };
  diagram.addEventListener("pointermove", move);
  diagram.addEventListener("pointerup", end, { once: true });
  diagram.addEventListener("pointercancel", end, { once: true });
}
