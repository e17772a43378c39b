// Statistics of the selection, or of the shown time range: sortable tables and charts. They can be
// saved as CSV or JSON.

import { request, cancel } from "../net/api.js";
import { columns, curves, histogram, matrix, overlapHint, pie } from "./statistics_charts.js";
import { goTo } from "./inspected_entity.js";
import { byId, make, refill, saveFile } from "../util/dom.js";
import { rowCharts } from "./row_charts.js";
import { formatTimestamp, formatDuration, formatValue, groupDigits, formatPercent } from "../util/format.js";
import { layout, rowOf } from "../state/rows.js";
import { rowsInWords, selectedRange, selectedRowNumbers } from "../state/selection.js";
import { setSetting, setting } from "../state/address.js";
import { view } from "../state/view_state.js";
import { show } from "../state/viewport.js";

/**
 * A row of a table.
 * @typedef {{ value: number, name: string, color: string, nanos: number, share: number, self_nanos:
 * number, self_share: number, count: number | null, mean: number | null,   longest: { nanos:
 * number, id: string } | null }} Line
 */

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

/** Columns: title, and the sort key. @type {[string, (line: Line) => number | string][]} */
const COLUMNS = [
  ["Value", (line) => line.name.toLowerCase()],
  ["Time", (line) => line.nanos],
  ["Share", (line) => line.share],
  ["Self", (line) => line.self_share],
  ["Count", (line) => line.count ?? -1],
  ["Mean", (line) => line.mean ?? -1],
  ["Longest", (line) => line.longest?.nanos ?? -1],
];
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
    make(
      "label",
      { class: "check" },
      make("input", {
        type: "checkbox",
        "data-key": "percent",
        ...(shares ? { checked: "" } : {}),
        onchange: () => {
          shares = !shares;
          fill();
        },
      }),
      " percent",
    );
  const perRowBox =
    (form === "pie" || form === "columns") &&
    make(
      "label",
      { class: "check" },
      make("input", {
        type: "checkbox",
        "data-key": "each",
        ...(perRow ? { checked: "" } : {}),
        onchange: () => {
          perRow = !perRow;
          storeForm();
          showStatistics();
        },
      }),
      " each row",
    );
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
        onclick: () => saveStatistics("csv"),
      }),
      make("button", {
        class: "quiet-button",
        "aria-label": "Save statistics as JSON",
        text: "JSON",
        ...disabled,
        onclick: () => saveStatistics("json"),
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
  table,
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

/** The sum of the shares of a type of states. @param {any} type */
function sumOfShares({ rows, none, existence }) {
  const first = none > 0 && existence > 0 ? none / existence : 0;
  return (rows ?? []).reduce((/** @type {number} */ sum, /** @type {any} */ row) => sum + (row.share ?? 0), first);
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

/** Saves the shown data. @param {"csv" | "json"} format */
function saveStatistics(format) {
  /** @type {Record<string, unknown>[]} */
  const rows = shownAnswer.types.flatMap((/** @type {any} */ type) => {
    const typeColumn = { type: type.name };
    if (form === "matrix")
      return type.cells.cells.map((/** @type {any} */ cell) => ({
        ...typeColumn,
        from: type.cells.containers[cell.from],
        to: type.cells.containers[cell.to],
        count: cell.count,
        nanoseconds: cell.nanos,
        size: cell.size,
        longest_ns: cell.longest?.nanos,
      }));
    if (form === "curves")
      return type.curves.flatMap((/** @type {any} */ curve) =>
        curve.shares.map((/** @type {number} */ share, /** @type {number} */ index) => ({
          ...typeColumn,
          value: curve.name,
          from_ns: Math.round(shownAnswer.from + (index / curve.shares.length) * shownAnswer.span),
          share,
        })),
      );
    if (form === "tasks")
      return type.tasks.map((/** @type {any} */ { name, count, mean, median, p90, p99, longest, active }) => ({
        ...typeColumn,
        value: name,
        count,
        mean_ns: mean,
        median_ns: median,
        p90_ns: p90,
        p99_ns: p99,
        longest_ns: longest?.nanos,
        active_ns: active,
      }));
    if (form === "variables")
      return [
        {
          ...typeColumn,
          mean: type.mean,
          min: type.min.value,
          min_at_ns: type.min.at,
          min_in: type.min.name,
          max: type.max.value,
          max_at_ns: type.max.at,
          max_in: type.max.name,
        },
      ];
    if (shownAnswer.rows !== null)
      return type.rows.flatMap((/** @type {any} */ row) =>
        row.values.map((/** @type {any} */ figures) => ({
          ...typeColumn,
          row: row.name,
          value: type.values.find((/** @type {any} */ value) => value.value === figures.value)?.name,
          nanoseconds: figures.nanos,
          share: figures.share,
          self_ns: figures.self_nanos,
          self_share: figures.self_share,
        })),
      );
    if (form === "durations")
      return shownAnswer.types.indexOf(type) > 0
        ? []
        : (shownAnswer.histogram?.classes ?? []).map((/** @type {any} */ durationClass) => ({
            from_ns: durationClass.from,
            to_ns: durationClass.to,
            count: durationClass.count,
            nanoseconds: durationClass.nanos,
            longest_ns: durationClass.longest?.nanos,
          }));
    return type.rows.map((/** @type {any} */ row) => ({
      ...typeColumn,
      value: row.name,
      nanoseconds: row.nanos,
      share: row.share,
      self_ns: row.self_nanos,
      self_share: row.self_share,
      count: row.count,
      longest_ns: row.longest?.nanos,
    }));
  });
  const heads = Object.keys(rows[0] ?? {});
  const cell = (/** @type {unknown} */ value) => {
    const text = String(value ?? "");
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const lines = [heads, ...rows.map((row) => heads.map((head) => cell(row[head])))];
  const text = format === "json" ? JSON.stringify(rows, null, 1) : lines.map((line) => line.join(",")).join("\n");
  saveFile(
    `statistics-${form}.${format}`,
    new Blob([`${text}\n`], { type: format === "json" ? "application/json" : "text/csv" }),
  );
}

/**
 * The table of times. States without nested ones have equal total and self times, so their table has
 * no column for the latter.
 * @param {any} type
 */
function table(type) {
  const [column, descending] = order;
  const isNested = type.rows.some((/** @type {any} */ row) => row.self_nanos !== row.nanos);
  const selfCell = (/** @type {HTMLElement} */ cell) => (isNested ? [cell] : []);
  /** @type {Line[]} */
  const lines = type.rows.map((/** @type {any} */ row) => ({ ...row, mean: row.count ? row.nanos / row.count : null }));
  const sortKey = COLUMNS[column][1];
  lines.sort((a, b) => {
    const [keyA, keyB] = [sortKey(a), sortKey(b)];
    const sign = keyA < keyB ? -1 : keyA > keyB ? 1 : 0;
    return descending ? -sign : sign;
  });
  const header = make(
    "tr",
    { role: "row" },
    ...COLUMNS.flatMap(([title], index) =>
      title === "Self" && !isNested
        ? []
        : make(
            "th",
            {
              role: "columnheader",
              scope: "col",
              "aria-sort": index === column ? (descending ? "descending" : "ascending") : null,
            },
            make("button", {
              text: title,
              "data-key": `${type.type} ${index}`,
              onclick: () => {
                order = [index, index === column ? !descending : index !== 0];
                fill();
              },
            }),
          ),
    ),
  );
  const body = lines.map((line) =>
    make(
      "tr",
      { role: "row" },
      rowHeading(line.name, line.color),
      durationCell(line.nanos),
      textCell(formatPercent(line.share)),
      ...selfCell(
        textCell(
          formatPercent(line.self_share),
          `${formatDuration(line.self_nanos)} self time: no nested state is open`,
        ),
      ),
      textCell(line.count === null ? "–" : groupDigits(line.count)),
      durationCell(line.mean),
      longestCell(line),
      barCell(line),
    ),
  );
  const none =
    type.existence > 0 &&
    type.none > 0 &&
    make(
      "tr",
      { class: "none", role: "row" },
      rowHeading("none", null),
      durationCell(type.none),
      textCell(formatPercent(type.none / type.existence)),
      ...selfCell(textCell("")),
      textCell(""),
      textCell(""),
      textCell(""),
    );
  return make(
    "section",
    { class: "times" },
    make(
      "h2",
      {},
      type.name,
      make("small", { text: `${groupDigits(type.containers)} row${type.containers === 1 ? "" : "s"}` }),
    ),
    make(
      "table",
      { role: "table", "aria-label": `Times of ${type.name}`, class: isNested ? "nested" : null },
      make("thead", { role: "rowgroup" }, header),
      make("tbody", { role: "rowgroup" }, ...body, none),
    ),
    overlapHint(sumOfShares(type)),
  );
}

/**
 * Latencies of tasks, from the begin of the first state to the end of the last one, and the time in
 * all of them (active). CSV and JSON have more columns.
 * @param {any} type
 */
function tasks(type) {
  const titles = ["Value", "Tasks", "Median", "99 %", "Longest", "Active"];
  const head = make(
    "tr",
    { role: "row" },
    ...titles.map((text) => make("th", { role: "columnheader", scope: "col", text })),
  );
  const body = type.tasks.map((/** @type {any} */ line) =>
    make(
      "tr",
      { role: "row" },
      rowHeading(line.name, line.color),
      textCell(groupDigits(line.count)),
      durationCell(line.median),
      durationCell(line.p99),
      longestCell(line),
      durationCell(line.active),
    ),
  );
  return make(
    "section",
    { class: "times" },
    make("h2", { text: type.name }),
    make(
      "table",
      { role: "table", "aria-label": `Tasks of ${type.name}` },
      make("thead", { role: "rowgroup" }, head),
      make("tbody", { role: "rowgroup" }, ...body),
    ),
  );
}

/** @param {string} name @param {string | null} color */
function rowHeading(name, color) {
  return make(
    "th",
    { role: "rowheader", scope: "row" },
    make("span", { class: "chip", color }),
    make("span", { class: "label", text: name, title: name }),
  );
}

/** @param {string} text @param {string} [title] */
function textCell(text, title) {
  return make("td", { role: "cell", text, title });
}

/** A short duration, with the exact one as tooltip. @param {number | null} nanos */
function durationCell(nanos) {
  return nanos === null ? textCell("–") : textCell(formatDuration(nanos, 3), `${groupDigits(Math.round(nanos))} ns`);
}

/**
 * The longest state or task of a value, with a button that leads to it.
 * @param {{ name: string, longest: Line["longest"] }} line
 */
function longestCell({ name, longest }) {
  if (!longest) return textCell("–");
  const go = make("button", {
    text: formatDuration(longest.nanos, 3),
    "aria-label": `Go to the longest ${name}, ${formatDuration(longest.nanos)}`,
    title: `${groupDigits(longest.nanos)} ns: go there`,
    onclick: () => goTo(longest.id, true),
  });
  return make("td", { role: "cell" }, go);
}

/** A bar below the row, as long as its share. @param {Line} line */
function barCell(line) {
  const part = make("i", { color: line.color });
  part.style.width = `${Math.min(100, line.share * 100)}%`;
  return make("td", { class: "bar-cell", "aria-hidden": "true" }, part);
}
