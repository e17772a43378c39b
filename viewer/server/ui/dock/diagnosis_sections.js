// The sections of the diagnosis: efficiency, waits, critical path, imbalance, collective operations
// and phases.

import { make } from "../util/dom.js";
import { formatDuration, formatPercent, groupDigits, rangeInWords } from "../util/format.js";
import { setting } from "../state/address.js";

/**
 * The actions of the report.
 * @typedef {{ selectUnits: (names: string[], time?: [number, number] | null) => void, selectWait:
 * (wait: any) => void, findValue: (text: string) => void, showPath: () => void, ask: (name:
 * "phase" | "whatif", text: string) => void }} ReportActions
 */

/** The efficiencies: key, name, level and meaning. @type {[string, string, number, string][]} */
const FACTORS = [
  ["parallel", "Parallel efficiency", 0, "mean busy time / time range"],
  ["load_balance", "Load balance", 1, "mean busy time / largest busy time"],
  ["communication", "Communication efficiency", 1, "largest busy time / time range"],
  ["serialisation", "Serialisation", 2, "the rest: waiting for dependences"],
  ["transfer", "Transfer", 2, "critical path without overhead and messages"],
];
/** The decrease in percent for which the table of the path estimates gains. */
const USUAL_DECREASE = 10;

/**
 * @param {any} answer
 * @param {ReportActions} actions
 * @returns {HTMLElement[]}
 */
export function reportSections(answer, actions) {
  const { report } = answer;
  const sections = [
    section("Efficiency", efficiency(report)),
    section("Waits", ...waits(answer, actions)),
    section("Critical path", ...criticalPath(answer, actions)),
    section("What if", ...whatIf(report, actions)),
    section("Imbalance", ...imbalance(report, actions)),
    report.collectives.length > 0 && section("Collective operations", collectives(report, actions)),
    section("Phases", ...phases(report, actions)),
  ];
  return [make("div", { class: "diagnosis-sections" }, ...sections), ...notes(report)];
}

/** @param {string} name @param {...(Node | string | false | null)} contents */
function section(name, ...contents) {
  return make("section", { "aria-label": name }, make("h3", { text: name }), ...contents);
}

/**
 * A table. Cells of the columns `numbers` are numbers.
 * @param {string} name
 * @param {string[]} head
 * @param {(Node | string)[][]} rows
 * @param {number[]} numbers
 */
function table(name, head, rows, numbers) {
  const attributes = (/** @type {number} */ column) => (numbers.includes(column) ? { class: "number" } : {});
  const cell = (/** @type {Node | string} */ content, /** @type {number} */ column) =>
    make(column === 0 ? "th" : "td", { ...(column === 0 ? { scope: "row" } : {}), ...attributes(column) }, content);
  return make(
    "table",
    { "aria-label": name },
    make(
      "thead",
      {},
      make("tr", {}, ...head.map((text, column) => make("th", { scope: "col", text, ...attributes(column) }))),
    ),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell)))),
  );
}

/**
 * A button in a table. Its key keeps the focus.
 * @param {string} text
 * @param {string} title
 * @param {() => void} act
 */
const link = (text, title, act, key = `${title} ${text}`) =>
  make("button", { class: "cell-button", text, title, "data-key": key, onclick: act });

/** @param {any} report */
function efficiency({ efficiency: factors }) {
  if (!factors)
    return make("p", {
      class: "hint",
      text:
        "No unit is ever busy. Choose the states in which the program works in Categories, or count time without " +
        "states as busy by the option “Stateless”.",
    });
  const lines = FACTORS.filter(([key]) => typeof factors[key] === "number").map(([key, name, level, meaning]) => {
    const line = make(
      "li",
      { title: meaning },
      make("span", { text: name }),
      make("i", { class: "share", "aria-hidden": "true" }),
      make("b", { text: formatPercent(factors[key]) }),
    );
    line.style.setProperty("--level", String(level));
    line.style.setProperty("--share", String(Math.min(1, factors[key])));
    return line;
  });
  return make("ul", { class: "efficiency", "aria-label": "Efficiencies" }, ...lines);
}

