// The player: moves the time cursor by itself, by steps, or to a typed time.

import { request } from "../net/api.js";
import { byId, make } from "../util/dom.js";
import { formatDuration, formatTimestamp, fromOrigin } from "../util/format.js";
import { showNote } from "../util/status_line.js";
import { parseTime } from "../util/time_range.js";
import { selectedRowNumbers } from "../state/selection.js";
import { cursorTime, onCursor, setCursor, storeCursor, viewsRange } from "../state/time_cursor.js";
import { setSetting, setting } from "../state/address.js";
import { categoryParameter } from "./category_list.js";
import { findMatch, listenToStop, restoreStop, showMatch, stepToMatch, stopText } from "./stop_at.js";
import { setTick, startTicks, stopTicks, TICKS_PER_SECOND } from "./ticks.js";

/** The seconds in which the default rate plays the time range: short enough to be watched. */
const DEFAULT_SECONDS = 20;
/** The number of steps of the position slider, about its width in pixels. */
const SLIDER_STEPS = 1000;
/** The share of the time range that a key of the slider moves the cursor by. */
const FINE_STEP = 1 / 200;

/** 1: forward, -1: backward, 0: paused. */
let direction = 0;
/** Trace nanoseconds per second; null: the default. @type {number | null} */
let chosenRate = null;
let isLooping = false;

const stillness = matchMedia("(prefers-reduced-motion: reduce)");

/** The nearest of 1, 2 or 5 times a power of ten. @param {number} value */
function roundRate(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1)));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power >= value * 0.75) ?? 10;
  return factor * power;
}

function defaultRate() {
  const { from, to } = viewsRange();
  return roundRate((to - from) / DEFAULT_SECONDS);
}

const rate = () => chosenRate ?? defaultRate();

/** @param {number} wanted 1: forward, -1: backward */
export function play(wanted) {
  if (stillness.matches) {
    stepBy((wanted * (viewsRange().to - viewsRange().from)) / 50);
    showNote("Reduced motion: the player moves by steps");
    return;
  }
  // A second press plays twice as fast.
  if (direction === wanted) setRate(rate() * 2);
  const { from, to } = viewsRange();
  const time = cursorTime();
  const isOver = wanted > 0 ? time >= to || time < from : time <= from || time > to;
  if (isOver) setCursor(wanted > 0 ? from : to, true);
  const wasPaused = direction === 0;
  direction = wanted;
  beginRun(isOver);
  if (wasPaused) requestAnimationFrame(moveFrame);
  showPlayer();
}

export function pause() {
  direction = 0;
  run = null;
  stopTicks();
  storeCursor();
  showPlayer();
}

export function playOrPause() {
  if (direction !== 0) pause();
  else play(1);
}

/** Ends the play, and returns to the start of the time range. */
export function stop() {
  pause();
  setCursor(viewsRange().from);
}

/**
 * A stretch of play in one direction, at one rate, over one time range. `distance` is that of the
 * first tick from the start of the time range, in the direction of play. `stopAt` is undefined
 * until it is known.
 * @typedef {{ from: number, to: number, distance: number, step: number, started: number,
 * tick: number, time: number, lap: number, stopAt: import("./stop_at.js").Match | null | undefined }} Run
 */
/** @type {Run | null} */
let run = null;

/** Begins a stretch of play at the cursor. @param {boolean} [isInclusive] also stops at its time */
function beginRun(isInclusive = false) {
  const { from, to } = viewsRange();
  const time = cursorTime();
  /** @type {Run} */
  const newRun = {
    from,
    to,
    distance: direction > 0 ? time - from : to - time,
    step: rate() / TICKS_PER_SECOND,
    started: performance.now(),
    tick: 0,
    time,
    lap: 0,
    stopAt: null,
  };
  run = newRun;
  const last = isLooping ? Infinity : Math.ceil((to - from - newRun.distance) / newRun.step);
  startTicks({ timeOf: (tick) => timeOf(newRun, tick), last });
  searchStop(newRun, time, isInclusive);
}

/** The number of whole time ranges before a tick. @param {Run} of @param {number} tick */
function lapOf({ from, to, distance, step }, tick) {
  return isLooping ? Math.floor((distance + tick * step) / (to - from)) : 0;
}

/** The time of a tick. @param {Run} playedRun @param {number} tick */
function timeOf(playedRun, tick) {
  const { from, to, distance, step } = playedRun;
  const elapsed = Math.min(distance + tick * step - lapOf(playedRun, tick) * (to - from), to - from);
  return Math.round(direction > 0 ? from + elapsed : to - elapsed);
}

/**
 * Searches for the next match of the expression to stop at.
 * @param {Run} playedRun
 * @param {number} time
 * @param {boolean} isInclusive
 */
