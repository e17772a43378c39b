// Measures between two timestamps: by Ctrl and a drag, or by `m` at both places. Both snap to a
// nearby begin or end of an entity.

import * as chart from "../view/chart.js";
import { byId, make } from "../util/dom.js";
import { facts } from "../state/facts.js";
import { formatTimestamp, formatDuration } from "../util/format.js";
import { overlay } from "../state/overlay_state.js";
import { toWindow } from "../state/rows.js";
import { showNote } from "../util/status_line.js";
import { notifyChange, storeView, show, view } from "../state/view.js";

/** The distance in pixels at which the pointer snaps to an edge. */
const SNAP_DISTANCE = 8;

/**
 * A timestamp at which a measurement begins or ends; with an entity, the begin or end of it.
 * @typedef {{ time: number, y: number, id: string | null, end: "from" | "to" }} Spot
 */

/** The first of two timestamps, until the second is given. @type {Spot | null} */
let start = null;

/**
 * The begin or end of a measurement at this point.
 * @param {number} x
 * @param {number} y
 * @returns {Spot}
 */
export function snap(x, y) {
  /** @type {Spot} */
  let best = { time: chart.timeAt(x), y, id: null, end: "from" };
  let least = SNAP_DISTANCE;
  const consider = (/** @type {number} */ at, /** @type {number} */ height, /** @type {string} */ id, /** @type {"from" | "to"} */ endpoint) => {
    const distance = Math.abs(at - x);
    if (distance < least) {
      least = distance;
      best = { time: chart.timeAt(at), y: height, id, end: endpoint };
    }
  };
  for (const { kind, id, box } of chart.hits()) {
    const [a, b, c, d] = box;
    if (kind === "rect") {
      const top = toWindow(b);
      if (y < top || y >= top + d) continue;
      consider(a, top + d / 2, id, "from");
      consider(a + c, top + d / 2, id, "to");
    } else if (kind === "mark") {
      if (Math.abs(toWindow(b) - y) < 14) consider(a, toWindow(b), id, "from");
    } else {
      if (Math.abs(toWindow(b) - y) < 10) consider(a, toWindow(b), id, "from");
      if (Math.abs(toWindow(d) - y) < 10) consider(c, toWindow(d), id, "to");
    }
  }
  return best;
}

/** The exact timestamp of a spot: edges in an image lie on pixels. @param {Spot} spot */
async function exactTimestamp(spot) {
  const all = spot.id ? await facts(spot.id, "measure").catch(() => undefined) : undefined;
  return all ? { time: all[spot.end], name: `${spot.end === "from" || all.from === all.to ? "start" : "end"} of ${all.name}, ${all.containers.slice(-1)[0]}` } : { time: Math.round(spot.time), name: "" };
}

/** The names of the ends of the measured time range. @type {[string, string]} */
let endNames = ["", ""];

/** @param {Spot} from @param {Spot} to */
export async function setMeasurement(from, to) {
  start = null;
  overlay.snap = null;
  const ends = [await exactTimestamp(from), await exactTimestamp(to)].sort((a, b) => a.time - b.time);
  endNames = [ends[0].name, ends[1].name];
  view.measured = [ends[0].time, ends[1].time];
  showNote("");
  storeView();
  notifyChange("selection");
}

/** `m`: sets the first timestamp, then the second. */
export async function measureHere() {
  /** @type {Spot | null} */
  let spot = null;
  if (overlay.x !== null && overlay.y !== null) spot = snap(overlay.x, overlay.y);
  else if (view.chosen) spot = { time: 0, y: 0, id: view.chosen, end: start && start.id === view.chosen ? "to" : "from" };
  if (!spot) showNote("Point at the diagram or select an entity, then press m");
  else if (start) await setMeasurement(start, spot);
  else {
    start = spot;
    const { time, name } = await exactTimestamp(spot);
    showNote(`Measuring from ${formatTimestamp(time, (view.to - view.from) / 10000)}${name ? `, ${name}` : ""}: press m at the other end`, true);
  }
}

export function stopMeasuring() {
  const hadMeasurement = start !== null || view.measured !== null;
  start = null;
  overlay.snap = null;
  showNote("");
  if (view.measured) {
    view.measured = null;
    storeView();
  }
  if (hadMeasurement) notifyChange("selection");
  return hadMeasurement;
}

/** Shows the measured time range. */
export function showMeasurement() {
  const line = byId("measurement");
  line.hidden = view.measured === null;
  if (!view.measured) return;
  const [from, to] = view.measured;
  const resolution = Math.max(1, (to - from) / 1000);
  line.title = endNames.filter(Boolean).join(" to ");
  line.replaceChildren(
    make("b", { text: formatDuration(to - from) }), ` from ${formatTimestamp(from, resolution)} to ${formatTimestamp(to, resolution)}`,
    make("button", { text: "Zoom", onclick: () => { const edge = (to - from) * 0.1; show(from - edge, to + edge, true); } }),
    make("button", { "aria-label": "Stop measuring", title: "Stop measuring  Esc", text: "×", onclick: stopMeasuring }),
  );
}
