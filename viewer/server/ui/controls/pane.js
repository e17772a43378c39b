// This page as one of several panes: it reports its view to the surrounding page, and follows its
// messages.

import { ask } from "../net/api.js";
import { byId } from "../util/dom.js";
import { align, watchNames } from "../view/name_column.js";
import { followSide, watchSide } from "../panels/side_panel.js";
import { filtersOn, follow, onChange, reach, trace, view } from "../state/view.js";

/** Whether another page contains this one. */
export const inPane = window.parent !== window;

let following = false;

/** @param {boolean} [followed] whether the move came from the surrounding page */
function say(followed = false) {
  if (!following) window.parent.postMessage({ tumit: "view", followed, from: view.from, to: view.to, hash: location.hash, filters: filtersOn() }, location.origin);
}

/** @param {number} duration of the trace */
export function listenToPanes(duration) {
  if (!inPane) return;
  document.documentElement.dataset.pane = "true";
  window.addEventListener("message", ({ origin, data, source }) => {
    if (origin !== location.origin || source !== window.parent || typeof data?.tumit !== "string") return;
    if (data.tumit === "reach") reach(Number(data.duration));
    else if (data.tumit === "show") {
      following = true;
      follow(Number(data.from), Number(data.to));
      following = false;
      say(true);
    } else if (data.tumit === "names") align(Number(data.width));
    else if (data.tumit === "side") followSide(Boolean(data.seen));
  });
  onChange((kind) => { if (kind === "time" || kind === "choice" || kind === "rows" || kind === "place") say(); });
  window.parent.postMessage({ tumit: "ready", duration }, location.origin);
  const tellSide = (/** @type {boolean} */ seen) => window.parent.postMessage({ tumit: "side", seen }, location.origin);
  watchSide(tellSide);
  if (!byId("panel").hidden) tellSide(true);
  watchNames((width, hand) => window.parent.postMessage({ tumit: "names", width, hand }, location.origin));
  document.documentElement.addEventListener("pointerenter", () => window.parent.postMessage({ tumit: "pointed" }, location.origin));
  say();
}

/** Reports a longer trace to the surrounding page. @param {number} duration */
export function tellDuration(duration) {
  if (inPane) window.parent.postMessage({ tumit: "ready", duration }, location.origin);
}

/** Shows this trace in two panes, each with its own filters. */
export async function split() {
  // The server must answer first: otherwise the page would be left for one that cannot be loaded.
  await ask("summary", {}, "split");
  if (inPane) window.parent.postMessage({ tumit: "split", hash: location.hash }, location.origin);
  else location.href = `panes.html#${encodeURIComponent(JSON.stringify([0, 1].map(() => ({ trace, hash: location.hash }))))}`;
}