/** @param {any} answer @param {ReportActions} actions */
function waits({ report, rows: [total] }, { selectWait, selectUnits, findValue }) {
  if (report.waits.length === 0) return [make("p", { class: "hint", text: "No waits in this time range." })];
  const place = (/** @type {string | null} */ line) =>
    line ? link(line, "Find the entities of this line", () => findValue(`at:${line}`)) : "";
  const rows = report.waits.map((/** @type {any} */ wait, /** @type {number} */ index) => {
    const cause = wait.main_cause
      ? make(
          "span",
          {},
          link(
            wait.main_cause[0],
            "Select the unit that causes most of it",
            () => selectUnits([wait.main_cause[0]]),
            `cause ${index}`,
          ),
          ` ${formatPercent(wait.main_cause[1])}${wait.cause ? `, in ${wait.cause}` : ", which waits itself"}`,
        )
      : "";
    return [
      link(
        `${capitalise(wait.kind)} in ${wait.state}`,
        "Select the longest of these waits",
        () => selectWait(wait),
        `wait ${index}`,
      ),
      formatDuration(Number(wait.nanos)),
      formatPercent(wait.share),
      groupDigits(wait.count),
      cause,
      place(wait.causing_line),
      wait.main_waiter ? `${wait.main_waiter[0]} ${formatPercent(wait.main_waiter[1])}` : "",
      place(wait.waiting_line),
    ];
  });
  return [
    make("p", { class: "hint", text: `${formatDuration(Number(report.wait_nanos))} of all units together.` }),
    table(
      "Waits",
      ["Wait", "Cost", "Of all time", "Number", "Cause", "Line of the cause", "Waits most", "Line of the wait"],
      rows,
      [1, 2, 3],
    ),
    omissionHint(total - rows.length),
  ];
}

/** @param {any} answer @param {ReportActions} actions */
function criticalPath({ report, rows: [, values, units] }, { findValue, selectUnits, showPath }) {
  const time = (/** @type {any} */ { nanos, share }) => [formatDuration(nanos), formatPercent(share)];
  const byValue = report.path_values.map((/** @type {any} */ part) => [
    link(part.name, "Find these states", () => findValue(part.name)),
    ...time(part),
    ...[part.gain_with_fixed_waits, part.gain].map((gain) => (typeof gain === "number" ? formatDuration(gain) : "")),
  ]);
  const hasUnknownWaits = report.path_values.some(
    (/** @type {any} */ part) => part.gain !== part.gain_with_fixed_waits,
  );
  const byUnit = report.path_units.map((/** @type {any} */ part) => [
    link(part.name, "Select this row", () => selectUnits([part.name])),
    ...time(part),
  ]);
  const byCategory = report.path_categories.map((/** @type {any} */ part) => [part.name, ...time(part)]);
  const endText =
    typeof report.path_end === "number" && report.path_end < report.to
      ? `It ends ${formatDuration(report.to - report.path_end)} before the time range: then, all units are idle. `
      : "";
  return [
    make(
      "p",
      { class: "hint" },
      `${formatDuration(report.path_nanos)}, of which ${formatDuration(report.path_transit)} in messages. `,
      endText,
      make("button", { class: "text-button", text: "Show it in the diagram", onclick: showPath }),
    ),
    make(
      "div",
      { class: "path-tables" },
      table(
        "Critical path by value",
        ["Value", "On the path", "Share", `Gain, if ${USUAL_DECREASE} % shorter`, "At most"],
        byValue,
        [1, 2, 3, 4],
      ),
      table("Critical path by container", [capitalise(report.level), "On the path", "Share"], byUnit, [1, 2]),
      table("Critical path by category", ["Category", "On the path", "Share"], byCategory, [1, 2]),
    ),
    omissionHint(values - byValue.length + units - byUnit.length),
    hasUnknownWaits &&
      make("p", { class: "hint", text: "The gain assumes that waits of unknown cause keep their duration." }),
  ];
}

/** @param {any} report @param {ReportActions} actions */
function whatIf(report, { ask }) {
  const [, name = "", percent = "50"] = /^(.+)=(.+)$/.exec(setting("whatif") ?? "") ?? [];
  const state = make("input", {
    type: "text",
    value: name,
    "aria-label": "Values that take less time",
    placeholder: "MPI_*",
    list: "what-if-values",
    spellcheck: "false",
    "data-key": "what-if value",
  });
  const decrease = make("input", {
    type: "number",
    min: 0,
    max: 100,
    step: "any",
    value: percent,
    "aria-label": "Decrease in percent",
    "data-key": "what-if percent",
  });
  const form = make(
    "form",
    {
      class: "question",
      autocomplete: "off",
      "aria-label": "What if",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        ask("whatif", state.value.trim() ? `${state.value.trim()}=${decrease.value}` : "");
      },
    },
    "If",
    state,
    make(
      "datalist",
      { id: "what-if-values" },
      ...report.path_values.map((/** @type {any} */ part) => make("option", { value: part.name })),
    ),
    "took",
    decrease,
    "% less time",
    make("button", { type: "submit", class: "quiet-button", text: "Estimate", "data-key": "what-if estimate" }),
  );
  form.querySelector("button")?.setAttribute("type", "submit");
  const results = report.what_ifs.map((/** @type {any} */ change) =>
    make("p", {
      role: "status",
      "aria-label": "Gain",
      text:
        `${change.name} ${change.percent} % shorter: ${formatDuration(change.gain)} of ` +
        `${formatDuration(report.path_nanos)} less, at most ` +
        `(${formatDuration(change.path_nanos)} on the critical path).` +
        (change.gain === change.gain_with_fixed_waits
          ? ""
          : ` If waits of unknown cause keep their duration: ${formatDuration(change.gain_with_fixed_waits)}.`),
    }),
  );
  return [form, ...results];
}

