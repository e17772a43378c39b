// The table of all actions: keys, the palette and the help sheet are made of it.

import * as rowActions from "./row_actions.js";
import { EXPORTS } from "./export.js";
import { addFilter } from "../panels/filter_chain.js";
import { togglePerfReadout } from "../view/perf_readout.js";
import { toggleClock } from "../view/time_of_day.js";
import { byId } from "../util/dom.js";
import { editTimeRange } from "./time_range_field.js";
import { toggleChain, closeInspector, goToPartner, stepTo, zoomToInspected } from "../panels/inspected_entity.js";
import { measureHere, stopSelecting } from "./measurement.js";
import { keepOnlySelection, zoomToSelection } from "./selection_actions.js";
import { editSelection, moveEdge, moveSelection, toggleSelectMode } from "./selection_keys.js";
import { bookmark } from "../panels/notes.js";
import { openPane } from "./pane.js";
import { openPreset, openTab, openView, toggleDock } from "../dock/dock.js";
import { MODES, setMode, toggleMode } from "../dock/diagram_mode.js";
import { chooseCardFile } from "../dock/own_views.js";
import { PRESETS } from "../dock/cards/card_list.js";
import { showTab, togglePanel } from "../panels/side_panel.js";
import { clearNote, showNote } from "../util/status_line.js";
import { colorAtPointer, inspectAtPointer, highlightRelated } from "./keyboard.js";
import { closeSource, openSource } from "../panels/source_file.js";
import { nextTheme, setTheme } from "./theme.js";
import { redo, undo } from "../state/undo.js";
import { showPreviousView } from "../state/address.js";
import { fit, pan, zoom } from "../state/viewport.js";

/**
 * An entry of the table.
 * @typedef {object} Action
 * @property {string} group heading in the help sheet
 * @property {string} name its effect; the palette searches in it
 * @property {string} [detail] shown beside its name instead of its key
 * @property {string[]} [keys] in the notation of `keyOf`
 * @property {string} [pointer] how a pointer does it
 * @property {() => unknown} [run] absent if only a pointer can give the target
 * @property {(key: string) => unknown} [press] in place of `run` if each key has an effect of its own
 */

const scroller = byId("scroller");
/** The direction of an arrow key: -1 for earlier and up. @param {string} key */
const direction = (key) => (/(Left|Up)$/.test(key) ? -1 : 1);

