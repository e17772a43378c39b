// The diagram: keeps the last picture, stretches it at once when the view moves, and replaces it when the exact one arrives.

import { ask } from "./api.js";
import { byId, color, density, sized } from "./dom.js";
import { drawScene, hit, mixture, outline } from "./draw.js";
import { ruler } from "./format.js";
import { looks, view } from "./view.js";

/** @type {HTMLElement} */ const chart = byId("chart");
/** @type {HTMLElement} */ const scroller = byId("scroller");
const picture = /** @type {HTMLCanvasElement} */ (chart.querySelector(".picture"));
const over = /** @type {HTMLCanvasElement} */ (chart.querySelector(".over"));

/**
 * The last picture: its pixels, what is in it, and what part of the trace it shows.
 * @type {{ canvas: HTMLCanvasElement, drawn: import("./draw.js").Drawn, from: number, to: number, top: number, bottom: number, width: number, key: string } | null}
 */
let last = null;
let asking = false;
let again = false;
/** Height of all rows. */
let height = 0;
/** @type {(error: unknown) => void} */
let onError = () => {};

/** @param {(error: unknown) => void} handler */
export function watchErrors(handler) {
  onError = handler;
}

/** @param {number} rows height of all rows */
export function setHeight(rows) {
  height = rows;
  byId("rows").style.height = `${rows + 24}px`;
  resize();
}

export function resize() {
  chart.style.height = `${scroller.clientHeight}px`;
  // What stands above the diagram leaves room for its scroll bar.
  const stage = /** @type {HTMLElement} */ (scroller.parentElement);
  stage.style.setProperty("--scroll-bar", `${scroller.offsetWidth - scroller.clientWidth}px`);
}

/** Size of what is seen of the diagram. */
export function size() {
  return { width: Math.max(chart.clientWidth, 1), height: Math.max(scroller.clientHeight, 1) };
}

/** Height of the first row that is seen. */
export function top() {
  return scroller.scrollTop;
}

/** @param {number} x in the diagram */
export function timeAt(x) {
  return view.from + (x / size().width) * (view.to - view.from);
}

/** @param {number} time */
export function xOf(time) {
  return ((time - view.from) / (view.to - view.from)) * size().width;
}

/** Whether the exact picture of the view is shown. */
function settled() {
  return !asking && last !== null && last.key === wanted().key;
}

function wanted() {
  const { width, height: seen } = size();
  // One screen of rows more on either side, so that scrolling finds them drawn.
  const page = Math.max(1, Math.floor(seen / 2));
  const first = Math.max(0, (Math.floor(top() / page) - 1) * page);
  const bottom = Math.min(height, first + 4 * page + seen % page);
  const part = { from: view.from, to: view.to, width, top: first, bottom, resolution: density(), ...looks() };
  return { part, key: JSON.stringify(part) };
}

/** Shows the view: at once what is at hand, then what is true. */
export function refresh() {
  paint();
  fetchPicture();
  tell();
}

/** Says on the element whether the picture is exact: for tests. */
function tell() {
  chart.dataset.settled = String(settled());
}

async function fetchPicture() {
  const { part, key } = wanted();
  if (last?.key === key) return;
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  try {
    const scene = await ask("scene", part);
    if (scene) {
      const canvas = document.createElement("canvas");
      const tall = Math.max(1, part.bottom - part.top);
      const context = sized(canvas, part.width, tall);
      context.translate(0, -part.top);
      const drawn = drawScene(context, scene);
      last = { canvas, drawn, key, ...part };
      document.dispatchEvent(new Event("picture"));
    }
  } catch (error) {
    again = false;
    onError(error);
  } finally {
    asking = false;
  }
  paint();
  if (again || last?.key !== wanted().key) {
    again = false;
    if (last) fetchPicture();
  }
  tell();
}

/** Draws the grid and the last picture, stretched to where it belongs now. */
function paint() {
  const { width, height: seen } = size();
  const context = sized(picture, width, seen);
  context.fillStyle = color("--grid");
  for (const tick of ruler(view.from, view.to, width, 92).ticks) context.fillRect(Math.round(tick.x), 0, 1, Math.min(seen, height - top()));
  const shade = color("--faint");
  if (last) {
    const [x0, x1] = [xOf(last.from), xOf(last.to)];
    context.imageSmoothingEnabled = x1 - x0 !== width;
    context.drawImage(last.canvas, x0, last.top - top(), x1 - x0, last.canvas.height / density());
  }
  // Where the trace has not begun or has ended.
  context.globalAlpha = 0.08;
  context.fillStyle = shade;
  const [start, end] = [xOf(0), xOf(/** @type {any} */ (window).tumitLength ?? view.to)];
  if (start > 0) context.fillRect(0, 0, start, seen);
  if (end < width) context.fillRect(end, 0, width - end, seen);
  context.globalAlpha = 1;
}

/** @param {number} x @param {number} y of the pointer in the diagram's window */
export function under(x, y) {
  if (!last || last.key !== wanted().key) return null;
  const at = y + top();
  const found = hit(last.drawn, x, at);
  return found ? { hit: found } : { mixture: mixture(last.drawn, x, at) };
}

/** What the picture leaves out. */
export function notes() {
  return last?.drawn.notes ?? [];
}

/** @param {string} id */
export function find(id) {
  return last?.drawn.hits.find((one) => one.id === id) ?? null;
}

/**
 * Draws what lies over the picture: the line of the pointer, the part being chosen, what is lit.
 * @param {{ x: number | null, choice: [number, number] | null, lit: string[], main: string | null, chosen: string | null }} state
 */
export function paintOver({ x, choice, lit, main, chosen }) {
  const { width, height: seen } = size();
  const context = sized(over, width, seen);
  const accent = color("--accent");
  if (choice) {
    const [a, b] = choice;
    context.fillStyle = color("--paper");
    context.globalAlpha = 0.6;
    context.fillRect(0, 0, a, seen);
    context.fillRect(b, 0, width - b, seen);
    context.globalAlpha = 1;
    context.fillStyle = accent;
    context.fillRect(a, 0, 1, seen);
    context.fillRect(b, 0, 1, seen);
  }
  if (x !== null && !choice) {
    context.fillStyle = color("--ink");
    context.globalAlpha = 0.28;
    context.fillRect(Math.round(x), 0, 1, seen);
    context.globalAlpha = 1;
  }
  context.save();
  context.translate(0, -top());
  for (const id of lit) {
    const one = find(id);
    if (one) {
      outline(context, one, color("--paper"), 5);
      outline(context, one, accent, 2.5);
    }
  }
  for (const [id, ink] of /** @type {const} */ ([[chosen, accent], [main, color("--ink")]])) {
    const one = id ? find(id) : null;
    if (one) outline(context, one, ink, 2);
  }
  context.restore();
}
