// Changes of the visible time range: zoom, pan, and the growth of the trace.

import { setZoomHistory, storeView, storeViewSoon, zoomHistory } from "./address.js";
import { notifyChange, setExtent, traceDuration, view } from "./view_state.js";

/** The longest duration of another trace on the same page, in nanoseconds. */
let longestDuration = 0;

/** Lets the view extend to the end of another trace. @param {number} duration */
export function setLongestDuration(duration) {
  longestDuration = duration;
}

/**
 * Changes to another generation of the trace. A time range at the end follows the end, the whole
 * trace stays whole, and any other time range stays in place.
 * @param {number} duration
 * @param {number} shift the increase of all timestamps of the page
 * @param {number} next the new generation
 */
export function setGeneration(duration, shift, next) {
  const [previousDuration, span] = [traceDuration(), view.to - view.from];
  const showsAll = view.from <= 0 && view.to >= previousDuration;
  const showsEnd = !showsAll && Math.abs(view.to - previousDuration) <= span / 100;
  setExtent(duration, next);
  const viewShift = showsEnd ? duration - previousDuration : shift;
  [view.from, view.to] = showsAll ? [0, duration] : [view.from + viewShift, view.to + viewShift];
  if (view.selectedTime) view.selectedTime = [view.selectedTime[0] + shift, view.selectedTime[1] + shift];
  const wider = zoomHistory()
    .slice(1)
    .map(([from, to]) => /** @type {[number, number]} */ ([from + viewShift, to + viewShift]));
  setZoomHistory([[0, duration], ...(showsAll ? [] : wider)]);
  storeView(true);
}

/**
 * Shows a time range, limited to sensible lengths and positions.
 * @param {number} from
 * @param {number} to
 * @param {boolean} [step] a step of the history by itself, not part of a movement
 * @param {boolean} [follows] another pane has moved
 */
export function show(from, to, step = false, follows = false) {
  const minSpan = 20;
  const longest = Math.max(traceDuration(), longestDuration);
  const span = Math.min(Math.max(to - from, minSpan), longest * 1.5);
  const middle = (from + to) / 2;
  // At most a quarter of the image lies outside the trace.
  const first = Math.min(Math.max(middle - span / 2, -span / 4), Math.max(longest - span * 0.75, -span / 4));
  const [a, b] = [Math.round(first), Math.round(first + span)];
  if (a === view.from && b === view.to) return;
  if (step) storeView();
  view.from = a;
  view.to = b;
  if (step) storeView();
  else storeViewSoon(follows);
  notifyChange("time");
}

/**
 * Moves to the time range of another pane. The step of the history belongs to that pane, and this
 * address follows, so that Back there moves both back.
 * @param {number} from
 * @param {number} to
 */
export function followPane(from, to) {
  show(from, to, false, true);
}

export function fit() {
  show(0, traceDuration(), true);
}

/**
 * @param {number} factor below 1 zooms in
 * @param {number} [center] the timestamp that keeps its position
 */
export function zoom(factor, center = (view.from + view.to) / 2) {
  show(center - (center - view.from) * factor, center + (view.to - center) * factor);
}

/** @param {number} share of the time range */
export function pan(share) {
  const shift = (view.to - view.from) * share;
  show(view.from + shift, view.to + shift);
}
