// Outlines around entities of the image.

import * as chart from "./diagram.js";
import { outline } from "./scene.js";
import { pinnedHeight, rowOf, toWindow } from "../state/rows.js";

/**
 * The row of a container; if it is folded away, the row that represents it.
 * @param {number[]} path the container after the containers above
 */
export function shownRow(path) {
  return path
    .map(rowOf)
    .reverse()
    .find((row) => row !== undefined);
}

/** The middle of the states of a row. @param {import("../state/rows.js").Row} row */
export function middleOf(row) {
  const strip = row.strips.find((strip) => strip.kind === "states" || strip.kind === "summary");
  return strip ? strip.y + strip.height / 2 : row.y + row.height / 2;
}

/**
 * Draws an outline around an entity of the image.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./scene.js").Hit} hit
 * @param {[string, number][]} pens
 */
export function drawHitOutline(context, hit, pens) {
  const [a, b, c, d] = hit.box;
  const box = hit.kind === "arrow" ? [a, toWindow(b), c, toWindow(d)] : [a, toWindow(b), c, d];
  context.save();
  if (b >= pinnedHeight()) {
    // The pinned rows hide the outline of scrolled entities.
    context.beginPath();
    context.rect(0, pinnedHeight(), chart.size().width, chart.size().height);
    context.clip();
  }
  for (const [ink, width] of pens) outline(context, { ...hit, box }, ink, width);
  context.restore();
}
