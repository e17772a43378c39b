// The side panel: one of legend, statistics, notes and find. The inspector is above it, or below
// the hits of find.

import { drop } from "../net/api.js";
import { byId } from "../util/dom.js";
import { restoreFind, showFind } from "./search.js";
import { restoreSelection } from "../view/tree.js";
import { showNotes } from "./notes.js";
import { showLegend } from "./legend.js";
import { restoreForm, showTimes } from "./statistics.js";
import { tellBeside, told } from "../state/view.js";

/** @typedef {"legend" | "times" | "find" | "notes"} Tab */

/** @type {Tab[]} */
const TABS = ["legend", "times", "notes", "find"];
/** @type {Tab} */
let shown = "legend";

export function listenToPanel() {
  TABS.forEach((tab, at) => {
    const button = byId(`tab-${tab}`);
    button.addEventListener("click", () => { showTab(tab).catch(() => {}); });
    button.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      const next = TABS[(at + by + TABS.length) % TABS.length];
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
  if (byId("panel").hidden) toggleSide();
  select(tab);
  const filled = refreshPanel();
  if (focus && tab === "find") byId("find-field").select();
  else if (focus) byId(`tab-${tab}`).focus();
  return filled;
}

/** @param {Tab} tab */
function select(tab) {
  shown = tab;
  tellBeside("tab", tab === "legend" ? null : tab);
  for (const one of TABS) {
    const button = byId(`tab-${one}`);
    button.setAttribute("aria-selected", String(one === tab));
    button.tabIndex = one === tab ? 0 : -1;
    byId(one).hidden = one !== tab;
  }
  placeInspector();
}

/** Puts the inspector into the panel, or over the diagram if the panel is closed. */
function placeInspector() {
  const [panel, inspector] = [byId("panel"), byId("inspector")];
  if (panel.hidden) {
    if (inspector.parentElement === panel) byId("trouble").after(inspector);
  } else if (shown === "find") {
    // Below the hits, so that its height does not move the buttons that step through them.
    if (panel.lastElementChild !== inspector) panel.append(inspector);
  } else if (panel.firstElementChild !== inspector) panel.prepend(inspector);
}

/**
 * Shows the panel as the address requires.
 * @returns {Promise<unknown>} done when the tab is filled
 */
export function restorePanel() {
  const side = told("side");
  if (side) setSide(side === "1");
  restoreForm();
  restoreFind();
  restoreSelection();
  select(TABS.find((tab) => tab === told("tab")) ?? "legend");
  return refreshPanel();
}

/** Refreshes the open tab for the interval. @returns {Promise<unknown>} */
export function refreshPanel() {
  // Statistics that are not visible are not needed.
  if (shown !== "times") drop("statistics", "histogram");
  if (shown === "legend") return showLegend();
  return Promise.all([showLegend(), shown === "times" ? showTimes() : shown === "notes" ? showNotes() : showFind()]);
}

/** @param {boolean} seen */
export function setSide(seen) {
  byId("panel").hidden = !seen;
  byId("side").setAttribute("aria-pressed", String(seen));
  placeInspector();
}

/** @type {(seen: boolean) => void} */
let onSide = () => {};

/** @param {(seen: boolean) => void} handler called when a user opens or closes the panel */
export function watchSide(handler) {
  onSide = handler;
}

/** Opens or closes the panel as in another pane. @param {boolean} seen */
export function followSide(seen) {
  if (byId("panel").hidden !== seen) return;
  setSide(seen);
  tellBeside("side", seen ? "1" : "0");
  if (seen) refreshPanel().catch(() => {});
}

export function toggleSide() {
  const seen = byId("panel").hidden;
  setSide(seen);
  tellBeside("side", seen ? "1" : "0");
  onSide(seen);
}
