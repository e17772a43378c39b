// The diagram. It keeps the last images, stretches them at once when the view moves, and replaces
// them when the exact one arrives.

import { request, cancel } from "../net/api.js";
import { byId, cssColor, pixelRatio, sizedContext } from "../util/dom.js";
import { drawScene, hitAt, columnAt } from "./scene.js";
import { drawArrow } from "./marks.js";
import { timeAxis } from "./time_of_day.js";
import { pinnedHeight, layout, setRows, toRows, toWindow, scrollTop } from "../state/rows.js";
import { imageParameters, traceDuration, view } from "../state/view_state.js";

/** @type {HTMLElement} */ const chart = byId("chart");
/** @type {HTMLElement} */ const scroller = byId("scroller");
const canvas = /** @type {HTMLCanvasElement} */ (chart.querySelector(".image"));

/**
 * An image of the diagram: its pixels, its entities, and the time range and rows that it shows.
 * Pinned rows are on a separate canvas.
 * @typedef {{ canvas: HTMLCanvasElement, pinned: HTMLCanvasElement | null,
 *   contents: import("./scene.js").SceneContents, from: number, to: number, top: number,
 *   bottom: number, width: number, key: string, style: string, coarse: boolean }} ChartImage
 */

/**
 * Milliseconds without a change. After them, the page requests finer images and the rows above and
 * below.
 */
const REST_DELAY = 40;
/**
 * The maximum number of consecutive images that are dropped for newer ones. A higher number would
 * leave the diagram blank during a long movement.
 */
const MAX_DROPPED = 2;
/** Pixels of all images that are kept, so that the target of a zoom or pan is seldom blank. */
const MAX_PIXELS = 24e6;

/** The kept images; the last element is the one shown last. @type {ChartImage[]} */
let images = [];
let isLoading = false;
/** The key of the image that is being requested. */
let requestedKey = "";
let isOutdated = false;
let droppedCount = 0;
let restTimer = 0;
/** Whether the rows have arrived. */
let hasRows = false;
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
function requestFrom(first) {
  const { width, height: visibleHeight } = size();
  const bottom = Math.min(layout.height, first + visibleHeight + quarter());
  const style = imageParameters();
  const part = { from: view.from, to: view.to, width, top: first, bottom, resolution: pixelRatio(), ...style };
  return { part, key: JSON.stringify(part), style: JSON.stringify([style, width]) };
}

function quarter() {
  return Math.max(1, Math.floor(size().height / 4));
}

function currentRequest() {
  return requestFrom(Math.max(0, Math.floor(scrollTop() / quarter())) * quarter());
}

/** The image shown last, if it exactly matches the view; otherwise null. */
function exactImage() {
  const last = images[images.length - 1];
  return last?.key === currentRequest().key ? last : null;
}

/** Shows the view: first the available images, then the exact one. */
export function refresh() {
  if (!hasRows) return;
  const { key } = currentRequest();
  const imageIndex = images.findIndex((image) => image.key === key);
  if (imageIndex >= 0 && imageIndex < images.length - 1) {
    images.push(...images.splice(imageIndex, 1));
    document.dispatchEvent(new Event("image"));
  }
  paint();
  fetchImage();
  publishState();
}

/** Writes to the element whether the image is exact and has full resolution. Tests read it. */
export function publishState() {
  const image = hasRows && !isLoading ? exactImage() : null;
  chart.dataset.settled = image?.coarse ? "coarse" : String(image !== null);
}

/**
 * Shows other rows. The drawing of each row moves with it at once; the exact image follows.
 * @param {import("../state/rows.js").Rows} next
 * @param {number | null} [scroll] the new scroll position of the rows
 */
export function setLayout(next, scroll = null) {
  const previousLayout = layout;
  setRows(next);
  hasRows = true;
  byId("rows").style.height = `${next.height + 24}px`;
  resize();
  if (scroll !== null) scroller.scrollTop = scroll;
  const last = images[images.length - 1];
  if (last && last.style !== currentRequest().style) images.push(rearrange(last, previousLayout));
  refresh();
}

