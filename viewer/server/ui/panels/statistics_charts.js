// Charts of the time range, as SVG: pie, columns, durations in classes, shares over time. Each also
// has its figures as text.

import { placeTicks } from "../util/axis.js";
import { make, textWidth } from "../util/dom.js";
import { formatDuration, groupDigits, formatPercent, rulerTicks } from "../util/format.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * An SVG element.
 * @param {string} tag
 * @param {Record<string, string | number | null>} attributes
 * @param {string} [title] shown at the pointer
 * @param {(() => void) | null} [act] the effect of a click or Enter
 */
export function shape(tag, attributes, title, act) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, String(value));
  if (title) {
    const text = document.createElementNS(SVG, "title");
    text.textContent = title;
    element.append(text);
  }
  if (act) {
    element.setAttribute("role", "button");
    element.setAttribute("tabindex", "0");
    element.setAttribute("aria-label", title ?? "");
    element.addEventListener("click", act);
    element.addEventListener("keydown", (event) => {
      if (/** @type {KeyboardEvent} */ (event).key === "Enter") act();
    });
  }
  return element;
}

/** @param {string} label @param {number} width @param {number} height @param {Element[]} shapes */
export function chartSvg(label, width, height, shapes) {
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", role: "group", "aria-label": label });
  svg.append(...shapes);
  return svg;
}

/** @param {number} x @param {number} y @param {string} text @param {string} [anchor] */
export function label(x, y, text, anchor = "start") {
  const element = shape("text", { x, y, "text-anchor": anchor });
  element.textContent = text;
  return element;
}

/**
 * @typedef {{ name: string, color: string | null, size: number, text: string, act?: () => void }}
 * Part
 */

/** @param {string} name @param {Part[]} parts */
export function pie(name, parts) {
  const sum = parts.reduce((total, part) => total + part.size, 0) || 1;
  let angle = -Math.PI / 2;
  const rimPoint = (/** @type {number} */ a) =>
    `${(60 + 56 * Math.cos(a)).toFixed(2)} ${(60 + 56 * Math.sin(a)).toFixed(2)}`;
  const slices = parts
    .filter((part) => part.size > 0)
    .map((part) => {
      const share = part.size / sum;
      const [from, to] = [angle, angle + share * 2 * Math.PI];
      angle = to;
      const title = `${part.name}: ${part.text}`;
      const paint = { fill: part.color ?? "var(--track)", stroke: "var(--panel)", "stroke-width": 1 };
      if (share > 0.9999) return shape("circle", { cx: 60, cy: 60, r: 56, ...paint }, title, part.act);
      return shape(
        "path",
        { d: `M60 60L${rimPoint(from)}A56 56 0 ${share > 0.5 ? 1 : 0} 1 ${rimPoint(to)}Z`, ...paint },
        title,
        part.act,
      );
    });
  return make("div", { class: "pie" }, chartSvg(name, 120, 120, slices), colorKey(parts));
}

/** @param {string} name @param {Part[]} parts */
export function columns(name, parts) {
  const largest = Math.max(1e-9, ...parts.map((part) => part.size));
  const shownParts = parts.slice(0, 24);
  const barWidth = 276 / Math.max(shownParts.length, 4);
  const bars = shownParts.map((part, index) => {
    const barHeight = (part.size / largest) * 104;
    return shape(
      "rect",
      {
        x: index * barWidth + barWidth * 0.12,
        y: 108 - barHeight,
        width: barWidth * 0.76,
        height: Math.max(barHeight, 0.5),
        rx: Math.min(2, barWidth / 6),
        fill: part.color ?? "var(--track)",
      },
      `${part.name}: ${part.text}`,
      part.act,
    );
  });
  return make(
    "div",
    {},
    chartSvg(name, 276, 110, [shape("path", { d: "M0 108.5H276", class: "axis" }), ...bars]),
    colorKey(parts),
  );
}

/**
 * The key of the colours, with the amount of each.
 * @param {Part[]} parts
 * @param {(one: Part) => string} [describe] describes the effect of a click
 */
export function colorKey(parts, describe = (part) => `Go to the longest ${part.name}`) {
  const list = make("ul", { class: "color-key" });
  for (const part of parts.slice(0, 24)) {
    const inside = [
      make("span", { class: "chip", color: part.color ?? "" }),
      make("span", { class: "label", text: part.name, title: part.name }),
      make("span", { class: "amount", text: part.text }),
    ];
    list.append(
      make(
        "li",
        {},
        part.act
          ? make("button", { onclick: part.act, title: describe(part) }, ...inside)
          : make("span", { class: "color-key-line" }, ...inside),
      ),
    );
  }
  if (parts.length > 24) list.append(make("li", { class: "hint", text: `and ${groupDigits(parts.length - 24)} more` }));
  return list;
}

