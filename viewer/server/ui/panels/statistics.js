// Statistics of the selection, or of the shown time range: sortable tables and charts. They can be
// saved as CSV or JSON.

import { request, cancel } from "../net/api.js";
import { columns, curves, histogram, overlapHint, pie } from "./statistics_charts.js";
import { goTo } from "./inspected_entity.js";
import { byId, make, refill } from "../util/dom.js";
import { matrix } from "./matrix_chart.js";
import { rowCharts } from "./row_charts.js";
import { formatTimestamp, formatDuration, formatValue, groupDigits, formatPercent } from "../util/format.js";
import { layout, rowOf } from "../state/rows.js";
import { rowsInWords, selectedRange, selectedRowNumbers } from "../state/selection.js";
import { setSetting, setting } from "../state/address.js";
import { view } from "../state/view_state.js";
import { sumOfShares, table, tasks } from "./statistics_tables.js";
import { saveStatistics } from "./statistics_file.js";
import { show } from "../state/viewport.js";

/**
 * The forms of display: title, and the request for each.
 * @type {Record<string, [string, string]>}
 */
const FORMS = {
  table: ["Table", "times"],
  pie: ["Pie", "times"],
  columns: ["Columns", "times"],
  durations: ["Durations", "times"],
  matrix: ["Matrix", "matrix"],
  curves: ["Over time", "profile"],
  tasks: ["Tasks", "tasks"],
  variables: ["Variables", "variables"],
};
let form = "table";
/** Whether each row has a separate pie or columns. */
let perRow = false;
/** Maximum number of rows with separate charts: the server counts no more at once. */
const MAX_CHARTED_ROWS = 64;
/** Whether charts show shares instead of values. */
let shares = true;
/** The quantity in a matrix. @type {"count" | "size" | "nanos"} */
let amount = "count";
/**
 * The type and value of the shown durations.
 * @type {{ ty: number, value: number | null } | null}
 */
let chosenValues = null;
/**
 * The number of the sorted column, and whether the largest value comes first.
 * @type {[number, boolean]}
 */
let order = [1, true];
/** @type {any} */
let shownAnswer = null;

/** Requests the data of the present form. */
export async function showStatistics() {
  const [from, to] = selectedRange();
  // Selected rows come before the container in the inspector.
  const numbers = selectedRowNumbers();
  const container = !numbers && view.entity?.startsWith("c") ? view.entity : null;
  const part = {
    from: Math.round(from),
    to: Math.round(Math.max(to, from + 1)),
    id: container,
    rows: numbers,
    theme: document.documentElement.dataset.theme,
  };
  const requestedForm = form;
  const rows = isPerRow() ? chartedRows() : null;
  const showAnswer = (/** @type {any} */ answer) => {
    if (requestedForm !== form || (rows !== null) !== isPerRow()) return;
    shownAnswer = {
      ...answer,
      form,
      from,
      span: to - from,
      inspectedContainer: container,
      selected: numbers ? rowsInWords() : "",
      rows: rows?.length ?? null,
    };
    fill();
  };
  cancel("histogram");
  if (rows) {
    const answer = await request(
      "row_times",
      {
        ...part,
        text: rows
          .slice(0, MAX_CHARTED_ROWS)
          .map((row) => `c${row.id}`)
          .join(","),
      },
      "statistics",
    );
    if (answer) showAnswer(answer);
    return;
  }
  const answer = await request(
    FORMS[form][1],
    { ...part, sums_only: form === "durations" ? "true" : null },
    "statistics",
    showAnswer,
  );
  if (!answer) return;
  if (requestedForm === "durations") await requestDurations(answer, part, showAnswer);
  else showAnswer(answer);
}

/**
 * The durations of the chosen type; if it is not present, of the first type.
 * @param {any} answer
 * @param {Record<string, any>} part
 * @param {(answer: any) => void} showAnswer
 */