/**
 * The former position of a row's contents. It is the position of the same row, of the rows below it
 * if it is folded now, or of the folded row above if that is unfolded now.
 * @param {import("../state/rows.js").Row} row
 * @param {import("../state/rows.js").Rows} previousLayout
 */
function formerPosition(row, previousLayout) {
  const former = previousLayout.rows.find((candidate) => candidate.id === row.id);
  if (former?.folded === row.folded) return former;
  if (!former) return previousLayout.rows.find((candidate) => candidate.folded && row.ancestors.includes(candidate.id));
  if (former.folded) return undefined;
  const below = previousLayout.rows.filter(
    (candidate) => candidate.ancestors.includes(row.id) && candidate.pinned === former.pinned,
  );
  const last = below[below.length - 1];
  return last && { y: below[0].y, height: last.y + last.height - below[0].y, pinned: former.pinned };
}

/**
 * An image cut into its rows, each at the present position of its container.
 * @param {ChartImage} image
 * @param {import("../state/rows.js").Rows} previousLayout
 * @returns {ChartImage}
 */
function rearrange(image, previousLayout) {
  const { part, style } = currentRequest();
  const canvas = document.createElement("canvas");
  const context = sizedContext(canvas, part.width, Math.max(1, part.bottom - part.top));
  const pinned = layout.pinned > 0 ? document.createElement("canvas") : null;
  const above = pinned && sizedContext(pinned, part.width, layout.pinned);
  for (const row of layout.rows) {
    if (!row.pinned && (row.y > part.bottom || row.y + row.height < part.top)) continue;
    const [from, to] = [formerPosition(row, previousLayout), row.pinned ? above : context];
    const source = from?.pinned ? image.pinned : image.canvas;
    const y = from ? from.y - (from.pinned ? 0 : image.top) : -1;
    if (!from || !source || !to || y < 0) continue;
    // Contents that only resemble those of the row are pale until the exact image comes.
    to.globalAlpha = "id" in from && from.id === row.id ? 1 : 0.5;
    to.drawImage(
      source,
      0,
      y * pixelRatio(),
      source.width,
      from.height * pixelRatio(),
      0,
      row.pinned ? row.y : row.y - part.top,
      part.width,
      row.height,
    );
  }
  return {
    ...image,
    canvas,
    pinned,
    style,
    key: "",
    top: part.top,
    bottom: part.bottom,
    contents: { hits: [], cells: [], arrows: [], notes: [] },
  };
}

async function fetchImage() {
  const { part, key, style } = currentRequest();
  clearTimeout(restTimer);
  if (images.some((image) => image.key === key)) {
    restTimer = setTimeout(loadDetails, REST_DELAY);
    return;
  }
  if (isLoading) {
    isOutdated = true;
    if (droppedCount < MAX_DROPPED && key !== requestedKey) {
      droppedCount += 1;
      cancel("scene");
    }
    return;
  }
  isLoading = true;
  requestedKey = key;
  let failed = false;
  try {
    const image = await load({ part, key, style });
    if (image) {
      droppedCount = 0;
      images.push(image);
      evictImages(style);
      document.dispatchEvent(new Event("image"));
    }
  } catch (error) {
    failed = true;
    onError(error);
  } finally {
    isLoading = false;
  }
  if (!failed && (isOutdated || !exactImage())) {
    isOutdated = false;
    // Rows that changed in the meantime may have put another image after the exact one.
    refresh();
    return;
  }
  paint();
  publishState();
  restTimer = setTimeout(loadDetails, REST_DELAY);
}

/**
 * Loads an image. Returns null if a newer one was requested or the rows changed in the meantime.
 * @param {ReturnType<typeof requestFrom>} of
 * @param {boolean} [isComplete] draws each column of pixels separately, regardless of the bytes
 * @returns {Promise<ChartImage | null>}
 */
async function load({ part, key, style }, isComplete = false) {
  const { pinned } = layout;
  const scene = await request("scene", isComplete ? { ...part, whole: isComplete } : part);
  if (!scene || style !== currentRequest().style) return null;
  return { ...part, ...draw(scene, part, pinned), key, style, coarse: !scene.isWhole };
}

