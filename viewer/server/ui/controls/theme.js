// Light, dark or high contrast: the theme that the user chose, or that of the system.

import { byId } from "../util/dom.js";
import { openMenu } from "../util/menu.js";
import { showNote } from "../util/status_line.js";
import { notifyChange } from "../state/view_state.js";

/** @typedef {"system" | "light" | "dark" | "contrast"} Choice */

/** @type {[Choice, string][]} */
const NAMES = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
  ["contrast", "High contrast"],
];
const SYSTEM = [matchMedia("(prefers-color-scheme: dark)"), matchMedia("(prefers-contrast: more)")];

const KEY = "tumit:theme";

/** @returns {Choice} */
function storedTheme() {
  const stored = localStorage.getItem(KEY);
  return NAMES.find(([name]) => name === stored)?.[0] ?? "system";
}

/** Applies the theme to the page. */
export function applyTheme() {
  const [dark, contrast] = SYSTEM.map((query) => query.matches);
  const choice = storedTheme();
  document.documentElement.dataset.theme =
    choice !== "system" ? choice : contrast ? "contrast" : dark ? "dark" : "light";
}

/** @param {Choice} choice */
export function setTheme(choice) {
  localStorage.setItem(KEY, choice);
  applyTheme();
  notifyChange("style");
}

export function nextTheme() {
  const theme = document.documentElement.dataset.theme;
  const next = theme === "light" ? "dark" : theme === "dark" ? "contrast" : "light";
  setTheme(next);
  showNote(`Theme: ${NAMES.find(([name]) => name === next)?.[1]}`);
}

/**
 * Follows the theme of the system, and the choice in another pane.
 * @param {() => void} act called after each change of the theme
 */
export function watchTheme(act) {
  const apply = () => {
    applyTheme();
    act();
  };
  for (const query of SYSTEM) query.addEventListener("change", apply);
  window.addEventListener("storage", ({ key }) => {
    if (key === KEY) apply();
  });
}

export function listenToTheme() {
  watchTheme(() => notifyChange("style"));
  byId("theme").addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const anchor = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    openMenu(
      "Theme",
      anchor,
      NAMES.map(([choice, name]) => ({ name, checked: choice === storedTheme(), act: () => setTheme(choice) })),
    );
  });
}
