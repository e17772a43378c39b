// The toolbar of the selection with its actions, and the switch between moving and selecting.

import { appendFilters, quoteName } from "../panels/filter_chain.js";
import { bookmark } from "../panels/notes.js";
import { byId } from "../util/dom.js";
import { facts } from "../state/facts.js";
import { toTraceTime } from "../util/format.js";
import { timeText } from "../util/time_range.js";
import { layout, pinnedHeight, reveal, rowOf } from "../state/rows.js";
import {
  clearSelection,
  hasSelection,
  isSelectMode,
  select,
  selectedStretches,
  setSelectMode,
} from "../state/selection.js";
import { filterNames } from "./row_actions.js";
import { leaveDiagram } from "./pointer.js";
import { parseShownTimeRange } from "./time_range_field.js";
import { showTab } from "../panels/side_panel.js";
import { showNote } from "../util/status_line.js";
import { traceDuration, view } from "../state/view_state.js";
import { fit, show } from "../state/viewport.js";

/** The free share on each side of the selection after a zoom to it. */
const ZOOM_MARGIN = 0.1;
/** Maximum length of a filter. The server accepts 32 KiB for all filters of a request. */
const MAX_FILTER = 24_000;

/** Shows the selection. If it is shown already, or nothing is selected, the whole trace. */
export function zoomToSelection() {
  if (!hasSelection()) {
    fit();
    return;
  }
  const [from, to] = view.selectedTime ?? [0, traceDuration()];
  const margin = view.selectedTime ? (to - from) * ZOOM_MARGIN : 0;
  const [before, top] = [`${view.from} ${view.to}`, byId("scroller").scrollTop];
  show(from - margin, to + margin, true);
  revealRows();
  if (before === `${view.from} ${view.to}` && top === byId("scroller").scrollTop) fit();
}

/** Scrolls to the selected rows: to their middle if they fit, otherwise to the first one. */
function revealRows() {
  const stretches = selectedStretches();
  if (stretches.length === 0) return;
  const [first, last] = [layout.rows[stretches[0][0]], layout.rows[stretches[stretches.length - 1][1]]];
  if (first.pinned) return;
  const room = byId("scroller").clientHeight - pinnedHeight();
  const height = last.y + last.height - first.y;
  if (height <= room) reveal(first);
  byId("scroller").scrollTop = Math.max(0, first.y - pinnedHeight() - Math.max(0, (room - height) / 2));
}

/** The names of the selected rows in a filter. Rows that are not shown have their path. */
async function selectedNames() {
  const shownRows = layout.rows.filter((row) => view.selectedRows.has(row.id));
  const hiddenRows = [...view.selectedRows].filter((id) => !rowOf(id));
  const paths = await Promise.all(hiddenRows.map((id) => facts(`c${id}`, `selected ${id}`).catch(() => undefined)));
  return [
    ...(shownRows.length ? [filterNames(shownRows)] : []),
    ...paths.filter(Boolean).map((entity) => quoteName(entity.containers.join("/"))),
  ].join(", ");
}

/** Filters away all other rows and times, and shows the rest. */
export async function keepOnlySelection() {
  if (!hasSelection()) {
    showNote("Select a part first: drag with Shift, or press e");
    return;
  }
  const [names, time] = [await selectedNames(), view.selectedTime];
  const filters = names ? [`only container ${names}`] : [];
  if (filters.join().length > MAX_FILTER) {
    showNote("The names of so many rows are too long for a filter: fold the rows, and select their groups");
    return;
  }
  // The filter reads the whole nanoseconds of the trace's own time.
  if (time) filters.push(`cut ${time.map((end) => timeText(toTraceTime(end))).join("..")}`);
  select(null, new Set(), "moving");
  if (time) show(time[0], time[1]);
  appendFilters(filters);
}

/** Reads the typed time range of the selection. */
function readField() {
  const field = byId("selection-field");
  const text = field.value.trim();
  const [from, to] = view.selectedTime ?? [view.from, view.to];
  const range = text ? parseShownTimeRange(text, { from, to }) : null;
  field.setAttribute("aria-invalid", String(range !== null && "error" in range));
  if (range && "error" in range) {
    showNote(range.error);
    return;
  }
  field.blur();
  select(range && [range.from, range.to], view.selectedRows);
}

/** Shows whether a drag moves or selects. */
export function showSelectMode() {
  for (const [id, isChosen] of /** @type {[string, boolean][]} */ ([
    ["hand-mode", !isSelectMode()],
    ["select-mode", isSelectMode()],
  ])) {
    byId(id).setAttribute("aria-checked", String(isChosen));
    byId(id).tabIndex = isChosen ? 0 : -1;
  }
  document.documentElement.dataset.drag = isSelectMode() ? "select" : "move";
}

export function listenToSelection() {
  const toolbar = byId("selection-toolbar");
  // The diagram below does not react.
  for (const kind of ["pointerdown", "pointermove", "dblclick", "wheel"])
    toolbar.addEventListener(kind, (/** @type {Event} */ event) => event.stopPropagation());
  toolbar.addEventListener("pointerenter", leaveDiagram);
  toolbar.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter") event.stopPropagation();
  });
  const field = byId("selection-field");
  field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Enter") readField();
    else if (event.key === "Escape") field.blur();
  });
  field.addEventListener("blur", () => {
    field.setAttribute("aria-invalid", "false");
    select(view.selectedTime, view.selectedRows, "moving");
  });
  /** @type {[string, () => unknown][]} */
  const buttons = [
    ["zoom-selection", zoomToSelection],
    ["only-selection", keepOnlySelection],
    ["selection-statistics", () => showTab("times", true)],
    ["note-selection", bookmark],
    ["clear-selection", clearSelection],
    ["hand-mode", () => setSelectMode(false)],
    ["select-mode", () => setSelectMode(true)],
  ];
  for (const [id, act] of buttons)
    byId(id).addEventListener("click", () => {
      Promise.resolve(act()).catch((error) => showNote(String(error)));
    });
  for (const [id, alternative] of [
    ["hand-mode", "select-mode"],
    ["select-mode", "hand-mode"],
  ]) {
    byId(id).addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (!/^Arrow/.test(event.key)) return;
      event.preventDefault();
      event.stopPropagation();
      byId(alternative).click();
      byId(alternative).focus();
    });
  }
}