/** Explains shares that add up to more than 100 %. @param {number} sum their sum */
export function overlapHint(sum) {
  return (
    sum > 1.0005 &&
    make("p", { class: "hint", text: `Nested states count at each depth: ${formatPercent(sum)} in all.` })
  );
}

/** A large number in short form. @param {number} count */
function shortCount(count) {
  const [size, unit] = [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ].find(([size]) => count >= Number(size)) ?? [1, ""];
  return `${Number((count / Number(size)).toPrecision(3))}${unit && `\u202f${unit}`}`;
}

/**
 * Lines across a chart at round fractions of its largest amount.
 * @param {number} largest
 * @param {number} floor
 * @param {number} height
 * @param {(amount: number) => string} text
 */
function levelLines(largest, floor, height, text) {
  const power = 10 ** Math.floor(Math.log10(largest));
  const step = [0.2, 0.5, 1, 2, 5].map((factor) => factor * power).find((step) => largest / step <= 4) ?? power;
  return Array.from({ length: Math.floor(largest / step + 1e-9) }, (_, index) => (index + 1) * step).flatMap(
    (amount) => {
      const y = floor - (amount / largest) * height;
      return [
        shape("path", { d: `M${LEFT_MARGIN} ${y.toFixed(1)}H276`, class: "level" }),
        label(LEFT_MARGIN - 4, y + 3, text(amount), "end"),
      ];
    },
  );
}

/** The left edge of charts with amounts on the left, in pixels. */
const LEFT_MARGIN = 34;

/** Durations beyond ten minutes that are round in their units, in nanoseconds. */
const ROUND_DURATIONS = [6e11, 36e11, 36e12, 864e11, 864e12, 864e13, 864e14, 864e15];

/**
 * Round durations between two. Below ten minutes they are powers of ten, or also 2 and 5 times
 * these if there are few; above, those in `ROUND_DURATIONS`.
 * @param {number} from
 * @param {number} to
 */
function roundDurations(from, to) {
  const durationsOf = (/** @type {number[]} */ parts) => {
    const durations = [];
    for (let power = 1; power < 6e11; power *= 10)
      for (const part of parts) if (part * power < 6e11) durations.push(part * power);
    return [...durations, ...ROUND_DURATIONS].filter((nanos) => nanos >= from && nanos <= to);
  };
  const tens = durationsOf([1]);
  return tens.length > 2 ? tens : durationsOf([1, 2, 5]);
}

/**
 * Durations in classes, each twice as long as the one before.
 * @param {string} name
 * @param {any[]} classes
 * @param {string} color
 * @param {boolean} shares
 * @param {(id: string) => void} go
 */
export function histogram(name, classes, color, shares, go) {
  const total = classes.reduce((sum, durationClass) => sum + durationClass.count, 0) || 1;
  const largest = Math.max(1, ...classes.map((durationClass) => durationClass.count));
  const barWidth = (276 - LEFT_MARGIN) / Math.max(classes.length, 6);
  const amount = (/** @type {number} */ count) => (shares ? formatPercent(count / total) : groupDigits(count));
  const bars = classes.map((durationClass, index) => {
    const barHeight = (durationClass.count / largest) * 96;
    const title =
      `${amount(durationClass.count)} from ${formatDuration(durationClass.from)} to ` +
      `${formatDuration(durationClass.to)}, ${formatDuration(durationClass.nanos)} in all; go to the longest`;
    return shape(
      "rect",
      {
        x: LEFT_MARGIN + index * barWidth + 1,
        y: 104 - barHeight,
        width: barWidth - 2,
        height: durationClass.count ? Math.max(barHeight, 1) : 0,
        rx: 1.5,
        fill: color,
        "data-key": `class ${durationClass.from}`,
      },
      title,
      durationClass.longest && (() => go(durationClass.longest.id)),
    );
  });
  const end = classes.length ? classes[classes.length - 1].to : 1;
  // The first class may be that of 0.
  const first = classes.length ? Math.log2(classes[0].to) - 1 : 0;
  let nextFreeX = -Infinity;
  const marks = roundDurations(classes[0]?.from ?? 1, end);
  // Labels only every `stride`-th power of ten, so that they have room at equal distances.
  const stride = Math.ceil(40 / (Math.log2((marks[1] ?? 1e9) / (marks[0] ?? 1)) * barWidth));
  const ticks = marks
    .filter((_, index) => index % stride === 0 || marks.length < 3)
    .flatMap((nanos) => {
      const x = LEFT_MARGIN + (Math.log2(nanos) - first) * barWidth;
      const text = formatDuration(nanos, 1);
      const halfWidth = textWidth("9px")(text) / 2;
      if (x - halfWidth < nextFreeX || x + halfWidth > 276) return [];
      nextFreeX = x + halfWidth + 6;
      return [shape("path", { d: `M${x.toFixed(1)} 104V107`, class: "axis" }), label(x, 116, text, "middle")];
    });
  const unit = shares ? total / 100 : 1;
  const lines = classes.length
    ? levelLines(largest / unit, 104, 96, (value) => (shares ? `${Number(value.toPrecision(2))} %` : shortCount(value)))
    : [];
  return chartSvg(name, 276, 120, [
    ...lines,
    shape("path", { d: `M${LEFT_MARGIN} 104.5H276`, class: "axis" }),
    ...bars,
    ...ticks,
  ]);
}

