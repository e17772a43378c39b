// Saves the shown statistics as CSV or JSON.

import { saveFile } from "../util/dom.js";

/**
 * The rows of the file for a type of states, links or variables, by the form of display.
 * @type {Record<string, (type: any, answer: any) => Record<string, unknown>[]>}
 */
const FORM_ROWS = {
  matrix: ({ cells: { containers, cells } }) =>
    cells.map((/** @type {any} */ cell) => ({
      from: containers[cell.from],
      to: containers[cell.to],
      count: cell.count,
      nanoseconds: cell.nanos,
      size: cell.size,
      longest_ns: cell.longest?.nanos,
    })),
  curves: (type, { from, span }) =>
    type.curves.flatMap((/** @type {any} */ curve) =>
      curve.shares.map((/** @type {number} */ share, /** @type {number} */ index) => ({
        value: curve.name,
        from_ns: Math.round(from + (index / curve.shares.length) * span),
        share,
      })),
    ),
  tasks: (type) =>
    type.tasks.map((/** @type {any} */ { name, count, mean, median, p90, p99, longest, active }) => ({
      value: name,
      count,
      mean_ns: mean,
      median_ns: median,
      p90_ns: p90,
      p99_ns: p99,
      longest_ns: longest?.nanos,
      active_ns: active,
    })),
  variables: ({ mean, min, max }) => [
    {
      mean,
      min: min.value,
      min_at_ns: min.at,
      min_in: min.name,
      max: max.value,
      max_at_ns: max.at,
      max_in: max.name,
    },
  ],
};

/** The times of the values of a type. @param {any} type */
function valueTimes(type) {
  return type.rows.map((/** @type {any} */ row) => ({
    value: row.name,
    nanoseconds: row.nanos,
    share: row.share,
    self_ns: row.self_nanos,
    self_share: row.self_share,
    count: row.count,
    longest_ns: row.longest?.nanos,
  }));
}

/** The times of the values of a type in each row. @param {any} type */
function rowTimes(type) {
  const valueName = (/** @type {number} */ number) =>
    type.values.find((/** @type {any} */ value) => value.value === number)?.name;
  return type.rows.flatMap((/** @type {any} */ row) =>
    row.values.map((/** @type {any} */ figures) => ({
      row: row.name,
      value: valueName(figures.value),
      nanoseconds: figures.nanos,
      share: figures.share,
      self_ns: figures.self_nanos,
      self_share: figures.self_share,
    })),
  );
}

/** The classes of the histogram. @param {any} answer */
function durationClasses({ histogram }) {
  return (histogram?.classes ?? []).map((/** @type {any} */ durationClass) => ({
    from_ns: durationClass.from,
    to_ns: durationClass.to,
    count: durationClass.count,
    nanoseconds: durationClass.nanos,
    longest_ns: durationClass.longest?.nanos,
  }));
}

/**
 * The rows of the file.
 * @param {string} form
 * @param {any} answer
 * @returns {Record<string, unknown>[]}
 */
function fileRows(form, answer) {
  if (form === "durations") return durationClasses(answer);
  const typeRows = FORM_ROWS[form] ?? (answer.rows !== null ? rowTimes : valueTimes);
  return answer.types.flatMap((/** @type {any} */ type) =>
    typeRows(type, answer).map((/** @type {Record<string, unknown>} */ row) => ({ type: type.name, ...row })),
  );
}

/** A cell of a CSV file. @param {unknown} value */
function csvCell(value) {
  const text = String(value ?? "");
  return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

/**
 * Saves the shown data.
 * @param {"csv" | "json"} format
 * @param {string} form the form of display
 * @param {any} answer the shown answer of the server
 */
export function saveStatistics(format, form, answer) {
  const rows = fileRows(form, answer);
  const heads = Object.keys(rows[0] ?? {});
  const lines = [heads, ...rows.map((row) => heads.map((head) => csvCell(row[head])))];
  const text = format === "json" ? JSON.stringify(rows, null, 1) : lines.map((line) => line.join(",")).join("\n");
  saveFile(
    `statistics-${form}.${format}`,
    new Blob([`${text}\n`], { type: format === "json" ? "application/json" : "text/csv" }),
  );
}
