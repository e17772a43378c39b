// Several panes on one page: traces beside each other, or one trace in several ways, on one time axis; and a table of what differs.

import { byId, make, save } from "./dom.js";
import { duration, grouped, percent } from "./format.js";
import { menu } from "./menu.js";
import { dress } from "./theme.js";

/** @typedef {{ trace: number, hash: string, frame: HTMLIFrameElement, box: HTMLElement, from: number, to: number, filters: string, duration: number, known: boolean }} Pane with whether it has said where it is */

/** @type {Pane[]} */
const panes = [];
/** @type {string[]} */
let names = [];
/** The interval that somebody has chosen; until then all of the longest trace is shown. @type {[number, number] | null} */
let common = null;
let timer = 0;

/** @param {number} trace @param {string} hash */
function add(trace, hash) {
  const frame = make("iframe", { src: `./index.html?trace=${trace}&pane=1${hash}`, title: `${names[trace] ?? "trace"}, pane ${panes.length + 1}` });
  const box = make("div", { class: "pane" }, frame);
  /** @type {Pane} */
  const pane = { trace, hash, frame, box, from: 0, to: 1, filters: "", duration: 0, known: false };
  box.append(make("button", { type: "button", class: "icon-button pane-close", "aria-label": `Close the pane of ${names[trace]}`, title: "Close this pane", text: "×", onclick: () => remove(pane) }));
  panes.push(pane);
  byId("panes").append(box);
  keep();
}

/** @param {Pane} pane */
function remove(pane) {
  panes.splice(panes.indexOf(pane), 1);
  pane.box.remove();
  if (panes.length === 1) location.href = `./index.html?trace=${panes[0].trace}${panes[0].hash}`;
  keep();
  differ();
}

