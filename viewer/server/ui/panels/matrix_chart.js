// The matrix of senders and receivers in the time range, as SVG and as a table.

import { joinNames, make } from "../util/dom.js";
import { formatDuration, groupDigits, formatPercent } from "../util/format.js";
import { chartSvg, label, shape } from "./statistics_charts.js";

/**
 * The labels of a container left of its row and above its column.
 * @param {string} name
 * @param {string} shortName
 * @param {number} margin
 * @param {number} middle of the row and of the column
 */
function matrixLabels(name, shortName, margin, middle) {
  const column = label(0, 0, shortName);
  column.setAttribute("transform", `translate(${(middle + 3).toFixed(1)} ${(margin - 4).toFixed(1)}) rotate(-90)`);
  const labels = [label(margin - 4, middle + 3, shortName, "end"), column];
  for (const element of labels) {
    const title = shape("title", {});
    title.textContent = name;
    element.append(title);
  }
  return labels;
}

/**
 * A matrix of senders and receivers; darker is more.
 * @param {any} type
 * @param {"count" | "size" | "nanos"} quantity
 * @param {boolean} shares
 * @param {(id: string) => void} go
 */
export function matrix(type, quantity, shares, go) {
  const { containers, cells, container_count: containerCount } = type.cells;
  const amount = (/** @type {any} */ cell) => cell[quantity] ?? 0;
  const sum = cells.reduce((/** @type {number} */ all, /** @type {any} */ cell) => all + amount(cell), 0) || 1;
  const largest = Math.max(1, ...cells.map(amount));
  const text = (/** @type {any} */ cell) =>
    shares
      ? formatPercent(amount(cell) / sum)
      : quantity === "nanos"
        ? formatDuration(cell.nanos)
        : groupDigits(amount(cell));
  // Names appear on both sides. Long ones lose their beginning, because their ends distinguish
  // them.
  const margin = Math.min(84, 8 + 4.8 * Math.max(0, ...containers.map((/** @type {string} */ name) => name.length)));
  const shorten = (/** @type {string} */ name) => {
    const fits = Math.floor((margin - 8) / 4.8);
    return name.length > fits ? `…${name.slice(1 - fits)}` : name;
  };
  const step = (276 - margin) / Math.max(containers.length, 3);
  const side = step * containers.length;
  const stride = Math.ceil(9 / step);
  const names = containers.flatMap((/** @type {string} */ name, /** @type {number} */ index) =>
    index % stride ? [] : matrixLabels(name, shorten(name), margin, margin + index * step + step / 2),
  );
  const boxes = cells.map((/** @type {any} */ cell) => {
    const opacity = 0.12 + 0.88 * Math.sqrt(amount(cell) / largest);
    return matrixCell(type, cell, text(cell), { margin, step, opacity }, go);
  });
  const frame = shape("rect", { x: margin, y: margin, width: side, height: side, class: "frame" });
  const value = quantity === "nanos" ? formatDuration(largest) : groupDigits(largest);
  const hint =
    `From the rows to the columns; the strongest colour is ${shares ? formatPercent(largest / sum) : value}.` +
    omittedNames(stride, containers.length, containerCount);
  return make(
    "div",
    {},
    chartSvg(`Matrix of ${type.name}`, 276, margin + side + 2, [frame, ...names, ...boxes]),
    make("p", { class: "hint", text: hint }),
    pairTable(
      type,
      [...cells].sort((a, b) => amount(b) - amount(a)),
      text,
    ),
  );
}

/**
 * @param {any} type
 * @param {any} cell
 * @param {string} amount
 * @param {{ margin: number, step: number, opacity: number }} size the margin and the side in pixels
 * @param {(id: string) => void} go
 */
function matrixCell(type, cell, amount, { margin, step, opacity }, go) {
  const { containers } = type.cells;
  const title =
    `${joinNames([containers[cell.from], containers[cell.to]], " → ")}: ${amount} ` +
    `(${groupDigits(cell.count)} links, the longest ${formatDuration(cell.longest?.nanos ?? 0)}); ` +
    "go to the longest";
  return shape(
    "rect",
    {
      x: margin + cell.to * step,
      y: margin + cell.from * step,
      width: Math.max(step - 1, 1),
      height: Math.max(step - 1, 1),
      rx: Math.min(2, step / 6),
      fill: "var(--accent)",
      "fill-opacity": opacity,
      "data-key": `cell ${type.type} ${cell.from} ${cell.to}`,
    },
    title,
    cell.longest && (() => go(cell.longest.id)),
  );
}

/**
 * The names that a matrix omits, as sentences.
 * @param {number} stride the distance between names that are shown
 * @param {number} shown the number of containers in the matrix
 * @param {number} count the number of containers
 */
function omittedNames(stride, shown, count) {
  const strideText =
    stride > 1 ? ` Every ${stride === 2 ? "second" : stride === 3 ? "third" : `${stride}th`} name is shown.` : "";
  return strideText + (count > shown ? ` The first ${shown} of ${groupDigits(count)} are shown.` : "");
}

/** Whether the tables of pairs are open. */
let isOpen = false;

/** Maximum number of pairs in the table of a matrix. The chart shows all of them. */
const MAX_PAIRS = 100;

/**
 * The matrix as a table, the largest amount first.
 * @param {any} type
 * @param {any[]} cells
 * @param {(cell: any) => string} text
 */
function pairTable(type, cells, text) {
  const { containers } = type.cells;
  const head = (/** @type {string} */ name) => make("th", { role: "columnheader", scope: "col", text: name });
  const rows = cells
    .slice(0, MAX_PAIRS)
    .map((cell) =>
      make(
        "tr",
        { role: "row" },
        ...[cell.from, cell.to].map((container) =>
          make("th", { role: "rowheader", scope: "row", text: containers[container], title: containers[container] }),
        ),
        make("td", { role: "cell", text: text(cell) }),
      ),
    );
  const moreHint =
    cells.length > MAX_PAIRS &&
    make("p", { class: "hint", text: `and ${groupDigits(cells.length - MAX_PAIRS)} more: CSV has all` });
  return make(
    "details",
    {
      class: "pairs",
      ontoggle: (/** @type {Event} */ event) => {
        isOpen = /** @type {HTMLDetailsElement} */ (event.target).open;
      },
      ...(isOpen ? { open: "" } : {}),
    },
    make("summary", { text: "As a table", "data-key": `pairs ${type.type}` }),
    make(
      "table",
      { role: "table", "aria-label": `Pairs of ${type.name}` },
      make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...["From", "To", "Amount"].map(head))),
      make("tbody", { role: "rowgroup" }, ...rows),
    ),
    moreHint,
  );
}
