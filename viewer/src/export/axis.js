// Times as text, and the ticks and labels of time axes. The rules are those of time_text.rs and
// layout/scale.rs. An exported file that zooms contains this text, so it imports nothing.

/** Minimum distance of ticks, and minimum space between labels. */
const SPACING = 92,
  GAP = 8;
/** From this number of nanoseconds on, times are written in days, hours, minutes and seconds. */
const LONG = 600e9;
/** @type {[number, string][]} */
const LONG_UNITS = [
  [86400e9, "d"],
  [3600e9, "h"],
  [60e9, "min"],
  [1e9, "s"],
];
/** @type {[number, string][]} */
const SHORT_UNITS = [
  [1e9, "s"],
  [1e6, "ms"],
  [1e3, "µs"],
  [1, "ns"],
];
/** Steps of an axis of long times, in seconds. Longer steps are in days. */
const LONG_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200];

/** The unit in which a short time is written. @param {number} nanos @returns {[number, string]} */
const unitOf = (nanos) => SHORT_UNITS.find(([size]) => Math.abs(nanos) >= size) ?? SHORT_UNITS[3];

/**
 * Number of decimals for which the last digit is at least as fine as the resolution.
 * @param {number} resolution @param {number} unit
 */
function decimalsTo(resolution, unit) {
  let digits = 0;
  for (let size = unit; size > Math.max(resolution, 1); size /= 10) digits += 1;
  return digits;
}

/** @param {bigint} count */
const groups = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");

/**
 * A time in a unit, rounded, as a whole number of its last decimal.
 * @param {bigint} nanos @param {number} unit @param {number} digits
 */
const scaleToUnit = (nanos, unit, digits) =>
  ((nanos < 0n ? -nanos : nanos) * 10n ** BigInt(digits) + BigInt(unit) / 2n) / BigInt(unit);

/**
 * A whole number of nanoseconds, converted exactly to a unit.
 * @param {bigint} nanos @param {[number, string]} unit @param {number} digits
 */
function formatInUnit(nanos, [unit, name], digits) {
  const [amount, scale] = [scaleToUnit(nanos, unit, digits), 10n ** BigInt(digits)];
  const part = digits > 0 ? "." + String(amount % scale).padStart(digits, "0") : "";
  return `${nanos < 0n && amount > 0n ? "−" : ""}${groups(amount / scale)}${part} ${name}`;
}

/**
 * A time in days, hours, minutes and seconds, rounded to one of these. Zero parts are omitted.
 * @param {bigint} nanos @param {number} unit @param {number} digits
 */
function formatInParts(nanos, unit, digits) {
  const scale = 10n ** BigInt(digits);
  let remainder = scaleToUnit(nanos, unit, digits);
  const sign = nanos < 0n && remainder > 0n ? "−" : "";
  const parts = [];
  for (const [size, name] of LONG_UNITS.filter(([size]) => size >= unit)) {
    const unitAmount = BigInt(size / unit) * scale;
    const [whole, part] = [remainder / unitAmount, remainder % unitAmount];
    if (size > unit || digits === 0) {
      remainder = part;
      if (whole > 0n || (size === unit && parts.length === 0)) parts.push(`${groups(whole)} ${name}`);
    } else if (remainder > 0n || parts.length === 0)
      parts.push(`${whole}.${String(part).padStart(digits, "0")} ${name}`);
  }
  return sign + parts.join(" ");
}

/**
 * A timestamp with a precision of about `resolution` nanoseconds.
 * @param {bigint} time @param {number} resolution
 */
export function timestampText(time, resolution) {
  if (time === 0n) return "0 s";
  const [unit, name] =
    Math.abs(Number(time)) < LONG
      ? unitOf(Number(time))
      : (LONG_UNITS.find(([size]) => size <= resolution) ?? LONG_UNITS[3]);
  const digits = decimalsTo(resolution, unit);
  return Math.abs(Number(time)) < LONG ? formatInUnit(time, [unit, name], digits) : formatInParts(time, unit, digits);
}

/**
 * A duration with about `significant` significant digits.
 * @param {number} nanos @param {number} significant
 */
export function durationText(nanos, significant) {
  const size = Math.abs(nanos);
  const whole = BigInt(Math.round(nanos));
  if (size >= LONG) {
    const unit = LONG_UNITS.find(([unit]) => size / unit >= 10 ** (significant - 1))?.[0];
    return unit ? formatInParts(whole, unit, 0) : formatInParts(whole, 1e9, 1);
  }
  const unit = unitOf(nanos);
  return formatInUnit(
    whole,
    unit,
    unit[0] === 1 ? 0 : Math.max(0, significant - String(Math.max(Math.floor(size / unit[0]), 1)).length),
  );
}

