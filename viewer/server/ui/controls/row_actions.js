// User actions on rows: fold, pin, hide, move, search by name. Each is a step of the history, so
// that Back reverts it.

import { appendFilter, addFilter, quoteName, replaceFilter, removeLast } from "../panels/filter_chain.js";
import { byId, make } from "../util/dom.js";
import { dragRow } from "./row_drag.js";
import { openMenu } from "../util/menu.js";
import { layout, rowAt, rowOf } from "../state/rows.js";
import { showNote } from "../util/status_line.js";
import { focusRow, focusedRow, listenToTree } from "../view/tree.js";
import { select as selectPart } from "../state/selection.js";
import { overlay } from "../state/overlay_state.js";
import { storeView, storeViewSoon } from "../state/address.js";
import { notifyChange, toggle, view } from "../state/view_state.js";

/** @typedef {import("../state/rows.js").Row} Row */

/** @type {(id: string) => void} */
let inspectRow = () => {};

/** @param {(id: string) => void} inspect opens the inspector */
export function listenToRows(inspect) {
  inspectRow = inspect;
  listenToTree({
    fold,
    pin,
    hide,
    menu: rowMenu,
    choose: (row) => inspectRow(`c${row.id}`),
    press: (event, row) =>
      event.ctrlKey || event.metaKey
        ? select(row)
        : dragRow(event, row, siblings(row), () => (row.expandable ? fold(row) : inspectRow(`c${row.id}`)), move),
  });
  const field = byId("row-search");
  field.value = view.names;
  field.addEventListener("input", () => {
    view.names = field.value;
    storeViewSoon();
    notifyChange("rows");
  });
  field.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    event.stopPropagation();
    if (event.key === "Escape") {
      if (view.names) clearNames();
      else field.blur();
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      focusMatch(event.shiftKey ? -1 : 1);
    }
  });
  byId("rows-menu").addEventListener("click", (/** @type {MouseEvent} */ event) =>
    allRowsMenu(/** @type {HTMLElement} */ (event.currentTarget)),
  );
  byId("hidden-rows").addEventListener("click", (/** @type {MouseEvent} */ event) =>
    hiddenRowsMenu(/** @type {HTMLElement} */ (event.currentTarget)),
  );
}

function storeRows() {
  storeView();
  notifyChange("rows");
}

/** @param {Row} row */
export function fold(row) {
  if (!row.expandable) return;
  toggle(view.toggledRows, row.id);
  storeRows();
}

/** @param {number | null} level containers at this depth are folded, all others are not */
function foldAll(level) {
  view.level = level;
  view.toggledRows.clear();
  storeRows();
}

export const unfoldAll = () => foldAll(null);

/** Folds the deepest level that contains other containers, so that each group has one row. */
export function foldGroups() {
  const levels = layout.rows.filter((row) => row.expandable).map((row) => row.depth);
  if (levels.length) foldAll(Math.max(...levels));
}

/** @param {Row} row */
export function pin(row) {
  const index = view.pinnedRows.indexOf(row.id);
  if (index >= 0) view.pinnedRows.splice(index, 1);
  else view.pinnedRows.push(row.id);
  storeRows();
}

/** @param {Row} row */
export function hide(row) {
  const next = layout.rows[layout.rows.indexOf(row) + 1] ?? layout.rows[layout.rows.indexOf(row) - 1];
  view.hiddenRows.add(row.id);
  view.pinnedRows = view.pinnedRows.filter((id) => id !== row.id);
  const hadFocus = focusedRow();
  storeRows();
  // Waits until that row has its new position.
  if (next && hadFocus) document.addEventListener("rows", () => focusRow(next.id), { once: true });
}

/** Hides all rows except one, its ancestors and its descendants. @param {Row} row */
function isolate(row) {
  for (const candidate of layout.rows) {
    const related =
      candidate.id === row.id || row.ancestors.includes(candidate.id) || candidate.ancestors.includes(row.id);
    // A descendant of a hidden row needs no separate mark.
    if (!related && candidate.ancestors.every((id) => row.ancestors.includes(id))) view.hiddenRows.add(candidate.id);
  }
  storeRows();
}

