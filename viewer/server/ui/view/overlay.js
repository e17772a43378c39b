// The overlay of the diagram: the line of the pointer, the time range being chosen, the selection,
// and highlighted entities.

import * as chart from "./diagram.js";
import { byId, cssColor, sizedContext } from "../util/dom.js";
import { drawHitOutline, middleOf, shownRow } from "./entity_outline.js";
import { drawOperation } from "./operation_mark.js";
import { outline } from "./scene.js";
import { selectionParts } from "./selection_box.js";
import { toWindow } from "../state/rows.js";
import { overlay } from "../state/overlay_state.js";
import { view } from "../state/view_state.js";

const canvas = /** @type {HTMLCanvasElement} */ (byId("chart").querySelector(".overlay"));

export function paintOverlay() {
  const { x, dragRange, target, snap } = overlay;
  const highlighted = [...overlay.stickyHighlights, ...overlay.highlighted];
  const { width, height } = chart.size();
  const context = sizedContext(canvas, width, height);
  const accent = cssColor("--accent");
  const line = (/** @type {number} */ x) => context.fillRect(Math.round(x), 0, 1, height);
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
  for (const id of highlighted)
    drawOutline(context, id, [
      [cssColor("--paper"), 5],
      [accent, 2.5],
    ]);
  for (const link of [...overlay.chainLinks, ...overlay.messages])
    drawLink(context, link, [
      [cssColor("--paper"), 4.5],
      [accent, 2],
    ]);
  if (overlay.chosenOperation) drawOperation(context, overlay.chosenOperation);
  // Both entities may be parts of one operation.
  if (overlay.pointedOperation && overlay.pointedOperation.last.id !== overlay.chosenOperation?.last.id)
    drawOperation(context, overlay.pointedOperation);
  if (view.entity)
    drawOutline(context, view.entity, [
      [cssColor("--paper"), 5],
      [accent, 2.5],
    ]);
  if (target) drawOutline(context, target, [[cssColor("--ink"), 2]]);
  if (snap) {
    const x = chart.xOf(snap.time);
    context.fillStyle = accent;
    line(x);
    context.strokeStyle = accent;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(x + 0.5, snap.y, 4, 0, 7);
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
    if (hasTime) for (const edge of [x, to]) context.fillRect(Math.round(edge), y, 1, end - y);
    if (hasRows) for (const edge of [y, end - 1]) context.fillRect(x, edge, to - x, 1);
  }
}

/**
 * Draws a link, even if the image shows it in a bundle.
 * @param {CanvasRenderingContext2D} context
 * @param {import("../state/overlay_state.js").LinkArrow} link
 * @param {[string, number][]} pens
 */
function drawLink(context, { id, from, to, start, end }, pens) {
  const [startRow, endRow] = [shownRow(start), shownRow(end)];
  if (!startRow || !endRow) return;
  const [y0, y1] = [toWindow(middleOf(startRow)), toWindow(middleOf(endRow))];
  for (const [ink, width] of pens)
    outline(context, { kind: "arrow", id, color: ink, box: [chart.xOf(from), y0, chart.xOf(to), y1] }, ink, width);
}

/**
 * Draws an outline around an entity, if it is visible.
 * @param {CanvasRenderingContext2D} context
 * @param {string} id
 * @param {[string, number][]} pens
 */
function drawOutline(context, id, pens) {
  const hit = chart.findHit(id);
  if (hit) drawHitOutline(context, hit, pens);
}
