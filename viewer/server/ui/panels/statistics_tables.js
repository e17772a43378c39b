// The tables of the statistics: times of states, and latencies of tasks.

import { overlapHint } from "./statistics_charts.js";
import { goTo } from "./inspected_entity.js";
import { make } from "../util/dom.js";
import { formatDuration, groupDigits, formatPercent } from "../util/format.js";

/**
 * A row of a table.
 * @typedef {{ value: number, name: string, color: string, nanos: number, share: number, self_nanos:
 * number, self_share: number, count: number | null, mean: number | null, longest: { nanos:
 * number, id: string } | null }} Line
 */

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

/** The sum of the shares of a type of states. @param {any} type */
export function sumOfShares({ rows, none, existence }) {
  const first = none > 0 && existence > 0 ? none / existence : 0;
  return (rows ?? []).reduce((/** @type {number} */ sum, /** @type {any} */ row) => sum + (row.share ?? 0), first);
}

/**
 * The table of times. States without nested ones have equal total and self times, so their table
 * has no column for the latter.
 * @param {any} type
 * @param {[number, boolean]} order the number of the sorted column, and whether it is descending
 * @param {(order: [number, boolean]) => void} onSort
 */
export function table(type, [column, descending], onSort) {
  const isNested = type.rows.some((/** @type {any} */ row) => row.self_nanos !== row.nanos);
  /** @type {Line[]} */
  const lines = type.rows.map((/** @type {any} */ row) => ({ ...row, mean: row.count ? row.nanos / row.count : null }));
  const sortKey = COLUMNS[column][1];
  lines.sort((a, b) => {
    const [keyA, keyB] = [sortKey(a), sortKey(b)];
    const sign = keyA < keyB ? -1 : keyA > keyB ? 1 : 0;
    return descending ? -sign : sign;
  });
  const heads = COLUMNS.map(([title], index) => {
    const button = make("button", {
      text: title,
      "data-key": `${type.type} ${index}`,
      onclick: () => onSort([index, index === column ? !descending : index !== 0]),
    });
    const direction = index === column ? (descending ? "descending" : "ascending") : null;
    return make("th", { role: "columnheader", scope: "col", "aria-sort": direction }, button);
  });
  const header = make("tr", { role: "row" }, ...heads.filter((_, index) => isNested || COLUMNS[index][0] !== "Self"));
  const body = lines.map((line) =>
    make(
      "tr",
      { role: "row" },
      rowHeading(line.name, line.color),
      durationCell(line.nanos),
      textCell(formatPercent(line.share)),
      isNested && selfCell(line),
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
      ...Array.from({ length: isNested ? 4 : 3 }, () => textCell("")),
    );
  const rowCount = `${groupDigits(type.containers)} row${type.containers === 1 ? "" : "s"}`;
  return make(
    "section",
    { class: "times" },
    make("h2", {}, type.name, make("small", { text: rowCount })),
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
export function tasks(type) {
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

/** The share of the self time, with the time as tooltip. @param {Line} line */
function selfCell(line) {
  const title = `${formatDuration(line.self_nanos)} self time: no nested state is open`;
  return textCell(formatPercent(line.self_share), title);
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
