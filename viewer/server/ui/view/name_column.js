// The width of the names. It fits the names, or the user has dragged their edge.

import { byId } from "../util/dom.js";
import { indent, labelledStrips, hasRoomForBounds } from "../state/rows.js";

const stage = /** @type {HTMLElement} */ (document.querySelector(".stage"));

/** Maximum number of measured texts, because the page waits for their widths. */
const MAX_MEASURED = 2000;

/** The width that the user chose. @type {number | null} */
let userWidth = null;

/** The largest width of the names so far, in pixels. */
let neededWidth = 190;

/**
 * The common width of all panes, so that their diagrams have one time axis.
 * @type {number | null}
 */
let commonWidth = null;

/**
 * Receives the width of the names in this pane, and the width that the user chose.
 * @type {((pixels: number, userWidth?: number | null) => void) | null}
 */
let reportWidth = null;

/** Called after a change of the width. */
let onResize = () => {};

const fittingWidth = () => Math.min(neededWidth, 360, innerWidth * 0.35);

/** Fits the width to the names. @param {import("../state/rows.js").Row[]} rows */
export function fitNames(rows) {
  const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  /**
   * The width of the widest text with the space next to it. Only the longest of many texts are
   * measured.
   * @param {string} font
   * @param {[string, number][]} texts
   */
  const widest = (font, texts) => {
    pen.font = `${font} Inter, sans-serif`;
    const estimatedWidth = (/** @type {[string, number]} */ [text, padding]) => text.length * 8 + padding;
    const measured =
      texts.length > MAX_MEASURED
        ? [...texts].sort((a, b) => estimatedWidth(b) - estimatedWidth(a)).slice(0, MAX_MEASURED)
        : texts;
    return Math.ceil(
      measured.reduce((width, [text, padding]) => Math.max(width, pen.measureText(text).width + padding), 0),
    );
  };
  const distinct = (/** @type {string[]} */ texts, padding = 0) =>
    [...new Set(texts)].map((text) => /** @type {[string, number]} */ ([text, padding]));
  const bounds = widest(
    "9px",
    distinct(
      rows.flatMap((row) => row.strips.filter(hasRoomForBounds).flatMap((strip) => strip.bounds ?? [])),
      8,
    ),
  );
  const labelWidth = Math.min(
    130,
    widest("10px", distinct(rows.flatMap((row) => labelledStrips(row).map((strip) => strip.name)))),
  );
  const nameWidth = widest(
    "600 12px",
    rows.map((row) => [
      row.name,
      row.depth * indent() + 40 + (labelledStrips(row).length ? labelWidth + bounds + 18 : 0),
    ]),
  );
  stage.style.setProperty("--bounds", `${bounds}px`);
  stage.style.setProperty("--strip-label-width", `${labelWidth}px`);
  // The width never shrinks, so that rows that come and go do not move the diagram.
  neededWidth = Math.max(neededWidth, nameWidth);
  setWidth(commonWidth ?? userWidth ?? fittingWidth());
  reportWidth?.(fittingWidth());
}

/**
 * Lets the surrounding page set the width.
 * @param {(pixels: number, userWidth?: number | null) => void} report receives the width of the
 * names, and the width that the user chose
 */
export function leaveWidthToPanes(report) {
  reportWidth = report;
  report(fittingWidth());
}

/** Sets the common width of all panes. @param {number} pixels */
export function setCommonWidth(pixels) {
  if (commonWidth === pixels) return;
  commonWidth = pixels;
  setWidth(pixels);
  onResize();
}

/**
 * Sets the width of the names in pixels, and states it for screen readers.
 * @param {number} pixels
 */
function setWidth(pixels) {
  stage.style.setProperty("--name-width", `${pixels}px`);
  byId("name-edge").setAttribute("aria-valuenow", String(Math.round(pixels)));
  byId("name-edge").setAttribute("aria-valuemin", "90");
  byId("name-edge").setAttribute("aria-valuemax", String(Math.round(innerWidth * 0.6)));
}

/**
 * Lets the edge between names and diagram be dragged, or moved by keys.
 * @param {() => void} resized
 * @param {() => void} fitted
 */
export function listenToEdge(resized, fitted) {
  onResize = resized;
  const handle = byId("name-edge");
  const set = (/** @type {number | null} */ width) => {
    if (reportWidth) {
      reportWidth(fittingWidth(), width);
      return;
    }
    userWidth = width === null ? null : Math.min(Math.max(width, 90), innerWidth * 0.6);
    if (userWidth === null) {
      fitted();
      return;
    }
    setWidth(userWidth);
    onResize();
  };
  handle.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    const move = (/** @type {PointerEvent} */ moveEvent) => set(moveEvent.clientX - stage.getBoundingClientRect().left);
    handle.addEventListener("pointermove", move);
    handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", move), {
      once: true,
    });
  });
  handle.addEventListener("dblclick", () => set(null));
  handle.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    set(byId("tree").clientWidth + step);
  });
}