/** The smallest of 1, 2, 5 × 10ⁿ that is not less. @param {number} least */
function stepOf(least) {
  for (let decade = 1; ; decade *= 10)
    for (const factor of [1, 2, 5]) if (decade * factor >= least) return decade * factor;
}

/** @typedef {{ base: string | null, ticks: { x: number, label: string }[] }} Ticks */

/**
 * Ticks at least `spacing` apart. Their labels are not placed yet.
 * @param {bigint} origin the timestamp to which `from` and `to` are relative
 * @param {number} from @param {number} to @param {number} width @param {number} spacing
 * @returns {Ticks}
 */
export function timeTicks(origin, from, to, width, spacing) {
  if (!(to > from) || width <= 0) return { base: null, ticks: [] };
  const least = Math.ceil(((to - from) * spacing) / width);
  const [first, last] = [origin + BigInt(Math.ceil(from)), origin + BigInt(Math.floor(to))];
  const farthest = Math.max(Math.abs(Number(first)), Math.abs(Number(last)));
  const isLong = farthest >= LONG;
  const step =
    !isLong || least <= 1e9
      ? stepOf(least)
      : 1e9 * (LONG_STEPS.find((step) => step * 1e9 >= least) ?? 86400 * stepOf(least / 86400e9));
  let round = 0;
  // A label of long times has at most two parts: days and hours, hours and minutes, or minutes and
  // seconds.
  const isFine = step < 1e9 || (step < 60e9 && farthest >= 3600e9) || (step < 3600e9 && farthest >= 86400e9);
  if (!isLong && farthest / step > 1e6) for (round = 1; round < step * 1000;) round *= 10;
  if (isLong && isFine)
    round =
      [...Array.from({ length: 11 }, (_, power) => 10 ** power), 60e9, LONG, 3600e9].find(
        (round) => round >= step * 20,
      ) ?? 86400e9;
  const floor = (/** @type {bigint} */ at, /** @type {bigint} */ by) => at - (((at % by) + by) % by);
  const zero = round ? floor(first, BigInt(round)) : 0n;
  const largest = !round ? Math.max(farthest, 1) : isLong ? Number(last - zero) : step * 100;
  const unit = largest < LONG ? unitOf(largest) : (LONG_UNITS.find(([unit]) => step % unit === 0) ?? LONG_UNITS[3]);
  let digits = 0;
  for (let size = unit[0]; size > step && step % size !== 0; size /= 10) digits += 1;
  const ticks = [];
  const bigStep = BigInt(step);
  for (let tickTime = floor(first + bigStep - 1n, bigStep); tickTime <= last; tickTime += bigStep) {
    const text =
      largest < LONG ? formatInUnit(tickTime - zero, unit, digits) : formatInParts(tickTime - zero, unit[0], 0);
    ticks.push({ x: ((Number(tickTime - origin) - from) / (to - from)) * width, label: (round ? "+" : "") + text });
  }
  return { base: round ? timestampText(zero, round) : null, ticks };
}

/**
 * Places labels within the axis and without overlap. Ticks are far enough apart for their labels.
 * At an edge, a label is moved or omitted.
 * @param {number} width @param {(text: string) => number} measure
 * @param {(spacing: number) => Ticks} rule @param {number} [spacing]
 */
export function placeTicks(width, measure, rule, spacing = SPACING) {
  const least = spacing / 2.5;
  const isWide = width >= 4 * spacing;
  let rulerTicks = rule(spacing);
  // A wide time range may exclude both neighbours of its only round number.
  while (rulerTicks.ticks.length < 2 && isWide && spacing > least) {
    spacing *= 0.8;
    rulerTicks = rule(spacing);
  }
  for (let round = 0; round < 8; round++) {
    const widest = Math.max(0, ...rulerTicks.ticks.map((tick) => measure(tick.label)));
    const apart = Math.min(Infinity, ...rulerTicks.ticks.slice(1).map((tick, at) => tick.x - rulerTicks.ticks[at].x));
    if (widest + GAP <= apart) break;
    spacing = Math.max(widest + GAP, spacing * 1.2);
    rulerTicks = rule(spacing);
  }
  let free = 0;
  const ticks = rulerTicks.ticks.map(({ x, label }) => {
    const half = measure(label) / 2;
    const center = Math.max(Math.min(x, width - half), half);
    const fits = center - half >= free && 2 * half <= width;
    if (fits) free = center + half + GAP;
    return { x, center, label: fits ? label : null };
  });
  return { base: rulerTicks.base, ticks };
}
