// Puts the page together: opens the trace, and passes every change of the view to those who show it.

import { ask, Refused, watchBusy } from "./api.js";
import * as chart from "./chart.js";
import { byId, make } from "./dom.js";
import { date, duration, grouped, parseDate, setOrigin } from "./format.js";
import { listen } from "./gestures.js";
import { showLegend } from "./panel.js";
import { repaint } from "./pointer.js";
import { listenToMinimap, paintOverview, paintWindow } from "./timeline.js";
import { foldAll, labelled, measured, showRows } from "./tree.js";
import { fit, looks, onChange, show, start, view, zoom } from "./view.js";

let legendTimer = 0;

async function open() {
  message("loading");
  const summary = await ask("summary");
  setOrigin(summary.origin);
  start(summary.duration);
  /** @type {any} */ (window).tumitLength = summary.duration;
  byId("name").textContent = summary.name;
  byId("name").title = counts(summary);
  byId("version").textContent = `Tumit ${summary.version}.`;
  document.title = `${summary.name} · Tumit`;
  byId("chart").setAttribute("aria-label", `Space-time diagram of ${summary.name}: ${counts(summary)}`);
  remarks(summary.remarks);
  await document.fonts.ready;
  onChange(update);
  listen();
  listenToMinimap();
  edge();
  controls();
  await rows();
  message(summary.states + summary.events + summary.links + summary.samples === 0 ? "empty" : null);
  interval();
  paintWindow();
  await Promise.all([paintOverview(), showLegend()]);
}

/** @param {any} summary */
function counts(summary) {
  return ["containers", "states", "links", "events", "samples"]
    .filter((name) => summary[name] > 0)
    .map((name) => `${grouped(summary[name])} ${name}`)
    .join(", ");
}

/** @param {"time" | "rows" | "look"} kind */
function update(kind) {
  interval();
  paintWindow();
  if (kind === "rows") rows().catch(failed);
  else chart.refresh();
  if (kind !== "time") paintOverview().catch(failed);
  window.clearTimeout(legendTimer);
  legendTimer = window.setTimeout(() => showLegend().catch(failed), kind === "time" ? 120 : 0);
  repaint();
}

async function rows() {
  const layout = await ask("rows", looks());
  if (!layout) return;
  showRows(layout.rows);
  chart.setHeight(layout.height);
  names(layout.rows);
  chart.refresh();
  repaint();
}

/** Gives the names the width that they need. @param {import("./tree.js").Row[]} all */
function names(all) {
  const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  const measure = (/** @type {string} */ font, /** @type {string} */ text) => {
    pen.font = `${font} Inter, sans-serif`;
    return pen.measureText(text).width;
  };
  const widest = (/** @type {number[]} */ of) => Math.ceil(Math.max(0, ...of));
  const bounds = widest(all.flatMap((row) => row.strips.filter(measured).flatMap((strip) => strip.bounds ?? []).map((text) => measure("9px", text) + 8)));
  const what = Math.min(130, widest(all.flatMap((row) => labelled(row).map((strip) => measure("10px", strip.name)))));
  const wide = widest(all.map((row) => measure("600 12px", row.name) + row.depth * 12 + 40 + (labelled(row).length ? what + bounds + 18 : 0)));
  const stage = /** @type {HTMLElement} */ (document.querySelector(".stage"));
  stage.style.setProperty("--bounds", `${bounds}px`);
  stage.style.setProperty("--what", `${what}px`);
  stage.style.setProperty("--names", `${chosenNames ?? Math.min(Math.max(150, wide), 360, innerWidth * 0.35)}px`);
}

/** The width of the names that was chosen by hand. @type {number | null} */
let chosenNames = null;

/** Lets the edge between names and diagram be dragged, or moved by keys. */
function edge() {
  const handle = byId("edge");
  const stage = /** @type {HTMLElement} */ (document.querySelector(".stage"));
  const set = (/** @type {number | null} */ width) => {
    chosenNames = width === null ? null : Math.min(Math.max(width, 90), innerWidth * 0.6);
    if (chosenNames === null) rows().catch(failed);
    else stage.style.setProperty("--names", `${chosenNames}px`);
    chart.refresh();
    repaint();
    paintOverview().catch(failed);
  };
  handle.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    const move = (/** @type {PointerEvent} */ now) => set(now.clientX - stage.getBoundingClientRect().left);
    handle.addEventListener("pointermove", move);
    handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", move), { once: true });
  });
  handle.addEventListener("dblclick", () => set(null));
  handle.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    set(byId("tree").clientWidth + by);
  });
}

/** Writes the interval into its fields. */
function interval() {
  const span = view.to - view.from;
  for (const name of /** @type {const} */ (["from", "to"])) {
    const field = byId(name);
    if (field !== document.activeElement) field.value = date(view[name], span / 10000);
    field.classList.remove("wrong");
  }
  byId("duration").textContent = duration(span);
}