async function requestDurations(answer, part, showAnswer) {
  if (!answer.types.some((/** @type {any} */ type) => type.type === chosenValues?.ty)) chosenValues = null;
  const { ty, value } = chosenValues ?? { ty: answer.types[0]?.type, value: null };
  const show = (/** @type {any} */ histogram) => showAnswer({ ...answer, histogram, done: histogram?.done });
  if (ty === undefined) show(undefined);
  else {
    const histogram = await request("histogram", { ...part, ty, value }, "histogram", show);
    if (histogram) show(histogram);
  }
}

/** Whether each row has a separate chart. */
const isPerRow = () => perRow && (form === "pie" || form === "columns");

/** The selected rows; if there are none, all rows. */
function chartedRows() {
  const selected = layout.rows.filter((row) => view.selectedRows.has(row.id));
  return selected.length ? selected : layout.rows;
}

// The charts of rows change with the rows.
document.addEventListener("rows", () => {
  if (isPerRow() && !byId("times").hidden) showStatistics().catch(() => {});
});

/** @param {string} next */
export function setForm(next) {
  form = next;
  storeForm();
  showStatistics();
}

/** Writes the form and its settings to the address. */
function storeForm() {
  setSetting("form", form === "table" ? null : form);
  setSetting("values", shares ? null : "1");
  setSetting("each", perRow ? "1" : null);
  setSetting("amount", amount === "count" ? null : amount);
  setSetting("order", order[0] === 1 && order[1] ? null : `${order[0]}${order[1] ? "d" : "a"}`);
  setSetting("of", chosenValues && `${chosenValues.ty}${chosenValues.value === null ? "" : `.${chosenValues.value}`}`);
}

/** Restores the form and its settings from the address. */
export function restoreForm() {
  form = FORMS[setting("form") ?? ""] ? (setting("form") ?? "") : "table";
  shares = setting("values") !== "1";
  perRow = setting("each") === "1";
  amount = /** @type {const} */ (["size", "nanos"]).find((word) => word === setting("amount")) ?? "count";
  const [, column, direction] = /^([0-6])([ad])$/.exec(setting("order") ?? "") ?? ["", "1", "d"];
  order = [Number(column), direction === "d"];
  const match = /^(\d+)(?:\.(\d+))?$/.exec(setting("of") ?? "");
  chosenValues = match && { ty: Number(match[1]), value: match[2] === undefined ? null : Number(match[2]) };
}

/**
 * @param {string} key keeps the focus
 * @param {string} label
 * @param {boolean} isChecked
 * @param {() => void} onchange
 */
function checkBox(key, label, isChecked, onchange) {
  const checked = isChecked ? { checked: "" } : {};
  const input = make("input", { type: "checkbox", "data-key": key, ...checked, onchange });
  return make("label", { class: "check" }, input, label);
}

/** The buttons that choose the form and its settings. */
function controls() {
  const forms = Object.entries(FORMS).map(([name, [title]]) =>
    make("button", {
      role: "radio",
      "aria-checked": String(form === name),
      "data-key": `form ${name}`,
      text: title,
      onclick: () => setForm(name),
    }),
  );
  const percentBox =
    !["table", "tasks", "variables", "curves"].includes(form) &&
    checkBox("percent", " percent", shares, () => {
      shares = !shares;
      fill();
    });
  const perRowBox =
    (form === "pie" || form === "columns") &&
    checkBox("each", " each row", perRow, () => {
      perRow = !perRow;
      storeForm();
      showStatistics();
    });
  // An incomplete count is not saved as if it were complete.
  const disabled =
    shownAnswer.done === undefined ? {} : { disabled: "", title: "Available when the count is complete" };
  return [
    make("div", { class: "forms", role: "radiogroup", "aria-label": "Show as" }, ...forms),
    make(
      "p",
      { class: "statistics-settings" },
      percentBox,
      perRowBox,
      make("span", { class: "spacer" }),
      make("button", {
        class: "quiet-button",
        "aria-label": "Save statistics as CSV",
        text: "CSV",
        ...disabled,
        onclick: () => saveStatistics("csv", form, shownAnswer),
      }),
      make("button", {
        class: "quiet-button",
        "aria-label": "Save statistics as JSON",
        text: "JSON",
        ...disabled,
        onclick: () => saveStatistics("json", form, shownAnswer),
      }),
    ),
  ];
}

