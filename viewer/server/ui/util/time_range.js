// Parses times and time ranges. `converter/paje/src/time_text.rs` and `time_range.rs` have the same
// rules and messages. The table `converter/paje/tests/time_ranges.json` tests both.

/** @typedef {{ error: string }} ParseError */

const SECOND = 1_000_000_000n;

/** The units and their sizes in nanoseconds. @type {Map<string, bigint>} */
const UNITS = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["\u00b5s", 1_000n],
  ["\u03bcs", 1_000n],
  ["ms", 1_000_000n],
  ["s", SECOND],
  ["min", 60n * SECOND],
  ["h", 3600n * SECOND],
  ["d", 86_400n * SECOND],
]);

/** The limit of times in nanoseconds: the server has 64 bits for them, which are 292 years. */
const LIMIT = 2n ** 63n;

/** The number of decimals that count. Further ones change no unit by a nanosecond. */
const DECIMALS = 24;

/** @param {string} text @param {string} expected @param {string} example @returns {ParseError} */
function parseError(text, expected, example) {
  return { error: `\`${text}\`: expected ${expected}; example: \`${example}\`` };
}

/** @param {string} text */
function limitError(text) {
  return parseError(text, "times within 292 years before and after 0", "250ms");
}

/** @param {bigint} nanos */
function fits(nanos) {
  return -LIMIT <= nanos && nanos < LIMIT;
}

/** @param {string} text */
function trim(text) {
  return text.replace(/^\p{White_Space}+|\p{White_Space}+$/gu, "");
}

/**
 * The digits of the first number of a text, the name of its unit, and the rest.
 * @param {string} text
 */
function firstPart(text) {
  const match = /^\p{White_Space}*([\d.\u202f]*)\p{White_Space}*(\p{Alphabetic}*)(.*)$/su.exec(text);
  const [, number, name, rest] = /** @type {string[]} */ (/** @type {unknown} */ (match));
  return { number, name, rest: trim(rest) };
}

/** The unit of the first number of a time. @param {string} text */
function firstUnit(text) {
  return UNITS.get(firstPart(trim(text).replace(/^[-−]+/, "")).name);
}

/** A number of units as nanoseconds, or `null`. @param {string} number @param {bigint} unit */
function nanosOf(number, unit) {
  const parts = /^(\d*)\.?(\d*)$/.exec(number.replace(/\u202f/g, ""));
  if (!parts || !(parts[1] + parts[2])) return null;
  const decimals = parts[2].slice(0, DECIMALS);
  return BigInt(parts[1] || "0") * unit + (BigInt(decimals || "0") * unit) / 10n ** BigInt(decimals.length);
}

/**
 * Parses a time: a number of seconds, or numbers with units, the largest first.
 * @param {string} input
 * @param {bigint} [unitless] the unit of a number without one
 * @returns {bigint | ParseError} nanoseconds
 */
export function parseTime(input, unitless = SECOND) {
  const text = trim(input);
  const withPoint = text.replace(/,/g, ".");
  if (withPoint !== text && typeof parseTime(withPoint, unitless) === "bigint")
    return parseError(text, "a decimal point, not a comma", withPoint);
  const formError = parseError(text, "a time in seconds, or with units", "250ms");
  const negative = /^[-−]/.test(text);
  let remaining = trim(negative ? text.slice(1) : text);
  let sum = 0n;
  /** @type {bigint | null} */ let previousUnit = null;
  do {
    const { number, name, rest } = firstPart(remaining);
    if (!number || (!name && (rest || previousUnit !== null))) return formError;
    const unit = name ? UNITS.get(name) : unitless;
    if (unit === undefined)
      return parseError(text, `one of the units ns, us, ms, s, min, h and d instead of \`${name}\``, "250ms");
    const nanos = nanosOf(number, unit);
    if (nanos === null) return formError;
    if (previousUnit !== null && previousUnit <= unit)
      return parseError(text, "each unit once, the largest first", "1h 30min");
    [sum, previousUnit, remaining] = [sum + nanos, unit, rest];
  } while (remaining);
  if (negative) sum = -sum;
  return fits(sum) ? sum : limitError(text);
}

/** Nanoseconds in the largest unit that needs no decimals. @param {bigint} nanos */
export function timeText(nanos) {
  const name = ["s", "ms", "us"].find((name) => nanos % /** @type {bigint} */ (UNITS.get(name)) === 0n) ?? "ns";
  return `${nanos / /** @type {bigint} */ (UNITS.get(name))}${name}`;
}

/**
 * Parses `FROM..TO`, `FROM..`, `..TO`, `..` or `FROM+LENGTH`. A bound without a unit has the unit
 * of the other bound.
 * @param {string} input
 * @returns {{ from: bigint | null, to: bigint | null } | ParseError} the bounds; `null` is that of
 * the trace
 */
export function parseTimeRange(input) {
  const text = trim(input);
  const dots = text.indexOf("..");
  if (dots < 0) return withLength(text);
  const [first, last] = [text.slice(0, dots), text.slice(dots + 2)];
  const from = trim(first) ? parseTime(first, firstUnit(last)) : null;
  if (from !== null && typeof from !== "bigint") return from;
  const to = trim(last) ? parseTime(last, firstUnit(first)) : null;
  if (to !== null && typeof to !== "bigint") return to;
  if (from !== null && to !== null) {
    if (from > to) return parseError(text, "the start before the end", `${timeText(to)}..${timeText(from)}`);
    if (from === to) return parseError(text, "an end after the start, as the end is excluded", `${timeText(from)}+1ns`);
  }
  return { from, to };
}

/** Parses `FROM+LENGTH`. @param {string} text */
function withLength(text) {
  const plus = text.indexOf("+");
  if (plus < 0) return parseError(text, "a time range FROM..TO, FROM.., ..TO or FROM+LENGTH", "0.2..0.4");
  const [first, length] = [text.slice(0, plus), text.slice(plus + 1)];
  if (!trim(first)) return parseError(text, "a start before the length", "200ms+5ms");
  const from = parseTime(first);
  if (typeof from !== "bigint") return from;
  const nanos = parseTime(length);
  if (typeof nanos !== "bigint") return nanos;
  if (nanos <= 0n) return parseError(trim(length), "a length above 0", "5ms");
  return fits(from + nanos) ? { from, to: from + nanos } : limitError(text);
}
