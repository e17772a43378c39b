// Puts the page together: opens the trace, and passes every change of the view to the modules that
// show it.

import { listenToKeys, watchActions } from "./controls/actions.js";
import { ask, drop, Refused, watchBusy, watchLost } from "./net/api.js";
import * as arrange from "./controls/row_actions.js";
import * as chart from "./view/chart.js";
import { listenToChain, offerFilters, tellChain } from "./panels/filter_chain.js";
import { open as inspect, restore, visit as inspectAt } from "./panels/selection.js";
import { setClock } from "./view/clock.js";
import { tellCrumbs } from "./view/zoom_history.js";
import { byId } from "./util/dom.js";
import { edge, names } from "./view/name_column.js";
import { listenToEditor } from "./panels/filter_editor.js";
import { listenToExport } from "./controls/export.js";
import { forgetFacts } from "./state/facts.js";
import { listenToFind } from "./panels/search.js";
import { grouped, setOrigin } from "./util/format.js";
import { listen } from "./controls/gestures.js";
import { tellStanding, watchGrowth } from "./view/growth.js";
import { fillHelp } from "./controls/help.js";
import { listenToInterval, tellInterval } from "./controls/interval.js";
import { listenToLegend } from "./panels/legend.js";
import { tellMeasured } from "./controls/measurement.js";
import { first, listenToMemory, nameOf } from "./state/memory.js";
import { message, remarks, trouble } from "./view/message.js";
import { listenToPalette } from "./controls/palette.js";
import { listenToPanel, refreshPanel, restorePanel, setSide, toggleSide } from "./panels/side_panel.js";
import { state as over } from "./view/overlay.js";
import { forgetPointed, leave, repaint } from "./controls/pointer.js";
import { showNotes } from "./panels/notes.js";
import { inPane, listenToPanes, tellDuration } from "./controls/pane.js";
import { listenToEnter } from "./controls/keyboard.js";
import { complete } from "./state/rows.js";
import { listenToSource, restoreSource } from "./panels/source.js";
import { missing, note } from "./util/status_line.js";
import "./state/undo.js";
import { dress, listenToTheme } from "./controls/theme.js";
import { listenToMinimap, paintOverview, paintWindow } from "./view/timeline.js";
import { showRows } from "./view/tree.js";
import { back, filtersOn, fit, looks, onChange, start, takeScroll, tellBeside, view, watchPlaced, zoom } from "./state/view.js";

let panelTimer = 0;
/** The entity that the inspector shows. @type {string | null} */
let inspected = null;

async function open() {
  message("loading");
  const summary = await ask("summary");
  setOrigin(summary.origin);
  setClock(summary.clock);
  const trace = nameOf(summary);
  listenToMemory(trace, Boolean(summary.standing));
  start(summary.duration, await first(trace, summary), summary.generation);
  byId("version").textContent = `Tumit ${summary.version}.`;
  tellStanding(summary);
  entitle(summary);
  await document.fonts.ready;
  onChange((kind) => update(kind));
  listen();
  listenToMinimap();
  arrange.listen(inspect);
  edge(() => { chart.refresh(); repaint(); paintOverview().catch(failed); }, () => rows().catch(failed));
  controls();
  // The chain takes height from the rows, so that their scroll position fits only after it.
  tellChain().catch(failed);
  size = sizeNow();
  await rows();
  // The observer also reports the first size.
  new ResizeObserver(resized).observe(byId("scroller"));
  excuse(summary);
  // In a narrow window the panel lies over the diagram.
  if (inPane || innerWidth <= 900) setSide(false);
  tell();
  offerFilters(summary.saved);
  watchPlaced(() => { restorePanel().catch(failed); restoreSource().catch(failed); });
  await Promise.all([paintOverview(), restorePanel(), restore().then(restoreSource), showNotes()]);
  listenToPanes(summary.duration);
}

/** Shows the name and the contents of the trace. @param {any} summary */
function entitle(summary) {
  const what = counts(summary);
  byId("name").textContent = summary.name;
  byId("name").title = `${summary.name}: ${what}`;
  document.title = `${summary.name} · Tumit`;
  byId("chart").setAttribute("aria-label", `Space-time diagram of ${summary.name}: ${what}`);
  remarks(summary);
}

/** Shows the reason for an empty diagram, if it is empty. @param {any} summary */
function excuse(summary) {
  const empty = summary.states + summary.events + summary.links + summary.samples === 0;
  if (empty && summary.standing) message("loading", `${summary.standing[0].toUpperCase()}${summary.standing.slice(1)}…`);
  else message(empty ? "empty" : null);
}

/** Shows a newer generation of a trace that is being read or written. @param {any} summary */
async function renewed(summary) {
  entitle(summary);
  inspected = view.chosen;
  forgetPointed();
  await rows();
  excuse(summary);
  tell();
  tellDuration(summary.duration);
  await Promise.all([paintOverview(), refreshPanel(), restore(), showNotes()]);
}

