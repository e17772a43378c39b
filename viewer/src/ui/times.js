// Statistics of the interval, or of what is measured: tables that can be sorted, and charts. What is shown can be taken along as CSV or JSON.

import { ask, drop } from "./api.js";
import { columns, curves, histogram, matrix, multiples, pie } from "./charts.js";
import { visit } from "./choice.js";
import { byId, make, refill, save } from "./dom.js";
import { date, duration, grouped, percent } from "./format.js";
import { rowOf } from "./rows.js";
import { jot, show, view } from "./view.js";

/** @typedef {{ value: number, name: string, color: string, nanos: number, share: number, count: number | null, mean: number | null,
 *   longest: { nanos: number, id: string } | null }} Line */

/** Ways to show, and the question that each asks. @type {Record<string, [string, string]>} */
const FORMS = {
  table: ["Table", "times"], pie: ["Pie", "times"], columns: ["Columns", "times"], durations: ["Durations", "times"], matrix: ["Matrix", "matrix"], curves: ["Over time", "profile"],
  variables: ["Variables", "variables"],
};
let form = "table";
/** Whether charts show shares, not values. */
let shares = true;
/** The type of containers of which each has a chart of its own; 0: one for all. */
let per = 0;
/** What a matrix shows. @type {"count" | "size" | "nanos"} */
let amount = "count";
/** The type and value whose durations are shown. @type {{ ty: number, value: number | null } | null} */
let chosen = null;

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

/** Asks for what the form shows. */
export async function showTimes() {
  const [from, to] = view.measured ?? [view.from, view.to];
  const within = view.chosen?.startsWith("c") ? view.chosen : null;
  const part = { from: Math.round(from), to: Math.round(Math.max(to, from + 1)), id: within, theme: document.documentElement.dataset.theme };
  const wanted = form;
  const told = (/** @type {any} */ answer) => {
    if (wanted !== form) return;
    last = { within, ...answer, form, from, span: to - from };
    fill();
  };
  drop("histogram");
  const question = per && isEach() ? "shares" : FORMS[form][1];
  const answer = await ask(question, { ...part, ty: question === "shares" ? per : null, bare: form === "durations" ? "true" : null }, "statistics", told);
  if (!answer) return;
  if (wanted === "durations") await classes(answer, part, told);
  else told(answer);
}

/**
 * The durations of the chosen type, else of the first.
 * @param {any} answer @param {Record<string, any>} part @param {(answer: any) => void} told
 */
async function classes(answer, part, told) {
  if (!answer.types.some((/** @type {any} */ type) => type.type === chosen?.ty)) chosen = null;
  const { ty, value } = chosen ?? { ty: answer.types[0]?.type, value: null };
  const show = (/** @type {any} */ histogram) => told({ ...answer, histogram, done: histogram?.done });
  if (ty === undefined) show(undefined);
  else {
    const histogram = await ask("histogram", { ...part, ty, value }, "histogram", show);
    if (histogram) show(histogram);
  }
}

/** @param {string} next */
export function setForm(next) {
  form = next;
  jotForm();
  showTimes();
}

function jotForm() {
  jot({ form: per ? `${form}.${per}` : form });
}

/** As the address says. @param {string} text */
export function restoreForm(text) {
  const [name, type] = text.split(".");
  if (FORMS[name]) [form, per] = [name, Number(type ?? 0)];
}

/** Whether there can be a chart for each container. */
const isEach = () => form === "pie" || form === "columns";

/** Chooses whether there is one chart, or one for each container of a type. */
function levels() {
  if (!isEach() || !last.levels) return null;
  const options = [{ type: 0, name: "All together", count: 0 }, ...last.levels];
  const select = make("select", { "aria-label": "A chart for", "data-key": "per", onchange: () => { per = options[select.selectedIndex].type; jotForm(); showTimes(); } },
    ...options.map((one) => make("option", { text: one.type ? `Each ${one.name} (${grouped(one.count)})` : one.name, ...(one.type === per ? { selected: "" } : {}) })));
  return select;
}

/** @param {any} type */
function charts(type) {
  if (!type.each) return form === "pie" ? pie(`Shares of ${type.name}`, slices(type)) : columns(`Times of ${type.name}`, slices(type));
  const each = type.each.map((/** @type {any} */ one) => ({ name: one.container, parts: slices(one), act: () => { visit(one.id); } }));
  /** @type {Map<string, any>} */
  const sums = new Map();
  const lived = type.each.reduce((/** @type {number} */ all, /** @type {any} */ one) => all + one.lived, 0);
  for (const part of each.flatMap((/** @type {any} */ one) => one.parts)) sums.set(part.name, { ...part, act: undefined, size: part.size + (sums.get(part.name)?.size ?? 0) });
  const all = [...sums.values()].map((one) => ({ ...one, text: shares ? percent(one.size / (lived || 1)) : duration(one.size) })).sort((one, other) => other.size - one.size);
  const more = last.many > each.length && make("p", { class: "hint", text: `The first ${each.length} of ${grouped(last.many)} are shown.` });
  return make("div", {}, multiples(`${form === "pie" ? "Shares" : "Times"} of ${type.name}, one by one`, each, all, form === "pie" ? "pie" : "columns"), more);
}