function searchStop(playedRun, time, isInclusive) {
  if (!stopText()) {
    playedRun.stopAt = null;
    return;
  }
  playedRun.stopAt = undefined;
  const margin = isInclusive ? 1 : 0;
  const search =
    direction > 0 ? findMatch(1, time - margin, playedRun.to) : findMatch(-1, playedRun.from, time + margin);
  search
    .then((match) => {
      if (run !== playedRun) return;
      playedRun.stopAt = match ?? null;
      // The expression is wrong: it would never stop.
      if (match === undefined) pause();
    })
    .catch(() => {
      if (run === playedRun) pause();
    });
}

/** @param {number} frameTime */
function moveFrame(frameTime) {
  if (direction === 0 || !run) return;
  requestAnimationFrame(moveFrame);
  const { from, to } = viewsRange();
  // The user moved the cursor, or chose another time range.
  if (cursorTime() !== run.time || run.from !== from || run.to !== to) beginRun();
  if (run.stopAt === undefined) {
    run.started = frameTime - (run.tick * 1000) / TICKS_PER_SECOND;
    return;
  }
  const tick = Math.floor((Math.max(0, frameTime - run.started) / 1000) * TICKS_PER_SECOND);
  if (tick <= run.tick) return;
  const lap = lapOf(run, tick);
  const time = timeOf(run, tick);
  const { stopAt } = run;
  if (stopAt && (lap > run.lap || (direction > 0 ? time >= stopAt.t : time <= stopAt.t))) {
    pause();
    setCursor(stopAt.t);
    showMatch(stopAt);
    return;
  }
  if (lap > run.lap) {
    run.lap = lap;
    searchStop(run, direction > 0 ? from : to, true);
  }
  run.tick = tick;
  run.time = time;
  setTick(tick);
  setCursor(time, true);
  if (!isLooping && (direction > 0 ? time >= to : time <= from)) pause();
}

/** @param {number} nanos */
function stepBy(nanos) {
  const { from, to } = viewsRange();
  setCursor(Math.min(Math.max(cursorTime() + nanos, from), to));
}

/**
 * Moves the cursor to the next change, or to the one before.
 * @param {number} wanted
 * @param {boolean} [isChange] only to a change of state
 */
export async function stepToEvent(wanted, isChange = false) {
  if (direction !== 0) pause();
  const answer = await request(
    "next_event",
    {
      t: cursorTime(),
      direction: wanted,
      changes_only: isChange,
      units: selectedRowNumbers(),
      categories: categoryParameter(),
    },
    "next_event",
  );
  if (!answer) return;
  const name = isChange ? "change of state" : "change";
  if (answer.t === null) showNote(wanted > 0 ? `There is no later ${name}` : `There is no earlier ${name}`);
  else setCursor(answer.t);
}

/** @param {number} nanos */
function setRate(nanos) {
  chosenRate = nanos;
  setSetting("rate", String(Math.round(nanos)));
  if (direction !== 0) beginRun();
  showPlayer();
}

/** @param {string} path @param {boolean} [solid] */
function icon(path, solid = true) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
  shape.setAttribute("d", path);
  if (solid) shape.setAttribute("class", "solid");
  svg.append(shape);
  return svg;
}

const ICONS = {
  backward: "M8.5 3.5v9L2.5 8zM14 3.5v9L8 8z",
  before: "M11 3.5v9L5 8zM3.2 3.5h1.6v9H3.2z",
  play: "M4.5 3v10L12.5 8z",
  pause: "M4 3.5h2.8v9H4zM9.2 3.5H12v9H9.2z",
  next: "M5 3.5v9L11 8zM11.2 3.5h1.6v9h-1.6z",
  forward: "M7.5 3.5v9l6-4.5zM2 3.5v9L8 8z",
  stop: "M4 4h8v8H4z",
};

/** @type {Record<string, () => unknown>} */
const BUTTONS = {
  "play-backward": () => play(-1),
  "play-pause": playOrPause,
  "play-forward": () => play(1),
  "play-stop": stop,
};

/** The keys of the dock. @type {Record<string, () => unknown>} */
const PLAYER_KEYS = {
  " ": playOrPause,
  j: () => play(-1),
  k: pause,
  l: () => play(1),
  J: () => play(-1),
  K: pause,
  L: () => play(1),
  n: () => match(1),
  N: () => match(-1),
  ",": () => stepToEvent(-1),
  ".": () => stepToEvent(1),
  "<": () => stepToEvent(-1, true),
  ">": () => stepToEvent(1, true),
};

/** @param {number} wanted */
function match(wanted) {
  if (direction !== 0) pause();
  return stepToMatch(wanted);
}

/**
 * The action of a key in the dock.
 * @param {KeyboardEvent} event
 * @returns {(() => unknown) | undefined}
 */
export function playerAction({ key, code, shiftKey }) {
  // With Shift, the keys of the comma and the dot have other signs in each keyboard layout.
  if (shiftKey && code === "Comma") return PLAYER_KEYS["<"];
  if (shiftKey && code === "Period") return PLAYER_KEYS[">"];
  return PLAYER_KEYS[key];
}

/** @type {HTMLInputElement} */ const field = byId("cursor-field");
/** @type {HTMLInputElement} */ const slider = byId("cursor-slider");
/** @type {HTMLSelectElement} */ const rateSelect = byId("play-rate");

