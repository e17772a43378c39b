// The overlay of the diagram: the line of the pointer, the time range being chosen, the measured
// one, and lit entities.

import * as chart from "./chart.js";
import { byId, color, sized } from "../util/dom.js";
import { outline } from "./scene.js";
import { frozen, rowOf, toWindow } from "../state/rows.js";
import { view } from "../state/view.js";

const over = /** @type {HTMLCanvasElement} */ (byId("chart").querySelector(".over"));

/** The position of the pointer, and the time range being chosen, to zoom to or to measure. */
export const state = {
  /** @type {number | null} */ x: null,
  /** @type {number | null} */ y: null,
  /** The row that is pointed at. @type {number | null} */ row: null,
  /** @type {[number, number] | null} */ choice: null,
  /** Where the pointer would snap to. @type {{ time: number, y: number } | null} */ snap: null,
  /** @type {string[]} */ lit: [],
  /** What stays lit until something else is chosen. @type {string[]} */ kept: [],
  /** The chain of links through what is chosen. @type {Hop[]} */ hops: [],
  /** @type {string | null} */ main: null,
};

/**
 * A link of a chain. `start` and `end` are the containers at its endpoints with their ancestors,
 * the innermost last.
 * @typedef {{ id: string, name: string, from: number, to: number, start: number[], end: number[],
 * ends: [string, string] }} Hop
 */

export function paintOver() {
  const { x, choice, main, snap } = state;
  const lit = [...state.kept, ...state.lit];
  const { width, height } = chart.size();
  const context = sized(over, width, height);
  const accent = color("--accent");
  const line = (/** @type {number} */ at) => context.fillRect(Math.round(at), 0, 1, height);
  if (choice) {
    const [a, b] = choice;
    context.fillStyle = color("--paper");
    context.globalAlpha = 0.6;
    context.fillRect(0, 0, a, height);
    context.fillRect(b, 0, width - b, height);
    context.globalAlpha = 1;
    context.fillStyle = accent;
    line(a);
    line(b);
  }
  if (view.measured && !choice) {
    const [a, b] = view.measured.map(chart.xOf).sort((one, other) => one - other);
    context.fillStyle = color("--accent-soft");
    context.fillRect(a, 0, b - a, height);
    context.fillStyle = accent;
    line(a);
    line(b);
  }
  if (x !== null && !choice) {
    context.fillStyle = color("--ink");
    context.globalAlpha = 0.28;
    line(x);
    context.globalAlpha = 1;
  }
  for (const id of lit) around(context, id, [[color("--paper"), 5], [accent, 2.5]]);
  for (const hop of state.hops) along(context, hop, [[color("--paper"), 4.5], [accent, 2]]);
  if (view.chosen) around(context, view.chosen, [[color("--paper"), 5], [accent, 2.5]]);
  if (main) around(context, main, [[color("--ink"), 2]]);
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
 * Draws a link of a chain, even if the image shows it in a bundle.
 * @param {CanvasRenderingContext2D} context
 * @param {Hop} hop
 * @param {[string, number][]} pens
 */
function along(context, { id, from, to, start, end }, pens) {
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
function around(context, id, pens) {
  const one = chart.find(id);
  if (!one) return;
  const [a, b, c, d] = one.box;
  const box = one.kind === "arrow" ? [a, toWindow(b), c, toWindow(d)] : [a, toWindow(b), c, d];
  context.save();
  if (b >= frozen()) {
    // The pinned rows hide the outline of scrolled entities.
    context.beginPath();
    context.rect(0, frozen(), chart.size().width, chart.size().height);
    context.clip();
  }
  for (const [ink, width] of pens) outline(context, { ...one, box }, ink, width);
  context.restore();
}