/** Loads the full resolution after a pause, then the rows above and below. */
async function loadDetails() {
  const shownImage = exactImage();
  if (!shownImage || isLoading) return;
  try {
    if (shownImage.coarse) {
      const finer = await load(currentRequest(), true);
      const index = images.indexOf(shownImage);
      if (!finer || index < 0) return;
      images[index] = finer;
      document.dispatchEvent(new Event("image"));
      paint();
      publishState();
    }
    const distance = 4 * quarter();
    for (const top of [shownImage.top - distance, shownImage.top + distance]) {
      if (isLoading || exactImage()?.key !== shownImage.key) return;
      const neighbour = requestFrom(Math.max(0, top));
      if (top <= -distance || top >= layout.height) continue;
      if (images.some((image) => image.key === neighbour.key)) continue;
      const image = await load(neighbour, true);
      if (!image) return;
      // The shown image stays the last element.
      images.splice(images.length - 1, 0, image);
      evictImages(image.style);
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
  const context = sizedContext(canvas, part.width, Math.max(1, part.bottom - part.top));
  context.translate(0, -part.top);
  // Links between pinned and scrolled rows are drawn at each paint.
  const contents = drawScene(context, scene, pinned === 0);
  if (pinned === 0) return { canvas, pinned: null, contents };
  const above = document.createElement("canvas");
  drawScene(sizedContext(above, part.width, pinned), scene, false);
  return { canvas, pinned: above, contents };
}

/**
 * Keeps only images with this style within the limit `MAX_PIXELS`. The newest and the widest are
 * preferred.
 * @param {string} style
 */
function evictImages(style) {
  images = images.filter((image) => image.style === style && image.key !== "");
  const pixels = (/** @type {ChartImage} */ image) =>
    image.canvas.width * image.canvas.height + (image.pinned ? image.pinned.width * image.pinned.height : 0);
  const widest = Math.max(...images.map((image) => image.to - image.from));
  let sum = images.reduce((all, image) => all + pixels(image), 0);
  while (sum > MAX_PIXELS && images.length > 2) {
    const oldest = images.findIndex((image) => image.to - image.from < widest);
    if (oldest < 0 || oldest === images.length - 1) break;
    sum -= pixels(images.splice(oldest, 1)[0]);
  }
}

/** The images that are visible, in the order of painting. @param {number} visibleHeight */
function visibleImages(visibleHeight) {
  const last = images[images.length - 1];
  const span = view.to - view.from;
  const parts = images.filter(
    (image) => image === last || (image.style === last.style && image.from < view.to && image.to > view.from),
  );
  // Finer images are above coarser ones. The image closest to the requested zoom comes last.
  const zoomCloseness = (/** @type {ChartImage} */ image) =>
    image === last && exactImage() ? Infinity : -Math.abs(Math.log((image.to - image.from) / span));
  parts.sort((a, b) => zoomCloseness(a) - zoomCloseness(b));
  // An image that covers the whole view hides those below it.
  const bottom = Math.min(scrollTop() + visibleHeight, layout.height);
  const covers = (/** @type {ChartImage} */ image) =>
    image.from <= view.from && image.to >= view.to && image.top <= scrollTop() && image.bottom >= bottom;
  parts.splice(0, Math.max(0, parts.findLastIndex(covers)));
  return parts;
}

/**
 * Draws the grid and the available images, stretched to their present position, the best one last.
 */
export function paint() {
  const { width, height: visibleHeight } = size();
  const context = sizedContext(canvas, width, visibleHeight);
  const pinnedBottom = pinnedHeight();
  const ticks = timeAxis(width).ticks.map((tick) => Math.round(tick.x));
  const wipe = (
    /** @type {number} */ from,
    /** @type {number} */ to,
    /** @type {number} */ above,
    /** @type {number} */ below,
  ) => {
    if (below <= above) return;
    context.clearRect(from, above, to - from, below - above);
    context.fillStyle = cssColor("--grid");
    // Whole pixels: browsers draw a fraction of a pixel differently, depending on more than its
    // value.
    const [y, height] = [
      Math.round(above),
      Math.round(Math.min(below, layout.height - scrollTop())) - Math.round(above),
    ];
    for (const x of ticks) if (x >= from && x <= to && height > 0) context.fillRect(x, y, 1, height);
  };
  wipe(0, width, 0, visibleHeight);
  const last = images[images.length - 1];
  const parts = visibleImages(visibleHeight);
  for (const image of parts) {
    const [x0, x1] = [xOf(image.from), xOf(image.to)];
    context.imageSmoothingEnabled = x1 - x0 !== width;
    if (image !== parts[0]) {
      const [above, below] = [
        Math.max(image.top - scrollTop(), 0),
        Math.min(image.bottom - scrollTop(), visibleHeight),
      ];
      if (image.pinned) wipe(x0, x1, 0, pinnedBottom);
      wipe(x0, x1, above, below);
    }
    const drawStretched = (/** @type {HTMLCanvasElement} */ canvas, /** @type {number} */ y) =>
      context.drawImage(canvas, x0, y, x1 - x0, canvas.height / pixelRatio());
    context.save();
    context.beginPath();
    context.rect(0, pinnedBottom, width, visibleHeight - pinnedBottom);
    context.clip();
    drawStretched(image.canvas, image.top - scrollTop());
    context.restore();
    if (image.pinned && pinnedBottom > 0) drawStretched(image.pinned, 0);
    else if (image.pinned && image.top > 0) drawStretched(image.pinned, -scrollTop());
  }
  if (last?.pinned) drawLinks(context, last, pinnedBottom);
  if (pinnedBottom > 0) {
    context.fillStyle = cssColor("--edge");
    context.fillRect(0, pinnedBottom - 4, width, 1);
  }
  shadeOutside(context, width, visibleHeight);
}

/**
 * Shades the time before the start and after the end of the trace.
 * @param {CanvasRenderingContext2D} context
 * @param {number} width
 * @param {number} visibleHeight
 */
function shadeOutside(context, width, visibleHeight) {
  context.globalAlpha = 0.08;
  context.fillStyle = cssColor("--faint");
  const [start, end] = [xOf(0), xOf(traceDuration())];
  if (start > 0) context.fillRect(0, 0, start, visibleHeight);
  if (end < width) context.fillRect(end, 0, width - end, visibleHeight);
  context.globalAlpha = 1;
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {ChartImage} image
 * @param {number} pinnedBottom
 */
function drawLinks(context, image, pinnedBottom) {
  const [x0, x1] = [xOf(image.from), xOf(image.to)];
  const x = (/** @type {number} */ position) => x0 + (position / image.width) * (x1 - x0);
  for (const arrow of image.contents.arrows) {
    const [a, b, c, d] = arrow.ends;
    // The pinned rows hide a link below them.
    const isCovered = (/** @type {number} */ y) => y >= layout.pinned && toWindow(y) < pinnedBottom;
    if (isCovered(b) || isCovered(d)) continue;
    drawArrow(context, { ...arrow, ends: [x(a), toWindow(b), x(c), toWindow(d)] });
  }
  context.globalAlpha = 1;
}

/**
 * The entity or mixture at a point of the diagram's window, once the exact image is there.
 * @param {number} x
 * @param {number} y
 */
export function entityAt(x, y) {
  const image = exactImage();
  if (!image) return null;
  const hit = hitAt(image.contents, x, toRows(y), y, toWindow);
  return hit ? { hit } : { mixture: columnAt(image.contents, x, toRows(y)) };
}

/** Notes on the contents that the image leaves out. */
export function imageNotes() {
  return exactImage()?.contents.notes ?? [];
}

/** The entities in the image that the pointer can hit. */
export function hits() {
  return exactImage()?.contents.hits ?? [];
}

/**
 * Those of some entities that are in the image, by id.
 * @param {Set<string>} ids
 */
export function findHits(ids) {
  return new Map(
    hits()
      .filter((hit) => ids.has(hit.id))
      .map((hit) => [hit.id, hit]),
  );
}

/** @param {string} id */
export function findHit(id) {
  return hits().find((hit) => hit.id === id) ?? null;
}