/** @type {Action[]} */
export const ACTIONS = [
  { group: "Time", name: "Zoom in", keys: ["+", "="], pointer: "wheel: zoom at the pointer", run: () => zoom(1 / 1.5) },
  { group: "Time", name: "Zoom out", keys: ["-"], run: () => zoom(1.5) },
  { group: "Time", name: "Show the selection, or the whole trace", keys: ["f", "Z"], run: zoomToSelection },
  { group: "Time", name: "Show the whole trace", pointer: "double click", run: fit },
  { group: "Time", name: "Zoom to a time range", pointer: "drag on the ruler" },
  { group: "Time", name: "Move earlier", keys: ["ArrowLeft"], pointer: "drag", run: () => pan(-0.15) },
  { group: "Time", name: "Move later", keys: ["ArrowRight"], run: () => pan(0.15) },
  {
    group: "Time",
    name: "Back to the previous time range or selection",
    keys: ["[", "Alt+ArrowLeft"],
    run: showPreviousView,
  },
  {
    group: "Time",
    name: "Forward to the next time range or selection",
    keys: ["]", "Alt+ArrowRight"],
    run: () => history.forward(),
  },
  { group: "Time", name: "Type a time range", keys: ["g"], run: editTimeRange },
  {
    group: "Time",
    name: "Show the time of day, or the time since the start, on the ruler",
    keys: ["d"],
    run: toggleClock,
  },

  {
    group: "Selection",
    name: "Let a drag select, or move the diagram",
    keys: ["S"],
    pointer: "Shift drag does the other",
    run: toggleSelectMode,
  },
  {
    group: "Selection",
    name: "Select a part; again: type its time range",
    keys: ["e"],
    pointer: "Shift drag",
    run: editSelection,
  },
  {
    group: "Selection",
    name: "Measure from and to the pointer",
    keys: ["m"],
    pointer: "Ctrl drag: snaps to the start or end of an entity",
    run: measureHere,
  },
  {
    group: "Selection",
    name: "Move the end",
    keys: ["Shift+ArrowLeft", "Shift+ArrowRight"],
    pointer: "drag its edge",
    press: (key) => moveEdge("right", direction(key)),
  },
  {
    group: "Selection",
    name: "Move the start",
    keys: ["Ctrl+Shift+ArrowLeft", "Ctrl+Shift+ArrowRight"],
    press: (key) => moveEdge("left", direction(key)),
  },
  {
    group: "Selection",
    name: "Move the last row",
    keys: ["Shift+ArrowUp", "Shift+ArrowDown"],
    press: (key) => moveEdge("bottom", direction(key)),
  },
  {
    group: "Selection",
    name: "Move the first row",
    keys: ["Ctrl+Shift+ArrowUp", "Ctrl+Shift+ArrowDown"],
    press: (key) => moveEdge("top", direction(key)),
  },
  {
    group: "Selection",
    name: "Move the selection in time",
    keys: ["Alt+Shift+ArrowLeft", "Alt+Shift+ArrowRight"],
    pointer: "drag its size",
    press: (key) => moveSelection(direction(key), 0),
  },
  {
    group: "Selection",
    name: "Move the selection to other rows",
    keys: ["Alt+Shift+ArrowUp", "Alt+Shift+ArrowDown"],
    press: (key) => moveSelection(0, direction(key)),
  },
  {
    group: "Selection",
    name: "Select rows",
    keys: ["x"],
    pointer: "Ctrl click their names",
    run: rowActions.selectRow,
  },
  {
    group: "Selection",
    name: "Keep only the selection: filters for its rows and time range",
    keys: ["O"],
    run: keepOnlySelection,
  },
  {
    group: "Selection",
    name: "Clear the selection, close the inspector",
    keys: ["Escape"],
    run: () => {
      if (!stopSelecting() && !closeSource()) closeInspector();
    },
  },

  {
    group: "Rows",
    name: "Scroll up",
    keys: ["ArrowUp"],
    pointer: "Shift wheel",
    run: () => {
      scroller.scrollTop -= 60;
    },
  },
  {
    group: "Rows",
    name: "Scroll down",
    keys: ["ArrowDown"],
    run: () => {
      scroller.scrollTop += 60;
    },
  },
  { group: "Rows", name: "Find rows by name", keys: ["/"], run: () => byId("row-search").select() },
  { group: "Rows", name: "Fold or unfold a row", pointer: "click its name; Space" },
  { group: "Rows", name: "Pin the row on top, or unpin it", keys: ["p"], run: () => rowActions.onRow(rowActions.pin) },
  { group: "Rows", name: "Hide the row", keys: ["h"], run: () => rowActions.onRow(rowActions.hide) },
  { group: "Rows", name: "Show all hidden rows", keys: ["H"], run: rowActions.showHidden },
  {
    group: "Rows",
    name: "Move the row up",
    keys: ["Alt+ArrowUp"],
    pointer: "drag its name",
    run: () => rowActions.moveByKey(-1),
  },
  { group: "Rows", name: "Move the row down", keys: ["Alt+ArrowDown"], run: () => rowActions.moveByKey(1) },
  { group: "Rows", name: "Unfold all rows", keys: ["*"], run: rowActions.unfoldAll },
  { group: "Rows", name: "Fold groups", keys: ["_"], run: rowActions.foldGroups },
  { group: "Rows", name: "Reset all rows", run: rowActions.resetRows },

  {
    group: "Entities",
    name: "Highlight related entities",
    keys: ["r"],
    pointer: "point at an entity",
    run: highlightRelated,
  },
  { group: "Entities", name: "Inspect", keys: ["i"], pointer: "click; Enter on the diagram", run: inspectAtPointer },
  { group: "Entities", name: "Next entity of the same type", keys: ["."], run: () => stepTo(1, false) },
  { group: "Entities", name: "Previous entity of the same type", keys: [","], run: () => stepTo(-1, false) },
  { group: "Entities", name: "Next entity of the same value", keys: [">"], run: () => stepTo(1, true) },
  { group: "Entities", name: "Previous entity of the same value", keys: ["<"], run: () => stepTo(-1, true) },
  { group: "Entities", name: "Go to the other endpoint of the link", keys: ["o"], run: goToPartner },
  { group: "Entities", name: "Show the chain of links through the entity", keys: ["c"], run: toggleChain },
  { group: "Entities", name: "Zoom to the inspected entity", keys: ["z"], run: zoomToInspected },
  { group: "Entities", name: "Show the source line", keys: ["s"], run: () => openSource() },

  { group: "Filters", name: "Add a filter", keys: ["F"], run: () => addFilter() },
  { group: "Filters", name: "Edit, switch off, move, remove a filter", pointer: "click, drag it; Alt ← →, Delete" },
  {
    group: "Filters",
    name: "Colour a value",
    keys: ["C"],
    pointer: "drag its colour in the legend to another",
    run: colorAtPointer,
  },
  {
    group: "Filters",
    name: "Group the selected rows, or dissolve the group",
    keys: ["G"],
    run: () => rowActions.groupOrDissolve(),
  },
  { group: "Filters", name: "Undo a change of rows, filters or styles", keys: ["Ctrl+z"], run: undo },
  { group: "Filters", name: "Redo", keys: ["Ctrl+Z", "Ctrl+y"], run: redo },

  { group: "Views", name: "Views at a time cursor: open or close the dock", keys: ["v"], run: toggleDock },
  ...PRESETS.map(([name, names]) => ({
    group: "Views",
    name: `${name}: ${names.join(", ").replaceAll("-", " ")}`,
    run: () => openPreset(name),
  })),
  {
    group: "Views",
    name: "Diagnosis: efficiency, wait states, critical path, what-if",
    run: () => openTab("diagnosis"),
  },
  { group: "Views", name: "Profile: calls, self time, call tree, flame graph", run: () => openTab("profile") },
  ...MODES.map(([mode, title, effect]) => ({
    group: "Views",
    name: `Diagram mode, ${title.toLowerCase()}: ${effect}`,
    run: () => toggleMode(mode),
  })),
  { group: "Views", name: "Diagram as recorded: end its mode", run: () => setMode(null) },
  { group: "Views", name: "Open card file…", run: () => chooseCardFile(openView) },
  { group: "Views", name: "Play or pause", pointer: "in the dock: Space" },
  { group: "Views", name: "Play backward, pause, play forward; again: faster", pointer: "in the dock: J, K, L" },
  {
    group: "Views",
    name: "Step to the previous or next change; with Shift, by change of state",
    pointer: "in the dock: , and .",
  },
  { group: "Views", name: "Go to the previous or next change that matches “Stop at”", pointer: "in the dock: n and N" },
  {
    group: "Views",
    name: "Move the focus between the marks of a card",
    pointer: "arrow keys, Page Up and Down on the card",
  },
  { group: "Views", name: "Move a card", pointer: "drag its title; Alt and an arrow key on it" },
  { group: "Views", name: "Move a node of a network", pointer: "drag it; Shift and an arrow key" },
  { group: "Views", name: "Move the time cursor", pointer: "drag its line; ← → on it" },

  { group: "Page", name: "Search all actions", keys: ["Ctrl+k", ":"], run: () => openPalette() },
  { group: "Page", name: "Find entities", keys: ["Ctrl+f"], run: () => showTab("find", true) },
  { group: "Page", name: "Mark the time range and write a note", keys: ["b"], run: bookmark },
  { group: "Page", name: "Notes", keys: ["3"], run: () => showTab("notes", true) },
  { group: "Page", name: "Open another pane on this trace", keys: ["|"], run: openPane },
  ...EXPORTS.map(([name, run]) => ({ group: "Save", name, run })),
  {
    group: "Page",
    name: "Legend: dim values, hide types",
    keys: ["1"],
    pointer: "click in the legend",
    run: () => showTab("legend", true),
  },
  { group: "Page", name: "Statistics of the time range", keys: ["2"], run: () => showTab("times", true) },
  { group: "Page", name: "Side panel", keys: ["l"], run: togglePanel },
  { group: "Page", name: "Next theme", keys: ["t"], run: nextTheme },
  { group: "Page", name: "Theme of the system", run: () => setTheme("system") },
  { group: "Page", name: "Light theme", run: () => setTheme("light") },
  { group: "Page", name: "Dark theme", run: () => setTheme("dark") },
  { group: "Page", name: "High contrast", run: () => setTheme("contrast") },
  { group: "Page", name: "Cost of images: bytes and time", run: togglePerfReadout },
  { group: "Page", name: "Keys and gestures", keys: ["?"], run: () => byId("help-sheet").showModal() },
];

