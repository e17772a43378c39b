// The dock across the full width below the diagram, with the views of ParaGraph. Its height is
// dragged or moved by keys.

import { byId } from "../util/dom.js";
import { openMenu } from "../util/menu.js";
import { showCursorLine, placeCursorLine } from "../view/cursor_line.js";
import { highlightRows } from "../view/tree.js";
import { onPointed, pointed } from "../state/pointed_units.js";
import { onCursor, restoreCursor } from "../state/time_cursor.js";
import { setSetting, setting } from "../state/address.js";
import { activeFilters } from "../state/view_state.js";
import { addCard, cards, loadViews, PRESETS, replaceCards, restoreCards, setLarge } from "./cards/card_list.js";
import { focusCard, layOut, refreshCards, showCards, showPointed } from "./cards/card_grid.js";
import { refreshGallery, showGallery } from "./gallery.js";
import { loadCategories, onAssign } from "./category_list.js";
import { showCategories } from "./category_table.js";
import { refreshDiagnosis, showDiagnosis } from "./diagnosis.js";
import { refreshProfile, showProfile } from "./profile.js";
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
  showTab(TABS.find((tab) => tab === setting("part")) ?? "views");
  if (focus) byId(shownTab === "views" ? "play-pause" : `tab-${shownTab}`).focus();
}

/** The tabs of the dock, which are the ids of their contents. @typedef {"views" | "diagnosis" | "profile"} Tab */
/** @type {Tab[]} */
const TABS = ["views", "diagnosis", "profile"];
/** @type {Tab} */
let shownTab = "views";

/** Shows a tab of the dock. @param {Tab} tab */
function showTab(tab) {
  shownTab = tab;
  dock.dataset.tab = tab;
  for (const name of TABS) {
    byId(name).hidden = name !== tab;
    byId(`tab-${name}`).setAttribute("aria-selected", String(name === tab));
    byId(`tab-${name}`).tabIndex = name === tab ? 0 : -1;
  }
  setSetting("part", tab === "views" ? null : tab);
  if (tab !== "views") pause();
  if (tab === "diagnosis") showDiagnosis();
  else if (tab === "profile") showProfile();
  else showCards();
}

/** Opens a tab of the dock, and moves the keyboard to it. @param {"diagnosis" | "profile"} tab */
export async function openTab(tab) {
  setSetting("part", tab);
  if (isDockOpen()) showTab(tab);
  else await openDock();
  byId(`tab-${tab}`).focus();
}

/** @param {string} name the name of a preset */
export async function openPreset(name) {
  replaceCards(PRESETS.find(([presetName]) => presetName === name)?.[1] ?? []);
  setSetting("part", null);
  if (!isDockOpen()) return openDock(true);
  showGalleryPart(false);
  showTab("views");
}

/** Shows the card of a view, and moves the keyboard to it. @param {string} name of the view */
export async function openView(name) {
  if (cards.some((card) => card.name === name)) setLarge(null);
  else addCard(name);
  setSetting("part", null);
  if (isDockOpen()) {
    showGalleryPart(false);
    showTab("views");
  } else await openDock();
  focusCard(name);
}

export function closeDock() {
  pause();
  const hadFocus = dock.contains(document.activeElement);
  dock.hidden = true;
  isMaximised = false;
  showHeight();
  showGalleryPart(false);
  showCategoryPart(false);
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
  if (shownTab === "diagnosis") refreshDiagnosis();
  if (shownTab === "profile") refreshProfile();
  await Promise.all([refreshCards(), refreshGallery(), ...(byId("categories").hidden ? [] : [showCategories()])]);
}

/** @param {string} button @param {string} part @param {boolean} isShown */
function showPart(button, part, isShown) {
  byId(part).hidden = !isShown;
  byId(button).setAttribute("aria-expanded", String(isShown));
}

/** Shows the gallery in place of the cards, or the cards. @param {boolean} isShown */
function showGalleryPart(isShown) {
  showPart("add-views", "gallery", isShown);
  byId("add-views").textContent = isShown ? "Done" : "Add views";
  byId("cards").hidden = isShown;
}

/** Shows the categories next to the cards. @param {boolean} isShown */
function showCategoryPart(isShown) {
  showPart("show-categories", "categories", isShown);
}

async function toggleGallery() {
  const isShown = byId("gallery").hidden;
  showGalleryPart(isShown);
  if (isShown) await showGallery(addCard);
  else showCards();
}

async function toggleCategories() {
  const isShown = byId("categories").hidden;
  showCategoryPart(isShown);
  if (isShown) await showCategories();
}

export function listenToDock() {
  listenToPlayer();
  listenToEdge();
  byId("dock-toggle").addEventListener("click", () => {
    Promise.resolve(toggleDock()).catch(() => {});
  });
  byId("dock-close").addEventListener("click", closeDock);
  byId("dock-maximise").addEventListener("click", () => {
    isMaximised = !isMaximised;
    showHeight();
    storeDock();
  });
  byId("add-views").addEventListener("click", () => {
    toggleGallery().catch(() => {});
  });
  byId("show-categories").addEventListener("click", () => {
    toggleCategories().catch(() => {});
  });
  listenToTabs();
  onAssign(() => {
    if (isDockOpen()) refreshDock().catch(() => {});
  });
  byId("presets").addEventListener("click", () =>
    openMenu(
      "Presets",
      byId("presets").getBoundingClientRect(),
      PRESETS.map(([name]) => ({
        name,
        act: () => {
          openPreset(name);
        },
      })),
    ),
  );
  dock.addEventListener("keydown", pressKey);
  onPointed(() => {
    if (!pointed.isInDiagram) highlightRows(pointed.containers);
    if (isDockOpen()) showPointed();
  });
  onCursor(() => {
    placeCursorLine();
    if (isDockOpen()) refreshCards();
  });
  new ResizeObserver(() => {
    if (isDockOpen() && !byId("cards").hidden) layOut();
  }).observe(byId("cards"));
}

function listenToTabs() {
  for (const tab of TABS) {
    const button = byId(`tab-${tab}`);
    button.addEventListener("click", () => showTab(tab));
    button.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      event.preventDefault();
      event.stopPropagation();
      const step = event.key === "ArrowRight" ? 1 : TABS.length - 1;
      const otherTab = TABS[(TABS.indexOf(tab) + step) % TABS.length];
      showTab(otherTab);
      byId(`tab-${otherTab}`).focus();
    });
  }
}

/** Keys of the player act wherever the focus is in the dock, unless its element needs them. */
function pressKey(/** @type {KeyboardEvent} */ event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.altKey || event.metaKey || (shownTab !== "views" && !target.closest("input"))) return;
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
    const move = (/** @type {PointerEvent} */ current) =>
      setHeight(((parent.bottom - current.clientY) / parent.height) * 100);
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
