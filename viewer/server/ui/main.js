// Puts the page together: opens the trace, and passes every change of the view to the modules that
// show it.

import { listenToKeys, watchActions } from "./controls/actions.js";
import { request, cancel, RefusedError, watchBusy, watchNoAnswer } from "./net/api.js";
import * as rowActions from "./controls/row_actions.js";
import * as chart from "./view/diagram.js";
import { listenToChain, offerFilters, showChain } from "./panels/filter_chain.js";
import { goTo, openInspector, restoreInspected } from "./panels/inspected_entity.js";
import { setClock } from "./view/time_of_day.js";
import { showZoomHistory } from "./view/zoom_history.js";
import { byId } from "./util/dom.js";
import { listenToEdge, fitNames } from "./view/name_column.js";
import { listenToEditor } from "./panels/filter_editor.js";
import { listenToExport } from "./controls/export.js";
import { clearFacts } from "./state/facts.js";
import { listenToSearch, restoreSearch, refreshSearch } from "./panels/search.js";
import { groupDigits, setOrigin } from "./util/format.js";
import { listenToDiagram } from "./controls/gestures.js";
import { showProgress, watchProgress } from "./view/reading_progress.js";
import { fillHelp } from "./controls/help.js";
import { listenToTimeRange, showTimeRange } from "./controls/time_range_field.js";
import { listenToLegend, showLegend } from "./panels/legend.js";
import { listenToSelection, showSelectMode, zoomToSelection } from "./controls/selection_actions.js";
import { listenToSelectionEdges } from "./controls/selection_drag.js";
import { listenToSelectionKeys } from "./controls/selection_keys.js";
import { initialRows, saveChanges, traceIdentity } from "./state/saved_view.js";
import { showMessage, showDiagnostics, showError } from "./view/message.js";
import { listenToPalette } from "./controls/command_palette.js";
import { listenToPanel, refreshPanel, restorePanel, setPanelOpen, togglePanel } from "./panels/side_panel.js";
import { overlay } from "./state/overlay_state.js";
import { clearPointed, leaveDiagram, repaint } from "./controls/pointer.js";
import { showNotes } from "./panels/notes.js";
import { restoreForm, showStatistics } from "./panels/statistics.js";
import { listenToCursorLine, placeCursorLine } from "./view/cursor_line.js";
import { listenToDock, refreshDock, restoreDock } from "./dock/dock.js";
import { listenToModes, prepareMode } from "./dock/diagram_mode.js";
import { inPane, listenToPanes, reportDuration } from "./controls/pane.js";
import { listenToEnter } from "./controls/keyboard.js";
import { addDefaults } from "./state/rows.js";
import { listenToSource, restoreSource } from "./panels/source_file.js";
import { showImageNotes, showNote } from "./util/status_line.js";
import "./state/undo.js";
import { applyTheme, listenToTheme } from "./controls/theme.js";
import { listenToMinimap, paintOverview, paintWindow } from "./view/timeline.js";
import { placeSelection } from "./view/selection_box.js";
import { selectionKey } from "./state/selection.js";
import { showRows, showSelectedRows } from "./view/tree.js";
import { setSetting, showPreviousView, startView, takeScroll, watchSettings } from "./state/address.js";
import { activeFilters, activeMode, imageParameters, onChange, view } from "./state/view_state.js";
import { zoom } from "./state/viewport.js";

let panelTimer = 0;
/** The entity that the inspector shows. @type {string | null} */
let inspectedId = null;

