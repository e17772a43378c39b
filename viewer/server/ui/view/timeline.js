// Time above the diagram: the ruler, and the whole trace with the shown time range.

import { request } from "../net/api.js";
import { clockAt, isClock, timeAxis } from "./time_of_day.js";
import { byId, cssColor, pixelRatio, sizedContext } from "../util/dom.js";
import { drawScene } from "./scene.js";
import { formatTimestamp, formatDuration, rangeInWords } from "../util/format.js";
import { notes } from "../state/notes_store.js";
import { imageParameters, traceDuration, view } from "../state/view_state.js";
import { pan, show } from "../state/viewport.js";

/** @type {HTMLElement} */ const minimap = byId("minimap");
const frame = /** @type {HTMLElement} */ (minimap.querySelector(".window"));
/** @type {HTMLElement} */ const scale = byId("ruler");

/**
 * @param {number | null} pointer its position
 * @param {[number, number] | null} choice the time range being chosen
 */
export function paintRuler(pointer, choice) {
  const [width, height] = [scale.clientWidth, scale.clientHeight];
  const context = sizedContext(/** @type {HTMLCanvasElement} */ (scale.firstElementChild), width, height);
  const { base, ticks } = timeAxis(width);
  // A number and its unit stay on one line.
  byId("ruler-base").textContent = (base ?? "").replace(/ (?=[a-zµ])/g, "\u00a0");
  context.font = "11px Inter, sans-serif";
  context.textAlign = "center";
  for (const { x, center, label } of ticks) {
    context.fillStyle = cssColor("--grid");
    context.fillRect(Math.round(x), height - 6, 1, 6);
    context.fillStyle = cssColor("--muted");
    if (label !== null) context.fillText(label, center, height - 11);
  }
  const nanos = (view.to - view.from) / Math.max(width, 1);
  context.fillStyle = cssColor("--accent");
  for (const note of notes) {
    const x = (note.from - view.from) / nanos;
    context.beginPath();
    context.moveTo(x, height - 1);
    context.lineTo(x - 4, height - 9);
    context.lineTo(x + 4, height - 9);
    context.fill();
  }
  const time = (/** @type {number} */ x) => view.from + x * nanos;
  const selected = view.selectedTime;
  if (selected && !choice) {
    const [a, b] = selected.map((time) => (time - view.from) / nanos);
    context.fillStyle = cssColor("--accent-soft");
    context.fillRect(a, 0, b - a, height);
    context.fillStyle = cssColor("--accent");
    for (const x of [a, b]) context.fillRect(Math.round(x), 0, 1, height);
    const [left, right] = [Math.max(a, 0), Math.min(b, width)];
    if (right > left)
      flag(context, (left + right) / 2, width, formatDuration(selected[1] - selected[0]), cssColor("--accent"));
  }
  if (choice) {
    context.fillStyle = cssColor("--accent-soft");
    context.fillRect(choice[0], 0, choice[1] - choice[0], height);
    flag(
      context,
      (choice[0] + choice[1]) / 2,
      width,
      formatDuration(time(choice[1]) - time(choice[0])),
      cssColor("--accent"),
    );
  } else if (pointer !== null) {
    flag(context, pointer, width, (isClock() ? clockAt : formatTimestamp)(time(pointer), nanos), cssColor("--ink"));
  }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} width
 * @param {string} text
 * @param {string} fill
 */
function flag(context, x, width, text, fill) {
  const flagWidth = context.measureText(text).width + 14;
  const left = Math.min(Math.max(x - flagWidth / 2, 0), width - flagWidth);
  context.fillStyle = fill;
  context.beginPath();
  context.roundRect(left, 4, flagWidth, 18, 4);
  context.fill();
  context.fillStyle = cssColor("--paper");
  context.textAlign = "left";
  context.fillText(text, left + 7, 17);
}

/** Fetches and draws the whole trace in one strip. */
export async function paintOverview() {
  const [width, height] = [minimap.clientWidth, minimap.clientHeight];
  const { theme, dimmed, hidden } = imageParameters();
  const scene = await request("overview", {
    from: 0,
    to: traceDuration(),
    width,
    top: 0,
    bottom: height,
    resolution: pixelRatio(),
    theme,
    dimmed,
    hidden,
  });
  if (scene)
    drawScene(sizedContext(/** @type {HTMLCanvasElement} */ (minimap.firstElementChild), width, height), scene);
}

/**
 * Marks the hits of a search on the minimap.
 * @param {{ from: number, to: number, bins: number[] } | null} hits
 */
export function markHits(hits) {
  const [width, height] = [minimap.clientWidth, minimap.clientHeight];
  const context = sizedContext(/** @type {HTMLCanvasElement} */ (minimap.querySelector(".hit-marks")), width, height);
  if (!hits) return;
  const largest = Math.max(1, ...hits.bins);
  const step = ((hits.to - hits.from) / hits.bins.length / traceDuration()) * width;
  context.fillStyle = cssColor("--alert");
  hits.bins.forEach((count, place) => {
    if (count === 0) return;
    const barHeight = 5 + (height - 5) * 0.6 * (Math.log1p(count) / Math.log1p(largest));
    context.fillRect(
      (hits.from / traceDuration()) * width + place * step,
      height - barHeight,
      Math.max(2, step),
      barHeight,
    );
  });
}

