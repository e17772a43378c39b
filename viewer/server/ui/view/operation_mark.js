// The mark of a collective operation over the diagram: its parts are outlined, and a line joins the
// times at which they enter. A disc is at the last entry.

import * as chart from "./diagram.js";
import { cssColor } from "../util/dom.js";
import { drawHitOutline, middleOf, shownRow } from "./entity_outline.js";
import { pinnedHeight, toWindow } from "../state/rows.js";

/** Pixels outside of the window at which a line may end: a canvas is inexact far outside of it. */
const MARGIN = 1000;

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("../state/overlay_state.js").Operation} operation
 */
export function drawOperation(context, { parts, last }) {
  const [paper, accent] = [cssColor("--paper"), cssColor("--accent")];
  const hits = chart.findHits(new Set(parts.map((part) => part.id)));
  for (const hit of hits.values())
    drawHitOutline(context, hit, [
      [paper, 4],
      [accent, 1.5],
    ]);
  const points = entryPoints(parts, hits);
  for (const [ink, width] of /** @type {[string, number][]} */ ([
    [paper, 4.5],
    [accent, 1.5],
  ])) {
    context.strokeStyle = ink;
    context.lineWidth = width;
    context.lineJoin = "round";
    context.beginPath();
    for (const [x, y] of points) context.lineTo(x, y);
    context.stroke();
  }
  for (const [x, y] of entryPoints([last], hits)) {
    context.fillStyle = accent;
    context.strokeStyle = paper;
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(x, y, 4.5, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
}

/**
 * The points of the window at which parts enter, from top to bottom. Parts in hidden rows are left
 * out.
 * @param {import("../state/overlay_state.js").OperationPart[]} parts
 * @param {Map<string, import("./scene.js").Hit>} hits those that are in the image
 * @returns {[number, number][]}
 */
function entryPoints(parts, hits) {
  const { width } = chart.size();
  /** @type {[number, number][]} */
  const points = [];
  for (const { id, containers, enter } of parts) {
    const row = shownRow(containers);
    if (!row) continue;
    const box = hits.get(id)?.box;
    const y = toWindow(box ? box[1] + box[3] / 2 : middleOf(row));
    // The pinned rows hide the rows below them.
    if (!row.pinned && y < pinnedHeight()) continue;
    points.push([Math.min(width + MARGIN, Math.max(-MARGIN, chart.xOf(enter))), y]);
  }
  return points.sort((a, b) => a[1] - b[1] || a[0] - b[0]);
}