async function openTrace() {
  showMessage("loading");
  const summary = await request("summary");
  setOrigin(summary.origin);
  setClock(summary.clock);
  const trace = traceIdentity(summary);
  saveChanges(trace, Boolean(summary.availability));
  startView(summary.duration, await initialRows(trace, summary), summary.generation);
  byId("version").textContent = `Tumit ${summary.version}.`;
  showProgress(summary);
  showTitle(summary);
  await document.fonts.ready;
  onChange((kind) => updatePage(kind));
  listenToDiagram();
  listenToMinimap();
  rowActions.listenToRows(openInspector);
  listenToEdge(
    () => {
      chart.refresh();
      repaint();
      paintOverview().catch(reportError);
    },
    () => refreshRows().catch(reportError),
  );
  listenToControls();
  // The chain takes height from the rows, so that their scroll position fits only after it.
  showChain().catch(reportError);
  windowSize = currentWindowSize();
  await prepareMode();
  contentsBefore = shownContents();
  await refreshRows();
  // The observer also reports the first size.
  new ResizeObserver(updateWindowSize).observe(byId("scroller"));
  showEmptiness(summary);
  // In a narrow window the panel lies over the diagram.
  if (inPane || innerWidth <= 900) setPanelOpen(false);
  showView();
  offerFilters(summary.saved_filters);
  watchSettings(() => {
    restorePanel().catch(reportError);
    restoreSource().catch(reportError);
    restoreDock().catch(reportError);
  });
  await Promise.all([
    paintOverview(),
    restorePanel(),
    restoreInspected().then(restoreSource),
    showNotes(),
    restoreDock(),
  ]);
  listenToPanes(summary.duration);
}

/** Shows the name and the contents of the trace. @param {any} summary */
function showTitle(summary) {
  const contents = countsText(summary);
  byId("name").textContent = summary.name;
  byId("name").title = `${summary.name}: ${contents}`;
  document.title = `${summary.name} · Tumit`;
  byId("chart").setAttribute("aria-label", `Space-time diagram of ${summary.name}: ${contents}`);
  showDiagnostics(summary);
}

/** Shows the reason for an empty diagram, if it is empty. @param {any} summary */
function showEmptiness(summary) {
  const empty = summary.states + summary.events + summary.links + summary.samples === 0;
  if (empty && summary.availability)
    showMessage("loading", `${summary.availability[0].toUpperCase()}${summary.availability.slice(1)}…`);
  else showMessage(empty ? "empty" : null);
}

/** Shows a newer generation of a trace that is being read or written. @param {any} summary */
async function showGeneration(summary) {
  showTitle(summary);
  inspectedId = view.entity;
  clearPointed();
  await refreshRows();
  showEmptiness(summary);
  showView();
  reportDuration(summary.duration);
  await Promise.all([paintOverview(), refreshPanel(), restoreInspected(), showNotes(), refreshDock()]);
}

/** @param {any} summary */
function countsText(summary) {
  return ["containers", "states", "links", "events", "samples"]
    .filter((name) => summary[name] > 0)
    .map((name) => `${groupDigits(summary[name])} ${name}`)
    .join(", ");
}

/** Shows the view in words. */
function showView() {
  showChain().catch(reportError);
  showTimeRange();
  showZoomHistory();
  showSelection();
  placeCursorLine();
}

function showSelection() {
  showSelectMode();
  placeSelection();
  paintWindow();
  showSelectedRows();
}

/** @param {import("./state/view_state.js").Change} kind */
function updatePage(kind) {
  if (kind === "settings") return;
  if (kind === "shape") {
    showSelection();
    repaint();
    return;
  }
  showView();
  repaint();
  if (view.entity !== inspectedId) {
    inspectedId = view.entity;
    // Back and forward change the chosen entity, too.
    restoreInspected();
    if (kind === "selection") refreshPanelLater(0);
  }
  // The critical path is that of the selected time range.
  const hasNewImage = kind === "selection" && contentsBefore !== shownContents();
  if (kind === "selection" && !hasNewImage) {
    if (selectionKey() !== shownSelection) {
      shownSelection = selectionKey();
      refreshPanelLater(0);
      refreshDock().catch(reportError);
    }
    return;
  }
  shownSelection = selectionKey();
  clearPointed();
  if (contentsBefore !== shownContents()) {
    contentsBefore = shownContents();
    clearFacts();
    overlay.chainLinks = [];
    if (view.entity) restoreInspected();
  }
  // The image comes first; the panel repeats its requests when the movement pauses.
  if (kind === "time") cancel("legend", "statistics", "histogram");
  if (kind === "rows" || hasNewImage) {
    chart.publishState();
    refreshRows().catch(reportError);
  } else chart.refresh();
  if (kind !== "time") paintOverview().catch(reportError);
  refreshPanelLater(kind === "time" ? 120 : 0);
  refreshDock().catch(reportError);
}

/** The filters and the mode of the last request, which determine the entities. */
let contentsBefore = "";
const shownContents = () => `${activeFilters()} ${activeMode()}`;
/** The selection that the panel and the dock show. */
let shownSelection = "";

