// This page as one of several panes: it reports its view to the surrounding page, and follows its
// messages.

import { request, trace } from "../net/api.js";
import { byId } from "../util/dom.js";
import { setCommonWidth, leaveWidthToPanes } from "../view/name_column.js";
import { copyPanelState, watchPanel } from "../panels/side_panel.js";
import { activeFilters, followPane, onChange, setLongestDuration, view } from "../state/view.js";

/** Whether another page contains this one. */
export const inPane = window.parent !== window;

let isFollowing = false;

/** @param {boolean} [followed] whether the move came from the surrounding page */
function reportView(followed = false) {
  if (!isFollowing) window.parent.postMessage({ tumit: "view", followed, from: view.from, to: view.to, hash: location.hash, filters: activeFilters() }, location.origin);
}

/** @param {number} duration of the trace */
export function listenToPanes(duration) {
  if (!inPane) return;
  document.documentElement.dataset.pane = "true";
  window.addEventListener("message", ({ origin, data, source }) => {
    if (origin !== location.origin || source !== window.parent || typeof data?.tumit !== "string") return;
    if (data.tumit === "longest") setLongestDuration(Number(data.duration));
    else if (data.tumit === "show") {
      isFollowing = true;
      followPane(Number(data.from), Number(data.to));
      isFollowing = false;
      reportView(true);
    } else if (data.tumit === "names") setCommonWidth(Number(data.width));
    else if (data.tumit === "side") copyPanelState(Boolean(data.open));
  });
  onChange((kind) => { if (kind === "time" || kind === "selection" || kind === "rows" || kind === "settings") reportView(); });
  window.parent.postMessage({ tumit: "ready", duration }, location.origin);
  const reportPanel = (/** @type {boolean} */ isOpen) => window.parent.postMessage({ tumit: "side", open: isOpen }, location.origin);
  watchPanel(reportPanel);
  if (!byId("panel").hidden) reportPanel(true);
  leaveWidthToPanes((width, userWidth) => window.parent.postMessage({ tumit: "names", width, userWidth }, location.origin));
  document.documentElement.addEventListener("pointerenter", () => window.parent.postMessage({ tumit: "pointed" }, location.origin));
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
  else location.href = `panes.html#${encodeURIComponent(JSON.stringify([0, 1].map(() => ({ trace, hash: location.hash }))))}`;
}