let openPalette = () => {};

/** @param {() => void} open the palette, which itself needs the table */
export function setPalette(open) {
  openPalette = open;
}

/** A pressed key in the notation of the table. @param {KeyboardEvent} event */
function keyOf(event) {
  const shift = event.shiftKey && event.key.length > 1 ? "Shift+" : "";
  // Caps Lock changes no key's meaning.
  const key =
    event.getModifierState("CapsLock") && event.key.length === 1
      ? event.key[event.shiftKey ? "toUpperCase" : "toLowerCase"]()
      : event.key;
  return `${event.ctrlKey || event.metaKey ? "Ctrl+" : ""}${event.altKey ? "Alt+" : ""}${shift}${key}`;
}

const KEY_SIGNS = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", "-": "−", Escape: "Esc" };

/** A key as it is shown. @param {string} key */
export function keyLabel(key) {
  return key
    .split(/\+(?=.)/)
    .map((part) => /** @type {Record<string, string>} */ (KEY_SIGNS)[part] ?? part)
    .join(" ");
}

/** @type {(error: unknown) => void} */
let onFailure = () => {};

/** @param {(error: unknown) => void} handler receives the error of an action */
export function watchActions(handler) {
  onFailure = handler;
}

/** Runs an action, and reports its error. @param {() => unknown} act */
export async function runAction(act) {
  try {
    await act();
  } catch (error) {
    showNote(error instanceof Error ? error.message : String(error));
    onFailure(error);
  }
}

/** Lets keys act, wherever the focus is, unless a field or a dialog takes them. */
export function listenToKeys() {
  /** @type {Map<string, Action>} */
  const byKey = new Map(ACTIONS.flatMap((action) => (action.keys ?? []).map((key) => [key, action])));
  document.addEventListener("keydown", (event) => {
    const field = /** @type {HTMLElement} */ (event.target).closest("input, dialog, [role=menu]");
    const key = keyOf(event);
    // In a field these keys undo typed text.
    if (field && /^Ctrl\+[zZy]$/.test(key)) return;
    if (field && !(key.startsWith("Ctrl+") && !field.closest("dialog"))) return;
    const action = byKey.get(key);
    const act = action?.press ? () => action.press?.(key) : action?.run;
    if (!act) return;
    event.preventDefault();
    clearNote();
    runAction(act);
  });
  document.addEventListener("pointerdown", clearNote, true);
}