export function listenToPlayer() {
  const signs = {
    "play-backward": ICONS.backward,
    "step-backward": ICONS.before,
    "step-forward": ICONS.next,
    "play-forward": ICONS.forward,
    "play-stop": ICONS.stop,
  };
  for (const [id, path] of Object.entries(signs)) byId(id).append(icon(path));
  for (const [id, step] of /** @type {[string, number][]} */ ([
    ["step-backward", -1],
    ["step-forward", 1],
  ]))
    byId(id).addEventListener("click", (/** @type {MouseEvent} */ event) => {
      stepToEvent(step, event.shiftKey).catch(() => {});
    });
  listenToStop(() => {
    if (direction !== 0) beginRun();
  });
  for (const [id, act] of Object.entries(BUTTONS))
    byId(id).addEventListener("click", () => {
      Promise.resolve(act()).catch(() => {});
    });
  listenToTimeField();
  listenToSlider();
  rateSelect.addEventListener("change", () => setRate(Number(rateSelect.value)));
  byId("play-loop").addEventListener("change", (/** @type {Event} */ event) => {
    isLooping = /** @type {HTMLInputElement} */ (event.target).checked;
    setSetting("loop", isLooping ? "1" : null);
    if (direction !== 0) beginRun();
  });
  stillness.addEventListener("change", () => {
    if (direction !== 0) pause();
    showPlayer();
  });
  onCursor(() => showCursor());
}

function listenToTimeField() {
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") readField();
    else if (event.key === "Escape") {
      field.setAttribute("aria-invalid", "false");
      showCursor(true);
    }
  });
  field.addEventListener("blur", () => {
    field.setAttribute("aria-invalid", "false");
    showCursor(true);
  });
}

function listenToSlider() {
  slider.addEventListener("input", () => {
    const { from, to } = viewsRange();
    setCursor(from + (Number(slider.value) / SLIDER_STEPS) * (to - from), true);
  });
  slider.addEventListener("change", storeCursor);
  // Keys move by a share of the time range; a step of the slider is finer.
  slider.addEventListener("keydown", (event) => {
    const step = {
      ArrowLeft: -FINE_STEP,
      ArrowDown: -FINE_STEP,
      ArrowRight: FINE_STEP,
      ArrowUp: FINE_STEP,
      PageDown: -10 * FINE_STEP,
      PageUp: 10 * FINE_STEP,
    }[event.key];
    if (!step) return;
    event.preventDefault();
    stepBy(step * (viewsRange().to - viewsRange().from));
  });
}

/** Moves the cursor to the typed time. */
function readField() {
  const time = parseTime(field.value);
  if (typeof time !== "bigint") {
    field.setAttribute("aria-invalid", "true");
    showNote(time.error);
    return;
  }
  field.setAttribute("aria-invalid", "false");
  showNote("");
  setCursor(fromOrigin(time));
  showCursor(true);
}

/** Restores the rate and the loop from the address. */
export function restorePlayer() {
  const stored = setting("rate");
  chosenRate = stored !== null && /^\d{1,18}$/.test(stored) && Number(stored) > 0 ? Number(stored) : null;
  isLooping = setting("loop") === "1";
  byId("play-loop").checked = isLooping;
  restoreStop();
  showPlayer();
}

/** Shows the cursor in the field and the slider. @param {boolean} [always] also while typing */
function showCursor(always = false) {
  const { from, to } = viewsRange();
  const time = cursorTime();
  const text = formatTimestamp(time, (to - from) / 10000);
  if (always || field !== document.activeElement) field.value = text;
  slider.value = String(Math.round(((time - from) / (to - from)) * SLIDER_STEPS));
  slider.setAttribute("aria-valuetext", text);
}

/** Shows the state of the player. */
export function showPlayer() {
  const isPlaying = direction !== 0;
  const button = byId("play-pause");
  button.setAttribute("aria-label", isPlaying ? "Pause" : "Play");
  button.title = stillness.matches ? "Step forward (reduced motion)  Space" : `${isPlaying ? "Pause" : "Play"}  Space`;
  button.replaceChildren(icon(isPlaying ? ICONS.pause : ICONS.play));
  for (const [id, buttonDirection] of /** @type {[string, number][]} */ ([
    ["play-backward", -1],
    ["play-forward", 1],
  ]))
    byId(id).setAttribute("aria-pressed", String(direction === buttonDirection));
  showRates();
  showCursor();
}

/** Offers rates around the default one. */
function showRates() {
  const middle = defaultRate();
  const rates = new Set([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10].map((factor) => roundRate(middle * factor)));
  rates.add(rate());
  const values = [...rates].sort((a, b) => a - b);
  if (document.activeElement === rateSelect && rateSelect.options.length) {
    rateSelect.value = String(rate());
    return;
  }
  rateSelect.replaceChildren(
    ...values.map((value) =>
      make("option", {
        value,
        text: `${formatDuration(value, 2)} per second`,
        ...(value === rate() ? { selected: "" } : {}),
      }),
    ),
  );
}
