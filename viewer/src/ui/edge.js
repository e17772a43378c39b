// The width of the names: as wide as they need, or as the edge beside them was dragged.

import { byId } from "./dom.js";
import { labelled, measured } from "./rows.js";

const stage = /** @type {HTMLElement} */ (document.querySelector(".stage"));

/** The width that was chosen by hand. @type {number | null} */
let chosen = null;

/** The width that names needed so far. */
let needed = 190;

/** Gives the names the width that they need. @param {import("./rows.js").Row[]} all */
export function names(all) {
  const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
  const measure = (/** @type {string} */ font, /** @type {string} */ text) => {
    pen.font = `${font} Inter, sans-serif`;
    return pen.measureText(text).width;
  };
  const widest = (/** @type {number[]} */ of) => Math.ceil(of.reduce((most, one) => Math.max(most, one), 0));
  const bounds = widest(all.flatMap((row) => row.strips.filter(measured).flatMap((strip) => strip.bounds ?? []).map((text) => measure("9px", text) + 8)));
  const what = Math.min(130, widest(all.flatMap((row) => labelled(row).map((strip) => measure("10px", strip.name)))));
  const wide = widest(all.map((row) => measure("600 12px", row.name) + row.depth * 12 + 40 + (labelled(row).length ? what + bounds + 18 : 0)));
  stage.style.setProperty("--bounds", `${bounds}px`);
  stage.style.setProperty("--what", `${what}px`);
  // Rows that come and go do not move the diagram.
  needed = Math.max(needed, wide);
  width(chosen ?? Math.min(needed, 360, innerWidth * 0.35));
}

/** Gives the names a width, in pixels, and says so to those who cannot see it. @param {number} pixels */
function width(pixels) {
  stage.style.setProperty("--names", `${pixels}px`);
  byId("edge").setAttribute("aria-valuenow", String(Math.round(pixels)));
  byId("edge").setAttribute("aria-valuemin", "90");
  byId("edge").setAttribute("aria-valuemax", String(Math.round(innerWidth * 0.6)));
}

/** Lets the edge between names and diagram be dragged, or moved by keys. @param {() => void} moved @param {() => void} fitted */
export function edge(moved, fitted) {
  const handle = byId("edge");
  const set = (/** @type {number | null} */ wanted) => {
    chosen = wanted === null ? null : Math.min(Math.max(wanted, 90), innerWidth * 0.6);
    if (chosen === null) {
      fitted();
      return;
    }
    width(chosen);
    moved();
  };
  handle.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    const move = (/** @type {PointerEvent} */ now) => set(now.clientX - stage.getBoundingClientRect().left);
    handle.addEventListener("pointermove", move);
    handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", move), { once: true });
  });
  handle.addEventListener("dblclick", () => set(null));
  handle.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowLeft: -16, ArrowRight: 16 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    set(byId("tree").clientWidth + by);
  });
}
