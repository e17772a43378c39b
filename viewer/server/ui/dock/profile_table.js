// The table of the profile: calls and times of each value.

import { make } from "../util/dom.js";
import { formatDuration, formatPercent, groupDigits } from "../util/format.js";

/**
 * A row of the table.
 * @typedef {{ name: string, color: string, calls: number, total: number, share: number, self:
 * number, self_share: number, min: number | null, mean: number | null, median: number | null, max:
 * number | null, imbalance: number, most_time_in: { id: number, name: string } | null }} ProfileRow
 */

/** Columns: title, tooltip and the sort key. @type {[string, string, (row: ProfileRow) => number | string][]} */
const COLUMNS = [
  ["Value", "", (row) => row.name.toLowerCase()],
  ["Calls", "States that overlap the time range", (row) => row.calls],
  ["Total", "Time with an open call", (row) => row.total],
  ["Share", "Total time / lifetime of the rows", (row) => row.share],
  ["Self", "Time in which no call inside is open", (row) => row.self],
  ["Shortest", "The shortest call", (row) => row.min ?? -1],
  ["Mean", "The mean duration of a call", (row) => row.mean ?? -1],
  ["Median", "The median duration of a call", (row) => row.median ?? -1],
  ["Longest", "The longest call", (row) => row.max ?? -1],
  ["Imbalance", "Largest total time of a row / mean over the rows", (row) => row.imbalance],
  ["Most time in", "The row with the largest total time", (row) => row.most_time_in?.name ?? ""],
];
/** The columns that need several rows. */
const ROW_COLUMNS = new Set(["Imbalance", "Most time in"]);

/**
 * @param {{ containers: number, values: ProfileRow[] }} answer
 * @param {[number, boolean]} order the number of the sorted column, and whether it is descending
 * @param {{ sort: (order: [number, boolean]) => void, findValue: (name: string) => void, selectRow:
 * (container: number) => void }} actions
 */
export function profileTable(answer, [column, descending], actions) {
  const isShown = (/** @type {string} */ title) => answer.containers > 1 || !ROW_COLUMNS.has(title);
  const sortKey = COLUMNS[column][2];
  const rows = [...answer.values].sort((a, b) => {
    const [keyA, keyB] = [sortKey(a), sortKey(b)];
    const sign = keyA < keyB ? -1 : keyA > keyB ? 1 : 0;
    return descending ? -sign : sign;
  });
  const heads = COLUMNS.map(([title, tooltip], index) =>
    make(
      "th",
      {
        scope: "col",
        class: index === 0 || title === "Most time in" ? null : "number",
        "aria-sort": index === column ? (descending ? "descending" : "ascending") : null,
      },
      make("button", {
        text: title,
        title: tooltip,
        "data-key": `column ${index}`,
        onclick: () => actions.sort([index, index === column ? !descending : index !== 0]),
      }),
    ),
  ).filter((_, index) => isShown(COLUMNS[index][0]));
  const number = (/** @type {string} */ text) => make("td", { class: "number", text });
  const time = (/** @type {number | null} */ nanos) => number(nanos === null ? "–" : formatDuration(nanos));
  const body = rows.map((row) =>
    make(
      "tr",
      { "data-name": row.name },
      make(
        "th",
        { scope: "row" },
        make("span", { class: "chip", color: row.color }),
        make("button", {
          class: "cell-button",
          text: row.name,
          title: "Find in the diagram",
          "data-key": `value ${row.name}`,
          onclick: () => actions.findValue(row.name),
        }),
      ),
      number(groupDigits(row.calls)),
      time(row.total),
      number(formatPercent(row.share)),
      time(row.self),
      ...[row.min, row.mean, row.median, row.max].map(time),
      isShown("Imbalance") && number(row.imbalance.toFixed(2)),
      isShown("Most time in") &&
        make("td", {}, row.most_time_in && containerButton(row.most_time_in, actions.selectRow)),
    ),
  );
  return make("table", {}, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...body));
}

/**
 * @param {{ id: number, name: string }} container
 * @param {(container: number) => void} selectRow
 */
function containerButton({ id, name }, selectRow) {
  return make("button", { class: "cell-button", text: name, title: "Select the row", onclick: () => selectRow(id) });
}
