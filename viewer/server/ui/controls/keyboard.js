// Key actions in place of pointing: inspect, highlight related entities, colour.

import { keyTarget } from "./row_actions.js";
import * as chart from "../view/diagram.js";
import { inspectAt, openInspector } from "../panels/inspected_entity.js";
import { byId } from "../util/dom.js";
import { facts } from "../state/facts.js";
import { groupDigits } from "../util/format.js";
import { colorOf } from "../panels/legend_menus.js";
import { overlay } from "../state/overlay_state.js";
import { layout, reveal, rowAt, toWindow } from "../state/rows.js";
import { showNote } from "../util/status_line.js";
import { notifyChange, view } from "../state/view_state.js";

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
export async function inspectAtPointer() {
  if (overlay.x !== null && overlay.y !== null) return inspectAt(overlay.x, overlay.y, rowAt(overlay.y));
  const row = keyTarget();
  if (row) await openInspector(`c${row.id}`);
  else await chooseInRow();
}

/**
 * Chooses an entity in the row that a key acts on, or in the first row that has one: the entity in
 * the middle of the image, or the first one.
 */
async function chooseInRow() {
  const row = keyTarget();
  if (row) reveal(row);
  const { width, height } = chart.size();
  const visibleRows = row
    ? [row]
    : layout.rows.filter((row) => toWindow(row.y + row.height) > 0 && toWindow(row.y) < height);
  for (const row of visibleRows) {
    const strip = row.strips.find(({ kind }) => kind === "states") ?? row.strips[0];
    if (!strip) continue;
    const middle = strip.y + strip.height / 2;
    const atCenter = chart.entityAt(width / 2, toWindow(middle))?.hit;
    const inside = (/** @type {number[]} */ [x, y, boxWidth, boxHeight]) =>
      y <= middle && y + boxHeight >= middle && x + boxWidth > 0 && x < width;
    const first = chart
      .hits()
      .filter((hit) => hit.kind === "rect" && inside(hit.box))
      .sort((a, b) => a.box[0] - b.box[0])[0];
    const id = atCenter?.id ?? first?.id;
    if (id) return openInspector(id);
  }
  // An entity that is too small to be drawn alone needs a zoom.
  if (row) await openInspector(`c${row.id}`);
  else showNote("No entity here is large enough to be selected: zoom in");
}

/**
 * Lights all entities related to the one at the pointer or the chosen one, until another is chosen.
 */
export async function highlightRelated() {
  const entity = await targetFacts();
  if (!entity) return;
  overlay.stickyHighlights = [...entity.related, ...(entity.operation?.parts ?? [])]
    .map((/** @type {any} */ entry) => entry.id)
    .filter((id) => id !== entity.id);
  notifyChange("selection");
  const count = overlay.stickyHighlights.length;
  showNote(
    count ? `${groupDigits(count)} related to ${entity.name}, highlighted` : `No entity is related to ${entity.name}`,
  );
}

/** Offers colours for the value of the entity at the pointer or the chosen one. */
export async function colorAtPointer() {
  const entity = await targetFacts();
  if (!entity) return;
  if (["State", "Event", "Link"].includes(entity.kind)) {
    showNote(`Colour of ${entity.name}: choose one`);
    colorOf(entity.name, entity.types[entity.types.length - 1], menuPosition());
  } else showNote("Only states, events and links have a value with a colour");
}

/** The position of a menu: at the pointer, or at the corner of the diagram. */
function menuPosition() {
  const { left, top } = byId("chart").getBoundingClientRect();
  return new DOMRect(
    left + (overlay.x ?? 0),
    overlay.x === null
      ? Math.max(top, byId("scroller").getBoundingClientRect().top)
      : byId("scroller").getBoundingClientRect().top + (overlay.y ?? 0),
    0,
    0,
  );
}

async function targetFacts() {
  const id = overlay.target ?? view.entity;
  const entity = id ? await facts(id, "reach").catch(() => undefined) : undefined;
  if (!id) showNote("Point at an entity or select one first");
  return entity;
}
