// The side panel: one of legend, statistics, notes and find. The inspector is above it, or below
// the hits of find.

import { cancel } from "../net/api.js";
import { byId } from "../util/dom.js";
import { setSetting, setting } from "../state/address.js";

/** @typedef {"legend" | "times" | "find" | "notes"} Tab */

/** @type {Tab[]} */
const TABS = ["legend", "times", "notes", "find"];
/** @type {Tab} */
let openTab = "legend";
/**
 * Fills a tab, and restores its settings from the address.
 * @typedef {{ show: () => Promise<unknown>, restore?: () => void }} TabContents
 */
/** @type {Partial<Record<Tab, TabContents>>} */
let contents = {};

/** @param {Record<Tab, TabContents>} tabs */
export function listenToPanel(tabs) {
  contents = tabs;
  TABS.forEach((tab, index) => {
    const button = byId(`tab-${tab}`);
    button.addEventListener("click", () => {
      showTab(tab).catch(() => {});
    });
    button.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      event.stopPropagation();
      const next = TABS[(index + step + TABS.length) % TABS.length];
      showTab(next).catch(() => {});
      byId(`tab-${next}`).focus();
    });
  });
}

/**
 * @param {Tab} tab
 * @param {boolean} [focus] also moves the keyboard there
 * @returns {Promise<unknown>} done when the tab is filled
 */
export function showTab(tab, focus = false) {
  if (byId("panel").hidden) togglePanel();
  selectTab(tab);
  const filled = refreshPanel();
  if (focus && tab === "find") byId("find-field").select();
  else if (focus) byId(`tab-${tab}`).focus();
  return filled;
}

/** @param {Tab} tab */
function selectTab(tab) {
  openTab = tab;
  setSetting("tab", tab === "legend" ? null : tab);
  for (const otherTab of TABS) {
    const button = byId(`tab-${otherTab}`);
    button.setAttribute("aria-selected", String(otherTab === tab));
    button.tabIndex = otherTab === tab ? 0 : -1;
    byId(otherTab).hidden = otherTab !== tab;
  }
  placeInspector();
}

/** Puts the inspector into the panel, or over the diagram if the panel is closed. */
function placeInspector() {
  const [panel, inspector] = [byId("panel"), byId("inspector")];
  if (panel.hidden) {
    if (inspector.parentElement === panel) byId("error-box").after(inspector);
  } else if (openTab === "find") {
    // Below the hits, so that its height does not move the buttons that step through them.
    if (panel.lastElementChild !== inspector) panel.append(inspector);
  } else if (panel.firstElementChild !== inspector) panel.prepend(inspector);
}

/**
 * Shows the panel as the address requires.
 * @returns {Promise<unknown>} done when the tab is filled
 */
export function restorePanel() {
  const side = setting("side");
  if (side) setPanelOpen(side === "1");
  for (const tab of TABS) contents[tab]?.restore?.();
  selectTab(TABS.find((tab) => tab === setting("tab")) ?? "legend");
  return refreshPanel();
}

/** Refreshes the open tab for the time range. @returns {Promise<unknown>} */
export function refreshPanel() {
  // Statistics that are not visible are not needed.
  if (openTab !== "times") cancel("statistics", "histogram");
  return Promise.all([...new Set(/** @type {Tab[]} */ (["legend", openTab]))].map((tab) => contents[tab]?.show()));
}

/** @param {boolean} isOpen */
export function setPanelOpen(isOpen) {
  byId("panel").hidden = !isOpen;
  byId("panel-toggle").setAttribute("aria-pressed", String(isOpen));
  placeInspector();
}

/** @type {(isOpen: boolean) => void} */
let onSideChange = () => {};

/** @param {(isOpen: boolean) => void} handler called when a user opens or closes the panel */
export function watchPanel(handler) {
  onSideChange = handler;
}

/** Opens or closes the panel as in another pane. @param {boolean} isOpen */
export function copyPanelState(isOpen) {
  if (byId("panel").hidden !== isOpen) return;
  setPanelOpen(isOpen);
  setSetting("side", isOpen ? "1" : "0");
  if (isOpen) refreshPanel().catch(() => {});
}

export function togglePanel() {
  const isOpen = byId("panel").hidden;
  setPanelOpen(isOpen);
  setSetting("side", isOpen ? "1" : "0");
  onSideChange(isOpen);
}
