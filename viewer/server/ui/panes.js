// Several panes on one page: several traces, or one trace in several ways, on one time axis; and a
// table of their differences.

import { ask } from "./net/api.js";
import { showDifferences, tellCounting } from "./panels/differences.js";
import { byId, inLine, make } from "./util/dom.js";
import { menu } from "./util/menu.js";
import { dress, watchTheme } from "./controls/theme.js";

/**
 * `known` is true once the pane has reported its view; `names` is the width of its names.
 * @typedef {{ trace: number, hash: string, frame: HTMLIFrameElement, box: HTMLElement, from:
 * number, to: number, filters: string, duration: number, known: boolean, names: number }} Pane
 */

/** @type {Pane[]} */
const panes = [];
/** @type {string[]} */
let names = [];
/**
 * The interval that the user has chosen; without one, all of the longest trace is shown.
 * @type {[number, number] | null}
 */
let common = null;
let timer = 0;
/**
 * Whether panels are open. All panes have the same state, because otherwise their diagrams would
 * differ in width.
 * @type {boolean | null}
 */
let side = null;
/** The width of names that the user chose. @type {number | null} */
let hand = null;

/** @param {number} trace @param {string} hash */
function add(trace, hash) {
  const frame = make("iframe", { src: `./index.html?trace=${trace}&pane=1${hash}`, title: `${names[trace] ?? "trace"}, pane ${panes.length + 1}` });
  const box = make("div", { class: "pane" }, frame);
  /** @type {Pane} */
  const pane = { trace, hash, frame, box, from: 0, to: 1, filters: "", duration: 0, known: false, names: 0 };
  box.append(make("button", { class: "icon-button pane-close", "aria-label": `Close the pane of ${names[trace]}`, title: "Close this pane", text: "×", onclick: () => remove(pane) }));
  panes.push(pane);
  byId("panes").append(box);
  keep();
}

/** @param {Pane} pane */
function remove(pane) {
  panes.splice(panes.indexOf(pane), 1);
  pane.box.remove();
  align();
  if (panes.length === 1) location.href = `./index.html?trace=${panes[0].trace}${panes[0].hash}`;
  keep();
  differ();
}

/** Writes all panes to the address, with the state of the table and of the coupling. */
function keep() {
  const all = panes.map(({ trace, hash }) => ({ trace, hash }));
  const [table, apart] = [!byId("table").hidden, !/** @type {HTMLInputElement} */ (byId("coupled")).checked];
  history.replaceState(null, "", `#${encodeURIComponent(JSON.stringify(table || apart ? { panes: all, table, apart } : all))}`);
}

window.addEventListener("message", ({ origin, source, data }) => {
  const pane = panes.find((one) => one.frame.contentWindow === source);
  if (origin !== location.origin || !pane || typeof data?.tumit !== "string") return;
  if (data.tumit === "ready") {
    pane.duration = data.duration;
    const reach = Math.max(...panes.map((one) => one.duration));
    for (const one of panes) one.frame.contentWindow?.postMessage({ tumit: "reach", duration: reach }, location.origin);
    if (side !== null) pane.frame.contentWindow?.postMessage({ tumit: "side", seen: side }, location.origin);
    // The first pane receives keys until the pointer enters another.
    if (pane === panes[0] && document.activeElement === document.body) pane.frame.focus();
  } else if (data.tumit === "side") {
    side = data.seen;
    for (const one of panes) if (one !== pane) one.frame.contentWindow?.postMessage({ tumit: "side", seen: side }, location.origin);
  } else if (data.tumit === "pointed") {
    last = pane;
    attend(pane);
  } else if (data.tumit === "names") {
    pane.names = data.width;
    if (data.hand !== undefined) hand = data.hand === null ? null : Math.min(Math.max(data.hand, 90), innerWidth * 0.6);
    align();
  } else if (data.tumit === "split") {
    add(pane.trace, data.hash);
  } else if (data.tumit === "view") {
    const moved = !data.followed && (data.from !== pane.from || data.to !== pane.to);
    // A pane that has just opened shows all of its trace, unless the address has a time range.
    if (moved && (pane.known || new URLSearchParams(pane.hash.slice(1)).has("t"))) common = [data.from, data.to];
    Object.assign(pane, { from: data.from, to: data.to, hash: data.hash, filters: data.filters, known: true });
    if (moved && /** @type {HTMLInputElement} */ (byId("coupled")).checked) couple();
    keep();
    window.clearTimeout(timer);
    timer = window.setTimeout(differ, 150);
  }
});

/** Gives the names of all panes one width, so that equal timestamps are below each other. */
function align() {
  const width = hand ?? Math.max(...panes.map((one) => one.names));
  for (const one of panes) one.frame.contentWindow?.postMessage({ tumit: "names", width }, location.origin);
}

