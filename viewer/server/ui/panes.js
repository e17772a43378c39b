// Several panes on one page: several traces, or one trace in several ways, on one time axis; and a
// table of their differences.

import { request } from "./net/api.js";
import { showDifferences, showProgress } from "./panels/differences.js";
import { byId, joinNames, make } from "./util/dom.js";
import { rangeInWords } from "./util/format.js";
import { openMenu } from "./util/menu.js";
import { applyTheme, watchTheme } from "./controls/theme.js";

/**
 * `selected` is the selected time range, and `isMoving` is true while a drag changes it.
 * `hasReported` is true once the pane has reported its view; `names` is the width of its names.
 * @typedef {{ trace: number, hash: string, frame: HTMLIFrameElement, box: HTMLElement, from:
 * number, to: number, selected: [number, number] | null, isMoving: boolean, filters: string,
 * duration: number, hasReported: boolean, names: number }} Pane
 */

/** @type {Pane[]} */
const panes = [];
/** @type {string[]} */
let traceNames = [];
/**
 * The time range that the user has chosen; without one, all of the longest trace is shown.
 * @type {[number, number] | null}
 */
let commonRange = null;
let timer = 0;
/**
 * Whether panels are open. All panes have the same state, because otherwise their diagrams would
 * differ in width.
 * @type {boolean | null}
 */
let panelsOpen = null;
/** The width of names that the user chose. @type {number | null} */
let userWidth = null;

/** @param {number} trace @param {string} hash */
function addPane(trace, hash) {
  const frame = make("iframe", {
    src: `./index.html?trace=${trace}&pane=1${hash}`,
    title: `${traceNames[trace] ?? "trace"}, pane ${panes.length + 1}`,
  });
  const box = make("div", { class: "pane" }, frame);
  /** @type {Pane} */
  const pane = {
    trace,
    hash,
    frame,
    box,
    from: 0,
    to: 1,
    selected: null,
    isMoving: false,
    filters: "",
    duration: 0,
    hasReported: false,
    names: 0,
  };
  box.append(
    make("button", {
      class: "icon-button pane-close",
      "aria-label": `Close the pane of ${traceNames[trace]}`,
      title: "Close this pane",
      text: "×",
      onclick: () => removePane(pane),
    }),
  );
  panes.push(pane);
  byId("panes").append(box);
  storePanes();
}

/** @param {Pane} pane */
function removePane(pane) {
  panes.splice(panes.indexOf(pane), 1);
  pane.box.remove();
  alignNames();
  if (panes.length === 1) location.href = `./index.html?trace=${panes[0].trace}${panes[0].hash}`;
  storePanes();
  showPaneDifferences();
}

/** Writes all panes to the address, with the state of the table and of the coupling. */
function storePanes() {
  const list = panes.map(({ trace, hash }) => ({ trace, hash }));
  // The names in the address stay, because users save addresses.
  const [table, apart] = [
    !byId("differences-table").hidden,
    !(/** @type {HTMLInputElement} */ (byId("coupled")).checked),
  ];
  history.replaceState(
    null,
    "",
    `#${encodeURIComponent(JSON.stringify(table || apart ? { panes: list, table, apart } : list))}`,
  );
}

