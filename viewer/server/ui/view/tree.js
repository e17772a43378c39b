// The tree of containers left of the diagram: a treegrid for keys and screen readers. Only the rows
// near the window exist as elements.

import { isolate, byId, joinNames, make } from "../util/dom.js";
import { overlay } from "../state/overlay_state.js";
import { ancestorsOf, pointUnits } from "../state/pointed_units.js";
import {
  pinnedHeight,
  indent,
  labelledStrips,
  layout,
  hasRoomForBounds,
  reveal,
  rowOf,
  scrollTop,
} from "../state/rows.js";
import { isRowSelected } from "../state/selection.js";
import { view } from "../state/view_state.js";

/** The container of the row with the keyboard focus. @type {number | null} */
let focusedId = null;

/** Shows which rows are selected. */
export function showSelectedRows() {
  for (const box of byId("tree").querySelectorAll("[role=row]")) {
    const row = rowOf(Number(/** @type {HTMLElement} */ (box).dataset.id));
    if (view.selectedRows.size && row) box.setAttribute("aria-selected", String(isRowSelected(row)));
    else box.removeAttribute("aria-selected");
  }
}

/** The range of heights with row elements. */
let filledRange = [0, 0];
/** @typedef {import("../state/rows.js").Row} Row */
/**
 * The user actions on rows.
 * @type {{ fold: (row: Row) => void, menu: (row: Row, at: DOMRect) => void,
 *   press: (event: PointerEvent, row: Row) => void, pin: (row: Row) => void,
 *   hide: (row: Row) => void, choose: (row: Row) => void }}
 */
let rowActions;

/** @type {HTMLElement} */ const pinnedRows = byId("pinned-rows");
/** @type {HTMLElement} */ const otherRows = byId("other-rows");
/** @type {HTMLElement} */ const ancestorBar = byId("scrolled-ancestors");

/** @param {typeof rowActions} acts the user actions on rows */
export function listenToTree(acts) {
  rowActions = acts;
  const tree = byId("tree");
  tree.addEventListener("keydown", moveByKey);
  tree.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    const row = eventRow(event);
    if (row && event.button === 0 && !(/** @type {HTMLElement} */ (event.target).closest("button")))
      rowActions.press(event, row);
  });
  // A click without a pointer comes from a screen reader or a similar tool.
  tree.addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const row = eventRow(event);
    if (!row || event.detail !== 0 || /** @type {HTMLElement} */ (event.target).closest("button")) return;
    if (row.expandable) rowActions.fold(row);
    else rowActions.choose(row);
  });
  tree.addEventListener("pointerover", (/** @type {PointerEvent} */ event) => {
    overlay.pointedRow = eventRow(event)?.id ?? null;
  });
  tree.addEventListener("pointerleave", () => {
    overlay.pointedRow = null;
  });
  tree.addEventListener("contextmenu", (/** @type {MouseEvent} */ event) => {
    const row = eventRow(event);
    if (!row) return;
    event.preventDefault();
    focusRow(row.id);
    rowActions.menu(row, new DOMRect(event.clientX, event.clientY, 0, 0));
  });
  tree.addEventListener("focusin", (/** @type {FocusEvent} */ event) => {
    const row = eventRow(event);
    if (row) focusedId = row.id;
  });
  byId("scroller").addEventListener("scroll", () => {
    const [from, to] = nearbyRange();
    if (
      (scrollTop() < filledRange[0] + 1 && filledRange[0] > 0) ||
      scrollTop() + byId("scroller").clientHeight > filledRange[1] ||
      from > filledRange[1] ||
      to < filledRange[0]
    )
      fill();
    showAncestors();
  });
}

/** @param {Event} event */
function eventRow(event) {
  const box = /** @type {HTMLElement} */ (event.target).closest?.("[role=row]");
  return box ? rowOf(Number(/** @type {HTMLElement} */ (box).dataset.id)) : undefined;
}

/** The range of heights that needs row elements. */
function nearbyRange() {
  const visibleHeight = byId("scroller").clientHeight;
  return [scrollTop() - visibleHeight, scrollTop() + 2 * visibleHeight];
}

