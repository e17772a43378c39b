// The time of day above the diagram: in UTC, like in the tables of the command.

import { placeTicks } from "../util/axis.js";
import { textWidth } from "../util/dom.js";
import { rulerTicks } from "../util/format.js";
import { showNote } from "../util/status_line.js";
import { setSetting, setting } from "../state/address.js";
import { notifyChange, view } from "../state/view_state.js";

const SECOND = 1_000_000_000n;
/** Steps of at least a second, in seconds. */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

/**
 * The real time of the first timestamp of the trace, in nanoseconds since 1970; null if unknown.
 * @type {bigint | null}
 */
let traceStart = null;

/** @param {string | null} text of the summary */
export function setClock(text) {
  traceStart = text === null ? null : BigInt(text);
}

/** Whether the ruler shows the time of day. */
export function isClock() {
  return traceStart !== null && setting("clock") === "utc";
}

/** Switches the ruler between the time of day and the time since the start. */
export function toggleClock() {
  if (traceStart === null)
    return showNote("This trace has no time of day: only runs whose processes read the real-time clock have one");
  setSetting("clock", setting("clock") === "utc" ? null : "utc");
  notifyChange("time");
  showNote(
    setting("clock") === "utc" ? "The ruler shows the time of day (UTC)" : "The ruler shows the time since the start",
  );
}

/** Year, month and day. @param {bigint} nanos since 1970 */
function dayOf(nanos) {
  return new Date(Number(nanos / 1_000_000n)).toISOString().slice(0, 10);
}

/**
 * Hours, minutes, seconds and a fraction.
 * @param {bigint} nanos since 1970
 * @param {number} digits of the fraction
 */
function timeOf(nanos, digits) {
  const seconds = nanos / SECOND;
  const clock = new Date(Number(seconds) * 1000).toISOString().slice(11, 19);
  return digits > 0
    ? `${clock}.${String(nanos % SECOND)
        .padStart(9, "0")
        .slice(0, digits)}`
    : clock;
}

/** The number of decimals of a second that a step needs. @param {number} step */
function digitsOf(step) {
  return Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(step, 1)))));
}

/**
 * The time of day at a timestamp of the page, precise to about `resolution` nanoseconds.
 * @param {number} time
 * @param {number} resolution
 */
export function clockAt(time, resolution) {
  const instant = (traceStart ?? 0n) + BigInt(Math.round(time));
  return `${dayOf(instant)} ${timeOf(instant, digitsOf(resolution))} UTC`;
}

/** The time axis of the diagram, with its labels placed. @param {number} width */
export function timeAxis(width) {
  const ruler = isClock() ? clockRuler : rulerTicks;
  return placeTicks(width, textWidth("11px"), (spacing) => ruler(view.from, view.to, width, spacing));
}

/**
 * The ticks of a ruler with times of day, for `placeTicks`. The base is the day and the common part
 * of all ticks. It appears to the left of the ruler.
 * @param {number} from
 * @param {number} to
 * @param {number} width
 * @param {number} spacing
 * @returns {{ base: string | null, ticks: { x: number, label: string }[] }}
 */
function clockRuler(from, to, width, spacing) {
  if (traceStart === null || !(to > from) || width <= 0) return { base: null, ticks: [] };
  const minStep = ((to - from) * spacing) / width;
  let step = 10 ** Math.floor(Math.log10(Math.max(minStep, 1)));
  step *= [1, 2, 5, 10].find((factor) => step * factor >= minStep) ?? 10;
  step = Math.max(1, Math.round(step));
  if (minStep > 5e8)
    step = 1e9 * (STEPS.find((seconds) => seconds * 1e9 >= minStep) ?? 86400 * Math.ceil(minStep / 86400e9));
  const start = traceStart + BigInt(Math.ceil(from));
  const bigStep = BigInt(step);
  const digits = digitsOf(step);
  // A label with many digits would not fit. The seconds then appear to the left of the ruler, and
  // ticks count from them.
  const isShort = digits <= 3;
  const origin = isShort ? 0n : (start / SECOND) * SECOND;
  const ticks = [];
  for (
    let instant = ((start + bigStep - 1n) / bigStep) * bigStep;
    Number(instant - traceStart) <= to;
    instant += bigStep
  ) {
    const label = isShort
      ? step >= 86400e9
        ? dayOf(instant)
        : timeOf(instant, digits)
      : fraction(instant - origin, digits);
    ticks.push({ x: ((Number(instant - traceStart) - from) / (to - from)) * width, label });
  }
  return { base: isShort ? `${dayOf(start)} UTC` : `${dayOf(origin)} ${timeOf(origin, 0)} UTC`, ticks };
}

/** @param {bigint} nanos @param {number} digits */
function fraction(nanos, digits) {
  const unit = digits > 6 ? { size: 1_000n, name: "µs" } : { size: 1_000_000n, name: "ms" };
  const restDigits = digits > 6 ? digits - 6 : digits - 3;
  const decimals = String(nanos % unit.size)
    .padStart(unit.size === 1_000n ? 3 : 6, "0")
    .slice(0, restDigits);
  const integer = String(nanos / unit.size).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return `+${integer}.${decimals} ${unit.name}`;
}