/** @param {any} report @param {ReportActions} actions */
function imbalance(report, { selectUnits }) {
  if (report.imbalances.length === 0)
    return [make("p", { class: "hint", text: "No imbalance of busy time of 5 % or more." })];
  const rows = report.imbalances.map((/** @type {any} */ part, /** @type {number} */ index) => [
    part.within ? `${part.level} in ${part.within}` : part.level,
    link(part.busiest, "Select this row", () => selectUnits([part.busiest]), `busiest ${index}`),
    formatPercent(part.excess),
    formatDuration(part.nanos),
    link(part.least_busy, "Select this row", () => selectUnits([part.least_busy]), `least ${index}`),
  ]);
  return [
    table(
      "Imbalance of busy time",
      ["Level", "Busiest", "Above the mean", "More busy time", "Least busy"],
      rows,
      [2, 3],
    ),
  ];
}

/** @param {any} report @param {ReportActions} actions */
function collectives(report, { findValue }) {
  const rows = report.collectives.map((/** @type {any} */ group) => {
    const [mean, longest] = group.has_unknown_roots
      ? ["unknown", "unknown"]
      : [
          formatDuration(Math.floor(Number(group.wait_nanos) / Math.max(1, group.parts))),
          formatDuration(group.longest_wait),
        ];
    return [
      link(group.state, "Find these states", () => findValue(group.state)),
      group.communicator,
      groupDigits(group.operations),
      mean,
      longest,
      group.main_cause ? `${group.main_cause[0]} ${formatPercent(group.main_cause[1])}` : "",
    ];
  });
  return table(
    "Collective operations",
    ["State", "Communicator", "Operations", "Mean wait", "Longest wait", "Awaited most"],
    rows,
    [2, 3, 4],
  );
}

/** @param {any} report @param {ReportActions} actions */
function phases(report, { ask, selectUnits }) {
  const field = make("input", {
    type: "text",
    value: setting("phase") ?? "",
    "aria-label": "Values that are phases",
    placeholder: "step*",
    spellcheck: "false",
    "data-key": "phase",
  });
  const form = make(
    "form",
    {
      class: "question",
      autocomplete: "off",
      "aria-label": "Phases",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        ask("phase", field.value.trim());
      },
    },
    "Each occurrence of",
    field,
    make("button", { class: "quiet-button", text: "Compare", "data-key": "phase compare" }),
  );
  form.querySelector("button")?.setAttribute("type", "submit");
  const factor = (/** @type {any} */ phase, /** @type {string} */ key) =>
    typeof phase.efficiency?.[key] === "number" ? formatPercent(phase.efficiency[key]) : "";
  const rows = report.phases.map((/** @type {any} */ phase) => [
    link(phase.name, "Select its time range", () => selectUnits([], [phase.from, phase.to])),
    rangeInWords(phase.from, phase.to),
    ...["parallel", "load_balance", "communication", "serialisation", "transfer"].map((key) => factor(phase, key)),
    formatDuration(Number(phase.wait_nanos)),
  ]);
  return [
    form,
    rows.length > 0 &&
      table(
        "Efficiency of phases",
        ["Phase", "Time range", "Parallel", "Load balance", "Communication", "Serialisation", "Transfer", "Waits"],
        rows,
        [2, 3, 4, 5, 6, 7],
      ),
  ];
}

/** @param {any} report */
function notes(report) {
  const lines = [];
  if (report.guessed_values > 0)
    lines.push(
      `The categories of ${report.guessed_values} states are guessed from their names. Categories corrects them.`,
    );
  const guesses = new Set(
    report.collectives
      .filter((/** @type {any} */ group) => group.is_guess)
      .map((/** @type {any} */ group) => group.state),
  );
  if (guesses.size > 0)
    lines.push(`The operations of ${[...guesses].join(", ")} are guessed from the names and the order of states.`);
  if (report.unmatched_collectives.length > 0)
    lines.push(
      `Waits in ${report.unmatched_collectives.join(", ")} are not examined: ` +
        "not all units have the same number of these states.",
    );
  return lines.map((text) => make("p", { class: "hint diagnosis-note", text }));
}

/** @param {number} count */
function omissionHint(count) {
  return (
    count > 0 && make("p", { class: "hint", text: `${groupDigits(count)} more: the command lists all with --json.` })
  );
}

/** @param {string} text */
const capitalise = (text) => `${text[0]?.toUpperCase() ?? ""}${text.slice(1)}`;
