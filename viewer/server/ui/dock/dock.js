// The dock across the full width below the diagram, with the views of ParaGraph. Its height is
// dragged or moved by keys.

import { byId } from "../util/dom.js";
import { openMenu } from "../util/menu.js";
import { showCursorLine, placeCursorLine } from "../view/cursor_line.js";
import { highlightRows } from "../view/tree.js";
import { onPointed, pointed } from "../state/pointed_units.js";
import { onCursor, restoreCursor } from "../state/time_cursor.js";
import { activeFilters, setSetting, setting } from "../state/view.js";
import { addCard, cards, loadViews, PRESETS, replaceCards, restoreCards, setLarge } from "./card_list.js";
import { focusCard, layOut, refreshCards, showCards, showPointed } from "./card_grid.js";
import { refreshGallery, showGallery } from "./gallery.js";
import { loadCategories } from "./category_list.js";
import { showCategories } from "./category_table.js";
import { listenToPlayer, pause, playerAction, restorePlayer, showPlayer } from "./player.js";

/** @type {HTMLElement} */ const dock = byId("dock");
/** @type {HTMLElement} */ const edge = byId("dock-edge");
/** The heights of the dock in percent of the window. The largest leaves room for the diagram. */
const USUAL_HEIGHT = 40;
const LEAST_HEIGHT = 18;
const LARGEST_HEIGHT = 80;
let height = USUAL_HEIGHT;
let isMaximised = false;

export function isDockOpen() {
  return !dock.hidden;
}

/** Opens the dock, or closes it. */
export function toggleDock() {
  if (isDockOpen()) closeDock();
  else return openDock(true);
}

/** @param {boolean} [focus] also moves the keyboard there */
export async function openDock(focus = false) {
  await Promise.all([loadViews(activeFilters()), loadCategories()]);
  if (cards.length === 0) replaceCards(PRESETS[0][1]);
  dock.hidden = false;
  showHeight();
  storeDock();
  showCursorLine(true);
  showPlayer();
  showCards();
  if (focus) byId("play-pause").focus();
}

/** @param {string} name the name of a preset */
export async function openPreset(name) {
  replaceCards(PRESETS.find(([presetName]) => presetName === name)?.[1] ?? []);
  if (!isDockOpen()) return openDock(true);
  showPart(null);
  showCards();
}

/** Shows the card of a view, and moves the keyboard to it. @param {string} name of the view */
export async function openView(name) {
  if (cards.some((card) => card.name === name)) setLarge(null);
  else addCard(name);
  if (isDockOpen()) {
    showPart(null);
    showCards();
  } else await openDock();
  focusCard(name);
}

export function closeDock() {
  pause();
  const hadFocus = dock.contains(document.activeElement);
  dock.hidden = true;
  isMaximised = false;
  showHeight();
  showPart(null);
  showCursorLine(false);
  storeDock();
  byId("dock-toggle").setAttribute("aria-pressed", "false");
  if (hadFocus) byId("dock-toggle").focus();
}

/** Writes the state of the dock to the address. */
function storeDock() {
  setSetting("dock", isDockOpen() ? `${height}${isMaximised ? "max" : ""}` : null);
}

function showHeight() {
  dock.style.height = isMaximised ? "" : `${height}%`;
  dock.classList.toggle("maximised", isMaximised);
  edge.hidden = isMaximised;
  edge.setAttribute("aria-valuenow", String(Math.round(height)));
  edge.setAttribute("aria-valuetext", `${Math.round(height)} % of the window`);
  const button = byId("dock-maximise");
  button.setAttribute("aria-pressed", String(isMaximised));
  button.setAttribute("aria-label", isMaximised ? "Restore the dock" : "Maximise the dock");
  button.title = isMaximised ? "Restore" : "Maximise";
  byId("dock-toggle").setAttribute("aria-pressed", String(isDockOpen()));
}

/** @param {number} percent */
function setHeight(percent) {
  height = Math.round(Math.min(Math.max(percent, LEAST_HEIGHT), LARGEST_HEIGHT) * 10) / 10;
  showHeight();
  storeDock();
}