/** Shows the rows of the layout again. */
export function showRows() {
  pinnedRows.style.height = `${layout.pinned}px`;
  pinnedRows.classList.toggle("sticky", pinnedHeight() > 0);
  if (focusedId === null || !rowOf(focusedId)) focusedId = layout.rows[0]?.id ?? null;
  fill();
  showAncestors();
}

function fill() {
  const focused = document.activeElement?.closest?.("[role=row]") ? focusedId : null;
  const [from, to] = nearbyRange();
  filledRange = [Math.max(0, from), to];
  byId("tree").setAttribute("aria-rowcount", String(layout.rows.length));
  /** @type {HTMLElement[]} */ const pinned = [];
  /** @type {HTMLElement[]} */ const scrolled = [];
  for (const row of layout.rows) names.set(row.id, row.name);
  layout.rows.forEach((row, place) => {
    if (row.pinned) pinned.push(rowElement(row, place));
    else if ((row.y + row.height > from && row.y < to) || row.id === focusedId) scrolled.push(rowElement(row, place));
  });
  pinnedRows.replaceChildren(...pinned);
  otherRows.replaceChildren(...scrolled);
  if (focused !== null) focusRow(focused);
}

/** Shows the ancestors of the first visible row, if they have been scrolled away. */
function showAncestors() {
  const pinned = pinnedHeight();
  const line = scrollTop() + pinned;
  const first = layout.rows.find((row) => !row.pinned && row.y + row.height > line + 2);
  // A single root is left out, because it contains everything.
  const hasSingleRoot = layout.rows.filter((row) => !row.pinned && row.depth === 0).length === 1;
  const scrolledAncestors = (first?.ancestors ?? [])
    .map(rowOf)
    .filter((row) => row && !row.pinned && row.y + 2 < line && !(hasSingleRoot && row.depth === 0));
  ancestorBar.hidden = scrolledAncestors.length === 0 || scrollTop() < 2;
  ancestorBar.style.top = `${pinned}px`;
  const innermost = scrolledAncestors[scrolledAncestors.length - 1];
  if (ancestorBar.hidden || !innermost) return;
  const text = joinNames(scrolledAncestors.map((row) => row?.name ?? ""));
  if (ancestorBar.dataset.text !== text) {
    ancestorBar.dataset.text = text;
    ancestorBar.replaceChildren(
      make("button", {
        tabindex: -1,
        title: `Back to ${text}`,
        text,
        onclick: () => {
          byId("scroller").scrollTop = innermost.y - pinnedHeight();
        },
      }),
    );
  }
  // Names at the height of this label end before it. Lane labels and bounds under it are hidden.
  const pill = /** @type {HTMLElement} */ (ancestorBar.firstElementChild).getBoundingClientRect();
  const overlaps = (/** @type {Element} */ part) => {
    const { top, bottom } = part.getBoundingClientRect();
    return top < pill.bottom && bottom > pill.top;
  };
  for (const row of /** @type {Iterable<HTMLElement>} */ (otherRows.children)) {
    const label = /** @type {HTMLElement} */ (row.querySelector(".label"));
    row.style.setProperty("--pill", overlaps(label) ? `${pill.width}px` : "0px");
    if (overlaps(row))
      for (const part of row.querySelectorAll(".strip-label, .strip-bound"))
        part.classList.toggle("covered", overlaps(part));
  }
}

/** Highlights the row at the pointer. @param {number | null} id */
export function highlightRow(id) {
  byId("tree").querySelector(".highlighted")?.classList.remove("highlighted");
  if (id !== null) byId("tree").querySelector(`[data-id="${id}"]`)?.classList.add("highlighted");
  pointUnits(id === null ? [] : [id], null, true);
}

/** Highlights the rows of containers that are pointed at elsewhere. @param {number[]} containers */
export function highlightRows(containers) {
  byId("tree")
    .querySelectorAll(".highlighted")
    .forEach((/** @type {Element} */ row) => row.classList.remove("highlighted"));
  for (const container of containers) {
    // The row of a group stands for the rows that are folded away.
    const row = [container, ...ancestorsOf(container)]
      .map((id) => byId("tree").querySelector(`[data-id="${id}"]`))
      .find((element) => element !== null);
    row?.classList.add("highlighted");
  }
}

