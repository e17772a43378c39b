// A small pie or columns for each row, with one key for all, and the same as a table. It shows the
// differences between rows at a glance.

import { colorKey, shape } from "./statistics_charts.js";
import { isolate, make } from "../util/dom.js";
import { formatDuration, formatPercent } from "../util/format.js";

/**
 * @typedef {{ id: string, name: string, existence: number, none: number, values: { value: number,
 * nanos: number, share: number }[] }} Row
 */

/** Whether the tables are open. */
let isOpen = false;

/**
 * The sizes of a row's values, in the order of the key; the time without a state comes last.
 * @param {any} type
 * @param {Row} row
 * @returns {number[]}
 */
function sizes(type, row) {
  const nanosByValue = new Map(row.values.map((figures) => [figures.value, figures.nanos]));
  return [...type.values.map((/** @type {any} */ value) => nanosByValue.get(value.value) ?? 0), Math.max(0, row.none)];
}

/** @param {number[]} parts @param {string[]} paints */
function pie(parts, paints) {
  const sum = parts.reduce((total, part) => total + part, 0) || 1;
  const rimPoint = (/** @type {number} */ share) =>
    `${(30 + 28 * Math.sin(share * 2 * Math.PI)).toFixed(2)} ${(30 - 28 * Math.cos(share * 2 * Math.PI)).toFixed(2)}`;
  let from = 0;
  return parts
    .map((part, place) => {
      const [share, start] = [part / sum, from];
      from += share;
      if (share > 0.9999) return shape("circle", { cx: 30, cy: 30, r: 28, fill: paints[place] });
      return (
        share > 0 &&
        shape("path", {
          d: `M30 30L${rimPoint(start)}A28 28 0 ${share > 0.5 ? 1 : 0} 1 ${rimPoint(from)}Z`,
          fill: paints[place],
        })
      );
    })
    .filter((element) => element !== false);
}

/**
 * The columns of a row: all rows have one scale.
 * @param {number[]} parts
 * @param {string[]} paints
 * @param {number} largest
 */
function columns(parts, paints, largest) {
  const barWidth = 60 / Math.max(parts.length, 3);
  const bars = parts.map((part, place) =>
    shape("rect", {
      x: place * barWidth + 1,
      y: 58 - (part / largest) * 56,
      width: Math.max(barWidth - 2, 1),
      height: (part / largest) * 56,
      fill: paints[place],
    }),
  );
  return [shape("path", { d: "M0 58.5H60", class: "axis" }), ...bars];
}

/**
 * The table of the charts: a line for each row.
 * @param {string} name
 * @param {string[]} values names of the columns
 * @param {string[][]} lines each with the name of the row, and a text for each value
 */
function rowTable(name, values, lines) {
  const heads = ["Row", ...values].map((text) => make("th", { scope: "col", text }));
  const body = lines.map(([rowName, ...amounts]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row", text: rowName, title: rowName }),
      ...amounts.map((text) => make("td", { text })),
    ),
  );
  return make("table", { "aria-label": name }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body));
}

/**
 * The chart of a row, as a button that moves to the row.
 * @param {any} type
 * @param {Row} row
 * @param {string} text the amounts
 * @param {Element} svg
 * @param {(id: string) => void} go
 */
function rowButton(type, row, text, svg, go) {
  return make(
    "li",
    {},
    make(
      "button",
      {
        "data-key": `each ${type.type} ${row.id}`,
        "aria-label": `${row.name}: ${text}`,
        title: `${isolate(row.name)}: ${text}; go to the row`,
        onclick: () => go(row.id),
      },
      svg,
      make("span", { class: "label", text: row.name }),
    ),
  );
}

/**
 * The charts of all rows of a type.
 * @param {any} type with the values and the rows
 * @param {"pie" | "columns"} form
 * @param {boolean} shares instead of values
 * @param {(id: string) => void} go moves to a row
 * @returns {Node[]}
 */
export function rowCharts(type, form, shares, go) {
  /** @type {Row[]} */
  const rows = type.rows;
  const paints = [...type.values.map((/** @type {any} */ value) => value.color), "var(--track)"];
  const names = [...type.values.map((/** @type {any} */ value) => value.name), "none"];
  const partsOfRows = rows.map((row) => sizes(type, row));
  const amount = (/** @type {number} */ part, /** @type {Row} */ row) =>
    shares ? formatPercent(part / (row.existence || 1)) : formatDuration(part, 3);
  // Rows with different lifetimes are compared by their shares.
  const scaled = partsOfRows.map((parts, index) =>
    shares ? parts.map((part) => part / (rows[index].existence || 1)) : parts,
  );
  const largest = Math.max(1e-9, ...scaled.flat());
  const shownValues = names.map((_, place) => place).filter((place) => partsOfRows.some((parts) => parts[place] > 0));
  const pies = rows.map((row, index) => {
    const text =
      shownValues
        .filter((place) => partsOfRows[index][place] > 0)
        .map((place) => `${isolate(names[place])} ${amount(partsOfRows[index][place], row)}`)
        .join(", ") || "nothing";
    const svg = shape("svg", { viewBox: "0 0 60 60", class: "plot", "aria-hidden": "true" });
    svg.append(
      ...(form === "pie"
        ? pie(partsOfRows[index], paints)
        : columns(
            shownValues.map((place) => scaled[index][place]),
            shownValues.map((place) => paints[place]),
            largest,
          )),
    );
    return rowButton(type, row, text, svg, go);
  });
  const table = rowTable(
    `${type.name} of each row`,
    shownValues.map((place) => names[place]),
    rows.map((row, index) => [row.name, ...shownValues.map((place) => amount(partsOfRows[index][place], row))]),
  );
  return [
    colorKey(shownValues.map((place) => ({ name: names[place], color: paints[place], size: 0, text: "" }))),
    make("ul", { class: "per-row", "aria-label": `${type.name} of each row` }, ...pies),
    make(
      "details",
      {
        class: "pairs wide-table",
        ontoggle: (/** @type {Event} */ event) => {
          isOpen = /** @type {HTMLDetailsElement} */ (event.target).open;
        },
        ...(isOpen ? { open: "" } : {}),
      },
      make("summary", { text: "As a table", "data-key": `each ${type.type}` }),
      make("div", { tabindex: 0, role: "region", "aria-label": `Table of ${type.name}` }, table),
    ),
  ];
}