window.addEventListener("message", ({ origin, source, data }) => {
  const pane = panes.find((pane) => pane.frame.contentWindow === source);
  if (origin !== location.origin || !pane || typeof data?.tumit !== "string") return;
  if (data.tumit === "ready") {
    pane.duration = data.duration;
    const longest = Math.max(...panes.map((pane) => pane.duration));
    for (const pane of panes)
      pane.frame.contentWindow?.postMessage({ tumit: "longest", duration: longest }, location.origin);
    if (panelsOpen !== null)
      pane.frame.contentWindow?.postMessage({ tumit: "side", open: panelsOpen }, location.origin);
    lead(pointedPane && panes.includes(pointedPane) ? pointedPane : panes[0]);
    // The first pane receives keys until the pointer enters another.
    if (pane === panes[0] && document.activeElement === document.body) pane.frame.focus();
  } else if (data.tumit === "side") {
    panelsOpen = data.open;
    for (const receiver of panes)
      if (receiver !== pane)
        receiver.frame.contentWindow?.postMessage({ tumit: "side", open: panelsOpen }, location.origin);
  } else if (data.tumit === "pointed") {
    lead(pane);
    focusPane(pane);
  } else if (data.tumit === "names") {
    pane.names = data.width;
    if (data.userWidth !== undefined)
      userWidth = data.userWidth === null ? null : Math.min(Math.max(data.userWidth, 90), innerWidth * 0.6);
    alignNames();
  } else if (data.tumit === "split") {
    addPane(pane.trace, data.hash);
  } else if (data.tumit === "view") {
    const moved = !data.followed && (data.from !== pane.from || data.to !== pane.to);
    // A pane that has just opened shows all of its trace, unless the address has a time range.
    const isSelected =
      !data.followed && pane.hasReported && (pane.isMoving || String(data.selected) !== String(pane.selected));
    if (moved && (pane.hasReported || new URLSearchParams(pane.hash.slice(1)).has("t")))
      commonRange = [data.from, data.to];
    Object.assign(pane, {
      from: data.from,
      to: data.to,
      selected: data.selected,
      isMoving: data.isMoving,
      hash: data.hash,
      filters: data.filters,
      hasReported: true,
    });
    const isCoupled = /** @type {HTMLInputElement} */ (byId("coupled")).checked;
    if (moved && isCoupled) moveAllPanes();
    if (isSelected && isCoupled) selectInOtherPanes(pane);
    storePanes();
    window.clearTimeout(timer);
    timer = window.setTimeout(showPaneDifferences, 150);
  }
});

/** Gives the names of all panes one width, so that equal timestamps are below each other. */
function alignNames() {
  const width = userWidth ?? Math.max(...panes.map((pane) => pane.names));
  for (const pane of panes) pane.frame.contentWindow?.postMessage({ tumit: "names", width }, location.origin);
}

/** Whether the user is typing or choosing in a pane. @param {Pane} pane */
function isBusy(pane) {
  const page = pane.frame.contentDocument;
  return Boolean(
    page?.activeElement?.closest("input, textarea, select, dialog, [role=menu]") ?? page?.querySelector("dialog[open]"),
  );
}

/** Gives the keys to the pane at the pointer, unless the user is typing. @param {Pane} pane */
function focusPane(pane) {
  // A click may have moved the focus before this message arrived.
  if (pane.frame.contentDocument?.hasFocus()) return;
  const focused = panes.find((pane) => pane.frame === document.activeElement);
  if (focused !== pane && (focused ? !isBusy(focused) : document.activeElement === document.body)) pane.frame.focus();
}

/**
 * Passes keys without a use in the surrounding page to one of the panes.
 * @param {KeyboardEvent} event
 */
function forwardKey(event) {
  const isForPanes = (event.key.length === 1 && event.key !== " ") || event.key === "Escape";
  if (
    !isForPanes ||
    event.defaultPrevented ||
    /** @type {HTMLElement} */ (event.target).closest("input[type=text], [role=menu]")
  )
    return;
  const pane = pointedPane && panes.includes(pointedPane) ? pointedPane : panes[0];
  pane?.frame.focus();
  if (!pane?.frame.contentDocument?.body.dispatchEvent(new KeyboardEvent("keydown", event))) event.preventDefault();
}

/** The pane that had the pointer last. @type {Pane | null} */
let pointedPane = null;

/** Moves all panes to one time range. */
function moveAllPanes() {
  const [from, to] = commonRange ?? [0, Math.max(...panes.map((pane) => pane.duration))];
  for (const pane of panes) {
    if (!pane.hasReported || (pane.from === from && pane.to === to)) continue;
    Object.assign(pane, { from, to });
    pane.frame.contentWindow?.postMessage({ tumit: "show", from, to }, location.origin);
  }
}

/**
 * Shows the selected time range of a pane in the others. Rows stay selected only in that pane.
 * @param {Pane} pane
 */
function selectInOtherPanes(pane) {
  const { selected: time, isMoving } = pane;
  for (const changedPane of panes) {
    if (changedPane === pane || !changedPane.hasReported) continue;
    changedPane.selected = time;
    changedPane.frame.contentWindow?.postMessage({ tumit: "select", time, isMoving }, location.origin);
  }
}

/**
 * Shows the toolbar of the selection in one pane.
 * @param {Pane} pane that of the pointer or the keyboard
 */
