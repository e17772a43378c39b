// Statistics of the interval, or of what is measured: time, share and number per value, in tables that can be sorted.

import { ask } from "./api.js";
import { visit } from "./choice.js";
import { byId, make } from "./dom.js";
import { duration, grouped, percent } from "./format.js";
import { rowOf } from "./rows.js";
import { view } from "./view.js";

/** @typedef {{ value: number, name: string, color: string, nanos: number, share: number, count: number | null, mean: number | null,
 *   longest: { nanos: number, id: string } | null }} Line */

/** Columns: title, and what is sorted by. @type {[string, (line: Line) => number | string][]} */
const COLUMNS = [
  ["Value", (line) => line.name.toLowerCase()],
  ["Time", (line) => line.nanos],
  ["Share", (line) => line.share],
  ["Count", (line) => line.count ?? -1],
  ["Mean", (line) => line.mean ?? -1],
  ["Longest", (line) => line.longest?.nanos ?? -1],
];
/** Which column, and whether the largest comes first. @type {[number, boolean]} */
let order = [1, true];
/** @type {any} */
let last = null;

/** Asks for the tables, and shows them. */
export async function showTimes() {
  const [from, to] = view.measured ?? [view.from, view.to];
  const within = view.chosen?.startsWith("c") ? view.chosen : null;
  const answer = await ask("times", { from, to: Math.max(to, from + 1), id: within, theme: document.documentElement.dataset.theme });
  if (!answer) return;
  last = { ...answer, span: to - from, within };
  fill();
}

function fill() {
  const what = view.measured ? "measured" : "shown";
  const row = last.within ? rowOf(Number(last.within.slice(1))) : undefined;
  const where = last.within ? ` within ${row?.name ?? "the chosen container"}` : "";
  const heading = make("p", { class: "hint", text: `${duration(last.span)} ${what}${where}. ${last.within ? "" : "Choose a container to see it alone."}` });
  const tables = last.types.map(table);
  if (tables.length === 0) tables.push(make("p", { class: "hint", text: "There are no states in it." }));
  const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.key;
  byId("times").replaceChildren(heading, ...tables);
  if (focused) /** @type {HTMLElement | null} */ (byId("times").querySelector(`[data-key="${focused}"]`))?.focus();
}

/** @param {any} type */
function table(type) {
  const [column, down] = order;
  /** @type {Line[]} */
  const lines = type.rows.map((/** @type {any} */ one) => ({ ...one, mean: one.count ? one.nanos / one.count : null }));
  const by = COLUMNS[column][1];
  lines.sort((a, b) => {
    const [one, other] = [by(a), by(b)];
    const sign = one < other ? -1 : one > other ? 1 : 0;
    return down ? -sign : sign;
  });
  const head = make("tr", { role: "row" }, ...COLUMNS.map(([title], at) => make("th", { role: "columnheader", scope: "col", "aria-sort": at === column ? (down ? "descending" : "ascending") : null },
    make("button", { type: "button", text: title, "data-key": `${type.type} ${at}`, onclick: () => { order = [at, at === column ? !down : at !== 0]; fill(); } }))));
  const body = lines.map((line) => make("tr", { role: "row" }, heading(line.name, line.color), time(line.nanos), cell(percent(line.share)),
    cell(line.count === null ? "–" : grouped(line.count)), time(line.mean), longest(line), bar(line)));
  const none = type.lived > 0 && type.none > 0 && make("tr", { class: "none", role: "row" }, heading("none", null), time(type.none), cell(percent(type.none / type.lived)), cell(""), cell(""), cell(""));
  return make("section", { class: "times" },
    make("h2", {}, type.name, make("small", { text: `${grouped(type.containers)} row${type.containers === 1 ? "" : "s"}` })),
    make("table", { role: "table", "aria-label": `Times of ${type.name}` }, make("thead", { role: "rowgroup" }, head), make("tbody", { role: "rowgroup" }, ...body, none)));
}

/** @param {string} name @param {string | null} color */
function heading(name, color) {
  return make("th", { role: "rowheader", scope: "row" }, make("span", { class: "chip", color }), make("span", { class: "label", text: name, title: name }));
}

/** @param {string} text @param {string} [title] */
function cell(text, title) {
  return make("td", { role: "cell", text, title });
}

/** A duration, short; whole when it is pointed at. @param {number | null} nanos */
function time(nanos) {
  return nanos === null ? cell("–") : cell(duration(nanos, 3), `${grouped(Math.round(nanos))} ns`);
}

/** The longest state of a value leads to itself. @param {Line} line */
function longest({ name, longest }) {
  if (!longest) return cell("–");
  const go = make("button", { type: "button", text: duration(longest.nanos, 3), "aria-label": `Go to the longest ${name}, ${duration(longest.nanos)}`,
    title: `${grouped(longest.nanos)} ns: go there`, onclick: () => visit(longest.id, true) });
  return make("td", { role: "cell" }, go);
}

/** A line below the row as long as its share. @param {Line} line */
function bar(line) {
  const part = make("i", { color: line.color });
  part.style.width = `${Math.min(100, line.share * 100)}%`;
  return make("td", { class: "bar-cell", "aria-hidden": "true" }, part);
}
