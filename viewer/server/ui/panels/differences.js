// Differences between two traces, or two panes of one: states, events, links and variables, matched
// by their names.

import { joinNames, make, refill, saveFile } from "../util/dom.js";
import { formatDuration, formatValue, groupDigits, formatPercent } from "../util/format.js";

/** @typedef {{ type: string, value: string, color: string | null, a: any, b: any }} Line */
/**
 * @typedef {[string, string, (amount: number) => string]} Measure title, field, and formatting
 * function
 */

const formatTime = (/** @type {number} */ nanos) => formatDuration(nanos, 3);

/** Tables, and the measures that each compares. @type {Record<string, [string, Measure[]]>} */
const KINDS = {
  state: [
    "Differences of time in states",
    [
      ["Time", "nanos", formatTime],
      ["Share", "share", formatPercent],
      ["Count", "count", groupDigits],
    ],
  ],
  event: ["Differences of events", [["Count", "count", groupDigits]]],
  link: [
    "Differences of links",
    [
      ["Count", "count", groupDigits],
      ["Time", "nanos", formatTime],
      ["Mean time", "latency", formatTime],
      ["Size", "size", formatValue],
    ],
  ],
  variable: [
    "Differences of variables",
    [
      ["Mean", "mean", formatValue],
      ["Minimum", "min", formatValue],
      ["Maximum", "max", formatValue],
    ],
  ],
};
/** Maximum number of lines of a table, which a reader can survey. CSV has all. */
const MAX_LINES = 200;

/**
 * The sort order of each table: a measure, or -1 for names; and whether the largest comes first.
 * @type {Record<string, [number, boolean]>}
 */
const orders = { state: [0, true], event: [0, true], link: [0, true], variable: [0, true] };

/** @type {Record<string, Line[]>} */
let lines = {};

/** @param {any} figures @param {string} field @returns {number | null} */
const amount = (figures, field) => figures?.[field] ?? null;

/**
 * The increase from the first to the second. A missing amount counts as 0.
 * @param {Line} line
 * @param {string} field
 * @returns {number | null}
 */
function difference({ a, b }, field) {
  const [amountA, amountB] = [amount(a, field), amount(b, field)];
  return amountA === null && amountB === null ? null : (amountB ?? 0) - (amountA ?? 0);
}

/**
 * Shows the differences.
 * @param {HTMLElement} box
 * @param {[string, string]} names of the two
 * @param {{ types: any[], rows: any[], failed: boolean }[]} answers
 * @param {string} range the compared time range in words
 */
export function showDifferences(box, names, answers, range) {
  /** @type {Record<string, Map<string, Line>>} */
  const linesByKind = Object.fromEntries(Object.keys(KINDS).map((kind) => [kind, new Map()]));
  answers.forEach(({ types, rows }, index) => {
    const states = types.flatMap((type) =>
      type.rows.map((/** @type {any} */ row) => ({ ...row, kind: "state", type: type.path, value: row.name })),
    );
    for (const row of [...states, ...rows]) {
      const type = joinNames(row.type);
      const key = JSON.stringify([type, row.value]);
      const line = linesByKind[row.kind].get(key) ?? { type, value: row.value, color: row.color, a: null, b: null };
      line[index === 0 ? "a" : "b"] = row;
      linesByKind[row.kind].set(key, line);
    }
  });
  lines = Object.fromEntries(Object.entries(linesByKind).map(([kind, byKey]) => [kind, [...byKey.values()]]));
  fill(
    box,
    names,
    range,
    answers.some((answer) => answer.failed),
  );
}

/**
 * Shows the progress of an answer. Partial answers are not compared, because one side may be
 * counted further than the other.
 * @param {HTMLElement} box
 * @param {number} done
 */
export function showProgress(box, done) {
  const line = box.querySelector(".counting") ?? make("p", { class: "hint counting", role: "status" });
  line.textContent = `counting… ${formatPercent(done)}`;
  box.prepend(line);
}

/**
 * @param {HTMLElement} box
 * @param {[string, string]} names
 * @param {string} range
 * @param {boolean} failed
 */
function fill(box, names, range, failed) {
  refill(box, () => {
    const tables = Object.keys(KINDS)
      .filter((kind) => lines[kind].length)
      .map((kind) => table(kind, names, () => fill(box, names, range, failed)));
    box.replaceChildren(
      make(
        "header",
        {},
        make("h2", { text: "Differences" }),
        make("button", {
          class: "quiet-button",
          "aria-label": "Save differences as CSV",
          text: "CSV",
          onclick: saveDifferences,
        }),
      ),
      make("p", { class: "hint", text: `Of the ${range}` }),
      ...(failed
        ? [
            make("p", {
              class: "hint",
              role: "alert",
              text: "The server did not answer all requests: this table may be incomplete.",
            }),
          ]
        : []),
      ...(tables.length ? tables : [make("p", { class: "hint", text: "There are no entities in these time ranges." })]),
    );
  });
}

/** @param {string} kind @returns {Line[]} */
function sortLines(kind) {
  const [column, down] = orders[kind];
  const sign = down ? -1 : 1;
  const byName = (/** @type {Line} */ a, /** @type {Line} */ b) =>
    a.value.localeCompare(b.value) || a.type.localeCompare(b.type);
  if (column < 0) return [...lines[kind]].sort((a, b) => sign * byName(a, b));
  const by = (/** @type {Line} */ line) => Math.abs(difference(line, KINDS[kind][1][column][1]) ?? -1);
  return [...lines[kind]].sort((a, b) => sign * (by(a) - by(b)) || byName(a, b));
}

/**
 * The names of types without their paths. A type keeps its path if another one has the same name.
 * @param {string[]} types
 */
