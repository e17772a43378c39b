// What differs between two intervals: time in states, variables, numbers of events, links; matched by names.

import { make, refill, save } from "./dom.js";
import { duration, grouped, percent } from "./format.js";
import { lines as grown, Refused } from "./lines.js";

/** @typedef {{ trace: number, from: number, to: number, filters: string }} Part */
/** @typedef {{ type: string, value: string, color: string | null, a: any, b: any, by: number, share: number }} Line */

/** A number as short as it is told apart. @param {number} value */
const figure = (value) => String(Number(value.toPrecision(6)));
/** @param {number} nanos */
const time = (nanos) => duration(nanos, 3);

/**
 * A kind of thing that is compared: its question, what of an answer is a row, columns with their names in CSV, and which of them is compared.
 * @typedef {{ title: string, what: string, ask: string, rows: (type: any) => any[], columns: [string, string, (value: number) => string, string][] }} Kind
 */

/** @type {Record<string, Kind>} */
const KINDS = {
  states: { title: "States", what: "time in states", ask: "times", rows: (type) => type.rows, columns: [["Time", "nanos", time, "ns"], ["Share", "share", percent, "share"], ["Count", "count", grouped, "count"]] },
  variables: { title: "Variables", what: "means of variables", ask: "variables", rows: (type) => [{ name: "", color: null, mean: type.mean, min: type.min.value, max: type.max.value }], columns: [["Mean", "mean", figure, "mean"], ["Least", "min", figure, "min"], ["Largest", "max", figure, "max"]] },
  events: { title: "Events", what: "numbers of events", ask: "totals", rows: (type) => (type.link ? [] : type.rows), columns: [["Count", "count", grouped, "count"]] },
  links: { title: "Links", what: "numbers of links", ask: "totals", rows: (type) => (type.link ? type.rows.map((/** @type {any} */ row) => ({ ...row, mean: row.nanos / row.count })) : []), columns: [["Count", "count", grouped, "count"], ["Mean time", "mean", time, "mean_ns"], ["Size", "size", grouped, "size"]] },
};

/** Ways to sort: title, and what comes first. @type {[string, (one: Line, other: Line) => number][]} */
const ORDERS = [
  ["Value", (one, other) => one.type.localeCompare(other.type) || one.value.localeCompare(other.value)],
  ["Difference", (one, other) => Math.abs(other.by) - Math.abs(one.by)],
  ["Part", (one, other) => Math.abs(other.share) - Math.abs(one.share)],
];

let kind = "states";
let order = 1;
/** @type {Line[]} */
let found = [];
/** Counts questions, so that a late answer does not speak of an earlier interval. */
let turn = 0;
/** What is compared now. @type {[HTMLElement, Part[], string[]] | null} */
let shown = null;
/** What is wrong, or how much has been counted. */
let said = "";

/** Asks about two parts and shows what differs, the largest difference first. @param {HTMLElement} box @param {Part[]} parts @param {string[]} names */
export async function compare(box, parts, names) {
  shown = [box, parts, names];
  const mine = ++turn;
  const theme = document.documentElement.dataset.theme ?? "light";
  const done = [0, 0];
  said = "";
  const ask = async (/** @type {Part} */ { trace, from, to, filters }, /** @type {number} */ at) => {
    const query = new URLSearchParams({ trace: String(trace), from: String(from), to: String(to), filters, theme });
    const response = await fetch(`api/${KINDS[kind].ask}?${query}`);
    const part = (/** @type {any} */ answer) => {
      done[at] = answer.done;
      if (mine === turn) say(`counting… ${percent((done[0] + done[1]) / 2)}`);
    };
    const answer = response.headers.get("Content-Type") === "application/x-ndjson" ? await grown(response, part) : await response.json();
    if (!response.ok) throw new Refused(answer.error);
    done[at] = 1;
    return answer;
  };
  try {
    const answers = await Promise.all(parts.map(ask));
    if (mine !== turn) return;
    found = match(answers);
  } catch (error) {
    if (mine !== turn) return;
    found = [];
    said = error instanceof Refused ? error.message : "The server does not answer";
  }
  fill();
}

