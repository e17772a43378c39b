// Key actions in place of pointing: inspect, light related entities, colour, zoom to a time range.

import { actedOn } from "./row_actions.js";
import * as chart from "../view/chart.js";
import { choose, open } from "../panels/selection.js";
import { byId } from "../util/dom.js";
import { facts } from "../state/facts.js";
import { grouped } from "../util/format.js";
import { colorOf } from "../panels/legend.js";
import { state } from "../view/overlay.js";
import { layout, reveal, rowAt, toWindow } from "../state/rows.js";
import { note } from "../util/status_line.js";
import { changed, show, view } from "../state/view.js";

/** Lets Enter on the diagram choose. */
export function listenToEnter() {
  byId("chart").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    chooseInRow().catch(() => {});
  });
}

/**
 * Opens the inspector on the entity at the pointer; without a pointer, on the row with the focus.
 */
export async function inspectHere() {
  if (state.x !== null && state.y !== null) return choose(state.x, state.y, rowAt(state.y));
  const row = actedOn();
  if (row) await open(`c${row.id}`);
  else await chooseInRow();
}

/**
 * Chooses an entity in the row that a key acts on, or in the first row that has one: the entity in
 * the middle of the image, or the first one.
 */
async function chooseInRow() {
  const row = actedOn();
  if (row) reveal(row);
  const { width, height } = chart.size();
  const seen = row ? [row] : layout.rows.filter((one) => toWindow(one.y + one.height) > 0 && toWindow(one.y) < height);
  for (const one of seen) {
    const strip = one.strips.find(({ kind }) => kind === "states") ?? one.strips[0];
    if (!strip) continue;
    const middle = strip.y + strip.height / 2;
    const there = chart.under(width / 2, toWindow(middle))?.hit;
    const inside = (/** @type {number[]} */ [x, y, wide, tall]) => y <= middle && y + tall >= middle && x + wide > 0 && x < width;
    const first = chart.hits().filter((hit) => hit.kind === "rect" && inside(hit.box)).sort((a, b) => a.box[0] - b.box[0])[0];
    const id = there?.id ?? first?.id;
    if (id) return open(id);
  }
  // An entity that is too small to be drawn alone needs a zoom.
  if (row) await open(`c${row.id}`);
  else note("Nothing here is large enough to be chosen: zoom in");
}

/**
 * Lights all entities related to the one at the pointer or the chosen one, until another is chosen.
 */
export async function lightRelated() {
  const all = await meant();
  if (!all) return;
  state.kept = all.related.map((/** @type {any} */ one) => one.id);
  changed("choice");
  const many = state.kept.length;
  note(many ? `${grouped(many)} related to ${all.name}, lit` : `Nothing is related to ${all.name}`);
}

/** Offers colours for the value of the entity at the pointer or the chosen one. */
export async function colorHere() {
  const all = await meant();
  if (!all) return;
  if (["State", "Event", "Link"].includes(all.kind)) {
    note(`Colour of ${all.name}: choose one`);
    colorOf(all.name, all.types[all.types.length - 1], here());
  }
  else note("Only states, events and links have a value with a colour");
}

/** The position of a menu: at the pointer, or at the corner of the diagram. */
function here() {
  const { left, top } = byId("chart").getBoundingClientRect();
  return new DOMRect(left + (state.x ?? 0), state.x === null ? Math.max(top, byId("scroller").getBoundingClientRect().top) : byId("scroller").getBoundingClientRect().top + (state.y ?? 0), 0, 0);
}

async function meant() {
  const id = state.main ?? view.chosen;
  const all = id ? await facts(id, "reach").catch(() => undefined) : undefined;
  if (!id) note("Point at something, or choose it, first");
  return all;
}

/** Zooms to the measured time range. */
export function zoomToMeasured() {
  if (view.measured) show(view.measured[0], view.measured[1], true);
  else note("Measure the part first: m at one end, m at the other");
}