function lead(pane) {
  pointedPane = pane;
  for (const receiver of panes)
    receiver.frame.contentWindow?.postMessage({ tumit: "lead", leads: receiver === pane }, location.origin);
}

/** Counts requests, so that a late answer for an earlier time range is ignored. */
let requestCount = 0;

/** Shows the statistics of the first two panes and their differences. */
async function showPaneDifferences() {
  const box = byId("differences-table");
  if (box.hidden || panes.length < 2) return;
  const requestNumber = ++requestCount;
  const theme = document.documentElement.dataset.theme ?? "light";
  const compared = panes.slice(0, 2);
  /** The progress of each answer. @type {Record<string, number>} */
  const progress = {};
  const answers = await Promise.all(
    compared.map(async (pane, index) => {
      const { trace, filters } = pane;
      const [from, to] = comparisonRange(pane);
      const [times, totals] = await Promise.all(
        ["times", "totals"].map((route) =>
          request(route, { trace, from, to, filters, theme }, `${route} of ${index}`, ({ done }) => {
            progress[route + index] = done;
            if (requestNumber === requestCount) showProgress(box, Math.min(...Object.values(progress)));
          }).catch(() => null),
        ),
      );
      return { types: times?.types ?? [], rows: totals?.rows ?? [], failed: times === null || totals === null };
    }),
  );
  if (requestNumber !== requestCount) return;
  const secondName = compared[1].trace === compared[0].trace ? "other pane" : traceNames[compared[1].trace];
  showDifferences(
    box,
    [traceNames[compared[0].trace], secondName],
    answers,
    [...new Set(compared.map(describeComparedRange))].join("; "),
  );
}

/**
 * The time range that is compared: the selected one, or the visible one.
 * @param {Pane} pane
 * @returns {[number, number]}
 */
function comparisonRange({ from, to, selected }) {
  return selected ?? [from, to];
}

/** @param {Pane} pane */
function describeComparedRange(pane) {
  return `${pane.selected ? "selected" : "visible"} time range ${rangeInWords(...comparisonRange(pane))}`;
}

async function openPanes() {
  applyTheme();
  watchTheme(showPaneDifferences);
  const summary = await (await fetch("api/summary")).json();
  traceNames = summary.names.map((/** @type {string} */ name, /** @type {number} */ index) =>
    summary.names.indexOf(name) < index ? `${name} (${index + 1})` : name,
  );
  byId("name").textContent = joinNames(traceNames, " · ");
  document.title = `${traceNames.join(", ")} · Tumit`;
  /** @type {any} */ let address = null;
  try {
    address = JSON.parse(decodeURIComponent(location.hash.slice(1)));
  } catch {
    // The address contains no panes: each trace gets one.
  }
  const { table, apart } = address ?? {};
  address = address?.panes ?? address;
  const hasPanes = Array.isArray(address) && address.length > 1;
  const initialPanes = hasPanes ? address : traceNames.map((_, trace) => ({ trace, hash: "" }));
  // A pane without a hash in the address is plain: it does not take the arrangement that its trace
  // had in another.
  byId("coupled").checked = !apart;
  byId("differences-table").hidden = !table;
  byId("differences").setAttribute("aria-expanded", String(Boolean(table)));
  for (const { trace, hash } of initialPanes.slice(0, 8))
    if (traceNames[trace] !== undefined) addPane(trace, /^#[^"<>]+$/.test(hash) ? hash : hasPanes ? "#plain" : "");
  byId("add-pane").addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const anchor = /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect();
    openMenu(
      "Add a pane",
      anchor,
      traceNames.map((name, trace) => ({ name, act: () => addPane(trace, "") })),
    );
  });
  byId("differences").addEventListener("click", () => {
    byId("differences-table").hidden = !byId("differences-table").hidden;
    byId("differences").setAttribute("aria-expanded", String(!byId("differences-table").hidden));
    storePanes();
    showPaneDifferences();
  });
  byId("coupled").addEventListener("change", () => {
    // Moves all panes to the time range of the one that was moved last.
    if (/** @type {HTMLInputElement} */ (byId("coupled")).checked) moveAllPanes();
    storePanes();
  });
  document.addEventListener("keydown", forwardKey);
}

openPanes();
