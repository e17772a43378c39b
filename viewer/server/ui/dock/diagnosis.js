// The diagnosis: the report of `tumit diagnose` about the time range, rows, units and categories of
// the page. Its rows select their units, times and values.

import { request } from "../net/api.js";
import { byId, make, refill } from "../util/dom.js";
import { rangeInWords, toTraceTime } from "../util/format.js";
import { readRuns } from "../util/number_runs.js";
import { timeText } from "../util/time_range.js";
import { findText } from "../panels/search.js";
import { reveal, rowOf } from "../state/rows.js";
import { select, selectedRowNumbers, selectionKey } from "../state/selection.js";
import { viewsRange } from "../state/time_cursor.js";
import { setSetting, setting } from "../state/address.js";
import { activeFilters, currentGeneration, traceDuration, view } from "../state/view_state.js";
import { show } from "../state/viewport.js";
import { sharedOptions } from "./cards/card_list.js";
import { categoryParameter } from "./category_list.js";
import { LatestRequest } from "./cards/card_request.js";
import { setMode, toggleMode } from "./diagram_mode.js";
import { reportSections } from "./diagnosis_sections.js";

/** Milliseconds without a movement. After them, the report is computed. */
const REST_DELAY = 250;
/** The free share on each side of a time range that a row of the report shows. */
const MARGIN = 0.5;

/** @type {HTMLElement} */ const box = byId("diagnosis");
/** The subject of the report. @type {{ from: number, to: number, units: string } | null} */
let subject = null;
/**
 * The selection by a row of the report. The report stays, so that its next row can be chosen.
 * @type {string | null}
 */
let ownSelection = null;
let timer = 0;
/** The last request, so that an unchanged report is not computed again. */
let requestedKey = "";
/** @type {any} */ let answer = null;

const latestRequest = new LatestRequest(fetchReport, (error) =>
  showProblem(error instanceof Error ? error.message : String(error)),
);

/** Shows the report of the current time range. */
export function showDiagnosis() {
  if (!answer) box.replaceChildren(make("p", { class: "hint", role: "status", text: "Examining the trace…" }));
  refreshDiagnosis(0);
}

/** Computes the report again if its subject has changed. @param {number} [after] milliseconds */
export function refreshDiagnosis(after = REST_DELAY) {
  window.clearTimeout(timer);
  timer = window.setTimeout(() => {
    latestRequest.run();
  }, after);
}

function currentSubject() {
  if (ownSelection !== null && ownSelection === selectionKey() && subject) return subject;
  ownSelection = null;
  return { ...viewsRange(), units: selectedRowNumbers() };
}

/** The questions of the user, from the address. */
function questions() {
  const [phase, text] = [setting("phase") ?? "", setting("whatif") ?? ""];
  const [, name, percent] = /^(.+)=(\d+(?:\.\d+)?)$/.exec(text) ?? [];
  return { phase, what_if: name === undefined ? [] : [[name, Number(percent)]] };
}

async function fetchReport() {
  if (box.hidden) return;
  subject = currentSubject();
  const cards = JSON.stringify([{ name: "diagnosis", options: sharedOptions(), width: 0, height: 0 }]);
  const parameters = {
    ...subject,
    cards,
    categories: categoryParameter(),
    filters: activeFilters(),
    question: JSON.stringify(questions()),
  };
  const key = JSON.stringify([parameters, currentGeneration()]);
  if (key === requestedKey && answer) {
    // A row of the report has made a selection, or it is gone.
    if (box.dataset.own !== String(ownSelection !== null)) fill();
    return;
  }
  box.setAttribute("aria-busy", "true");
  const next = await request("diagnosis", parameters, "diagnosis");
  box.setAttribute("aria-busy", "false");
  if (!next) return;
  if (next.error) {
    showProblem(next.error);
    return;
  }
  [answer, requestedKey] = [next, key];
  fill();
}

/** @param {string} text */
function showProblem(text) {
  box.setAttribute("aria-busy", "false");
  [answer, requestedKey] = [null, ""];
  box.replaceChildren(make("p", { class: "problem", role: "status", "aria-label": "Missing data", text }));
}