function controls() {
  byId("interval").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    const [from, to] = [parseDate(byId("from").value), parseDate(byId("to").value)];
    byId("from").classList.toggle("wrong", from === null);
    byId("to").classList.toggle("wrong", to === null || (from !== null && to <= from));
    if (from === null || to === null || to <= from) return;
    /** @type {HTMLElement} */ (document.activeElement).blur();
    show(from, to, true);
    interval();
  });
  for (const name of ["from", "to"]) {
    byId(name).addEventListener("focus", () => byId(name).select());
    byId(name).addEventListener("blur", () => window.setTimeout(interval, 0));
    byId(name).addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => { if (event.key === "Escape") byId(name).blur(); });
  }
  /** @type {[string, () => void][]} */
  const buttons = [
    ["back", () => history.back()], ["forward", () => history.forward()], ["in", () => zoom(1 / 1.6)], ["out", () => zoom(1.6)], ["fit", fit],
    ["help", () => byId("sheet").showModal()], ["theme", flip], ["side", side],
    ["unfold-all", () => foldAll(null)], ["fold-all", () => foldAll(deepest())],
  ];
  for (const [id, act] of buttons) byId(id).addEventListener("click", act);
  byId("scroller").addEventListener("scroll", () => { chart.refresh(); repaint(); });
  new ResizeObserver(resized).observe(byId("scroller"));
  chart.watchErrors(failed);
  document.addEventListener("picture", () => { missing(chart.notes()); message(byId("message").dataset.kind === "empty" ? "empty" : null); repaint(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { dress(); update("look"); });
  window.setInterval(() => { if (!document.hidden) fetch("api/ping").catch(failed); }, 4000);
}

/** Few rows grow with the window. */
function resized() {
  chart.resize();
  chart.refresh();
  repaint();
  rows().then(paintOverview).catch(failed);
}

/** The deepest level that holds others: folding it leaves one row for each group. */
function deepest() {
  const levels = [...document.querySelectorAll(".row.group")].map((row) => Number(row.getAttribute("aria-level")) - 1);
  return levels.length ? Math.max(...levels) : 0;
}

function side() {
  const panel = byId("panel");
  panel.hidden = !panel.hidden;
  byId("side").setAttribute("aria-pressed", String(!panel.hidden));
}

/** The theme: the one chosen, else the system's. */
function dress() {
  const chosen = sessionStorage.getItem("theme");
  document.documentElement.dataset.theme = chosen ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function flip() {
  sessionStorage.setItem("theme", document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  dress();
  update("look");
}

/** Says what the picture leaves out. @param {string[]} notes */
function missing(notes) {
  const line = byId("missing");
  line.hidden = notes.length === 0;
  line.textContent = notes.join("; ");
}

/** @param {string[]} all */
function remarks(all) {
  const pill = byId("remarks");
  pill.hidden = all.length === 0;
  pill.textContent = all.length === 1 ? "1 remark" : `${all.length} remarks`;
  pill.title = all.join("\n");
  pill.addEventListener("click", () => {
    const sheet = make("dialog", { class: "sheet", "aria-label": "Remarks on the trace" },
      make("h2", { text: "Remarks on the trace" }), ...all.map((text) => make("p", { text })),
      make("form", { method: "dialog" }, make("button", { text: "Close" })));
    sheet.addEventListener("close", () => sheet.remove());
    document.body.append(sheet);
    sheet.showModal();
  });
}

/**
 * Says in place of the diagram why there is none.
 * @param {"loading" | "empty" | "error" | null} kind @param {string} [text]
 */
function message(kind, text = "") {
  const box = byId("message");
  box.hidden = kind === null;
  box.dataset.kind = kind ?? "";
  if (kind === "loading") {
    box.replaceChildren(make("div", { class: "bones", "aria-hidden": "true" }, make("i"), make("i"), make("i")), make("p", { text: "Reading the trace…" }));
  } else if (kind === "empty") {
    box.replaceChildren(make("h2", { text: "Nothing was recorded" }),
      make("p", { text: "The trace has no states, events, links or values. Were its levels switched on? `tumit info` shows what each process wrote." }));
  } else if (kind === "error") {
    box.replaceChildren(make("h2", { text: "No picture" }), make("p", { text }),
      make("button", { type: "button", text: "Try again", onclick: () => location.reload() }));
  }
}

/** @param {unknown} error */
function failed(error) {
  const text = error instanceof Refused ? error.message : "The server does not answer. Has `tumit view` ended? Start it again and open the address that it prints.";
  message("error", text);
}

watchBusy((busy) => {
  // What is quick needs no sign.
  window.clearTimeout(/** @type {any} */ (watchBusy).timer);
  if (busy) /** @type {any} */ (watchBusy).timer = window.setTimeout(() => { byId("progress").hidden = false; }, 180);
  else byId("progress").hidden = true;
});
dress();
open().catch(failed);
