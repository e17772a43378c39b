// The overlay of a card: the marks of pointed units, the pointed mark, the time cursor, and a node
// that is being moved.

import { cssColor, sizedContext } from "../../util/dom.js";
import { formatTimestamp } from "../../util/format.js";
import { cursorTime } from "../../state/time_cursor.js";
import { isPointed, pointed } from "../../state/pointed_units.js";
import { isOverTime, highlightedBands, highlightedMarks, outlineMark } from "./card_regions.js";

/**
 * @typedef {{ overlay: HTMLCanvasElement, regions: import("./card_regions.js").Region[], top: number,
 * size: { width: number, height: number }, place: import("./card_regions.js").MarkPlace | null,
 * moved: number[] | null, hasOverlay: boolean }} Overlaid
 */

/** The colours of the overlay in the current theme. */
const colors = { theme: "", paper: "", accent: "", ink: "" };

function currentColors() {
  const theme = document.documentElement.dataset.theme ?? "";
  // A computed style is expensive in each frame of play.
  if (colors.theme !== theme)
    Object.assign(colors, { theme, paper: cssColor("--paper"), accent: cssColor("--accent"), ink: cssColor("--ink") });
  return colors;
}

/** @param {Overlaid} tile */
export function paintOverlay(tile) {
  const { overlay, regions, top, size, place, moved } = tile;
  const isEmpty = !place && !moved && pointed.containers.length === 0 && !regions.some(isOverTime);
  // Most cards have an empty overlay during play.
  if (isEmpty && !tile.hasOverlay) return;
  tile.hasOverlay = !isEmpty;
  overlay.style.width = `${size.width}px`;
  overlay.style.height = `${size.height}px`;
  const context = sizedContext(overlay, size.width, size.height);
  if (regions.length === 0) return;
  context.translate(0, -top);
  paintCursor(context, regions);
  const { paper, accent } = currentColors();
  const stroke = (/** @type {() => void} */ path, /** @type {number} */ width) => {
    for (const [color, wide] of /** @type {[string, number][]} */ ([
      [paper, width + 2],
      [accent, width],
    ])) {
      context.strokeStyle = color;
      context.lineWidth = wide;
      path();
      context.stroke();
    }
  };
  for (const [x, y, width, height] of highlightedBands(regions, isPointed))
    stroke(() => {
      context.beginPath();
      context.rect(x, y, width, height);
    }, 1);
  for (const mark of highlightedMarks(regions, isPointed, pointed.pair))
    stroke(() => outlineMark(context, regions, mark), 2);
  if (place && regions[place.region] && place.mark < regions[place.region].marks)
    stroke(() => outlineMark(context, regions, place), 2);
  if (moved)
    stroke(() => {
      context.beginPath();
      context.arc(moved[0], moved[1], moved[2], 0, 7);
    }, 2);
}

/**
 * The line of the time cursor, with the time above it.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./card_regions.js").Region[]} regions
 */
function paintCursor(context, regions) {
  const time = cursorTime();
  for (const {
    kind,
    frame: [left, top, width, height],
    from,
    to,
  } of regions.filter(isOverTime)) {
    if (time < from || time > to) continue;
    const x = left + ((time - from) / Math.max(1, to - from)) * width;
    const { ink, paper } = currentColors();
    context.fillStyle = ink;
    context.fillRect(x - 0.6, top - 4, 1.25, height + 4);
    // The time would cover the low rows of a diagram.
    if (kind === "lanes") continue;
    const text = formatTimestamp(time, (to - from) / 2000);
    context.font = "11px Inter, sans-serif";
    context.textAlign = "left";
    // The time is right of the line, or left of it near the edge.
    const labelWidth = context.measureText(text).width + 6;
    const start = x + 3 + labelWidth <= left + width ? x + 3 : Math.max(left, x - 3 - labelWidth);
    context.fillStyle = paper;
    context.globalAlpha = 0.85;
    context.fillRect(start, top + 2, labelWidth, 15);
    context.globalAlpha = 1;
    context.fillStyle = ink;
    context.fillText(text, start + 3, top + 13);
  }
}