/**
 * Marks times on the minimap, each bin as strong as its share.
 * @param {{ from: number, to: number, shares: number[] } | null} times
 */
export function markTimes(times) {
  const [width, height] = [minimap.clientWidth, minimap.clientHeight];
  const canvas = /** @type {HTMLCanvasElement} */ (minimap.querySelector(".time-marks"));
  if (!times && canvas.hidden) return;
  canvas.hidden = times === null;
  const context = sizedContext(canvas, width, height);
  if (!times) return;
  const binOf = (/** @type {number} */ x) =>
    (((x / width) * traceDuration() - times.from) / (times.to - times.from)) * times.shares.length;
  context.fillStyle = cssColor("--alert");
  for (let x = 0; x < width; x += 1) {
    // Several bins may share a pixel.
    const [first, end] = [
      Math.max(0, Math.floor(binOf(x))),
      Math.max(Math.floor(binOf(x)) + 1, Math.ceil(binOf(x + 1))),
    ];
    const share = Math.max(0, ...times.shares.slice(first, end));
    if (share <= 0) continue;
    // Short times remain visible.
    context.globalAlpha = 0.35 + 0.65 * share;
    context.fillRect(x, height * 0.55, 1, height * 0.45);
  }
}

/** Puts the frame around the shown time range, and marks the selected one. */
export function paintWindow() {
  const duration = traceDuration();
  const [from, to] = [Math.max(0, view.from / duration), Math.min(1, view.to / duration)];
  frame.style.left = `${from * 100}%`;
  frame.style.width = `${Math.max(0, to - from) * 100}%`;
  frame.classList.toggle("all", from <= 0 && to >= 1);
  frame.classList.toggle("narrow", (to - from) * minimap.clientWidth < 24);
  minimap.setAttribute("aria-valuenow", String(Math.round(((from + to) / 2) * 100)));
  const selected = view.selectedTime;
  const mark = byId("minimap-selection");
  mark.hidden = !selected || selected[1] <= 0 || selected[0] >= duration;
  if (selected && !mark.hidden) {
    const [start, end] = [Math.max(0, selected[0] / duration), Math.min(1, selected[1] / duration)];
    mark.style.left = `${start * 100}%`;
    mark.style.width = `${(end - start) * 100}%`;
  }
  minimap.setAttribute(
    "aria-valuetext",
    `${rangeInWords(view.from, view.to)}${selected ? `; selected: ${rangeInWords(...selected)}` : ""}`,
  );
}

/** Lets the user move, stretch and redraw the frame. Keys move it. */
export function listenToMinimap() {
  const pointerTime = (/** @type {PointerEvent} */ event) => {
    const box = minimap.getBoundingClientRect();
    return ((event.clientX - box.left) / box.width) * traceDuration();
  };
  const tolerance = () => traceDuration() / 400;
  minimap.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    minimap.setPointerCapture(event.pointerId);
    const [start, { from, to }] = [pointerTime(event), { ...view }];
    const edge = [...frame.children].indexOf(/** @type {Element} */ (event.target));
    const inside = start >= from && start <= to && to - from < traceDuration() * 0.98;
    const move = (/** @type {PointerEvent} */ moveEvent) => {
      const current = Math.max(0, Math.min(traceDuration(), pointerTime(moveEvent)));
      const shift = pointerTime(moveEvent) - start;
      if (edge === 0) show(Math.min(from + shift, to - tolerance()), to);
      else if (edge === 1) show(from, Math.max(to + shift, from + tolerance()));
      else if (inside) show(from + shift, to + shift);
      else if (Math.abs(shift) > tolerance()) show(Math.min(start, current), Math.max(start, current));
    };
    const end = (/** @type {PointerEvent} */ endEvent) => {
      const span = to - from;
      if (Math.abs(pointerTime(endEvent) - start) <= tolerance() && !inside && edge < 0) {
        const first = Math.max(0, Math.min(start - span / 2, traceDuration() - span));
        show(first, first + span);
      }
      minimap.removeEventListener("pointermove", move);
    };
    minimap.addEventListener("pointermove", move);
    minimap.addEventListener("pointerup", end, { once: true });
    minimap.addEventListener("pointercancel", end, { once: true });
  });
  minimap.addEventListener("keydown", (event) => {
    const span = view.to - view.from;
    /** @type {Record<string, () => void>} */
    const acts = {
      Home: () => show(0, span, true),
      End: () => show(traceDuration() - span, traceDuration(), true),
      PageDown: () => pan(0.9),
      PageUp: () => pan(-0.9),
    };
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  });
}