export function showHidden() {
  view.hiddenRows.clear();
  storeRows();
}

/** Restores all rows to the order of the trace. */
export function resetRows() {
  Object.assign(view, {
    level: null,
    toggledRows: new Set(),
    pinnedRows: [],
    hiddenRows: new Set(),
    rowMoves: [],
    names: "",
  });
  byId("row-search").value = "";
  storeRows();
}

/** Adds a row to the selection, or removes it. @param {Row} row */
function select(row) {
  const rows = new Set(view.selectedRows);
  toggle(rows, row.id);
  selectPart(view.selectedTime, rows);
  showNote(rows.size ? `${rows.size} row${rows.size === 1 ? "" : "s"} selected: G groups them` : "");
}

/** A filter is about the selected rows, which may not exist after it. */
function clearSelectedRows() {
  selectPart(view.selectedTime, new Set());
}

/** The names of rows in a filter. @param {Row[]} rows */
export const filterNames = (rows) => rows.map((row) => quoteName(row.filter_name)).join(", ");

/** The selected rows if this one is among them; otherwise this row alone. @param {Row} row */
function targetRows(row) {
  return view.selectedRows.has(row.id) ? layout.rows.filter((row) => view.selectedRows.has(row.id)) : [row];
}

/**
 * The name of the group made last, until the pointer moves. The key that made the group then
 * removes it.
 * @type {string | null}
 */
let lastGroup = null;

/** Merges several rows into one. @param {Row[]} rows */
function group(rows) {
  const names = rows.map((row) => row.name);
  const name = names.length > 3 ? `${names[0]} … ${names[names.length - 1]}` : names.join(" + ");
  clearSelectedRows();
  lastGroup = name;
  appendFilter(`group ${filterNames(rows)} into ${quoteName(name)}`);
}

/** Removes the filter that made a group. @param {string} name */
function dissolveGroup(name) {
  lastGroup = null;
  const isRemoved =
    removeLast((text) => text.startsWith("group ") && text.endsWith(` into ${quoteName(name)}`)) ||
    removeLast((text) => text.startsWith("reuse "));
  showNote(isRemoved ? `Dissolved: ${name}` : "No filter of this page made this group");
}

/** `G`: groups the selected rows, or dissolves the row that is a group. */
export function groupOrDissolve() {
  const row = keyTarget();
  const rows = layout.rows.filter((row) => view.selectedRows.has(row.id));
  if (rows.length > 1) group(rows);
  else if (row && row.members > 0) dissolveGroup(row.name);
  else if (lastGroup !== null) dissolveGroup(lastGroup);
  else showNote("Select rows first: Ctrl click their names, or press x");
}

/** @param {Row} row @param {string} key */
function sort(row, key) {
  const type = `sort ${quoteName(row.type)} by `;
  replaceFilter(
    (text) => text.startsWith(type),
    () => type + key,
  );
}

/** The rows among which a row can be moved, including itself. @param {Row} row */
function siblings(row) {
  const isPinnedRoot = view.pinnedRows.includes(row.id);
  if (isPinnedRoot) return layout.rows.filter((row) => view.pinnedRows.includes(row.id));
  const parent = row.ancestors[row.ancestors.length - 1];
  return layout.rows.filter(
    (candidate) =>
      candidate.pinned === row.pinned &&
      (candidate.id === 0) === (row.id === 0) &&
      candidate.ancestors[candidate.ancestors.length - 1] === parent &&
      candidate.ancestors.length === row.ancestors.length &&
      !view.pinnedRows.includes(candidate.id),
  );
}

/**
 * Moves a row before one of its siblings, or to the end.
 * @param {Row} row
 * @param {Row | null} before
 */
function move(row, before) {
  if (view.pinnedRows.includes(row.id)) {
    view.pinnedRows = view.pinnedRows.filter((id) => id !== row.id);
    view.pinnedRows.splice(before ? view.pinnedRows.indexOf(before.id) : view.pinnedRows.length, 0, row.id);
  } else {
    const last = view.rowMoves[view.rowMoves.length - 1];
    // A second move of the row moved last replaces the first one.
    if (last?.[0] === row.id) view.rowMoves.pop();
    view.rowMoves.push([row.id, before?.id ?? 0]);
  }
  storeRows();
}