/** The focused row. Keys act on it. */
export function focusedRow() {
  const inside = document.activeElement?.closest?.("#tree");
  return inside && focusedId !== null ? rowOf(focusedId) : undefined;
}

/** The names of the strips of a row. @param {import("../state/rows.js").Row} row */
function stripLabels(row) {
  return labelledStrips(row).map((strip) => {
    const label = make("span", { class: "strip-label", text: strip.name, title: strip.name });
    label.style.top = `${strip.y - row.y + strip.height / 2 - 7}px`;
    return label;
  });
}

/** The bounds of the strips with variables. @param {import("../state/rows.js").Row} row */
function stripBounds(row) {
  return row.strips.filter(hasRoomForBounds).flatMap((strip) =>
    /** @type {[string, string]} */ (strip.bounds).map((text, index) => {
      const inset = strip.height > 30 ? 3 : 0;
      const bound = make("span", { class: "strip-bound", text, "aria-hidden": "true" });
      bound.style.top = `${strip.y - row.y + (index === 0 ? inset : strip.height - 11 - inset)}px`;
      return bound;
    }),
  );
}

/** @param {import("../state/rows.js").Row} row @param {number} place */
function rowElement(row, place) {
  const shift = row.y - (row.pinned ? 0 : layout.pinned);
  const labels = stripLabels(row);
  const arrow = make("span", { class: "fold-arrow", "aria-hidden": "true" });
  if (row.expandable) arrow.append(icon("0 0 10 10", "M3 1.5 7.5 5 3 8.5z"));
  const isPinnedRoot = view.pinnedRows.includes(row.id);
  const ancestors = isPinnedRoot ? row.ancestors.map((id) => names.get(id)).filter((name) => name !== undefined) : [];
  const ancestorPath = joinNames(ancestors);
  const box = make(
    "div",
    {
      class: `row${row.expandable ? " group" : ""}${row.pinned ? " pinned" : ""}${isPinnedRoot ? " pinned-root" : ""}`,
      role: "row",
      "aria-level": row.depth + 1,
      "aria-label": row.name.trim() ? row.name : NAMELESS,
      "aria-rowindex": place + 1,
      "aria-expanded": row.expandable ? String(!row.folded) : null,
      "aria-description": isPinnedRoot ? "pinned" : null,
      "aria-selected": view.selectedRows.size ? String(isRowSelected(row)) : null,
      tabindex: row.id === focusedId ? 0 : -1,
      "data-id": row.id,
      title: `${isolate(row.type)} · ${ancestorPath ? `${ancestorPath} › ` : ""}${isolate(row.name)}`,
    },
    arrow,
    make(
      "span",
      { class: "label", role: "gridcell" },
      row.name.trim() ? make("bdi", {}, ...markMatch(row.name)) : make("span", { class: "nameless", text: NAMELESS }),
      ancestors.length > 0 && make("i", { text: ancestors[ancestors.length - 1] }),
    ),
    ...labels,
    ...stripBounds(row),
    make(
      "span",
      { class: "row-buttons", role: "gridcell" },
      rowButton(isPinnedRoot ? "Unpin" : "Pin", row, "M8 1.5v0M5.5 2h5M6.2 2v4L4 8.6h8L9.8 6V2M8 8.8v5", () =>
        rowActions.pin(row),
      ),
      rowButton("Hide", row, "M3.5 3.5l9 9M12.5 3.5l-9 9", () => rowActions.hide(row)),
      rowButton("More for", row, "M3.5 8h.1M8 8h.1M12.5 8h.1", (anchor) => rowActions.menu(row, anchor)),
    ),
  );
  // The name ends at the start of the label to its right.
  if (labels.length > 0) box.style.setProperty("--label", `calc(var(--strip-label-width) + var(--bounds) + 18px)`);
  box.style.top = `${shift}px`;
  box.style.height = `${row.height}px`;
  box.style.paddingLeft = `${4 + row.depth * indent()}px`;
  if (labels.length > 0 && row.strips.length > 1) {
    const line = row.strips[0].kind === "events" && row.strips[1] ? row.strips[1] : row.strips[0];
    const offset = line.y - row.y + line.height / 2 - row.height / 2;
    for (const child of [arrow, /** @type {HTMLElement} */ (box.querySelector(".label"))])
      child.style.transform = `translateY(${offset}px)`;
  } else if (row.strips[0]?.kind === "events" && row.strips[1]) {
    box.style.paddingTop = `${row.strips[1].y - row.strips[0].y}px`;
  }
  return box;
}

