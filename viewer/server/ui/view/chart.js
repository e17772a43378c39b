// The diagram. It keeps the last images, stretches them at once when the view moves, and replaces
// them when the exact one arrives.

import { ask, drop } from "../net/api.js";
import { byId, color, density, sized } from "../util/dom.js";
import { drawArrow, drawScene, hit, mixture } from "./scene.js";
import { timeAxis } from "./clock.js";
import { frozen, layout, setRows, toRows, toWindow, top } from "../state/rows.js";
import { length, looks, view } from "../state/view.js";

/** @type {HTMLElement} */ const chart = byId("chart");
/** @type {HTMLElement} */ const scroller = byId("scroller");
const canvas = /** @type {HTMLCanvasElement} */ (chart.querySelector(".picture"));

/**
 * An image of the diagram: its pixels, its entities, and the time range and rows that it shows.
 * Pinned rows are on a canvas of their own.
 * @typedef {{ canvas: HTMLCanvasElement, pinned: HTMLCanvasElement | null, drawn:
 * import("./scene.js").Drawn, from: number, to: number, top: number,   bottom: number, width:
 * number, key: string, looks: string, coarse: boolean }} Picture
 */

/**
 * Milliseconds without a change, after which finer images and those of the rows above and below are
 * requested.
 */
const REST = 40;
/**
 * Consecutive images that may be dropped for newer ones. More would leave nothing to see during a
 * long movement.
 */
const DROPPED = 2;
/** Pixels of all images that are kept, so that the target of a zoom or pan is seldom blank. */
const KEPT = 24e6;

/** The kept images; the last element is the one shown last. @type {Picture[]} */
let pictures = [];
let asking = false;
/** The key of the image that is being requested. */
let asked = "";
let again = false;
let dropped = 0;
let rest = 0;
/** Whether the rows have arrived. */
let ready = false;
/** @type {(error: unknown) => void} */
let onError = () => {};

/** @param {(error: unknown) => void} handler */
export function watchErrors(handler) {
  onError = handler;
}

export function resize() {
  chart.style.height = `${scroller.clientHeight}px`;
  // The ruler and the overview above the diagram leave room for its scroll bar.
  const stage = /** @type {HTMLElement} */ (scroller.closest(".stage"));
  stage.style.setProperty("--scroll-bar", `${scroller.offsetWidth - scroller.clientWidth}px`);
}

/** The size of the visible part of the diagram, in CSS pixels. */
export function size() {
  return { width: Math.max(chart.clientWidth, 1), height: Math.max(scroller.clientHeight, 1) };
}

/** @param {number} x in the diagram */
export function timeAt(x) {
  return view.from + (x / size().width) * (view.to - view.from);
}

/** @param {number} time */
export function xOf(time) {
  return ((time - view.from) / (view.to - view.from)) * size().width;
}

/**
 * The request for the rows from the height `first` on. It covers the visible height and a quarter
 * more, so that small steps need no new image.
 * @param {number} first
 */
function rowsFrom(first) {
  const { width, height: seen } = size();
  const bottom = Math.min(layout.height, first + seen + quarter());
  const look = looks();
  const part = { from: view.from, to: view.to, width, top: first, bottom, resolution: density(), ...look };
  return { part, key: JSON.stringify(part), looks: JSON.stringify([look, width]) };
}

function quarter() {
  return Math.max(1, Math.floor(size().height / 4));
}

function wanted() {
  return rowsFrom(Math.max(0, Math.floor(top() / quarter())) * quarter());
}

/** The image shown last, if it is exactly that of the view; otherwise null. */
function exact() {
  const last = pictures[pictures.length - 1];
  return last?.key === wanted().key ? last : null;
}

/** Shows the view: at once the images at hand, then the exact one. */
export function refresh() {
  if (!ready) return;
  const { key } = wanted();
  const known = pictures.findIndex((one) => one.key === key);
  if (known >= 0 && known < pictures.length - 1) {
    pictures.push(...pictures.splice(known, 1));
    document.dispatchEvent(new Event("picture"));
  }
  paint();
  fetchPicture();
  tell();
}

