// The zooms that led here, from the whole trace to the current time range. A click returns to one
// of them.

import { byId, make } from "../util/dom.js";
import { formatTimestamp, formatDuration } from "../util/format.js";
import { zoomHistory } from "../state/address.js";
import { view } from "../state/view_state.js";
import { show } from "../state/viewport.js";

let shownZooms = "";

export function showZoomHistory() {
  const zooms = zoomHistory();
  const text = JSON.stringify(zooms);
  if (shownZooms === text) return;
  shownZooms = text;
  byId("zoom-history").replaceChildren(
    ...zooms.map(([from, to], index) => {
      const span = to - from;
      const name = index === 0 ? `All ${formatDuration(span)}` : formatDuration(span);
      const fullName = `${formatTimestamp(from, span / 1000)} to ${formatTimestamp(to, span / 1000)}`;
      const isCurrent = index === zooms.length - 1 && view.from === from && view.to === to;
      return make(
        "li",
        {},
        make("button", {
          text: name,
          title: fullName,
          "aria-label": `${name}: ${fullName}`,
          "aria-current": isCurrent ? "true" : null,
          onclick: () => show(from, to, true),
        }),
      );
    }),
  );
}