/** Lines of two answers, by the names of types and values. @param {any[]} answers */
function match(answers) {
  /** @type {Map<string, Line>} */
  const all = new Map();
  const { rows, columns: [[, main]] } = KINDS[kind];
  answers.forEach((answer, at) => {
    for (const type of answer.types) {
      for (const row of rows(type)) {
        const key = JSON.stringify([type.name, row.name]);
        const line = all.get(key) ?? { type: type.name, value: row.name, color: row.color, a: null, b: null, by: 0, share: 0 };
        line[at === 0 ? "a" : "b"] = row;
        all.set(key, line);
      }
    }
  });
  return [...all.values()].map((line) => {
    const before = line.a?.[main] ?? 0;
    const by = (line.b?.[main] ?? 0) - before;
    return { ...line, by, share: before ? by / Math.abs(before) : by ? Infinity : 0 };
  });
}

/** @param {string} text */
function say(text) {
  said = text;
  fill();
}

function fill() {
  if (shown) refill(shown[0], () => draw(.../** @type {[HTMLElement, Part[], string[]]} */ (shown)));
}

/** @param {number} value @param {(size: number) => string} text */
const signed = (value, text) => `${value > 0 ? "+" : value < 0 ? "−" : ""}${text(Math.abs(value))}`;

/** @param {HTMLElement} box @param {Part[]} parts @param {string[]} names */
function draw(box, parts, names) {
  const { what, columns } = KINDS[kind];
  const again = (/** @type {() => void} */ change) => () => { change(); compare(box, parts, names); };
  const forms = Object.entries(KINDS).map(([name, { title }]) => make("button", { type: "button", role: "radio", "aria-checked": String(name === kind), "data-key": `kind ${name}`, text: title, onclick: again(() => { kind = name; found = []; }) }));
  const heading = `Differences of ${what}`;
  const header = make("header", {}, make("h2", { text: heading }), make("div", { class: "forms", role: "radiogroup", "aria-label": "Compare" }, ...forms),
    make("button", { type: "button", class: "quiet", "aria-label": "Save differences as CSV", text: "CSV", onclick: take, ...(said ? { disabled: "" } : {}) }));
  if (found.length === 0) return box.replaceChildren(header, make("p", { class: "hint", role: "status", text: said || `There are no ${kind} in these parts.` }));
  const most = Math.max(...found.map((line) => Math.abs(line.by))) || 1;
  const cell = (/** @type {string} */ text, /** @type {string} */ kind = "") => make("td", { text, class: kind });
  const part = ({ share }) => share === Infinity ? "new" : share ? signed(share, percent) : "";
  const body = [...found].sort(ORDERS[order][1]).map((line) => {
    const bar = make("i", { class: line.by < 0 ? "less" : "more-of" });
    bar.style.width = `${(Math.abs(line.by) / most) * 50}%`;
    return make("tr", {}, make("th", { scope: "row" }, line.color && make("span", { class: "chip", color: line.color }), make("span", { text: line.value || line.type }), line.value && make("small", { text: line.type })),
      ...[line.a, line.b].flatMap((one) => columns.map(([, name, text]) => cell(one?.[name] != null ? text(one[name]) : one ? "" : "–"))),
      cell(signed(line.by, columns[0][2]), "by"), cell(part(line)), make("td", { class: "bar-of-difference", "aria-hidden": "true" }, bar));
  });
  const sorted = (/** @type {number} */ at, span = 1) => make("th", { scope: "col", colspan: span, "aria-sort": at === order ? (at === 0 ? "ascending" : "descending") : "none" }, make("button", { type: "button", "data-key": `sort ${at}`, text: ORDERS[at][0], title: "Sort by this", onclick: () => { order = at; fill(); } }));
  const own = () => columns.map(([title]) => make("th", { scope: "col", text: title }));
  box.replaceChildren(header, make("table", { "aria-label": heading },
    make("thead", {}, make("tr", {}, make("td", {}), ...names.map((name) => make("th", { scope: "colgroup", colspan: columns.length, text: name })), make("th", { scope: "colgroup", colspan: 3, text: said || "Difference" })),
      make("tr", {}, sorted(0), ...own(), ...own(), sorted(1), sorted(2, 2))),
    make("tbody", {}, ...body)));
}

function take() {
  const quoted = (/** @type {unknown} */ value) => { const text = String(value ?? ""); return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text; };
  const { columns } = KINDS[kind];
  const head = ["type", "value", ...["a", "b"].flatMap((side) => columns.map(([, , , name]) => `${side}_${name}`)), `difference_${columns[0][3]}`];
  const rows = [...found].sort(ORDERS[order][1]).map(({ type, value, a, b, by }) => [type, value, ...[a, b].flatMap((one) => columns.map(([, name]) => one?.[name])), by]);
  save("differences.csv", new Blob([`${[head, ...rows].map((row) => row.map(quoted).join(",")).join("\n")}\n`], { type: "text/csv" }));
}
