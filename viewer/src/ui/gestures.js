// Hands on the diagram: wheel, drag, double click, keys.

import * as chart from "./chart.js";
import { byId } from "./dom.js";
import { choose, close, hideTooltip, leave, point, repaint, state } from "./pointer.js";
import { fit, pan, show, view, zoom } from "./view.js";

/** @type {HTMLElement} */ const diagram = byId("chart");
/** @type {HTMLElement} */ const scroller = byId("scroller");
/** Pixels of movement that make a click a drag. */
const SLACK = 4;

export function listen() {
  diagram.addEventListener("wheel", wheel, { passive: false });
  byId("ruler").addEventListener("wheel", wheel, { passive: false });
  diagram.addEventListener("pointerdown", (event) => press(event, diagram, event.shiftKey));
  byId("ruler").addEventListener("pointerdown", (event) => press(event, byId("ruler"), true));
  diagram.addEventListener("pointermove", (event) => { if (!event.buttons) point(...local(event, diagram), event); });
  diagram.addEventListener("pointerleave", leave);
  byId("ruler").addEventListener("pointermove", (event) => {
    if (!event.buttons) { state.x = local(event, byId("ruler"))[0]; repaint(); }
  });
  byId("ruler").addEventListener("pointerleave", leave);
  diagram.addEventListener("dblclick", fit);
  byId("ruler").addEventListener("dblclick", fit);
  document.addEventListener("keydown", key);
}

/** @param {MouseEvent} event @param {HTMLElement} element @returns {[number, number]} */
function local(event, element) {
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
    const [x] = local(event, diagram);
    hideTooltip();
    zoom(Math.exp(Math.max(-120, Math.min(120, dy)) * 0.0028), chart.timeAt(x));
  }
}

/** @param {PointerEvent} event @param {HTMLElement} element @param {boolean} choosing */
function press(event, element, choosing) {
  if (event.button !== 0) return;
  element.setPointerCapture(event.pointerId);
  const [x0, y0] = local(event, element);
  const [from, to, scroll] = [view.from, view.to, scroller.scrollTop];
  const { width } = chart.size();
  let moved = false;
  const move = (/** @type {PointerEvent} */ now) => {
    const [x, y] = local(now, element);
    moved ||= Math.hypot(x - x0, y - y0) > SLACK;
    if (!moved) return;
    hideTooltip();
    if (choosing) {
      const inside = Math.min(Math.max(x, 0), width);
      state.choice = [Math.min(x0, inside), Math.max(x0, inside)];
      diagram.classList.add("choosing");
    } else {
      const by = ((x0 - x) / width) * (to - from);
      diagram.classList.add("moving");
      show(from + by, to + by);
      scroller.scrollTop = scroll + y0 - y;
    }
    repaint();
  };
  const end = (/** @type {PointerEvent} */ now) => {
    element.removeEventListener("pointermove", move);
    diagram.classList.remove("moving", "choosing");
    const choice = state.choice;
    state.choice = null;
    if (choice && now.type === "pointerup" && choice[1] - choice[0] > SLACK) show(chart.timeAt(choice[0]), chart.timeAt(choice[1]), true);
    else if (!moved && now.type === "pointerup" && element === diagram) choose(...local(now, element));
    repaint();
  };
  element.addEventListener("pointermove", move);
  element.addEventListener("pointerup", end, { once: true });
  element.addEventListener("pointercancel", end, { once: true });
}

/** @param {KeyboardEvent} event */
function key(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /** @type {HTMLElement} */ (event.target).closest("input, dialog")) return;
  const rows = 60;
  /** @type {Record<string, () => void>} */
  const acts = {
    ArrowLeft: () => pan(-0.15),
    ArrowRight: () => pan(0.15),
    ArrowUp: () => { scroller.scrollTop -= rows; },
    ArrowDown: () => { scroller.scrollTop += rows; },
    "+": () => zoom(1 / 1.5),
    "=": () => zoom(1 / 1.5),
    "-": () => zoom(1.5),
    f: fit,
    "[": () => history.back(),
    "]": () => history.forward(),
    g: () => byId("from").select(),
    l: () => byId("side").click(),
    t: () => byId("theme").click(),
    "?": () => byId("sheet").showModal(),
    Escape: close,
  };
  const act = acts[event.key];
  if (act) {
    event.preventDefault();
    // What was pointed at moves away, or is to be left.
    hideTooltip();
    act();
  }
}