/** The buttons that choose what is shown, and how. */
function controls() {
  const forms = Object.entries(FORMS).map(([name, [title]]) => make("button", { type: "button", role: "radio", "aria-checked": String(form === name), "data-key": `form ${name}`, text: title, onclick: () => setForm(name) }));
  const values = !["table", "variables", "curves"].includes(form) && make("label", { class: "check" }, make("input", { type: "checkbox", "data-key": "percent", ...(shares ? { checked: "" } : {}), onchange: () => { shares = !shares; fill(); } }), " percent");
  // A part is not taken for all.
  const whole = last.done === undefined ? {} : { disabled: "", title: "When all is counted" };
  return [
    make("div", { class: "forms", role: "radiogroup", "aria-label": "Show as" }, ...forms),
    make("p", { class: "taking" }, levels(), values, make("span", { class: "gap" }), make("button", { type: "button", class: "quiet", "aria-label": "Save statistics as CSV", text: "CSV", ...whole, onclick: () => take("csv") }), make("button", { type: "button", class: "quiet", "aria-label": "Save statistics as JSON", text: "JSON", ...whole, onclick: () => take("json") })),
  ];
}

function fill() {
  refill(byId("times"), draw);
}

function draw() {
  // Another form has been chosen, whose answer is under way.
  if (last.form !== form) return;
  const what = view.measured ? "measured" : "shown";
  const row = last.within ? rowOf(Number(last.within.slice(1))) : undefined;
  const where = last.within ? ` within ${row?.name ?? "the chosen container"}` : "";
  const heading = make("p", { class: "hint", text: `${duration(last.span)} ${what}${where}. ${last.within || form === "matrix" ? "" : "Choose a container to see it alone."}` });
  const parts = last.types.map(BODIES[form]).filter(Boolean);
  if (parts.length === 0) parts.push(make("p", { class: "hint", text: `There are no ${{ matrix: "links", variables: "variables" }[form] ?? "states"} in it.` }));
  byId("times").replaceChildren(...controls(), heading, ...counting(), ...parts);
  byId("times").dataset.form = form;
}

/** How far the counting is, while it is under way. */
function counting() {
  const { done } = last;
  return done === undefined ? [] : [make("p", { class: "hint counting" }, make("progress", { value: done, "aria-label": "Counted so far" }), `counting… ${percent(done)}`)];
}

/** @type {Record<string, (type: any) => HTMLElement | null>} */
const BODIES = {
  table, pie: (type) => titled(type, charts(type)), columns: (type) => titled(type, charts(type)),
  durations: (type) => last.types.indexOf(type) === 0 ? durations() : null,
  matrix: (type) => titled(type,
    make("div", { class: "forms", role: "radiogroup", "aria-label": `Amount of ${type.name}` }, .../** @type {["count" | "size" | "nanos", string][]} */ ([["count", "Number"], ["nanos", "Time"], ...(type.field ? [["size", type.field]] : [])]).map(([name, title]) =>
      make("button", { type: "button", role: "radio", "aria-checked": String(amount === name), "data-key": `amount ${name}`, text: title, onclick: () => { amount = name; fill(); } }))),
    matrix(type, amount === "size" && !type.field ? "count" : amount, shares, (id) => visit(id, true))),
  curves: (type) => titled(type, curves(`Shares of ${type.name} over time`, type.curves, last, (at) => { const middle = last.from + at * last.span; show(middle - last.span / 8, middle + last.span / 8, true); })),
  variables: (type) => titled(type, make("dl", { class: "facts" }, make("dt", { text: "Mean" }), make("dd", { text: figure(type.mean) }), ...extreme("Least", type, type.min), ...extreme("Largest", type, type.max))),
};

/** @param {number} value */
const figure = (value) => Number.isInteger(value) ? grouped(value) : String(Number(value.toPrecision(5)));

