// How dates, durations and counts are written; the same rules as layout/scale.rs.

/** @type {[number, string][]} */
const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const POWER = { s: 1e9, ms: 1e6, us: 1e3, "µs": 1e3, ns: 1 };

/** A unit at the end of a text. */
export const UNIT = /(?:s|ms|us|µs|ns)$/;

/** The trace's first date in nanoseconds; dates of the page count from it. */
let origin = 0n;

/** @param {string} text */
export function setOrigin(text) {
  origin = BigInt(text);
}

/** Counts from another first date. @param {string} text @returns {number} how much earlier that is, in nanoseconds */
export function moveOrigin(text) {
  const before = origin;
  origin = BigInt(text);
  return Number(before - origin);
}

/** @param {number} count */
export function grouped(count) {
  return String(count).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** A value with five significant digits, whole ones in full. @param {number} value */
export function figure(value) {
  const text = String(Number.isSafeInteger(value) ? Math.abs(value) : Number(Math.abs(value).toPrecision(5)));
  const [whole, part] = text.split(".");
  return `${value < 0 && text !== "0" ? "−" : ""}${/^\d+$/.test(whole) ? grouped(Number(whole)) : whole}${part ? `.${part}` : ""}`;
}

/** @param {number} nanos @returns {[number, string]} */
function unitOf(nanos) {
  return UNITS.find(([size]) => Math.abs(nanos) >= size) ?? UNITS[3];
}

/**
 * A whole number of nanoseconds in a unit, exactly.
 * @param {bigint} nanos @param {[number, string]} unit @param {number} digits
 */
function inUnit(nanos, [size, name], digits) {
  const scale = 10n ** BigInt(digits);
  const absolute = nanos < 0n ? -nanos : nanos;
  const scaled = (absolute * scale + BigInt(size) / 2n) / BigInt(size);
  const sign = nanos < 0n && scaled > 0n ? "−" : "";
  const whole = String(scaled / scale).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const part = digits > 0 ? "." + String(scaled % scale).padStart(digits, "0") : "";
  return `${sign}${whole}${part} ${name}`;
}

/**
 * A date, precise to about `resolution` nanoseconds.
 * @param {number} time nanoseconds after the trace's first date @param {number} resolution
 */
export function date(time, resolution) {
  const absolute = origin + BigInt(Math.round(time));
  if (absolute === 0n) return "0 s";
  const unit = unitOf(Number(absolute));
  let digits = 0;
  for (let size = unit[0]; size > Math.max(resolution, 1); size /= 10) digits += 1;
  return inUnit(absolute, unit, digits);
}

/** A duration with four significant digits, or as many as said. @param {number} nanos @param {number} [significant] */
export function duration(nanos, significant = 4) {
  const unit = unitOf(nanos);
  const whole = Math.floor(Math.abs(nanos) / unit[0]);
  const digits = unit[0] === 1 ? 0 : Math.max(0, significant - String(Math.max(whole, 1)).length);
  return inUnit(BigInt(Math.round(nanos)), unit, digits);
}

/** @param {number} share from 0 to 1 */
export function percent(share) {
  const value = share * 100;
  return value > 0 && value < 0.1 ? "< 0.1 %" : `${value.toFixed(1)} %`;
}

/**
 * A date as someone types it: seconds, or with a unit. `null` when it is none.
 * @param {string} text @param {bigint} [zero] what it counts from @returns {number | null} nanoseconds after the trace's first date
 */
export function parseDate(text, zero = origin) {
  const plain = text.trim().replace(/[\s\u202f]/g, "").replace("−", "-").replace(",", ".");
  const match = /^(-?)(\d*)(?:\.(\d*))?(s|ms|us|µs|ns)?$/.exec(plain);
  if (!match || !(match[2] || match[3])) return null;
  const power = Math.log10(POWER[match[4] ?? "s"]);
  const part = (match[3] ?? "").slice(0, power).padEnd(power, "0");
  const absolute = BigInt((match[2] || "0") + part) * (match[1] ? -1n : 1n);
  return Number(absolute - zero);
}

/**
 * The ticks of a ruler.
 * @param {number} from @param {number} to @param {number} width @param {number} spacing
 * @returns {{ base: string | null, ticks: { x: number, label: string }[] }}
 */
export function ruler(from, to, width, spacing) {
  if (!(to > from) || width <= 0) return { base: null, ticks: [] };
  const least = ((to - from) * spacing) / width;
  let step = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  step *= [1, 2, 5, 10].find((factor) => step * factor >= least) ?? 10;
  step = Math.max(1, Math.round(step));
  const start = origin + BigInt(Math.ceil(from));
  const big = BigInt(step);
  const largest = Math.max(Math.abs(Number(start)), Math.abs(Number(origin) + to));
  let zero = 0n;
  let base = null;
  if (largest / step > 1e6) {
    const round = 10n ** BigInt(Math.ceil(Math.log10(step * 1000)));
    zero = (start / round) * round;
    base = date(Number(zero - origin), Number(round));
  }
  const unit = unitOf(base ? step * 100 : largest);
  let digits = 0;
  for (let size = unit[0]; size > step && step % size !== 0; size /= 10) digits += 1;
  const ticks = [];
  let at = (start / big) * big;
  if (at < start) at += big;
  for (; Number(at - origin) <= to; at += big) {
    const x = ((Number(at - origin) - from) / (to - from)) * width;
    ticks.push({ x, label: (base ? "+" : "") + inUnit(at - zero, unit, digits) });
  }
  return { base, ticks };
}
