// Writes timestamps, durations and counts. time_range.js reads them.

import { durationText, timestampText, timeTicks } from "./axis.js";

/** The trace's first timestamp in nanoseconds. Timestamps of the page count from it. */
let origin = 0n;

/** @param {string} text */
export function setOrigin(text) {
  origin = BigInt(text);
}

/**
 * Sets another first timestamp.
 * @param {string} text
 * @returns {number} the decrease, in nanoseconds
 */
export function moveOrigin(text) {
  const before = origin;
  origin = BigInt(text);
  return Number(before - origin);
}

/** @param {number} count */
export function groupDigits(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** A value with five significant digits; whole numbers in full. @param {number} value */
export function formatValue(value) {
  const text = String(Number.isSafeInteger(value) ? Math.abs(value) : Number(Math.abs(value).toPrecision(5)));
  const [integer, part] = text.split(".");
  const sign = value < 0 && text !== "0" ? "−" : "";
  const integerText = /^\d+$/.test(integer) ? groupDigits(Number(integer)) : integer;
  return sign + integerText + (part ? `.${part}` : "");
}

/**
 * A timestamp, precise to about `resolution` nanoseconds.
 * @param {number} time nanoseconds after the trace's first timestamp
 * @param {number} resolution
 */
export function formatTimestamp(time, resolution) {
  return timestampText(origin + BigInt(Math.round(time)), resolution);
}

/**
 * A time range, precise to a thousandth of it.
 * @param {number} from
 * @param {number} to
 */
export function rangeInWords(from, to) {
  const resolution = Math.max(1, (to - from) / 1000);
  return `${formatTimestamp(from, resolution)} to ${formatTimestamp(to, resolution)}`;
}

/**
 * A duration with four significant digits, or another number of them.
 * @param {number} nanos
 * @param {number} [significant]
 */
export function formatDuration(nanos, significant = 4) {
  return durationText(nanos, significant);
}

/** @param {number} share from 0 to 1 */
export function formatPercent(share) {
  const value = share * 100;
  return value > 0 && value < 0.1 ? "< 0.1 %" : `${value.toFixed(1)} %`;
}

/** A timestamp of the page as one of the trace. @param {number} time */
export function toTraceTime(time) {
  return origin + BigInt(Math.round(time));
}

/** Nanoseconds from the trace's first timestamp to another one. @param {bigint} time */
export function fromOrigin(time) {
  return Number(time - origin);
}

/**
 * The ticks of a ruler, for `placeTicks`.
 * @param {number} from
 * @param {number} to
 * @param {number} width
 * @param {number} spacing
 */
export function rulerTicks(from, to, width, spacing) {
  return timeTicks(origin, from, to, width, spacing);
}
