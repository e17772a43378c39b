// Makes, moves and resizes the selection with keys.

import * as chart from "../view/diagram.js";
import { byId } from "../util/dom.js";
import { keyTarget } from "./row_actions.js";
import { layout, reveal } from "../state/rows.js";
import {
  hasSelection,
  isSelectMode,
  selectionOfRows,
  select,
  selectedStretches,
  setSelectMode,
  sizeInWords,
} from "../state/selection.js";
import { shiftedRows } from "./selection_drag.js";
import { showNote } from "../util/status_line.js";
import { view } from "../state/view_state.js";
import { show } from "../state/viewport.js";

/** The share of the visible time range by which a key moves an edge. */
const KEY_STEP = 1 / 100;

/** @typedef {"left" | "right" | "top" | "bottom"} Side */

/** Selects the middle of the visible time range, in the row that keys act on or in all rows. */
function startSelection() {
  const row = keyTarget();
  const span = view.to - view.from;
  select([view.from + span * 0.4, view.from + span * 0.6], row ? selectionOfRows([row]) : new Set());
}

/** `e`: selects a part, or moves the focus to the selection so that its time range can be typed. */
export function editSelection() {
  if (!hasSelection()) {
    startSelection();
    showNote(`Selected: ${sizeInWords()}. Shift and arrows resize it; e: type its time range`);
    return;
  }
  byId("selection-field").focus();
  byId("selection-field").select();
}

/**
 * Whether the rows below a group are shown, and not all of them are within a stretch.
 * @param {number} index
 * @param {number} last
 */
function isPartOfGroup(index, last) {
  const row = layout.rows[index];
  if (!row?.expandable || row.folded) return false;
  const end = layout.rows.findLastIndex((candidate) => candidate.ancestors.includes(row.id));
  return end > last;
}

/**
 * The selected rows after a step of the first or the last row. Without a choice of rows, the row
 * that keys act on or the first visible one.
 * @param {"top" | "bottom"} side
 * @param {number} step
 */
function resizedRows(side, step) {
  const stretches = selectedStretches();
  if (stretches.length === 0) {
    const row = keyTarget() ?? layout.rows.find((row) => !row.expandable || row.folded);
    return row ? selectionOfRows([row]) : view.selectedRows;
  }
  let [first, last] = [stretches[0][0], stretches[stretches.length - 1][1]];
  do {
    if (side === "top") first += step;
    else last += step;
  } while (
    first <= last &&
    first >= 0 &&
    last < layout.rows.length &&
    isPartOfGroup(side === "top" ? first : last, last)
  );
  if (first > last || first < 0 || last >= layout.rows.length) return view.selectedRows;
  reveal(layout.rows[side === "top" ? first : last]);
  return selectionOfRows(layout.rows.slice(first, last + 1));
}

/**
 * Moves an edge of the selection by a step.
 * @param {Side} side
 * @param {number} step -1 or 1, or a multiple
 */
export function moveEdge(side, step) {
  if (!hasSelection()) {
    startSelection();
    return;
  }
  if (side === "top" || side === "bottom") {
    select(view.selectedTime, resizedRows(side, Math.sign(step)), "soon");
    return;
  }
  const [from, to] = view.selectedTime ?? [view.from, view.to];
  const shift = (view.to - view.from) * KEY_STEP * step;
  // An edge does not pass the opposite one.
  const time = side === "left" ? [Math.min(from + shift, to - 1), to] : [from, Math.max(to + shift, from + 1)];
  select(/** @type {[number, number]} */ (time), view.selectedRows, "soon");
  followTime(side === "left" ? time[0] : time[1]);
}

/**
 * Moves the selection by a step in time, or by rows.
 * @param {number} timeStep
 * @param {number} rowStep
 */
export function moveSelection(timeStep, rowStep) {
  if (!hasSelection()) {
    startSelection();
    return;
  }
  const shift = (view.to - view.from) * KEY_STEP * timeStep;
  const time =
    view.selectedTime && /** @type {[number, number]} */ ([view.selectedTime[0] + shift, view.selectedTime[1] + shift]);
  const rows = shiftedRows(view.selectedRows, selectedStretches(), rowStep);
  select(time, rows, "soon");
  const stretch = selectedStretches()[0];
  if (rowStep !== 0 && stretch) reveal(layout.rows[stretch[rowStep < 0 ? 0 : 1]]);
  if (time && timeStep !== 0) followTime(timeStep < 0 ? time[0] : time[1]);
}

/** Moves the visible time range so that a time is in it. @param {number} time */
function followTime(time) {
  const x = chart.xOf(time);
  const margin = (view.to - view.from) * 0.02;
  if (x < 0) show(time - margin, view.to - (view.from - time) - margin);
  else if (x > chart.size().width) show(view.from + (time - view.to) + margin, time + margin);
}

/** The edges that the focused edge moves by arrows. */
export function listenToSelectionKeys() {
  for (const edge of /** @type {NodeListOf<HTMLElement>} */ (byId("selection").querySelectorAll("[role=slider]"))) {
    edge.addEventListener("keydown", (event) => {
      const side = /** @type {Side} */ (edge.dataset.edges);
      const isTime = side === "left" || side === "right";
      /** @type {Record<string, number>} */
      const steps = isTime
        ? { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }
        : { ArrowUp: -1, ArrowDown: 1 };
      const step = steps[event.key];
      if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      event.stopPropagation();
      moveEdge(side, step);
    });
  }
}

/** `S`: a drag in the diagram selects, or moves the diagram. */
export function toggleSelectMode() {
  setSelectMode(!isSelectMode());
  showNote(
    isSelectMode()
      ? "A drag in the diagram selects; Shift: it moves the diagram"
      : "A drag moves the diagram; Shift: it selects",
  );
}