/** @param {any} summary */
function counts(summary) {
  return ["containers", "states", "links", "events", "samples"]
    .filter((name) => summary[name] > 0)
    .map((name) => `${grouped(summary[name])} ${name}`)
    .join(", ");
}

/** Shows the view in words. */
function tell() {
  tellChain().catch(failed);
  tellInterval();
  tellCrumbs();
  tellMeasured();
  paintWindow();
}

/** @param {import("./state/view.js").Change} kind */
function update(kind) {
  if (kind === "place") return;
  tell();
  repaint();
  if (view.chosen !== inspected) {
    inspected = view.chosen;
    // Back and forward change the chosen entity, too.
    restore();
    if (kind === "choice") later(0);
  }
  if (kind === "choice") {
    if (view.measured !== measured) later(0);
    measured = view.measured;
    return;
  }
  forgetPointed();
  if (filters !== filtersOn()) {
    filters = filtersOn();
    forgetFacts();
    over.hops = [];
    if (view.chosen) restore();
  }
  // The image comes first; the panel repeats its requests when the movement pauses.
  if (kind === "time") drop("legend", "statistics", "histogram");
  if (kind === "rows") {
    chart.tell();
    rows().catch(failed);
  } else chart.refresh();
  if (kind !== "time") paintOverview().catch(failed);
  later(kind === "time" ? 120 : 0);
}

/** The filters of the last request. */
let filters = "";
/** @type {[number, number] | null} */
let measured = null;

/** Refreshes the panel when the movement pauses. @param {number} after milliseconds */
function later(after) {
  window.clearTimeout(panelTimer);
  panelTimer = window.setTimeout(() => refreshPanel().catch(failed), after);
}

async function rows() {
  const next = await ask("rows", looks());
  if (!next) return;
  complete(next);
  names(next.rows);
  chart.swap(next, takeScroll());
  showRows();
  arrange.tellRows();
  repaint();
  document.dispatchEvent(new Event("rows"));
}

function controls() {
  listenToInterval();
  listenToPanel();
  listenToLegend();
  listenToChain();
  listenToExport();
  listenToSource((id) => inspectAt(id, true));
  listenToEditor();
  listenToFind();
  listenToTheme();
  listenToPalette();
  listenToKeys();
  listenToEnter();
  fillHelp();
  /** @type {[string, () => void][]} */
  const buttons = [
    ["back", back], ["forward", () => history.forward()], ["in", () => zoom(1 / 1.6)], ["out", () => zoom(1.6)], ["fit", fit],
    ["help", () => byId("sheet").showModal()], ["side", toggleSide],
  ];
  for (const [id, act] of buttons) byId(id).addEventListener("click", act);
  byId("scroller").addEventListener("scroll", () => {
    chart.refresh();
    repaint();
    tellBeside("scroll", String(Math.round(byId("scroller").scrollTop) || "") || null);
  });
  chart.watchErrors(failed);
  document.addEventListener("picture", () => {
    missing(chart.notes());
    // The image may be a kept one, which does not show that the server answers again.
    if (!gone) trouble(null);
    repaint();
  });
  watchGrowth(renewed, answered, failed);
}

/** The server answers. If it did not before, the image is requested again. */
function answered() {
  if (!gone) return;
  gone = false;
  trouble(null);
  chart.refresh();
}

/** Whether the server did not answer. */
let gone = false;

/** The window size of the last request for rows. */
let size = "";

function sizeNow() {
  const { clientWidth, clientHeight } = byId("scroller");
  return `${clientWidth} ${clientHeight}`;
}

/** A small number of rows grows with the window. */
function resized() {
  if (size === sizeNow()) return;
  // The pointer is at another timestamp now.
  if (size.split(" ")[0] !== sizeNow().split(" ")[0]) leave();
  size = sizeNow();
  chart.resize();
  chart.refresh();
  repaint();
  rows().then(paintOverview).catch(failed);
}

/** Repeats the requests that failed. */
function again() {
  // If opening the trace failed, a reload loses nothing.
  if (!byId("chart").dataset.settled) location.reload();
  note("Asking again…");
  rows().then(() => { gone = false; trouble(null); note("The server answers again"); }).catch((error) => { failed(error); note("There is still no answer"); });
}

/** @param {unknown} error */
function failed(error) {
  gone = !(error instanceof Refused);
  const lost = "The server does not answer. Has `tumit view` ended? Start it again and open the address that it prints. What was drawn last stays.";
  trouble(error instanceof Refused ? error.message : lost, again);
}

watchLost(failed);
watchActions(failed);
let busyTimer = 0;
watchBusy((busy) => {
  // Short requests need no sign.
  window.clearTimeout(busyTimer);
  if (busy) busyTimer = window.setTimeout(() => { byId("progress").hidden = false; }, 180);
  else byId("progress").hidden = true;
});
dress();
open().catch(failed);