/**
 * The marks of a time axis, and the time from which their labels count.
 * @param {number} from
 * @param {number} span
 * @param {number} plotWidth
 */
function timeMarks(from, span, plotWidth) {
  const { base, ticks } = placeTicks(
    plotWidth,
    textWidth("9px"),
    (spacing) => rulerTicks(from, from + span, plotWidth, spacing),
    60,
  );
  const marks = ticks.flatMap((tick) =>
    [
      shape("path", { d: `M${(LEFT_MARGIN + tick.x).toFixed(1)} 104V107`, class: "axis" }),
      tick.label !== null && label(LEFT_MARGIN + tick.center, 116, tick.label, "middle"),
    ].filter((element) => element !== false),
  );
  return { base, marks };
}

/**
 * Shares over time, stacked.
 * @param {string} name
 * @param {any[]} curves
 * @param {{ from: number, span: number }} of the time range
 * @param {(at: number) => void} go to a position in it, from 0 to 1
 */
export function curves(name, curves, { from, span }, go) {
  const count = curves[0]?.shares.length ?? 1;
  let floor = new Array(count).fill(0);
  // Nested states count at each depth.
  const largest = Math.max(
    1,
    ...floor.map((_, index) => curves.reduce((total, curve) => total + curve.shares[index], 0)),
  );
  const plotWidth = 276 - LEFT_MARGIN;
  const step = plotWidth / count;
  const y = (/** @type {number} */ share) => (104 - (share / largest) * 96).toFixed(1);
  const peak = (/** @type {any} */ curve) => curve.shares.indexOf(Math.max(...curve.shares));
  const goToPeak = (/** @type {any} */ curve) => () => go((peak(curve) + 0.5) / count);
  const areas = curves.map((curve) => {
    const top = floor.map((base, index) => base + curve.shares[index]);
    const points = (/** @type {number[]} */ line) =>
      line.map(
        (share, index) =>
          `${(LEFT_MARGIN + index * step).toFixed(1)} ${y(share)}` +
          `L${(LEFT_MARGIN + (index + 1) * step).toFixed(1)} ${y(share)}`,
      );
    const path = `M${points(top).join("L")}L${points(floor)
      .map((part) => part.split("L").reverse().join("L"))
      .reverse()
      .join("L")}Z`;
    floor = top;
    return shape(
      "path",
      { d: path, fill: curve.color, "data-key": `curve ${curve.value}` },
      `${curve.name}: at most ${formatPercent(curve.shares[peak(curve)])}; go there`,
      goToPeak(curve),
    );
  });
  const { base, marks } = timeMarks(from, span, plotWidth);
  const parts = curves.map((curve) => ({
    name: curve.name,
    color: curve.color,
    size: 0,
    share: curve.shares.reduce((/** @type {number} */ all, /** @type {number} */ share) => all + share, 0) / count,
    act: goToPeak(curve),
  }));
  parts.sort((a, b) => b.share - a.share);
  return make(
    "div",
    {},
    chartSvg(name, 276, 120, [
      ...areas,
      ...levelLines(largest * 100, 104, 96, (share) => `${share.toFixed(0)} %`),
      shape("path", { d: `M${LEFT_MARGIN} 104.5H276`, class: "axis" }),
      ...marks,
    ]),
    base && make("p", { class: "hint", text: `Timestamps count from ${base}.` }),
    colorKey(
      parts.map((part) => ({ ...part, text: formatPercent(part.share) })),
      (part) => `Go to the maximum of ${part.name}`,
    ),
  );
}