/** @param {number} offset 1 moves it down, -1 up among the siblings */
export function moveByKey(offset) {
  const row = keyTarget();
  if (!row) {
    showNote("Point at a row first");
    return;
  }
  const rows = siblings(row);
  const index = rows.indexOf(row);
  const to = index + offset;
  if (index < 0 || to < 0 || to >= rows.length) return;
  movedRow = row.id;
  pointerMovedLast = false;
  move(row, offset < 0 ? rows[to] : (rows[to + 1] ?? null));
}

/**
 * The row that the last key moved, until the pointer moves or keys move the focus.
 * @type {number | null}
 */
let movedRow = null;
/** Whether the pointer has moved since keys moved the focus. */
let pointerMovedLast = false;
/** The position of the pointer in the window. @type {[number, number] | null} */
let pointer = null;
for (const kind of /** @type {const} */ (["pointermove", "pointerdown"])) {
  document.addEventListener(
    kind,
    ({ clientX, clientY }) => {
      // Browsers also report a resting pointer when another element moves under it.
      if (kind === "pointermove" && pointer?.[0] === clientX && pointer[1] === clientY) return;
      [movedRow, lastGroup, pointerMovedLast, pointer] = [null, null, true, [clientX, clientY]];
    },
    true,
  );
}
document.documentElement.addEventListener("pointerleave", () => {
  pointer = null;
});
document.addEventListener(
  "keydown",
  ({ key, altKey }) => {
    if (altKey || !/^(Tab|Enter|Home|End|Arrow\w+|Page\w+)$/.test(key)) return;
    [movedRow, pointerMovedLast] = [null, false];
  },
  true,
);

/** The row that lies under the pointer now: rows move under a resting pointer. */
function rowAtPointer() {
  const element = pointer && document.elementFromPoint(...pointer);
  if (!pointer || !element) return undefined;
  const name = /** @type {HTMLElement | null} */ (element.closest("#tree [role=row]"));
  if (name) return rowOf(Number(name.dataset.id));
  const diagram = element.closest("#chart");
  return diagram ? rowAt(pointer[1] - diagram.getBoundingClientRect().top) : undefined;
}

/**
 * The row that a key acts on: the row at the pointer or the row with the focus, depending on the
 * most recent movement.
 */
export function keyTarget() {
  if (movedRow !== null && rowOf(movedRow)) return rowOf(movedRow);
  const [focused, pointed] = [focusedRow(), rowAtPointer()];
  return pointerMovedLast ? (pointed ?? focused) : (focused ?? pointed);
}

/** Applies an action to the row that a key acts on. @param {(row: Row) => void} act */
export function onRow(act) {
  const row = keyTarget();
  if (row) act(row);
  else showNote("Point at a row first");
}

/** Adds the row that a key acts on to the selection, or removes it. */
export function selectRow() {
  onRow(select);
}

function clearNames() {
  view.names = "";
  byId("row-search").value = "";
  storeView();
  notifyChange("rows");
}

/** Moves the focus to the next row with the text in its name. @param {number} offset */
function focusMatch(offset) {
  const text = view.names.trim().toLowerCase();
  const matches = layout.rows.filter((row) => row.name.toLowerCase().includes(text));
  const place = matches.findIndex((row) => row.id === overlay.pointedRow);
  if (matches.length) focusRow(matches[(place + offset + matches.length) % matches.length].id);
}

