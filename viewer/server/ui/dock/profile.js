// The profile of the dock: a table of the values of a state type, and the call tree as a flame
// graph. It is about the time range and the rows of the selection, or about all that is visible.

import { request } from "../net/api.js";
import { byId, make, refill } from "../util/dom.js";
import { formatPercent, groupDigits, rangeInWords } from "../util/format.js";
import { readRuns } from "../util/number_runs.js";
import { findText } from "../panels/search.js";
import { reveal, rowOf } from "../state/rows.js";
import { select, selectedRowNumbers } from "../state/selection.js";
import { viewsRange } from "../state/time_cursor.js";
import { setSetting, setting } from "../state/address.js";
import { activeFilters, currentGeneration, view } from "../state/view_state.js";
import { LatestRequest } from "./cards/card_request.js";
import { setMode } from "./diagram_mode.js";
import { FlameGraph } from "./flame_graph.js";
import { profileTable } from "./profile_table.js";

/** Milliseconds without a movement. After them, the profile is computed. */
const REST_DELAY = 250;

/** @type {HTMLElement} */ const box = byId("profile");
let timer = 0;
/** The last request, so that an unchanged profile is not computed again. */
let requestedKey = "";
/** @type {any} */ let answer = null;
/** The time range of the answer. @type {[number, number]} */
let answeredRange = [0, 0];
/** The number of the sorted column, and whether it is descending: self time. @type {[number, boolean]} */
let order = [4, true];
/** The text to which the bars of the graph are compared. */
let searched = "";
/** @type {FlameGraph | null} */ let graph = null;

const latestRequest = new LatestRequest(fetchProfile, (error) =>
  showProblem(error instanceof Error ? error.message : String(error)),
);

/** Shows the profile of the current time range. */
export function showProfile() {
  if (!answer) box.replaceChildren(make("p", { class: "hint", role: "status", text: "Reading the states…" }));
  refreshProfile(0);
}

/** Computes the profile again if its subject has changed. @param {number} [after] milliseconds */
export function refreshProfile(after = REST_DELAY) {
  window.clearTimeout(timer);
  timer = window.setTimeout(() => {
    latestRequest.run();
  }, after);
}

async function fetchProfile() {
  if (box.hidden) return;
  const { from, to } = viewsRange();
  const parameters = {
    from,
    to,
    rows: selectedRowNumbers(),
    ty: setting("calltype"),
    text: setting("calltree"),
    theme: document.documentElement.dataset.theme,
    filters: activeFilters(),
  };
  const key = JSON.stringify([parameters, currentGeneration()]);
  if (key === requestedKey && answer) return;
  box.setAttribute("aria-busy", "true");
  const next = await request("call_profile", parameters, "call_profile", showProgress);
  box.setAttribute("aria-busy", "false");
  if (!next) return;
  if (next.error) {
    showProblem(next.error);
    return;
  }
  [answer, requestedKey, answeredRange] = [next, key, [from, to]];
  fill();
}

/** @param {any} part */
function showProgress(part) {
  const text = `Reading the states: ${formatPercent(part.done)}`;
  const status = box.querySelector(".profile-progress");
  if (status) status.textContent = text;
  else box.prepend(make("p", { class: "hint profile-progress", role: "status", text }));
}

/** @param {string} text */
function showProblem(text) {
  box.setAttribute("aria-busy", "false");
  [answer, requestedKey, graph] = [null, "", null];
  box.replaceChildren(make("p", { class: "problem", role: "status", "aria-label": "Missing data", text }));
}

function fill() {
  if (answer.types.length === 0) {
    showProblem("The profile needs states, but the trace has none.");
    return;
  }
  graph = new FlameGraph(answer.tree, { findValue, isBottomUp: isBottomUp() });
  graph.mark(searched);
  const shown = graph;
  refill(box, () => box.replaceChildren(heading(), contents(shown)));
}

const isBottomUp = () => setting("calltree") === "bottom-up";

/** The subject of the profile, and its choices. */
function heading() {
  const type = answer.types.find((/** @type {any} */ entry) => entry.type === answer.type);
  const rows = `${groupDigits(answer.containers)} row${answer.containers === 1 ? "" : "s"}`;
  const types = answer.types.map((/** @type {any} */ entry) =>
    make("option", { value: entry.type, text: entry.name, selected: entry.type === answer.type ? "" : null }),
  );
  const choice = make(
    "select",
    {
      "aria-label": "State type",
      "data-key": "type",
      onchange: (/** @type {Event} */ event) => {
        setSetting("calltype", /** @type {HTMLSelectElement} */ (event.target).value);
        refreshProfile(0);
      },
    },
    ...types,
  );
  const search = make("input", {
    type: "search",
    "aria-label": "Find in the profile",
    placeholder: "Find a value",
    "data-key": "search",
    spellcheck: "false",
    autocomplete: "off",
    oninput: (/** @type {Event} */ event) => {
      searched = /** @type {HTMLInputElement} */ (event.target).value;
      graph?.mark(searched);
      for (const row of box.querySelectorAll("tbody tr")) markRow(/** @type {HTMLElement} */ (row));
    },
  });
  /** @type {HTMLInputElement} */ (search).value = searched;
  return make(
    "header",
    { class: "profile-head" },
    make("h2", {
      text: `${answer.types.length > 1 ? "" : `${type.name}, `}${rows}, ${rangeInWords(...answeredRange)}`,
    }),
    answer.types.length > 1 && choice,
    directionButtons(),
    search,
  );
}

function directionButtons() {
  const button = (/** @type {string} */ text, /** @type {string | null} */ value, /** @type {string} */ title) =>
    make("button", {
      class: "quiet-button",
      text,
      title,
      "data-key": `direction ${value ?? ""}`,
      "aria-pressed": String((setting("calltree") ?? null) === value),
      onclick: () => {
        setSetting("calltree", value);
        refreshProfile(0);
      },
    });
  return make(
    "div",
    { class: "profile-directions", role: "group", "aria-label": "Direction of the tree" },
    button("Callees", null, "Below each value are the values that it calls"),
    button("Callers", "bottom-up", "Below each value are its callers, which share its self time"),
  );
}

/** @param {FlameGraph} shown */
function contents(shown) {
  const sort = (/** @type {[number, boolean]} */ next) => {
    order = next;
    fill();
  };
  const table = profileTable(answer, order, { sort, findValue, selectRow });
  for (const row of table.querySelectorAll("tbody tr")) markRow(/** @type {HTMLElement} */ (row));
  return make(
    "div",
    { class: "profile-parts" },
    make("section", { class: "profile-values", "aria-label": "Values" }, table),
    make("section", { class: "profile-tree", "aria-label": "Call tree" }, shown.element),
  );
}

/** @param {HTMLElement} row */
function markRow(row) {
  const name = row.dataset.name ?? "";
  row.classList.toggle("found", searched !== "" && name.toLowerCase().includes(searched.toLowerCase()));
}

/** Finds the states of a value in the diagram. @param {string} name */
async function findValue(name) {
  if (view.mode && view.mode !== "critical-path") await setMode(null);
  findText(name);
}

/** Selects a row of the diagram, and shows it. @param {number} container */
function selectRow(container) {
  const kept = readRuns(selectedRowNumbers());
  if (kept.length === 1 && kept[0] === container) return;
  select(view.selectedTime, new Set([container]));
  const row = rowOf(container);
  if (row) reveal(row);
}