/**
 * Restores the dock from the address.
 * @returns {Promise<unknown>} done when the cards are there
 */
export async function restoreDock() {
  const match = /^(\d+(?:\.\d+)?)(max)?$/.exec(setting("dock") ?? "");
  restoreCards();
  restoreCursor();
  restorePlayer();
  if (!match) {
    if (isDockOpen()) closeDock();
    return;
  }
  height = Math.min(Math.max(Number(match[1]), LEAST_HEIGHT), LARGEST_HEIGHT);
  isMaximised = match[2] === "max";
  await openDock();
}

/** Draws the dock after a change of the trace, the time range, the filters or the theme. */
export async function refreshDock() {
  placeCursorLine();
  if (!isDockOpen()) return;
  await loadViews(activeFilters());
  showPlayer();
  await Promise.all([refreshCards(), refreshGallery(), ...(byId("categories").hidden ? [] : [showCategories()])]);
}

/** The parts of the dock other than the cards: button and contents. */
const PARTS = /** @type {const} */ ([["add-views", "gallery", "Add views"], ["show-categories", "categories", "Categories"]]);

/** Shows a part of the dock in place of the cards; null: the cards. @param {string | null} shown */
function showPart(shown) {
  for (const [button, part, name] of PARTS) {
    byId(part).hidden = part !== shown;
    byId(button).setAttribute("aria-expanded", String(part === shown));
    byId(button).textContent = part === shown ? "Done" : name;
  }
  byId("cards").hidden = shown !== null;
}

/** @param {string} part */
async function togglePart(part) {
  const isOpen = byId(part).hidden;
  showPart(isOpen ? part : null);
  if (!isOpen) showCards();
  else if (part === "gallery") await showGallery(addCard);
  else await showCategories();
}

export function listenToDock() {
  listenToPlayer();
  listenToEdge();
  byId("dock-toggle").addEventListener("click", () => { Promise.resolve(toggleDock()).catch(() => {}); });
  byId("dock-close").addEventListener("click", closeDock);
  byId("dock-maximise").addEventListener("click", () => { isMaximised = !isMaximised; showHeight(); storeDock(); });
  for (const [button, part] of PARTS) byId(button).addEventListener("click", () => { togglePart(part).catch(() => {}); });
  byId("presets").addEventListener("click", () => openMenu("Presets", byId("presets").getBoundingClientRect(), PRESETS.map(([name]) => ({ name, act: () => { openPreset(name); } }))));
  dock.addEventListener("keydown", pressKey);
  onPointed(() => {
    if (!pointed.isInDiagram) highlightRows(pointed.containers);
    if (isDockOpen()) showPointed();
  });
  onCursor(() => { placeCursorLine(); if (isDockOpen()) refreshCards(); });
  new ResizeObserver(() => { if (isDockOpen() && !byId("cards").hidden) layOut(); }).observe(byId("cards"));
}

/** Keys of the player act wherever the focus is in the dock, unless its element needs them. */
function pressKey(/** @type {KeyboardEvent} */ event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  if (target.closest("select, input:not([type=range], [type=checkbox])")) {
    event.stopPropagation();
    return;
  }
  // The space bar presses the element with the focus.
  if (event.key === " " && target.closest("button, input")) return;
  const act = playerAction(event);
  if (!act) return;
  event.preventDefault();
  event.stopPropagation();
  Promise.resolve(act()).catch(() => {});
}

function listenToEdge() {
  edge.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    edge.setPointerCapture(event.pointerId);
    const parent = /** @type {HTMLElement} */ (dock.parentElement).getBoundingClientRect();
    const move = (/** @type {PointerEvent} */ current) => setHeight(((parent.bottom - current.clientY) / parent.height) * 100);
    edge.addEventListener("pointermove", move);
    edge.addEventListener("lostpointercapture", () => edge.removeEventListener("pointermove", move), { once: true });
  });
  edge.addEventListener("dblclick", () => setHeight(USUAL_HEIGHT));
  edge.addEventListener("keydown", (event) => {
    const step = { ArrowUp: 4, ArrowDown: -4 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    setHeight(height + step);
  });
}