/** Refreshes the panel when the movement pauses. @param {number} after milliseconds */
function refreshPanelLater(after) {
  window.clearTimeout(panelTimer);
  panelTimer = window.setTimeout(() => refreshPanel().catch(reportError), after);
}

async function refreshRows() {
  const next = await request("rows", imageParameters());
  if (!next) return;
  addDefaults(next);
  fitNames(next.rows);
  chart.setLayout(next, takeScroll());
  showRows();
  rowActions.showRowCounts();
  repaint();
  document.dispatchEvent(new Event("rows"));
}

function listenToControls() {
  listenToTimeRange();
  listenToPanel({
    legend: { show: showLegend },
    times: { show: showStatistics, restore: restoreForm },
    notes: { show: showNotes },
    find: { show: refreshSearch, restore: restoreSearch },
  });
  listenToLegend();
  listenToDock();
  listenToModes();
  listenToSelection();
  listenToSelectionEdges();
  listenToSelectionKeys();
  listenToCursorLine();
  listenToChain();
  listenToExport();
  listenToSource((id) => goTo(id, true));
  listenToEditor();
  listenToSearch();
  listenToTheme();
  listenToPalette();
  listenToKeys();
  listenToEnter();
  fillHelp();
  /** @type {[string, () => void][]} */
  const buttons = [
    ["back", showPreviousView],
    ["forward", () => history.forward()],
    ["zoom-in", () => zoom(1 / 1.6)],
    ["zoom-out", () => zoom(1.6)],
    ["fit", zoomToSelection],
    ["help", () => byId("help-sheet").showModal()],
    ["panel-toggle", togglePanel],
  ];
  for (const [id, act] of buttons) byId(id).addEventListener("click", act);
  byId("scroller").addEventListener("scroll", () => {
    chart.refresh();
    repaint();
    setSetting("scroll", String(Math.round(byId("scroller").scrollTop) || "") || null);
  });
  chart.watchErrors(reportError);
  document.addEventListener("image", () => {
    showImageNotes(chart.imageNotes());
    // The image may be a kept one, which does not show that the server answers again.
    if (!isUnreachable) showError(null);
    repaint();
  });
  watchProgress(showGeneration, resume, reportError);
}

/** Called when the server answers. If it did not answer before, requests the image again. */
function resume() {
  if (!isUnreachable) return;
  isUnreachable = false;
  showError(null);
  chart.refresh();
}

/** Whether the server did not answer. */
let isUnreachable = false;

/** The window size of the last request for rows. */
let windowSize = "";

function currentWindowSize() {
  const { clientWidth, clientHeight } = byId("scroller");
  return `${clientWidth} ${clientHeight}`;
}

/** A small number of rows grows with the window. */
function updateWindowSize() {
  if (windowSize === currentWindowSize()) return;
  // The pointer is at another timestamp now.
  if (windowSize.split(" ")[0] !== currentWindowSize().split(" ")[0]) leaveDiagram();
  windowSize = currentWindowSize();
  chart.resize();
  chart.refresh();
  repaint();
  placeCursorLine();
  refreshRows().then(paintOverview).catch(reportError);
}

/** Repeats the requests that failed. */
function retry() {
  // If opening the trace failed, a reload loses nothing.
  if (!byId("chart").dataset.settled) location.reload();
  showNote("Requesting again…");
  refreshRows()
    .then(() => {
      isUnreachable = false;
      showError(null);
      showNote("The server answers again");
    })
    .catch((error) => {
      reportError(error);
      showNote("There is still no answer");
    });
}

/** @param {unknown} error */
function reportError(error) {
  isUnreachable = !(error instanceof RefusedError);
  const unreachable =
    "The server does not answer. Has `tumit view` ended? Start it again and open the address that it prints. The " +
    "last image stays.";
  showError(error instanceof RefusedError ? error.message : unreachable, retry);
}

watchNoAnswer(reportError);
watchActions(reportError);
let busyTimer = 0;
watchBusy((busy) => {
  // Short requests need no sign.
  window.clearTimeout(busyTimer);
  if (busy)
    busyTimer = window.setTimeout(() => {
      byId("progress").hidden = false;
    }, 180);
  else byId("progress").hidden = true;
});
applyTheme();
openTrace().catch(reportError);