function fill() {
  box.dataset.own = String(ownSelection !== null);
  // Text that is being typed stays.
  const field = /** @type {HTMLInputElement | null} */ (box.querySelector("input:focus"));
  const typed = field && [field.dataset.key, field.value];
  refill(box, () =>
    box.replaceChildren(
      heading(),
      ...reportSections(answer, {
        selectUnits,
        selectWait,
        findValue,
        showPath: () => toggleMode("critical-path"),
        ask,
      }),
    ),
  );
  const replacement = typed && /** @type {HTMLInputElement | null} */ (box.querySelector(`[data-key="${typed[0]}"]`));
  if (replacement) replacement.value = String(typed[1]);
}

/** The subject of the report, and the command that prints it. */
function heading() {
  const { from, to, level, units } = answer.report;
  const name = `${units} × ${level}, ${rangeInWords(from, to)}`;
  const selectionButton =
    ownSelection !== null &&
    make("button", {
      class: "quiet-button",
      text: "Examine the selection",
      onclick: () => {
        ownSelection = null;
        refreshDiagnosis(0);
      },
    });
  const text = command();
  const copy = make("button", {
    class: "quiet-button",
    text: "Copy",
    "aria-label": "Copy the command",
    onclick: () => {
      navigator.clipboard?.writeText(text).then(
        () => {
          copy.textContent = "Copied";
        },
        () => {},
      );
    },
  });
  return make(
    "header",
    { class: "diagnosis-head" },
    make("h2", { text: name }),
    selectionButton,
    make(
      "span",
      {
        class: "command",
        role: "group",
        "aria-label": "Command of this report",
        title: "The command that prints this report",
      },
      make("code", { text }),
    ),
    copy,
  );
}

/** A text as one argument of a command. @param {string} text */
const quoteArgument = (text) => (/^[\w./:,=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** The command that prints the report. */
function command() {
  const { from, to, units } = /** @type {{ from: number, to: number, units: string }} */ (subject);
  const isWhole = from <= 0 && to >= traceDuration();
  const interval = isWhole ? [] : ["--interval", [from, to].map((time) => timeText(toTraceTime(time))).join("..")];
  const filters = JSON.parse(activeFilters() || "[]").flatMap((/** @type {string} */ filter) => ["--filter", filter]);
  const rows = readRuns(units)
    .map((id) => rowOf(id)?.filter_name)
    .filter(Boolean)
    .join(", ");
  const options = Object.entries({ ...sharedOptions(), ...(rows ? { units: rows } : {}) }).flatMap(([name, value]) => [
    "--option",
    `${name}=${value}`,
  ]);
  const { phase, what_if: changes } = questions();
  const questionOptions = [
    ...(phase ? ["--phase", phase] : []),
    ...changes.flatMap(([name, percent]) => ["--what-if", `${name}=${percent}`]),
  ];
  return [
    "tumit",
    "diagnose",
    answer.path ?? byId("name").textContent ?? "",
    ...interval,
    ...filters,
    ...options,
    ...questionOptions,
  ]
    .map(quoteArgument)
    .join(" ");
}

/**
 * Selects the rows of units, and optionally a time range.
 * @param {string[]} names
 * @param {[number, number] | null} [time]
 */
function selectUnits(names, time = view.selectedTime) {
  const containers = names
    .map((name) => answer.units[name] ?? answer.containers[name])
    .filter((id) => id !== undefined);
  if (time && (time[0] < view.from || time[1] > view.to || time[1] - time[0] < (view.to - view.from) / 200)) {
    const margin = Math.max(1, (time[1] - time[0]) * MARGIN);
    show(time[0] - margin, time[1] + margin, true);
  }
  // The report is about the earlier selection.
  select(time, new Set(containers));
  ownSelection = selectionKey();
  const first = containers.map((id) => rowOf(id)).find(Boolean);
  if (first) reveal(first);
}

/** Selects the longest wait of a group: its unit and its cause, at its time. @param {any} wait */
function selectWait(wait) {
  const [from, to, unit] = wait.longest;
  selectUnits([unit, ...(wait.main_cause ? [wait.main_cause[0]] : [])], [from, to]);
}

/** Finds the entities of a value or a line. @param {string} text */
async function findValue(text) {
  // In other modes, the diagram has no states of the trace.
  if (view.mode && view.mode !== "critical-path") await setMode(null);
  findText(text);
}

/**
 * Asks a question: about phases, or an assumed change.
 * @param {"phase" | "whatif"} name
 * @param {string} text
 */
function ask(name, text) {
  setSetting(name, text || null);
  refreshDiagnosis(0);
}
