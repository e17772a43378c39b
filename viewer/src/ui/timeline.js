// Time above the diagram: the ruler, and the whole trace with the part that is shown.

import { ask } from "./api.js";
import { byId, color, density, sized } from "./dom.js";
import { drawScene } from "./draw.js";
import { date, duration, ruler } from "./format.js";
import { length, looks, show, view } from "./view.js";

/** @type {HTMLElement} */ const minimap = byId("minimap");
/** @type {HTMLElement} */ const frame = minimap.querySelector(".window");
/** @type {HTMLElement} */ const scale = byId("ruler");

/**
 * @param {number | null} pointer where the pointer is @param {[number, number] | null} choice the part being chosen
 */
export function paintRuler(pointer, choice) {
  const [width, height] = [scale.clientWidth, scale.clientHeight];
  const context = sized(/** @type {HTMLCanvasElement} */ (scale.firstElementChild), width, height);
  const { base, ticks } = ruler(view.from, view.to, width, 92);
  byId("base").textContent = base ?? "";
  context.font = "11px Inter, sans-serif";
  for (const { x, label } of ticks) {
    context.fillStyle = color("--grid");
    context.fillRect(Math.round(x), height - 6, 1, 6);
    const half = context.measureText(label).width / 2;
    context.textAlign = "center";
    context.fillStyle = color("--muted");
    context.fillText(label, Math.min(Math.max(x, half + 1), width - half - 1), height - 11);
  }
  const nanos = (view.to - view.from) / Math.max(width, 1);
  const time = (/** @type {number} */ x) => view.from + x * nanos;
  if (choice) {
    context.fillStyle = color("--accent-soft");
    context.fillRect(choice[0], 0, choice[1] - choice[0], height);
    flag(context, (choice[0] + choice[1]) / 2, width, duration(time(choice[1]) - time(choice[0])), color("--accent"));
  } else if (pointer !== null) {
    flag(context, pointer, width, date(time(pointer), nanos), color("--ink"));
  }
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} width @param {string} text @param {string} fill */
function flag(context, x, width, text, fill) {
  const wide = context.measureText(text).width + 14;
  const left = Math.min(Math.max(x - wide / 2, 0), width - wide);
  context.fillStyle = fill;
  context.beginPath();
  context.roundRect(left, 4, wide, 18, 4);
  context.fill();
  context.fillStyle = color("--paper");
  context.textAlign = "left";
  context.fillText(text, left + 7, 17);
}

/** Fetches and draws the whole trace in one strip. */
export async function paintOverview() {
  const [width, height] = [minimap.clientWidth, minimap.clientHeight];
  const scene = await ask("overview", { from: 0, to: length(), width, top: 0, bottom: height, resolution: density(), ...looks() });
  if (scene) drawScene(sized(/** @type {HTMLCanvasElement} */ (minimap.firstElementChild), width, height), scene);
}

/** Puts the frame around the part that is shown. */
export function paintWindow() {
  const whole = length();
  const [from, to] = [Math.max(0, view.from / whole), Math.min(1, view.to / whole)];
  frame.style.left = `${from * 100}%`;
  frame.style.width = `${Math.max(0, to - from) * 100}%`;
  frame.classList.toggle("all", from <= 0 && to >= 1);
  minimap.setAttribute("aria-valuenow", String(Math.round(((from + to) / 2) * 100)));
  minimap.setAttribute("aria-valuetext", `${date(view.from, (view.to - view.from) / 1000)} to ${date(view.to, (view.to - view.from) / 1000)}`);
}

/** Lets the frame be dragged, and a new one be drawn. */
export function listenToMinimap() {
  const at = (/** @type {PointerEvent} */ event) => {
    const box = minimap.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * length();
  };
  minimap.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    minimap.setPointerCapture(event.pointerId);
    const start = at(event);
    const span = view.to - view.from;
    const inside = start >= view.from && start <= view.to && span < length() * 0.98;
    const first = view.from;
    const move = (/** @type {PointerEvent} */ moved) => {
      const now = at(moved);
      if (inside) show(first + now - start, first + now - start + span);
      else if (Math.abs(now - start) > length() / 400) show(Math.max(0, Math.min(start, now)), Math.min(length(), Math.max(start, now)));
    };
    const end = (/** @type {PointerEvent} */ ended) => {
      const still = Math.abs(at(ended) - start) <= length() / 400;
      if (still && !inside) show(start - span / 2, start + span / 2);
      minimap.removeEventListener("pointermove", move);
    };
    minimap.addEventListener("pointermove", move);
    minimap.addEventListener("pointerup", end, { once: true });
  });
}