/** @param {Row} row @param {DOMRect} anchor */
function rowMenu(row, anchor) {
  const siblingRows = siblings(row);
  const place = siblingRows.indexOf(row);
  openMenu(
    row.name,
    anchor,
    [
      { name: "Inspect", act: () => inspectRow(`c${row.id}`) },
      row.expandable ? { name: row.folded ? "Unfold" : "Fold", key: "Space", act: () => fold(row) } : null,
      { name: view.pinnedRows.includes(row.id) ? "Unpin" : "Pin on top", key: "p", act: () => pin(row) },
      { name: "Hide", key: "h", act: () => hide(row) },
      { name: "Hide all others", act: () => isolate(row) },
      null,
      ...groupItems(row),
      { name: `Sort ${row.type} rows by name`, act: () => sort(row, "name") },
      { name: `Sort ${row.type} rows by…`, act: () => addFilter(`sort ${quoteName(row.type)} by `) },
      null,
      ...(place > 0 ? [{ name: "Move up", key: "Alt ↑", act: () => move(row, siblingRows[place - 1]) }] : []),
      ...(place < siblingRows.length - 1
        ? [{ name: "Move down", key: "Alt ↓", act: () => move(row, siblingRows[place + 2] ?? null) }]
        : []),
      ...(view.hiddenRows.size ? [{ name: `Show ${view.hiddenRows.size} hidden`, act: showHidden }] : []),
      { name: "Copy name", act: () => navigator.clipboard?.writeText(row.name) },
    ].filter(
      (item, index, list) => item !== null || (index > 0 && list[index - 1] !== null && index < list.length - 1),
    ),
  );
}

/**
 * The filter items of a row's menu.
 * @param {Row} row
 * @returns {import("../util/menu.js").Item[]}
 */
function groupItems(row) {
  const rows = targetRows(row);
  const target = rows.length > 1 ? `${rows.length} selected rows` : row.name;
  return [
    rows.length > 1
      ? { name: `Group ${target}`, key: "G", act: () => group(rows) }
      : { name: view.selectedRows.has(row.id) ? "Unselect" : "Select", key: "x", act: () => select(row) },
    ...(row.members > 0
      ? [{ name: `Dissolve into ${row.members}`, key: "G", act: () => dissolveGroup(row.name) }]
      : []),
    {
      name: `Filter: only ${target}`,
      act: () => {
        clearSelectedRows();
        appendFilter(`only container ${filterNames(rows)}`);
      },
    },
    {
      name: `Filter: without ${target}`,
      act: () => {
        clearSelectedRows();
        appendFilter(`hide container ${filterNames(rows)}`);
      },
    },
    { name: `Reuse rows of ended ${row.type}s`, act: () => appendFilter(`reuse ${quoteName(row.type)}`) },
  ];
}

/** @param {HTMLElement} button */
function allRowsMenu(button) {
  openMenu("All rows", button.getBoundingClientRect(), [
    { name: "Unfold all", act: unfoldAll },
    { name: "Fold groups", act: foldGroups },
    ...(view.hiddenRows.size ? [null, ...hiddenRowItems()] : []),
    null,
    { name: "Reset all rows", act: resetRows },
  ]);
}

/** @param {HTMLElement} button */
function hiddenRowsMenu(button) {
  openMenu("Hidden rows", button.getBoundingClientRect(), hiddenRowItems());
}

/** @returns {import("../util/menu.js").Item[]} */
function hiddenRowItems() {
  const items = layout.hidden_rows.slice(0, 20).map((place) => ({
    name: `Show ${place.path.slice(-2).join(" › ")}`,
    act: () => {
      view.hiddenRows.delete(place.id);
      storeRows();
    },
  }));
  return layout.hidden_rows.length > 1
    ? [{ name: `Show all ${view.hiddenRows.size}`, act: showHidden }, null, ...items]
    : items;
}

/** Shows the number of hidden rows, and reports a name that no row has. */
export function showRowCounts() {
  const button = byId("hidden-rows");
  button.hidden = layout.hidden_rows.length === 0;
  button.textContent = `${layout.hidden_rows.length} hidden`;
  button.setAttribute("aria-label", `${layout.hidden_rows.length} hidden: show`);
  const field = byId("row-search");
  if (field !== document.activeElement) field.value = view.names;
  const name = view.names.trim();
  const hasNoRows = (name !== "" || layout.hidden_rows.length > 0) && layout.rows.every((row) => row.pinned);
  byId("no-rows").replaceChildren(
    ...(hasNoRows
      ? [
          make("p", { text: name ? `No row has “${name}” in its name.` : "All rows are hidden." }),
          make("button", { text: "Show all", onclick: name ? clearNames : showHidden }),
        ]
      : []),
  );
  byId("no-rows").hidden = !hasNoRows;
}
