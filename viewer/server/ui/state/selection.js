// The selection: rows and a time range. Zoom, statistics, search, export, notes and the views of
// the dock refer to it. A selected row stands for everything below it.

import { formatDuration, groupDigits } from "../util/format.js";
import { writeRuns } from "../util/number_runs.js";
import { layout, rowOf } from "./rows.js";
import { setSetting, setting, storeView, storeViewSoon } from "./address.js";
import { notifyChange, view } from "./view_state.js";

/** @typedef {import("./rows.js").Row} Row */

/** The root has this number. It is above all rows, but not among their ancestors. */
const ROOT = 0;

export function hasSelection() {
  return view.selectedTime !== null || view.selectedRows.size > 0;
}

/** The selected time range, or the visible one. @returns {[number, number]} */
export function selectedRange() {
  return view.selectedTime ?? [view.from, view.to];
}

/** The selected rows in the format of the server. Without any, all rows. */
export function selectedRowNumbers() {
  return writeRuns(view.selectedRows);
}

/** A text that differs for different selections. */
export function selectionKey() {
  return `${view.selectedTime?.join(" ") ?? ""}/${selectedRowNumbers()}`;
}

/** Whether a row, or one above it, is selected. @param {Row} row */
export function isRowSelected(row) {
  const { selectedRows } = view;
  return selectedRows.has(row.id) || selectedRows.has(ROOT) || row.ancestors.some((id) => selectedRows.has(id));
}

/** An unfolded group: the rows below it are shown. @param {Row} row */
const isOpenGroup = (row) => row.expandable && !row.folded;

/**
 * The selection that some neighbouring rows mean. An unfolded group counts as a whole if all its
 * rows are among them, or if there is no row but groups. All rows together mean no choice of rows.
 * @param {Row[]} rows
 * @returns {Set<number>}
 */
export function selectionOfRows(rows) {
  const chosen = new Set(rows.map((row) => row.id));
  const hasOnlyGroups = rows.every(isOpenGroup);
  /** @type {Map<number, [number, number]>} */
  const counts = new Map();
  for (const row of layout.rows) {
    for (const id of row.ancestors) {
      const [total, chosenCount] = counts.get(id) ?? [0, 0];
      counts.set(id, [total + 1, chosenCount + (chosen.has(row.id) ? 1 : 0)]);
    }
  }
  const isWhole = (/** @type {Row} */ row) => {
    const [total, chosenCount] = counts.get(row.id) ?? [0, 0];
    return !isOpenGroup(row) || chosenCount === total || (hasOnlyGroups && chosenCount === 0);
  };
  const wholeGroups = new Set(rows.filter((row) => row.id !== ROOT && isWhole(row)).map((row) => row.id));
  const topmost = rows.filter((row) => wholeGroups.has(row.id) && !row.ancestors.some((id) => wholeGroups.has(id)));
  const isCovered = (/** @type {Row} */ row) =>
    row.id === ROOT || wholeGroups.has(row.id) || row.ancestors.some((id) => wholeGroups.has(id));
  return layout.rows.every(isCovered) ? new Set() : new Set(topmost.map((row) => row.id));
}

/**
 * The stretches of selected rows, as first and last index in the layout. Unfolded groups of which
 * only some rows are selected do not interrupt a stretch.
 * @returns {[number, number][]}
 */
export function selectedStretches() {
  /** @type {[number, number][]} */
  const stretches = [];
  if (view.selectedRows.size === 0) return stretches;
  let isInterrupted = true;
  layout.rows.forEach((row, index) => {
    const last = stretches[stretches.length - 1];
    if (isRowSelected(row)) {
      if (last && !isInterrupted && layout.rows[last[1]].pinned === row.pinned) last[1] = index;
      else stretches.push([index, index]);
      isInterrupted = false;
    } else if (!isOpenGroup(row)) isInterrupted = true;
  });
  return stretches;
}

/**
 * Changes the selection.
 * @param {[number, number] | null} time the ends in any order
 * @param {Set<number>} rows
 * @param {"step" | "soon" | "moving" | "follow"} [pace] a step of the history now, after a pause,
 * or not yet; or the selection of another pane, to which the step belongs
 */
export function select(time, rows, pace = "step") {
  const ends = time?.map(Math.round).sort((a, b) => a - b);
  view.selectedTime = ends ? [ends[0], Math.max(ends[1], ends[0] + 1)] : null;
  view.selectedRows = rows;
  if (pace === "step") storeView();
  else if (pace !== "moving") storeViewSoon(pace === "follow");
  notifyChange(pace === "moving" ? "shape" : "selection");
}

/** Removes the selection. Returns whether there was one. */
export function clearSelection() {
  if (!hasSelection()) return false;
  select(null, new Set());
  return true;
}

/** The selected rows in words: the name of one, or the number of several. */
export function rowsInWords() {
  const [first] = view.selectedRows;
  if (first === undefined) return "all rows";
  if (view.selectedRows.size === 1) return rowOf(first)?.name ?? "1 row";
  const shownCount = layout.rows.filter((row) => isRowSelected(row) && !isOpenGroup(row)).length;
  return `${groupDigits(Math.max(shownCount, view.selectedRows.size))} rows`;
}

/** The size of the selection in words, such as `2 rows × 100.0 ms`. */
export function sizeInWords() {
  const time = view.selectedTime;
  return time ? `${rowsInWords()} × ${formatDuration(time[1] - time[0])}` : rowsInWords();
}

/** Whether a drag in the diagram selects; otherwise it moves the diagram. */
export function isSelectMode() {
  return setting("drag") === "select";
}

/** @param {boolean} isSelecting */
export function setSelectMode(isSelecting) {
  setSetting("drag", isSelecting ? "select" : null);
  notifyChange("shape");
}