/** The text for a name without visible characters. */
const NAMELESS = "(no name)";

/** Names of all rows seen so far. @type {Map<number, string>} */
const names = new Map();

/** Marks the searched text in a name. @param {string} name @returns {(Node | string)[]} */
function markMatch(name) {
  const searched = view.names.trim().toLowerCase();
  const index = searched ? name.toLowerCase().indexOf(searched) : -1;
  if (index < 0) return [name];
  return [
    name.slice(0, index),
    make("mark", { text: name.slice(index, index + searched.length) }),
    name.slice(index + searched.length),
  ];
}

/**
 * @param {string} label
 * @param {import("../state/rows.js").Row} row
 * @param {string} path
 * @param {(at: DOMRect) => void} act
 */
function rowButton(label, row, path, act) {
  return make(
    "button",
    {
      tabindex: -1,
      "aria-label": `${label} ${row.name}`,
      title: label === "More for" ? "More" : label,
      onclick: (/** @type {MouseEvent} */ event) => {
        event.stopPropagation();
        focusRow(row.id);
        act(/** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect());
      },
    },
    icon("0 0 16 16", path),
  );
}

/** @param {string} box @param {string} d */
function icon(box, d) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", box);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", d);
  svg.append(path);
  return svg;
}

/** Moves the keyboard focus to a row. @param {number} id */
export function focusRow(id) {
  const row = rowOf(id);
  if (!row) return;
  byId("tree").querySelector("[tabindex='0'][role=row]")?.setAttribute("tabindex", "-1");
  focusedId = id;
  reveal(row);
  let box = /** @type {HTMLElement | null} */ (byId("tree").querySelector(`[data-id="${id}"]`));
  if (!box) {
    fill();
    box = /** @type {HTMLElement | null} */ (byId("tree").querySelector(`[data-id="${id}"]`));
  }
  box?.setAttribute("tabindex", "0");
  box?.focus({ preventScroll: true });
}

/** @param {KeyboardEvent} event */
function moveByKey(event) {
  const row = eventRow(event);
  // Shift and an arrow change the selection.
  if (!row || event.ctrlKey || event.metaKey || event.altKey || (event.shiftKey && event.key.startsWith("Arrow")))
    return;
  const rows = layout.rows;
  const place = rows.indexOf(row);
  const go = (/** @type {number} */ to) => focusRow(rows[Math.min(Math.max(to, 0), rows.length - 1)].id);
  switch (event.key) {
    case "ArrowDown":
      go(place + 1);
      break;
    case "ArrowUp":
      go(place - 1);
      break;
    case "PageDown":
      go(place + 10);
      break;
    case "PageUp":
      go(place - 10);
      break;
    case "Home":
      go(0);
      break;
    case "End":
      go(rows.length - 1);
      break;
    case "Enter":
      if (row.expandable) rowActions.fold(row);
      else rowActions.choose(row);
      break;
    case " ":
      rowActions.fold(row);
      break;
    case "ContextMenu":
      rowActions.menu(row, /** @type {HTMLElement} */ (event.target).getBoundingClientRect());
      break;
    case "F10":
      if (!event.shiftKey) return;
      rowActions.menu(row, /** @type {HTMLElement} */ (event.target).getBoundingClientRect());
      break;
    case "ArrowRight":
      if (row.expandable && row.folded) rowActions.fold(row);
      else if (row.expandable) go(place + 1);
      break;
    case "ArrowLeft":
      if (row.expandable && !row.folded) rowActions.fold(row);
      else if (row.depth > 0)
        go(rows.findLastIndex((candidate, index) => index < place && candidate.depth < row.depth));
      break;
    default:
      return;
  }
  event.preventDefault();
  event.stopPropagation();
}
