// Measures between two timestamps: by Ctrl and a drag, or by `m` at both places. Both snap to a
// nearby begin or end of an entity.

import * as chart from "../view/chart.js";
import { byId, make } from "../util/dom.js";
import { facts } from "../state/facts.js";
import { date, duration } from "../util/format.js";
import { state } from "../view/overlay.js";
import { toWindow } from "../state/rows.js";
import { note } from "../util/status_line.js";
import { changed, keep, show, view } from "../state/view.js";

/** The distance in pixels at which the pointer snaps to an edge. */
const REACH = 8;

/**
 * A timestamp at which a measurement begins or ends; with an entity, the begin or end of it.
 * @typedef {{ time: number, y: number, id: string | null, end: "from" | "to" }} Spot
 */

/** The first of two timestamps, until the second is given. @type {Spot | null} */
let first = null;

/**
 * The begin or end of a measurement at this point.
 * @param {number} x
 * @param {number} y
 * @returns {Spot}
 */
export function snap(x, y) {
  /** @type {Spot} */
  let best = { time: chart.timeAt(x), y, id: null, end: "from" };
  let least = REACH;
  const consider = (/** @type {number} */ at, /** @type {number} */ height, /** @type {string} */ id, /** @type {"from" | "to"} */ end) => {
    const far = Math.abs(at - x);
    if (far < least) {
      least = far;
      best = { time: chart.timeAt(at), y: height, id, end };
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
async function exact(spot) {
  const all = spot.id ? await facts(spot.id, "measure").catch(() => undefined) : undefined;
  return all ? { time: all[spot.end], name: `${spot.end === "from" || all.from === all.to ? "start" : "end"} of ${all.name}, ${all.containers.slice(-1)[0]}` } : { time: Math.round(spot.time), name: "" };
}

/** The names of the ends of the measured time range. @type {[string, string]} */
let names = ["", ""];

/** @param {Spot} from @param {Spot} to */
export async function measure(from, to) {
  first = null;
  state.snap = null;
  const ends = [await exact(from), await exact(to)].sort((a, b) => a.time - b.time);
  names = [ends[0].name, ends[1].name];
  view.measured = [ends[0].time, ends[1].time];
  note("");
  keep();
  changed("choice");
}

/** `m`: sets the first timestamp, then the second. */
export async function measureHere() {
  /** @type {Spot | null} */
  let spot = null;
  if (state.x !== null && state.y !== null) spot = snap(state.x, state.y);
  else if (view.chosen) spot = { time: 0, y: 0, id: view.chosen, end: first && first.id === view.chosen ? "to" : "from" };
  if (!spot) note("Point at the diagram, or choose something, then press m");
  else if (first) await measure(first, spot);
  else {
    first = spot;
    const { time, name } = await exact(spot);
    note(`Measuring from ${date(time, (view.to - view.from) / 10000)}${name ? `, ${name}` : ""}: press m at the other end`, true);
  }
}

export function stopMeasuring() {
  const was = first !== null || view.measured !== null;
  first = null;
  state.snap = null;
  note("");
  if (view.measured) {
    view.measured = null;
    keep();
  }
  if (was) changed("choice");
  return was;
}

/** Shows the measured time range. */
export function tellMeasured() {
  const line = byId("measured");
  line.hidden = view.measured === null;
  if (!view.measured) return;
  const [from, to] = view.measured;
  const resolution = Math.max(1, (to - from) / 1000);
  line.title = names.filter(Boolean).join(" to ");
  line.replaceChildren(
    make("b", { text: duration(to - from) }), ` from ${date(from, resolution)} to ${date(to, resolution)}`,
    make("button", { text: "Zoom", onclick: () => { const edge = (to - from) * 0.1; show(from - edge, to + edge, true); } }),
    make("button", { "aria-label": "Stop measuring", title: "Stop measuring  Esc", text: "×", onclick: stopMeasuring }),
  );
}