/** The address holds all panes. */
function keep() {
  history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify(panes.map(({ trace, hash }) => ({ trace, hash }))))}`);
}

window.addEventListener("message", ({ origin, source, data }) => {
  const pane = panes.find((one) => one.frame.contentWindow === source);
  if (origin !== location.origin || !pane || typeof data?.tumit !== "string") return;
  if (data.tumit === "ready") {
    pane.duration = data.duration;
    const reach = Math.max(...panes.map((one) => one.duration));
    for (const one of panes) one.frame.contentWindow?.postMessage({ tumit: "reach", duration: reach }, location.origin);
  } else if (data.tumit === "split") {
    add(pane.trace, data.hash);
  } else if (data.tumit === "view") {
    const moved = data.from !== pane.from || data.to !== pane.to;
    // A pane that has just opened shows all of its trace, unless the address says otherwise.
    if (moved && (pane.known || new URLSearchParams(pane.hash.slice(1)).has("t"))) common = [data.from, data.to];
    Object.assign(pane, { from: data.from, to: data.to, hash: data.hash, filters: data.filters, known: true });
    if (moved && /** @type {HTMLInputElement} */ (byId("coupled")).checked) couple();
    keep();
    window.clearTimeout(timer);
    timer = window.setTimeout(differ, 150);
  }
});

/** Brings all panes to one interval. */
function couple() {
  const [from, to] = common ?? [0, Math.max(...panes.map((one) => one.duration))];
  for (const one of panes) {
    if (!one.known || (one.from === from && one.to === to)) continue;
    Object.assign(one, { from, to });
    one.frame.contentWindow?.postMessage({ tumit: "show", from, to }, location.origin);
  }
}

/** @typedef {{ type: string, value: string, color: string, a: any, b: any, by: number }} Line */

/** @type {Line[]} */
let lines = [];

/** Counts questions, so that a late answer does not speak of an earlier interval. */
let turn = 0;

/** Statistics of the first two panes, and what differs, the largest difference first. */
async function differ() {
  const box = byId("table");
  if (box.hidden || panes.length < 2) return;
  const mine = ++turn;
  const theme = document.documentElement.dataset.theme ?? "light";
  const answers = await Promise.all(panes.slice(0, 2).map(async ({ trace, from, to, filters }) => {
    const answer = await fetch(`api/times?${new URLSearchParams({ trace: String(trace), from: String(from), to: String(to), filters, theme })}`);
    return answer.ok ? answer.json() : { types: [] };
  }));
  if (mine !== turn) return;
  /** @type {Map<string, Line>} */
  const all = new Map();
  answers.forEach((answer, at) => {
    for (const type of answer.types) {
      for (const row of type.rows) {
        const key = JSON.stringify([type.name, row.name]);
        const line = all.get(key) ?? { type: type.name, value: row.name, color: row.color, a: null, b: null, by: 0 };
        line[at === 0 ? "a" : "b"] = row;
        all.set(key, line);
      }
    }
  });
  lines = [...all.values()].map((line) => ({ ...line, by: (line.b?.nanos ?? 0) - (line.a?.nanos ?? 0) })).sort((one, other) => Math.abs(other.by) - Math.abs(one.by));
  fill(box);
}

/** @param {HTMLElement} box */
function fill(box) {
  const cell = (/** @type {string} */ text, /** @type {string} */ kind = "") => make("td", { text, class: kind });
  const signed = (/** @type {number} */ nanos) => `${nanos > 0 ? "+" : nanos < 0 ? "−" : ""}${duration(Math.abs(nanos), 3)}`;
  const times = (/** @type {Line} */ { a, by }) => (a?.nanos > 0 ? `${by > 0 ? "+" : by < 0 ? "−" : ""}${percent(Math.abs(by) / a.nanos)}` : "new");
  const most = Math.max(1, ...lines.map((line) => Math.abs(line.by)));
  const body = lines.map((line) => {
    const bar = make("i", { class: line.by < 0 ? "less" : "more-of" });
    bar.style.width = `${(Math.abs(line.by) / most) * 50}%`;
    return make("tr", {}, make("th", { scope: "row" }, make("span", { class: "chip", color: line.color }), make("span", { text: line.value }), make("small", { text: line.type })),
      ...[line.a, line.b].flatMap((one) => [cell(one ? duration(one.nanos, 3) : "–"), cell(one ? percent(one.share) : ""), cell(one?.count != null ? grouped(one.count) : "")]),
      cell(signed(line.by), "by"), cell(times(line)), make("td", { class: "bar-of-difference", "aria-hidden": "true" }, bar));
  });
  const head = [["Value", 1], [names[panes[0].trace], 3], [panes[1].trace === panes[0].trace ? "other pane" : names[panes[1].trace], 3], ["Difference", 3]];
  box.replaceChildren(
    make("header", {}, make("h2", { text: "Differences of time in states" }), make("button", { type: "button", class: "quiet", "aria-label": "Save differences as CSV", text: "CSV", onclick: take })),
    lines.length === 0 ? make("p", { class: "hint", text: "There are no states in these parts." })
      : make("table", { "aria-label": "Differences of time in states" }, make("thead", {}, make("tr", {}, ...head.map(([text, span]) => make("th", { scope: "colgroup", colspan: span, text })))), make("tbody", {}, ...body)));
}

function take() {
  const quoted = (/** @type {unknown} */ value) => { const text = String(value ?? ""); return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text; };
  const rows = lines.map(({ type, value, a, b, by }) => [type, value, a?.nanos, a?.share, a?.count, b?.nanos, b?.share, b?.count, by]);
  const text = [["type", "value", "a_ns", "a_share", "a_count", "b_ns", "b_share", "b_count", "difference_ns"], ...rows].map((row) => row.map(quoted).join(",")).join("\n");
  save("differences.csv", new Blob([`${text}\n`], { type: "text/csv" }));
}

async function open() {
  dress();
  const summary = await (await fetch("api/summary")).json();
  names = summary.names.map((/** @type {string} */ name, /** @type {number} */ at) => (summary.names.indexOf(name) < at ? `${name} (${at + 1})` : name));
  byId("name").textContent = names.join(" · ");
  document.title = `${names.join(", ")} · Tumit`;
  /** @type {any} */ let wanted = null;
  try {
    wanted = JSON.parse(decodeURIComponent(location.hash.slice(1)));
  } catch {
    // The address holds no panes: each trace gets one.
  }
  const isTold = Array.isArray(wanted) && wanted.length > 1;
  const given = isTold ? wanted : names.map((_, trace) => ({ trace, hash: "" }));
  // One that the address tells nothing of is plain: it does not look as its trace was left in another.
  for (const { trace, hash } of given.slice(0, 8)) if (names[trace] !== undefined) add(trace, /^#[^"<>]+$/.test(hash) ? hash : isTold ? "#plain" : "");
  byId("add").addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const at = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    menu("Add a pane", at, names.map((name, trace) => ({ name, act: () => add(trace, "") })));
  });
  byId("differences").addEventListener("click", () => {
    byId("table").hidden = !byId("table").hidden;
    byId("differences").setAttribute("aria-expanded", String(!byId("table").hidden));
    differ();
  });
}

open();
