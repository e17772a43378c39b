// The numbers of a card as a table that is sorted by a click on a heading.

import { make, refill } from "../util/dom.js";
import { groupDigits } from "../util/format.js";

/** The number of rows that are shown first, and that are added at a time: a few screens. */
export const TABLE_ROWS = 100;

/**
 * Shows the rows of an answer.
 * @param {HTMLElement} box
 * @param {string} title of the view
 * @param {{ columns: { heading: string, is_number: boolean }[], rows: string[][], all: number }} table
 * @param {[number, boolean] | null} sort the column and whether it is descending
 * @param {(sort: [number, boolean] | null) => void} onSort
 * @param {() => void} onMore
 */
export function showTable(box, title, { columns, rows, all }, sort, onSort, onMore) {
  const head = columns.map(({ heading, is_number: isNumber }, index) => {
    const isSorted = sort?.[0] === index;
    const button = make("button", {
      text: heading || "–",
      "data-key": `sort ${index}`,
      title: "Sort",
      onclick: () => onSort(nextSort(sort, index, isNumber)),
    });
    return make(
      "th",
      {
        scope: "col",
        class: isNumber ? "number" : null,
        "aria-sort": isSorted ? (sort[1] ? "descending" : "ascending") : "none",
      },
      button,
    );
  });
  const body = rows.map((cells) =>
    make(
      "tr",
      {},
      ...cells.map((text, index) =>
        make(index === 0 ? "th" : "td", {
          text,
          class: columns[index].is_number ? "number" : null,
          ...(index === 0 ? { scope: "row" } : {}),
        }),
      ),
    ),
  );
  refill(box, () =>
    box.replaceChildren(
      all === 0
        ? make("p", { class: "hint", text: "There are no numbers at this time." })
        : make(
            "table",
            { "aria-label": `Numbers of ${title}` },
            make("thead", {}, make("tr", {}, ...head)),
            make("tbody", {}, ...body),
          ),
      rows.length < all
        ? make("button", {
            class: "quiet-button",
            "data-key": "more rows",
            text: `${groupDigits(rows.length)} of ${groupDigits(all)} rows; show more`,
            onclick: onMore,
          })
        : "",
    ),
  );
}

/**
 * The order after a click on a heading: the usual direction, the other one, then unsorted. Numbers
 * usually begin with the largest.
 * @param {[number, boolean] | null} sort
 * @param {number} column
 * @param {boolean} isNumber
 * @returns {[number, boolean] | null}
 */
function nextSort(sort, column, isNumber) {
  if (sort?.[0] !== column) return [column, isNumber];
  return sort[1] === isNumber ? [column, !isNumber] : null;
}