/** Whether the user is typing or choosing in a pane. @param {Pane} pane */
function isBusy(pane) {
  const page = pane.frame.contentDocument;
  return Boolean(page?.activeElement?.closest("input, textarea, select, dialog, [role=menu]") ?? page?.querySelector("dialog[open]"));
}

/** Gives the keys to the pane at the pointer, unless the user is typing. @param {Pane} pane */
function attend(pane) {
  // A click may have moved the focus before this message arrived.
  if (pane.frame.contentDocument?.hasFocus()) return;
  const at = panes.find((one) => one.frame === document.activeElement);
  if (at !== pane && (at ? !isBusy(at) : document.activeElement === document.body)) pane.frame.focus();
}

/**
 * Passes keys without a use in the surrounding page to one of the panes.
 * @param {KeyboardEvent} event
 */
function pass(event) {
  const isText = event.key.length === 1 && event.key !== " ";
  if (!isText || event.defaultPrevented || /** @type {HTMLElement} */ (event.target).closest("input[type=text], [role=menu]")) return;
  const pane = last && panes.includes(last) ? last : panes[0];
  pane?.frame.focus();
  if (!pane?.frame.contentDocument?.body.dispatchEvent(new KeyboardEvent("keydown", event))) event.preventDefault();
}

/** The pane that had the pointer last. @type {Pane | null} */
let last = null;

/** Moves all panes to one interval. */
function couple() {
  const [from, to] = common ?? [0, Math.max(...panes.map((one) => one.duration))];
  for (const one of panes) {
    if (!one.known || (one.from === from && one.to === to)) continue;
    Object.assign(one, { from, to });
    one.frame.contentWindow?.postMessage({ tumit: "show", from, to }, location.origin);
  }
}

/** Counts requests, so that a late answer for an earlier interval is ignored. */
let turn = 0;

/** Shows the statistics of the first two panes and their differences. */
async function differ() {
  const box = byId("table");
  if (box.hidden || panes.length < 2) return;
  const mine = ++turn;
  const theme = document.documentElement.dataset.theme ?? "light";
  const both = panes.slice(0, 2);
  /** The progress of each answer. @type {Record<string, number>} */
  const far = {};
  const answers = await Promise.all(both.map(async ({ trace, from, to, filters }, at) => {
    const [times, sums] = await Promise.all(["times", "sums"].map((what) => ask(what, { trace, from, to, filters, theme }, `${what} of ${at}`, ({ done }) => {
      far[what + at] = done;
      if (mine === turn) tellCounting(box, Math.min(...Object.values(far)));
    }).catch(() => null)));
    return { types: times?.types ?? [], rows: sums?.rows ?? [], failed: times === null || sums === null };
  }));
  if (mine !== turn) return;
  const other = both[1].trace === both[0].trace ? "other pane" : names[both[1].trace];
  showDifferences(box, [names[both[0].trace], other], answers);
}

async function open() {
  dress();
  watchTheme(differ);
  const summary = await (await fetch("api/summary")).json();
  names = summary.names.map((/** @type {string} */ name, /** @type {number} */ at) => (summary.names.indexOf(name) < at ? `${name} (${at + 1})` : name));
  byId("name").textContent = inLine(names, " · ");
  document.title = `${names.join(", ")} · Tumit`;
  /** @type {any} */ let wanted = null;
  try {
    wanted = JSON.parse(decodeURIComponent(location.hash.slice(1)));
  } catch {
    // The address contains no panes: each trace gets one.
  }
  const { table, apart } = wanted ?? {};
  wanted = wanted?.panes ?? wanted;
  const isTold = Array.isArray(wanted) && wanted.length > 1;
  const given = isTold ? wanted : names.map((_, trace) => ({ trace, hash: "" }));
  // A pane without a hash in the address is plain: it does not take the arrangement that its trace
  // had in another.
  byId("coupled").checked = !apart;
  byId("table").hidden = !table;
  byId("differences").setAttribute("aria-expanded", String(Boolean(table)));
  for (const { trace, hash } of given.slice(0, 8)) if (names[trace] !== undefined) add(trace, /^#[^"<>]+$/.test(hash) ? hash : isTold ? "#plain" : "");
  byId("add").addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const at = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    menu("Add a pane", at, names.map((name, trace) => ({ name, act: () => add(trace, "") })));
  });
  byId("differences").addEventListener("click", () => {
    byId("table").hidden = !byId("table").hidden;
    byId("differences").setAttribute("aria-expanded", String(!byId("table").hidden));
    keep();
    differ();
  });
  byId("coupled").addEventListener("change", () => {
    // Moves all panes to the interval of the one that was moved last.
    if (/** @type {HTMLInputElement} */ (byId("coupled")).checked) couple();
    keep();
  });
  document.addEventListener("keydown", pass);
}

open();
