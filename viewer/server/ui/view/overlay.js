// The overlay of the diagram: the line of the pointer, the time range being chosen, the selection,
// and highlighted entities.

import * as chart from "./chart.js";
import { byId, cssColor, sizedContext } from "../util/dom.js";
import { outline } from "./scene.js";
import { selectionParts } from "./selection_box.js";
import { pinnedHeight, rowOf, toWindow } from "../state/rows.js";
import { overlay } from "../state/overlay_state.js";
import { view } from "../state/view.js";

const canvas = /** @type {HTMLCanvasElement} */ (byId("chart").querySelector(".overlay"));

export function paintOverlay() {
  const { x, dragRange, target, snap } = overlay;
  const highlighted = [...overlay.stickyHighlights, ...overlay.highlighted];
  const { width, height } = chart.size();
  const context = sizedContext(canvas, width, height);
  const accent = cssColor("--accent");
  const line = (/** @type {number} */ at) => context.fillRect(Math.round(at), 0, 1, height);
  if (dragRange) {
    const [a, b] = dragRange;
    context.fillStyle = cssColor("--paper");
    context.globalAlpha = 0.6;
    context.fillRect(0, 0, a, height);
    context.fillRect(b, 0, width - b, height);
    context.globalAlpha = 1;
    context.fillStyle = accent;
    line(a);
    line(b);
  }
  if (!dragRange) drawSelection(context, accent);
  if (x !== null && !dragRange) {
    context.fillStyle = cssColor("--ink");
    context.globalAlpha = 0.28;
    line(x);
    context.globalAlpha = 1;
  }
  for (const id of highlighted) drawOutline(context, id, [[cssColor("--paper"), 5], [accent, 2.5]]);
  for (const link of [...overlay.chainLinks, ...overlay.messages]) drawLink(context, link, [[cssColor("--paper"), 4.5], [accent, 2]]);
  if (view.chosen) drawOutline(context, view.chosen, [[cssColor("--paper"), 5], [accent, 2.5]]);
  if (target) drawOutline(context, target, [[cssColor("--ink"), 2]]);
  if (snap) {
    const at = chart.xOf(snap.time);
    context.fillStyle = accent;
    line(at);
    context.strokeStyle = accent;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(at + 0.5, snap.y, 4, 0, 7);
    context.stroke();
  }
}

/**
 * Tints the selection and draws its border. A selection of all rows has no upper and lower border.
 * @param {CanvasRenderingContext2D} context
 * @param {string} accent
 */
function drawSelection(context, accent) {
  const { width } = chart.size();
  const [hasTime, hasRows] = [view.selectedTime !== null, view.selectedRows.size > 0];
  for (const { left, top, right, bottom } of selectionParts()) {
    const [x, y, to, end] = [Math.max(left, -2), Math.round(top), Math.min(right, width + 2), Math.round(bottom)];
    context.fillStyle = cssColor("--accent-soft");
    context.fillRect(x, y, to - x, end - y);
    context.fillStyle = accent;
    if (hasTime) for (const at of [x, to]) context.fillRect(Math.round(at), y, 1, end - y);
    if (hasRows) for (const at of [y, end - 1]) context.fillRect(x, at, to - x, 1);
  }
}

/**
 * The height in the window of a container's states; if its row is folded away, that of the row that
 * represents it.
 * @param {number[]} path
 */
function heightOf(path) {
  const row = path.map(rowOf).reverse().find((one) => one !== undefined);
  const strip = row?.strips.find((one) => one.kind === "states" || one.kind === "summary");
  return row && toWindow(strip ? strip.y + strip.height / 2 : row.y + row.height / 2);
}

/**
 * Draws a link, even if the image shows it in a bundle.
 * @param {CanvasRenderingContext2D} context
 * @param {import("../state/overlay_state.js").LinkArrow} link
 * @param {[string, number][]} pens
 */
function drawLink(context, { id, from, to, start, end }, pens) {
  const [y0, y1] = [heightOf(start), heightOf(end)];
  if (y0 === undefined || y1 === undefined) return;
  for (const [ink, width] of pens) outline(context, { kind: "arrow", id, color: ink, box: [chart.xOf(from), y0, chart.xOf(to), y1] }, ink, width);
}

/**
 * Draws an outline around an entity, if it is visible.
 * @param {CanvasRenderingContext2D} context
 * @param {string} id
 * @param {[string, number][]} pens
 */
function drawOutline(context, id, pens) {
  const one = chart.findHit(id);
  if (!one) return;
  const [a, b, c, d] = one.box;
  const box = one.kind === "arrow" ? [a, toWindow(b), c, toWindow(d)] : [a, toWindow(b), c, d];
  context.save();
  if (b >= pinnedHeight()) {
    // The pinned rows hide the outline of scrolled entities.
    context.beginPath();
    context.rect(0, pinnedHeight(), chart.size().width, chart.size().height);
    context.clip();
  }
  for (const [ink, width] of pens) outline(context, { ...one, box }, ink, width);
  context.restore();
}
