// Writes and reads timestamps, durations and counts.

import { durationText, timestampText, timeTicks } from "./axis.js";

/** The units of users, in nanoseconds. @type {Record<string, bigint>} */
const SIZES = { ns: 1n, us: 1_000n, "µs": 1_000n, ms: 1_000_000n, s: 1_000_000_000n, min: 60_000_000_000n, h: 3_600_000_000_000n, d: 86_400_000_000_000n };

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
  const [whole, part] = text.split(".");
  return `${value < 0 && text !== "0" ? "−" : ""}${/^\d+$/.test(whole) ? groupDigits(Number(whole)) : whole}${part ? `.${part}` : ""}`;
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

/** The first unit in a text. @param {string} text */
export function firstUnit(text) {
  return /\d\s*(ns|us|µs|ms|min|s|h|d)(?![a-zµ])/.exec(text)?.[1];
}

/**
 * Reads a typed timestamp: seconds, or numbers with units, the largest first. Returns `null` if the
 * text is invalid.
 * @param {string} text
 * @param {bigint} [zero] the reference
 * @returns {number | null} nanoseconds after the trace's first timestamp
 */
export function parseTimestamp(text, zero = origin) {
  const plain = text.replace(/\s/g, "").replace("−", "-").replace(/,/g, ".");
  const rest = plain.replace(/^-/, "");
  const all = [...rest.matchAll(/(\d*)\.?(\d*)([a-zµ]*)/g)].filter(([one]) => one);
  let [sum, above] = [0n, 0n];
  for (const [, whole, part, unit] of all) {
    const size = SIZES[unit || (all.length === 1 ? "s" : "")];
    if (!size || !(whole + part) || (above && size >= above)) return null;
    above = size;
    const digits = part.slice(0, 18);
    sum += BigInt(whole || "0") * size + (BigInt(digits || "0") * size) / 10n ** BigInt(digits.length);
  }
  if (!above || all.map(([one]) => one).join("") !== rest) return null;
  return Number((plain.startsWith("-") ? -sum : sum) - zero);
}

/**
 * The ticks of a ruler, for `placed`.
 * @param {number} from
 * @param {number} to
 * @param {number} width
 * @param {number} spacing
 */
export function rulerTicks(from, to, width, spacing) {
  return timeTicks(origin, from, to, width, spacing);
}