function fill() {
  storeForm();
  refill(byId("times"), drawTab);
}

function drawTab() {
  // The user has chosen another form, and its answer has not arrived yet.
  if (shownAnswer.form !== form || (shownAnswer.rows !== null) !== isPerRow()) return;
  const rangeKind = view.selectedTime ? "selected" : "shown";
  const row = shownAnswer.inspectedContainer ? rowOf(Number(shownAnswer.inspectedContainer.slice(1))) : undefined;
  const container = shownAnswer.selected || (shownAnswer.inspectedContainer && (row?.name ?? "the chosen container"));
  const where = container && shownAnswer.rows === null ? ` within ${container}` : "";
  const selectionHint =
    container || form === "matrix" ? "" : "Select rows or a container to see only their statistics.";
  const heading = make("p", {
    class: "hint",
    text:
      `${formatDuration(shownAnswer.span)} ${rangeKind}${where}. ` +
      (shownAnswer.rows !== null ? rowsHint() : selectionHint),
  });
  const parts = shownAnswer.types
    .map(
      shownAnswer.rows === null
        ? FORM_BODIES[form]
        : (/** @type {any} */ type) =>
            section(type, ...rowCharts(type, form === "pie" ? "pie" : "columns", shares, (id) => goTo(id))),
    )
    .filter(Boolean);
  if (parts.length === 0) parts.push(make("p", { class: "hint", text: emptyHint() }));
  byId("times").replaceChildren(...controls(), heading, ...countingProgress(), ...parts);
  byId("times").dataset.form = form;
}

/** The reason for an empty display. */
function emptyHint() {
  if (shownAnswer.most)
    return (
      `${groupDigits(shownAnswer.states)} states may belong to tasks, ` +
      `more than the limit of ${groupDigits(shownAnswer.most)}: use “tumit stats”.`
    );
  const kind = { matrix: "links", tasks: "tasks", variables: "variables" }[form] ?? "states";
  return `There are no ${kind} in this time range.`;
}

/** Describes the rows with charts. */
function rowsHint() {
  if (shownAnswer.rows > MAX_CHARTED_ROWS)
    return (
      `The first ${MAX_CHARTED_ROWS} of ${groupDigits(shownAnswer.rows)} rows, each with its descendants; ` +
      "select rows to see only those."
    );
  return view.selectedRows.size
    ? "The selected rows, each with its descendants."
    : "Each row with its descendants; select rows to see only those.";
}

/** The progress of the counting, while it is running. */
function countingProgress() {
  const { done } = shownAnswer;
  return done === undefined
    ? []
    : [
        make(
          "p",
          { class: "hint counting" },
          make("progress", { value: done, "aria-label": "Counted so far" }),
          `counting… ${formatPercent(done)}`,
        ),
      ];
}

/** @type {Record<string, (type: any) => HTMLElement | null>} */
const FORM_BODIES = {
  table: (type) =>
    table(type, order, (next) => {
      order = next;
      fill();
    }),
  tasks,
  pie: (type) => section(type, pie(`Shares of ${type.name}`, slices(type))),
  columns: (type) => section(type, columns(`Times of ${type.name}`, slices(type))),
  durations: (type) => (shownAnswer.types.indexOf(type) === 0 ? durationsSection() : null),
  matrix: (type) =>
    section(
      type,
      make(
        "div",
        { class: "forms", role: "radiogroup", "aria-label": `Amount of ${type.name}` },
        .../** @type {["count" | "size" | "nanos", string][]} */ ([
          ["count", "Number"],
          ["nanos", "Time"],
          ...(type.field ? [["size", type.field]] : []),
        ]).map(([name, title]) =>
          make("button", {
            role: "radio",
            "aria-checked": String(amount === name),
            "data-key": `amount ${name}`,
            text: title,
            onclick: () => {
              amount = name;
              fill();
            },
          }),
        ),
      ),
      matrix(type, amount === "size" && !type.field ? "count" : amount, shares, (id) => goTo(id, true)),
    ),
  curves: (type) =>
    section(
      type,
      curves(`Shares of ${type.name} over time`, type.curves, shownAnswer, (column) => {
        const middle = shownAnswer.from + column * shownAnswer.span;
        show(middle - shownAnswer.span / 8, middle + shownAnswer.span / 8, true);
      }),
    ),
  variables: (type) =>
    section(
      type,
      make(
        "dl",
        { class: "facts" },
        make("dt", { text: "Mean" }),
        make("dd", { text: formatValue(type.mean) }),
        ...extremeFacts("Minimum", type, type.min),
        ...extremeFacts("Maximum", type, type.max),
      ),
    ),
};

