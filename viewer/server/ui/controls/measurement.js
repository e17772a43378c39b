// Measures between two timestamps: by Ctrl and a drag, or by `m` at both places. Both snap to a
// nearby begin or end of an entity. The result is the time range of the selection.

import * as chart from "../view/diagram.js";
import { byId } from "../util/dom.js";
import { facts } from "../state/facts.js";
import { formatTimestamp } from "../util/format.js";
import { overlay } from "../state/overlay_state.js";
import { toWindow } from "../state/rows.js";
import { showNote } from "../util/status_line.js";
import { clearSelection, select } from "../state/selection.js";
import { view } from "../state/view_state.js";

/** The distance in pixels at which the pointer snaps to an edge, about the precision of a hand. */
const SNAP_DISTANCE = 8;

/**
 * A timestamp at which a measurement begins or ends; with an entity, the begin or end of it.
 * @typedef {{ time: number, y: number, id: string | null, end: "from" | "to" }} SnapPoint
 */

/** The first of two timestamps, until the second is given. @type {SnapPoint | null} */
let start = null;

/**
 * The begin or end of a measurement at this point.
 * @param {number} x
 * @param {number} y
 * @returns {SnapPoint}
 */
export function snap(x, y) {
  /** @type {SnapPoint} */
  let nearest = { time: chart.timeAt(x), y, id: null, end: "from" };
  let leastDistance = SNAP_DISTANCE;
  const considerEdge = (
    /** @type {number} */ edgeX,
    /** @type {number} */ height,
    /** @type {string} */ id,
    /** @type {"from" | "to"} */ endpoint,
  ) => {
    const distance = Math.abs(edgeX - x);
    if (distance < leastDistance) {
      leastDistance = distance;
      nearest = { time: chart.timeAt(edgeX), y: height, id, end: endpoint };
    }
  };
  for (const { kind, id, box } of chart.hits()) {
    const [a, b, c, d] = box;
    if (kind === "rect") {
      const top = toWindow(b);
      if (y < top || y >= top + d) continue;
      considerEdge(a, top + d / 2, id, "from");
      considerEdge(a + c, top + d / 2, id, "to");
    } else if (kind === "mark") {
      if (Math.abs(toWindow(b) - y) < 14) considerEdge(a, toWindow(b), id, "from");
    } else {
      if (Math.abs(toWindow(b) - y) < 10) considerEdge(a, toWindow(b), id, "from");
      if (Math.abs(toWindow(d) - y) < 10) considerEdge(c, toWindow(d), id, "to");
    }
  }
  return nearest;
}

/** The exact timestamp of a point: edges in an image lie on pixels. @param {SnapPoint} point */
async function exactTimestamp(point) {
  const entity = point.id ? await facts(point.id, "measure").catch(() => undefined) : undefined;
  return entity
    ? {
        time: entity[point.end],
        name:
          `${point.end === "from" || entity.from === entity.to ? "start" : "end"} of ` +
          `${entity.name}, ${entity.containers.slice(-1)[0]}`,
      }
    : { time: Math.round(point.time), name: "" };
}

/** @param {SnapPoint} from @param {SnapPoint} to */
export async function setMeasurement(from, to) {
  start = null;
  overlay.snap = null;
  const ends = [await exactTimestamp(from), await exactTimestamp(to)].sort((a, b) => a.time - b.time);
  showNote("");
  select([ends[0].time, ends[1].time], view.selectedRows);
  byId("selected-size").title = [ends[0].name, ends[1].name].filter(Boolean).join(" to ");
}

/** `m`: sets the first timestamp, then the second. */
export async function measureHere() {
  /** @type {SnapPoint | null} */
  let point = null;
  if (overlay.x !== null && overlay.y !== null) point = snap(overlay.x, overlay.y);
  else if (view.entity)
    point = { time: 0, y: 0, id: view.entity, end: start && start.id === view.entity ? "to" : "from" };
  if (!point) showNote("Point at the diagram or select an entity, then press m");
  else if (start) await setMeasurement(start, point);
  else {
    start = point;
    const { time, name } = await exactTimestamp(point);
    showNote(
      `Measuring from ${formatTimestamp(time, (view.to - view.from) / 10000)}${name ? `, ${name}` : ""}: ` +
        "press m at the other end",
      true,
    );
  }
}

/** Ends an unfinished measurement, and removes the selection. Returns whether there was one. */
export function stopSelecting() {
  const wasMeasuring = start !== null;
  start = null;
  overlay.snap = null;
  showNote("");
  return clearSelection() || wasMeasuring;
}