/** Writes to the element whether the image is exact and has full resolution. Tests read it. */
export function tell() {
  const picture = ready && !asking ? exact() : null;
  chart.dataset.settled = picture?.coarse ? "coarse" : String(picture !== null);
}

/**
 * Shows other rows. The drawing of each row moves with it at once; the exact image follows.
 * @param {import("../state/rows.js").Rows} next
 * @param {number | null} [scroll] the new scroll position of the rows
 */
export function swap(next, scroll = null) {
  const before = layout;
  setRows(next);
  ready = true;
  byId("rows").style.height = `${next.height + 24}px`;
  resize();
  if (scroll !== null) scroller.scrollTop = scroll;
  const last = pictures[pictures.length - 1];
  if (last && last.looks !== wanted().looks) pictures.push(rearranged(last, before));
  refresh();
}

/**
 * The former position of a row's contents: its own row; the rows below it if it is folded now; the
 * folded row above if that is unfolded now.
 * @param {import("../state/rows.js").Row} row
 * @param {import("../state/rows.js").Rows} before
 */
function stoodAt(row, before) {
  const was = before.rows.find((one) => one.id === row.id);
  if (was?.folded === row.folded) return was;
  if (!was) return before.rows.find((one) => one.folded && row.above.includes(one.id));
  if (was.folded) return undefined;
  const below = before.rows.filter((one) => one.above.includes(row.id) && one.pinned === was.pinned);
  const last = below[below.length - 1];
  return last && { y: below[0].y, height: last.y + last.height - below[0].y, pinned: was.pinned };
}

/**
 * An image cut into its rows, each at the present position of its container.
 * @param {Picture} old
 * @param {import("../state/rows.js").Rows} before
 * @returns {Picture}
 */
function rearranged(old, before) {
  const { part, looks } = wanted();
  const canvas = document.createElement("canvas");
  const context = sized(canvas, part.width, Math.max(1, part.bottom - part.top));
  const pinned = layout.pinned > 0 ? document.createElement("canvas") : null;
  const above = pinned && sized(pinned, part.width, layout.pinned);
  for (const row of layout.rows) {
    if (!row.pinned && (row.y > part.bottom || row.y + row.height < part.top)) continue;
    const [from, to] = [stoodAt(row, before), row.pinned ? above : context];
    const source = from?.pinned ? old.pinned : old.canvas;
    const y = from ? from.y - (from.pinned ? 0 : old.top) : -1;
    if (!from || !source || !to || y < 0) continue;
    // Contents that only resemble those of the row are pale until the exact image comes.
    to.globalAlpha = "id" in from && from.id === row.id ? 1 : 0.5;
    to.drawImage(source, 0, y * density(), source.width, from.height * density(), 0, row.pinned ? row.y : row.y - part.top, part.width, row.height);
  }
  return { ...old, canvas, pinned, looks, key: "", top: part.top, bottom: part.bottom, drawn: { hits: [], cells: [], arrows: [], notes: [] } };
}

async function fetchPicture() {
  const { part, key, looks } = wanted();
  clearTimeout(rest);
  if (pictures.some((one) => one.key === key)) {
    rest = setTimeout(complete, REST);
    return;
  }
  if (asking) {
    again = true;
    if (dropped < DROPPED && key !== asked) {
      dropped += 1;
      drop("scene");
    }
    return;
  }
  asking = true;
  asked = key;
  let failed = false;
  try {
    const picture = await load({ part, key, looks });
    if (picture) {
      dropped = 0;
      pictures.push(picture);
      forget(looks);
      document.dispatchEvent(new Event("picture"));
    }
  } catch (error) {
    failed = true;
    onError(error);
  } finally {
    asking = false;
  }
  if (!failed && (again || !exact())) {
    again = false;
    // Rows that changed in the meantime may have put another image after the exact one.
    refresh();
    return;
  }
  paint();
  tell();
  rest = setTimeout(complete, REST);
}