/**
 * The minimum or maximum, with a button to the place at which it is first reached.
 * @param {string} label the title
 * @param {any} type
 * @param {any} place
 */
function extremeFacts(label, type, place) {
  const go = async () => {
    const span = view.to - view.from;
    await goTo(`c${place.container}`);
    show(place.at - span / 8, place.at + span / 8, true);
  };
  const text = `${formatValue(place.value)} at ${formatTimestamp(place.at, shownAnswer.span / 1000)} in ${place.name}`;
  return [
    make("dt", { text: label }),
    make(
      "dd",
      {},
      make("button", { text, "aria-label": `Go to the ${label.toLowerCase()} of ${type.name}: ${text}`, onclick: go }),
    ),
  ];
}

/** @param {any} type @param {...(Node | false | null)} body */
function section(type, ...body) {
  return make("section", { class: "times" }, make("h2", {}, type.name), ...body, overlapHint(sumOfShares(type)));
}

/** @param {any} type @returns {import("./statistics_charts.js").Part[]} */
function slices(type) {
  const parts = type.rows.map((/** @type {any} */ row) => ({
    name: row.name,
    color: row.color,
    size: row.nanos,
    text: shares ? formatPercent(row.share) : formatDuration(row.nanos),
    act: row.longest ? () => goTo(row.longest.id, true) : undefined,
  }));
  if (type.none > 0 && type.existence > 0)
    parts.push({
      name: "none",
      color: null,
      size: type.none,
      text: shares ? formatPercent(type.none / type.existence) : formatDuration(type.none),
    });
  return parts;
}

/** The histogram, with a selection of types and values. */
function durationsSection() {
  const current = chosenValues ?? { ty: shownAnswer.types[0].type, value: null };
  const options = shownAnswer.types.flatMap((/** @type {any} */ type) => [
    { ty: type.type, value: null, name: `All ${type.name}`, color: "var(--accent)" },
    ...type.rows.map((/** @type {any} */ row) => ({
      ty: type.type,
      value: row.value,
      name: `${type.name}: ${row.name}`,
      color: row.color,
    })),
  ]);
  const selected = options.findIndex(
    (/** @type {any} */ option) => option.ty === current.ty && option.value === current.value,
  );
  const select = make(
    "select",
    {
      "aria-label": "Durations of",
      "data-key": "durations",
      onchange: () => {
        const { ty, value } = options[select.selectedIndex];
        chosenValues = { ty, value };
        showStatistics();
      },
    },
    ...options.map((/** @type {any} */ option, /** @type {number} */ place) =>
      make("option", { text: option.name, ...(place === selected ? { selected: "" } : {}) }),
    ),
  );
  const { classes, total } = shownAnswer.histogram ?? { classes: [], total: 0 };
  return make(
    "section",
    { class: "times" },
    select,
    make("p", {
      class: "hint",
      text: `${groupDigits(total)}${shownAnswer.done === undefined ? " in all" : " so far"}`,
    }),
    histogram(
      `Durations of ${options[selected]?.name}`,
      classes,
      options[selected]?.color ?? "var(--accent)",
      shares,
      (id) => goTo(id, true),
    ),
  );
}
