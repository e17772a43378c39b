// The modes of the diagram: its states in the colours of categories or tasks, its messages by size,
// or the critical path over it. The rows stay those of the trace.

import { RefusedError, request } from "../net/api.js";
import { byId } from "../util/dom.js";
import { openMenu } from "../util/menu.js";
import { showNote } from "../util/status_line.js";
import { storeView } from "../state/address.js";
import { activeFilters, activeMode, notifyChange, onChange, setModeDescription, view } from "../state/view_state.js";
import { loadViews, restoreCards, sharedOptions } from "./cards/card_list.js";
import { categoryList, loadCategories, onAssign } from "./category_list.js";

/** The modes: the name of their view, their name on the page, and their effect. */
export const MODES = /** @type {const} */ ([
  ["utilization-gantt", "By category", "colours the rows by category: busy, overhead, idle"],
  ["space-time", "Busy times and messages", "shows busy times, and messages coloured by size"],
  ["task-gantt", "By task", "colours the rows by task"],
  ["critical-path", "Critical path", "draws the critical path over the rows"],
]);

/** The mode that depends on the selected time range. */
const RANGED = "critical-path";
/**
 * The numbers of types and values of the trace itself. Those of a mode are larger.
 * @type {{ types: number, values: number } | null}
 */
let numbers = null;

/** @param {string | null} name */
export const modeTitle = (name) => MODES.find(([mode]) => mode === name)?.[1] ?? "As recorded";

setModeDescription((name) =>
  JSON.stringify({
    name,
    options: sharedOptions(),
    categories: categoryList(),
    range: name === RANGED ? view.selectedTime : null,
  }),
);

/**
 * Prepares a mode. An error says that the trace lacks its data.
 * @param {string} name
 */
async function loadMode(name) {
  await Promise.all([loadViews(activeFilters()), loadCategories()]);
  const answer = await request("diagram_mode", { mode: activeMode(name) }, "diagram mode");
  if (answer?.error) throw new RefusedError(answer.error);
  if (answer) numbers = answer;
  return answer !== undefined;
}

/** Prepares the mode of the address. Without its data, the trace is shown as recorded. */
export async function prepareMode() {
  if (!view.mode) return;
  restoreCards();
  try {
    await loadMode(view.mode);
  } catch (error) {
    const title = modeTitle(view.mode);
    view.mode = null;
    showNote(`${title}: ${error instanceof Error ? error.message : error}`);
  }
  showMode();
}

/** Shows the diagram in a mode, or as recorded. @param {string | null} name */
export async function setMode(name) {
  if (name === view.mode) return;
  try {
    if (name && !(await loadMode(name))) return;
  } catch (error) {
    showNote(`${modeTitle(name)}: ${error instanceof Error ? error.message : error}`);
    return;
  }
  forgetEntities();
  view.mode = name;
  storeView();
  notifyChange("rows");
}

/** The mode with its options that the diagram shows. */
let shownMode = "";

/** Draws the diagram again if the options of its mode have changed. */
export function refreshMode() {
  if (view.mode && activeMode() !== shownMode) notifyChange("rows");
}

/** Forgets the types, values and entities of the mode. Their numbers get another meaning. */
function forgetEntities() {
  for (const id of numbers ? [...view.dimmedValues] : [])
    if (numbers && id >= numbers.values) view.dimmedValues.delete(id);
  for (const id of numbers ? [...view.hiddenTypes] : [])
    if (numbers && id >= numbers.types) view.hiddenTypes.delete(id);
  if (/^[sl]/.test(view.entity ?? "")) view.entity = null;
}

/** Switches a mode on or off. @param {string} name */
export const toggleMode = (name) => setMode(view.mode === name ? null : name);

/** Shows the present mode at its button, and at the buttons of cards. */
export function showMode() {
  shownMode = activeMode();
  const [button, title] = [byId("diagram-mode"), modeTitle(view.mode)];
  button.setAttribute("aria-label", `Mode of the diagram: ${title}`);
  button.classList.toggle("active", view.mode !== null);
  byId("diagram-mode-name").textContent = view.mode ? title : "";
  for (const card of document.querySelectorAll("[data-mode]"))
    card.setAttribute("aria-pressed", String(/** @type {HTMLElement} */ (card).dataset.mode === view.mode));
}

export function listenToModes() {
  const button = byId("diagram-mode");
  /** @type {[string | null, string][]} */
  const choices = [
    [null, "As recorded"],
    ...MODES.map(([name, title]) => /** @type {[string, string]} */ ([name, title])),
  ];
  button.addEventListener("click", () =>
    openMenu(
      "Mode of the diagram",
      button.getBoundingClientRect(),
      choices.map(([name, title]) => ({
        name: title,
        checked: view.mode === name,
        act: () => {
          setMode(name);
        },
      })),
    ),
  );
  onChange(showMode);
  onAssign(() => {
    if (view.mode) notifyChange("rows");
  });
  showMode();
}