/**
 * Loads an image. Returns null if a newer one was requested or the rows changed in the meantime.
 * @param {ReturnType<typeof rowsFrom>} of
 * @param {boolean} [whole] each column of pixels by itself, regardless of the number of bytes
 * @returns {Promise<Picture | null>}
 */
async function load({ part, key, looks }, whole = false) {
  const { pinned } = layout;
  const scene = await ask("scene", whole ? { ...part, whole } : part);
  if (!scene || looks !== wanted().looks) return null;
  return { ...part, ...draw(scene, part, pinned), key, looks, coarse: !scene.isWhole };
}

/**
 * Runs when the view has come to rest. Loads the full resolution, then the rows above and below.
 */
async function complete() {
  const now = exact();
  if (!now || asking) return;
  try {
    if (now.coarse) {
      const finer = await load(wanted(), true);
      const at = pictures.indexOf(now);
      if (!finer || at < 0) return;
      pictures[at] = finer;
      document.dispatchEvent(new Event("picture"));
      paint();
      tell();
    }
    const screen = 4 * quarter();
    for (const at of [now.top - screen, now.top + screen]) {
      if (asking || exact()?.key !== now.key) return;
      const beside = rowsFrom(Math.max(0, at));
      if (at <= -screen || at >= layout.height) continue;
      if (pictures.some((one) => one.key === beside.key)) continue;
      const picture = await load(beside, true);
      if (!picture) return;
      // The shown image stays the last element.
      pictures.splice(pictures.length - 1, 0, picture);
      forget(picture.looks);
      paint();
    }
  } catch (error) {
    onError(error);
  }
}

/**
 * @param {any} scene
 * @param {{ width: number, top: number, bottom: number }} part
 * @param {number} pinned
 */
function draw(scene, part, pinned) {
  const canvas = document.createElement("canvas");
  const context = sized(canvas, part.width, Math.max(1, part.bottom - part.top));
  context.translate(0, -part.top);
  // Links between pinned and scrolled rows are drawn at each paint.
  const drawn = drawScene(context, scene, pinned === 0);
  if (pinned === 0) return { canvas, pinned: null, drawn };
  const above = document.createElement("canvas");
  drawScene(sized(above, part.width, pinned), scene, false);
  return { canvas, pinned: above, drawn };
}

/**
 * Keeps only images with this style, preferring the newest and the widest within the limit `KEPT`.
 * @param {string} looks
 */
function forget(looks) {
  pictures = pictures.filter((one) => one.looks === looks && one.key !== "");
  const pixels = (/** @type {Picture} */ one) => one.canvas.width * one.canvas.height + (one.pinned ? one.pinned.width * one.pinned.height : 0);
  const widest = Math.max(...pictures.map((one) => one.to - one.from));
  let sum = pictures.reduce((all, one) => all + pixels(one), 0);
  while (sum > KEPT && pictures.length > 2) {
    const oldest = pictures.findIndex((one) => one.to - one.from < widest);
    if (oldest < 0 || oldest === pictures.length - 1) break;
    sum -= pixels(pictures.splice(oldest, 1)[0]);
  }
}

/**
 * Draws the grid and the images at hand, stretched to their present position, the best one last.
 */