/** An extreme leads to where it is first reached. @param {string} what @param {any} type @param {any} place */
function extreme(what, type, place) {
  const go = async () => {
    const span = view.to - view.from;
    await visit(`c${place.container}`);
    show(place.at - span / 8, place.at + span / 8, true);
  };
  const text = `${figure(place.value)} at ${date(place.at, last.span / 1000)} in ${place.name}`;
  return [make("dt", { text: what }), make("dd", {}, make("button", { type: "button", text, "aria-label": `Go to the ${what.toLowerCase()} ${type.name}: ${text}`, onclick: go }))];
}

/** @param {any} type @param {...(Node | false | null)} body */
function titled(type, ...body) {
  return make("section", { class: "times" }, make("h2", {}, type.name), ...body);
}

/** @param {any} type @returns {import("./charts.js").Part[]} */
function slices(type) {
  const parts = type.rows.map((/** @type {any} */ one) => ({ name: one.name, color: one.color, size: one.nanos, text: shares ? percent(one.share) : duration(one.nanos), act: one.longest ? () => visit(one.longest.id, true) : undefined }));
  if (type.none > 0 && type.lived > 0) parts.push({ name: "none", color: null, size: type.none, text: shares ? percent(type.none / type.lived) : duration(type.none) });
  return parts;
}

/** The histogram, with what can be chosen. */
function durations() {
  const here = chosen ?? { ty: last.types[0].type, value: null };
  const options = last.types.flatMap((/** @type {any} */ type) => [{ ty: type.type, value: null, name: `All ${type.name}`, color: "var(--accent)" }, ...type.rows.map((/** @type {any} */ one) => ({ ty: type.type, value: one.value, name: `${type.name}: ${one.name}`, color: one.color }))]);
  const at = options.findIndex((/** @type {any} */ one) => one.ty === here.ty && one.value === here.value);
  const select = make("select", { "aria-label": "Durations of", "data-key": "durations", onchange: () => { const { ty, value } = options[select.selectedIndex]; chosen = { ty, value }; showTimes(); } }, ...options.map((/** @type {any} */ one, /** @type {number} */ place) => make("option", { text: one.name, ...(place === at ? { selected: "" } : {}) })));
  const { classes, total } = last.histogram ?? { classes: [], total: 0 };
  return make("section", { class: "times" }, select, make("p", { class: "hint", text: `${grouped(total)}${last.done === undefined ? " in all" : " so far"}` }),
    histogram(`Durations of ${options[at]?.name}`, classes, options[at]?.color ?? "var(--accent)", shares, (id) => visit(id, true)));
}

/** Saves what is shown. @param {"csv" | "json"} format */
function take(format) {
  /** @type {Record<string, unknown>[]} */
  const rows = last.types.flatMap((/** @type {any} */ type) => {
    const own = { type: type.name };
    if (form === "matrix") return type.cells.cells.map((/** @type {any} */ cell) => ({ ...own, from: type.cells.sides[cell.from], to: type.cells.sides[cell.to], count: cell.count, nanoseconds: cell.nanos, size: cell.size, longest_ns: cell.longest?.nanos }));
    if (form === "curves") return type.curves.flatMap((/** @type {any} */ one) => one.shares.map((/** @type {number} */ share, /** @type {number} */ at) => ({ ...own, value: one.name, from_ns: Math.round(last.from + (at / one.shares.length) * last.span), share })));
    if (form === "variables") return [{ ...own, mean: type.mean, min: type.min.value, min_at_ns: type.min.at, min_in: type.min.name, max: type.max.value, max_at_ns: type.max.at, max_in: type.max.name }];
    if (form === "durations") return last.types.indexOf(type) > 0 ? [] : (last.histogram?.classes ?? []).map((/** @type {any} */ one) => ({ from_ns: one.from, to_ns: one.to, count: one.count, nanoseconds: one.nanos, longest_ns: one.longest?.nanos }));
    if (type.each) return type.each.flatMap((/** @type {any} */ one) => one.rows.map((/** @type {any} */ row) => ({ ...own, container: one.container, value: row.name, nanoseconds: row.nanos, share: row.share })));
    return type.rows.map((/** @type {any} */ one) => ({ ...own, value: one.name, nanoseconds: one.nanos, share: one.share, count: one.count, longest_ns: one.longest?.nanos }));
  });
  const heads = Object.keys(rows[0] ?? {});
  const cell = (/** @type {unknown} */ value) => { const text = String(value ?? ""); return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text; };
  const text = format === "json" ? `${JSON.stringify(rows, null, 1)}\n` : `${[heads, ...rows.map((row) => heads.map((head) => cell(row[head])))].map((line) => line.join(",")).join("\n")}\n`;
  save(`statistics-${form}.${format}`, new Blob([text], { type: format === "json" ? "application/json" : "text/csv" }));
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