function shortTypeNames(types) {
  const ownName = (/** @type {string} */ type) => type.split(" › ").at(-1) ?? type;
  const paths = new Set(types);
  const shorten = (/** @type {string} */ type) =>
    [...paths].some((path) => path !== type && ownName(path) === ownName(type)) ? type : ownName(type);
  return new Map([...paths].map((type) => [type, shorten(type)]));
}

/** @param {string} kind @param {[string, string]} names @param {() => void} redraw */
function table(kind, names, redraw) {
  const [title, measures] = KINDS[kind];
  // A measure that no line has gets no columns.
  const shownMeasures = measures
    .map((measure, index) => ({ measure, index }))
    .filter(({ measure }) => lines[kind].some((line) => difference(line, measure[1]) !== null));
  const [order, down] = orders[kind];
  const sortButton = (/** @type {number} */ index, /** @type {string} */ text, /** @type {string} */ description) =>
    make(
      "th",
      { scope: "col", "aria-sort": order === index ? (down ? "descending" : "ascending") : null },
      make("button", {
        text: `${text}${order === index ? (down ? " ▾" : " ▴") : ""}`,
        "aria-label": description,
        "data-key": `${kind} ${index}`,
        onclick: () => {
          orders[kind] = [index, index === order ? !down : index >= 0];
          redraw();
        },
      }),
    );
  const groups = make(
    "tr",
    {},
    make("td"),
    ...shownMeasures.map(({ measure }) => make("th", { scope: "colgroup", colspan: 3, text: measure[0] })),
  );
  const heads = make(
    "tr",
    {},
    sortButton(-1, "Value", "Sort by name"),
    ...shownMeasures.flatMap(({ measure, index }) => [
      ...names.map((name) => make("th", { scope: "col", title: name, text: name })),
      sortButton(index, "Difference", `Sort by difference of ${measure[0].toLowerCase()}`),
    ]),
  );
  const sortedLines = sortLines(kind);
  const bar = shownMeasures.find(({ index }) => index === order) ?? shownMeasures[0];
  const largest = Math.max(1e-12, ...sortedLines.map((line) => Math.abs(difference(line, bar.measure[1]) ?? 0)));
  const shortNames = shortTypeNames(sortedLines.map((line) => line.type));
  const body = sortedLines.slice(0, MAX_LINES).map((line) => {
    const amounts = shownMeasures.flatMap(({ measure }) => cells(line, measure));
    const increase = difference(line, bar.measure[1]) ?? 0;
    return tableRow(line, shortNames.get(line.type) ?? line.type, amounts, increase / largest);
  });
  return make(
    "div",
    {},
    make("h3", { text: title }),
    make("table", { "aria-label": title }, make("thead", {}, groups, heads), make("tbody", {}, ...body)),
    sortedLines.length > MAX_LINES &&
      make("p", { class: "hint", text: `and ${groupDigits(sortedLines.length - MAX_LINES)} more: CSV has all` }),
  );
}

/**
 * @param {Line} line
 * @param {string} typeName
 * @param {HTMLElement[]} amounts the cells with numbers
 * @param {number} share of the largest difference, from -1 to 1
 */
function tableRow(line, typeName, amounts, share) {
  const bar = make("i", { class: share < 0 ? "decrease" : "increase" });
  bar.style.width = `${Math.abs(share) * 50}%`;
  return make(
    "tr",
    {},
    make(
      "th",
      { scope: "row", title: line.value },
      make("span", { class: "chip", color: line.color }),
      make("span", { text: line.value }),
      typeName !== line.value && make("small", { title: line.type, text: typeName }),
    ),
    ...amounts,
    make("td", { class: "bar-of-difference", "aria-hidden": "true" }, bar),
  );
}

/**
 * The cells of a measure: the first amount, the second, and their difference.
 * @param {Line} line
 * @param {Measure} measure
 */
function cells(line, [, field, format]) {
  const increase = difference(line, field);
  const before = amount(line.a, field);
  const sign = increase === null || increase === 0 ? "" : increase > 0 ? "+" : "−";
  const part =
    increase === null
      ? ""
      : line.a === null
        ? "new"
        : line.b === null
          ? "removed"
          : before
            ? `${sign}${formatPercent(Math.abs(increase / before))}`
            : "";
  const text = (/** @type {any} */ figures) => {
    const value = amount(figures, field);
    return value === null ? "–" : format(value);
  };
  return [
    make("td", { text: text(line.a) }),
    make("td", { text: text(line.b) }),
    make(
      "td",
      { class: "difference" },
      increase === null ? "" : `${sign}${format(Math.abs(increase))} `,
      make("small", { text: part }),
    ),
  ];
}

/** All differences as lines of CSV: one for each measure. */
function saveDifferences() {
  const quoteCell = (/** @type {unknown} */ value) => {
    const text = String(value ?? "");
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  const rows = Object.entries(KINDS).flatMap(([kind, [, measures]]) =>
    sortLines(kind).flatMap((line) =>
      measures.flatMap(([, field]) => {
        const increase = difference(line, field);
        const unit = ["nanos", "latency"].includes(field)
          ? { nanos: "time_ns", latency: "mean_time_ns" }[field]
          : field;
        return increase === null
          ? []
          : [[kind, line.type, line.value, unit, amount(line.a, field), amount(line.b, field), increase]];
      }),
    ),
  );
  const text = [["kind", "type", "value", "measure", "a", "b", "difference"], ...rows]
    .map((row) => row.map(quoteCell).join(","))
    .join("\n");
  saveFile("differences.csv", new Blob([`${text}\n`], { type: "text/csv" }));
}
