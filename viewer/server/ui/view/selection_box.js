// The box of the selection in the diagram: its edges, which are dragged or moved by keys, and the
// toolbar beside it.

import * as chart from "./diagram.js";
import { byId, make } from "../util/dom.js";
import { formatTimestamp } from "../util/format.js";
import { layout, pinnedHeight, toWindow } from "../state/rows.js";
import { hasSelection, selectedStretches, selectionKey, sizeInWords } from "../state/selection.js";
import { traceDuration, view } from "../state/view_state.js";

/** @type {HTMLElement} */ const box = byId("selection");
/** @type {HTMLElement} */ const toolbar = byId("selection-toolbar");
/** The width of an edge that can be dragged, in pixels. */
const EDGE = 9;
/** The distance of the toolbar from the box and from the border of the diagram. */
const GAP = 6;

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Part */

/** The positions of the start and the end of the selection. @returns {[number, number]} */
function timeEdges() {
  const time = view.selectedTime;
  return time ? [chart.xOf(time[0]), chart.xOf(time[1])] : [0, chart.size().width];
}

/** The parts of the diagram's window that the selection covers, from top to bottom. @returns {Part[]} */
export function selectionParts() {
  if (!hasSelection()) return [];
  const { width, height } = chart.size();
  const [left, right] = timeEdges();
  if (right < 0 || left > width) return [];
  if (view.selectedRows.size === 0) return [{ left, right, top: 0, bottom: height }];
  return selectedStretches()
    .map(([first, last]) => {
      const [from, to] = [layout.rows[first], layout.rows[last]];
      const top = Math.max(toWindow(from.y), from.pinned ? 0 : pinnedHeight());
      return { left, right, top, bottom: Math.min(toWindow(to.y) + to.height, height) };
    })
    .filter((part) => part.bottom > part.top);
}

/** Shows the selection: its box, its toolbar, and its size below the diagram. */
export function placeSelection() {
  box.hidden = !hasSelection();
  showSize();
  if (box.hidden) return;
  const parts = selectionParts();
  const { height } = chart.size();
  const [left, right] = timeEdges();
  const frame = { left, right, top: parts[0]?.top ?? 0, bottom: parts[parts.length - 1]?.bottom ?? height };
  placeEdges(frame, parts.length > 0);
  placeToolbar(frame);
}

/** @param {Part} frame @param {boolean} isVisible */
function placeEdges({ left, right, top, bottom }, isVisible) {
  const { width } = chart.size();
  const stretches = selectedStretches();
  const inside = (/** @type {number} */ x) => x >= 0 && x <= width;
  const [from, to] = [Math.max(left, 0), Math.min(right, width)];
  const hasTime = view.selectedTime !== null;
  // Rows that are not next to each other have no common upper and lower edge.
  const isOneStretch = stretches.length === 1;
  /** @type {Record<string, boolean>} */
  const isThere = {
    left: hasTime && inside(left),
    right: hasTime && inside(right),
    top: isOneStretch,
    bottom: isOneStretch,
  };
  for (const edge of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll("[data-edges]"))) {
    const sides = (edge.dataset.edges ?? "").split(" ");
    edge.hidden = !isVisible || !sides.every((side) => isThere[side]);
    const x = sides.includes("left") ? left : sides.includes("right") ? right : null;
    const y = sides.includes("top") ? top : sides.includes("bottom") ? bottom : null;
    edge.style.left = `${x === null ? from : x - EDGE / 2}px`;
    edge.style.width = `${x === null ? to - from : EDGE}px`;
    edge.style.top = `${y === null ? top : y - EDGE / 2}px`;
    edge.style.height = `${y === null ? bottom - top : EDGE}px`;
    if (edge.role === "slider" && !edge.hidden) describeEdge(edge, sides[0], stretches);
  }
}

/** @param {HTMLElement} edge @param {string} side @param {[number, number][]} stretches */
function describeEdge(edge, side, stretches) {
  const isTime = side === "left" || side === "right";
  const value = isTime
    ? (view.selectedTime?.[side === "left" ? 0 : 1] ?? 0)
    : (stretches[0]?.[side === "top" ? 0 : 1] ?? 0);
  edge.setAttribute("aria-valuemin", "0");
  edge.setAttribute("aria-valuemax", String(isTime ? Math.max(traceDuration(), value) : layout.rows.length - 1));
  edge.setAttribute("aria-valuenow", String(isTime ? Math.max(0, value) : value));
  edge.setAttribute(
    "aria-valuetext",
    isTime ? formatTimestamp(value, (view.to - view.from) / 10000) : (layout.rows[value]?.name ?? ""),
  );
}

/** Puts the toolbar above the box, below it, or into it. @param {Part} frame */
function placeToolbar({ left, right, top, bottom }) {
  const { width, height } = chart.size();
  const { offsetWidth, offsetHeight } = toolbar;
  const above = top - GAP - offsetHeight;
  const y =
    above >= GAP ? above : bottom + GAP + offsetHeight <= height - GAP ? bottom + GAP : height - GAP - offsetHeight;
  const middle = (Math.max(left, 0) + Math.min(right, width)) / 2;
  const x = Math.min(Math.max(middle - offsetWidth / 2, GAP), width - offsetWidth - GAP);
  toolbar.style.left = `${Math.max(0, x)}px`;
  toolbar.style.top = `${Math.min(Math.max(y, GAP), height - GAP - offsetHeight)}px`;
}

/** The selected time range as text, as exact as it is drawn. Empty if any time is selected. */
export function selectedTimeText() {
  if (!view.selectedTime) return "";
  const [from, to] = view.selectedTime;
  const resolution = Math.max(1, (to - from) / 1000);
  return `${formatTimestamp(from, resolution)} .. ${formatTimestamp(to, resolution)}`;
}

/** Shows the size of the selection in words, in the toolbar and below the diagram. */
function showSize() {
  const line = byId("selected-size");
  line.hidden = !hasSelection();
  if (line.dataset.selection !== selectionKey()) {
    line.dataset.selection = selectionKey();
    // The names of the ends of another selection.
    line.title = "";
  }
  if (line.hidden) return;
  const time = selectedTimeText().replace(" .. ", " to ");
  line.replaceChildren(make("b", { text: sizeInWords() }), time ? ` from ${time}` : " at any time");
  byId("selection-size").textContent = sizeInWords();
  const field = byId("selection-field");
  if (field !== document.activeElement) field.value = selectedTimeText();
}