export function paint() {
  const { width, height: seen } = size();
  const context = sized(canvas, width, seen);
  const stays = frozen();
  const ticks = timeAxis(width).ticks.map((tick) => Math.round(tick.x));
  const wipe = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ above, /** @type {number} */ below) => {
    if (below <= above) return;
    context.clearRect(from, above, to - from, below - above);
    context.fillStyle = color("--grid");
    // Whole pixels: browsers draw a fraction of a pixel differently, depending on more than its
    // value.
    const [y, height] = [Math.round(above), Math.round(Math.min(below, layout.height - top())) - Math.round(above)];
    for (const x of ticks) if (x >= from && x <= to && height > 0) context.fillRect(x, y, 1, height);
  };
  wipe(0, width, 0, seen);
  const last = pictures[pictures.length - 1];
  const span = view.to - view.from;
  const parts = pictures.filter((one) => one === last || (one.looks === last.looks && one.from < view.to && one.to > view.from));
  // Finer images are above coarser ones. The image closest to the requested zoom comes last.
  const near = (/** @type {Picture} */ one) => (one === last && exact() ? Infinity : -Math.abs(Math.log((one.to - one.from) / span)));
  parts.sort((a, b) => near(a) - near(b));
  // An image that covers the whole view hides those below it.
  const bottom = Math.min(top() + seen, layout.height);
  const covers = (/** @type {Picture} */ one) => one.from <= view.from && one.to >= view.to && one.top <= top() && one.bottom >= bottom;
  parts.splice(0, Math.max(0, parts.findLastIndex(covers)));
  for (const one of parts) {
    const [x0, x1] = [xOf(one.from), xOf(one.to)];
    context.imageSmoothingEnabled = x1 - x0 !== width;
    if (one !== parts[0]) {
      const [above, below] = [Math.max(one.top - top(), 0), Math.min(one.bottom - top(), seen)];
      if (one.pinned) wipe(x0, x1, 0, stays);
      wipe(x0, x1, above, below);
    }
    const scaled = (/** @type {HTMLCanvasElement} */ of, /** @type {number} */ y) => context.drawImage(of, x0, y, x1 - x0, of.height / density());
    context.save();
    context.beginPath();
    context.rect(0, stays, width, seen - stays);
    context.clip();
    scaled(one.canvas, one.top - top());
    context.restore();
    if (one.pinned && stays > 0) scaled(one.pinned, 0);
    else if (one.pinned && one.top > 0) scaled(one.pinned, -top());
  }
  if (last?.pinned) arrows(context, last, stays);
  if (stays > 0) {
    context.fillStyle = color("--edge");
    context.fillRect(0, stays - 4, width, 1);
  }
  // Shades the time before the start and after the end of the trace.
  context.globalAlpha = 0.08;
  context.fillStyle = color("--faint");
  const [start, end] = [xOf(0), xOf(length())];
  if (start > 0) context.fillRect(0, 0, start, seen);
  if (end < width) context.fillRect(end, 0, width - end, seen);
  context.globalAlpha = 1;
}

/** @param {CanvasRenderingContext2D} context @param {Picture} picture @param {number} stays */
function arrows(context, picture, stays) {
  const [x0, x1] = [xOf(picture.from), xOf(picture.to)];
  const x = (/** @type {number} */ at) => x0 + (at / picture.width) * (x1 - x0);
  for (const one of picture.drawn.arrows) {
    const [a, b, c, d] = one.ends;
    // The pinned rows hide a link below them.
    const behind = (/** @type {number} */ y) => y >= layout.pinned && toWindow(y) < stays;
    if (behind(b) || behind(d)) continue;
    drawArrow(context, { ...one, ends: [x(a), toWindow(b), x(c), toWindow(d)] });
  }
  context.globalAlpha = 1;
}

/**
 * The entity or mixture at a point of the diagram's window, once the exact image is there.
 * @param {number} x
 * @param {number} y
 */
export function under(x, y) {
  const picture = exact();
  if (!picture) return null;
  const found = hit(picture.drawn, x, toRows(y), y, toWindow);
  return found ? { hit: found } : { mixture: mixture(picture.drawn, x, toRows(y)) };
}

/** Notes on the contents that the image leaves out. */
export function notes() {
  return exact()?.drawn.notes ?? [];
}

/** The entities in the image that the pointer can hit. */
export function hits() {
  return exact()?.drawn.hits ?? [];
}

/** @param {string} id */
export function find(id) {
  return hits().find((one) => one.id === id) ?? null;
}
