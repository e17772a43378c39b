// This page as one of several panes: it reports its view to the surrounding page, and follows its
// messages.

import { request, trace } from "../net/api.js";
import { byId } from "../util/dom.js";
import { setCommonWidth, leaveWidthToPanes } from "../view/name_column.js";
import { copyPanelState, watchPanel } from "../panels/side_panel.js";
import { select } from "../state/selection.js";
import { activeFilters, onChange, view } from "../state/view_state.js";
import { followPane, setLongestDuration } from "../state/viewport.js";

/** Whether another page contains this one. */
export const inPane = window.parent !== window;

let isFollowing = false;

/** The selected time range of the last report. */
let reportedSelection = "";

/**
 * @param {boolean} [followed] whether the change came from the surrounding page
 * @param {boolean} [isMoving] whether the selection is being moved
 */
function reportView(followed = false, isMoving = false) {
  if (isFollowing) return;
  reportedSelection = String(view.selectedTime);
  window.parent.postMessage(
    {
      tumit: "view",
      followed,
      isMoving,
      from: view.from,
      to: view.to,
      selected: view.selectedTime,
      hash: location.hash,
      filters: activeFilters(),
    },
    location.origin,
  );
}

/** Makes a change that came from the surrounding page. @param {() => void} change */
function follow(change) {
  isFollowing = true;
  change();
  isFollowing = false;
  reportView(true);
}

/** @param {number} duration of the trace */
export function listenToPanes(duration) {
  if (!inPane) return;
  document.documentElement.dataset.pane = "true";
  window.addEventListener("message", ({ origin, data, source }) => {
    if (origin !== location.origin || source !== window.parent || typeof data?.tumit !== "string") return;
    if (data.tumit === "longest") setLongestDuration(Number(data.duration));
    else if (data.tumit === "show") follow(() => followPane(Number(data.from), Number(data.to)));
    else if (data.tumit === "select") follow(() => select(data.time, new Set(), data.isMoving ? "moving" : "follow"));
    else if (data.tumit === "lead") document.documentElement.toggleAttribute("data-leads", Boolean(data.leads));
    else if (data.tumit === "names") setCommonWidth(Number(data.width));
    else if (data.tumit === "side") copyPanelState(Boolean(data.open));
  });
  onChange((kind) => {
    if (kind === "time" || kind === "selection" || kind === "rows" || kind === "settings") reportView();
    else if (kind === "shape" && reportedSelection !== String(view.selectedTime)) reportView(false, true);
  });
  window.parent.postMessage({ tumit: "ready", duration }, location.origin);
  const reportPanel = (/** @type {boolean} */ isOpen) =>
    window.parent.postMessage({ tumit: "side", open: isOpen }, location.origin);
  watchPanel(reportPanel);
  if (!byId("panel").hidden) reportPanel(true);
  leaveWidthToPanes((width, userWidth) =>
    window.parent.postMessage({ tumit: "names", width, userWidth }, location.origin),
  );
  for (const kind of ["pointerenter", "focusin"])
    document.documentElement.addEventListener(kind, () =>
      window.parent.postMessage({ tumit: "pointed" }, location.origin),
    );
  reportView();
}

/** Reports a longer trace to the surrounding page. @param {number} duration */
export function reportDuration(duration) {
  if (inPane) window.parent.postMessage({ tumit: "ready", duration }, location.origin);
}

/** Shows this trace in two panes with separate filters. */
export async function openPane() {
  // The server must answer first: otherwise the page would be left for one that cannot be loaded.
  await request("summary", {}, "split");
  if (inPane) window.parent.postMessage({ tumit: "split", hash: location.hash }, location.origin);
  else {
    const panes = [0, 1].map(() => ({ trace, hash: location.hash }));
    location.href = `panes.html#${encodeURIComponent(JSON.stringify(panes))}`;
  }
}
