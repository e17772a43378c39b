// Charts of the interval, as SVG: pie, columns, durations in classes, who sends to whom, shares over time. Each has its figures as text.

import { make } from "./dom.js";
import { duration, grouped, percent } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {string} tag @param {Record<string, string | number | null>} attributes @param {string} [title] shown at the pointer
 * @param {(() => void) | null} [act] what a click or Enter does
 */
function shape(tag, attributes, title, act) {
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
    element.addEventListener("keydown", (event) => { if (/** @type {KeyboardEvent} */ (event).key === "Enter") act(); });
  }
  return element;
}

/** @param {string} label @param {number} width @param {number} height @param {Element[]} shapes */
function picture(label, width, height, shapes) {
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, class: "plot", role: "group", "aria-label": label });
  svg.append(...shapes);
  return svg;
}

/** @param {number} x @param {number} y @param {string} text @param {string} [anchor] */
function label(x, y, text, anchor = "start") {
  const element = shape("text", { x, y, "text-anchor": anchor });
  element.textContent = text;
  return element;
}

/** @typedef {{ name: string, color: string | null, size: number, text: string, act?: () => void }} Part */

/** @param {string} name @param {Part[]} parts */
export function pie(name, parts) {
  const sum = parts.reduce((all, one) => all + one.size, 0) || 1;
  let angle = -Math.PI / 2;
  const at = (/** @type {number} */ a) => `${(60 + 56 * Math.cos(a)).toFixed(2)} ${(60 + 56 * Math.sin(a)).toFixed(2)}`;
  const slices = parts.filter((one) => one.size > 0).map((one) => {
    const share = one.size / sum;
    const [from, to] = [angle, angle + share * 2 * Math.PI];
    angle = to;
    const title = `${one.name}: ${one.text}`;
    const paint = { fill: one.color ?? "var(--track)", stroke: "var(--panel)", "stroke-width": 1 };
    if (share > 0.9999) return shape("circle", { cx: 60, cy: 60, r: 56, ...paint }, title, one.act);
    return shape("path", { d: `M60 60L${at(from)}A56 56 0 ${share > 0.5 ? 1 : 0} 1 ${at(to)}Z`, ...paint }, title, one.act);
  });
  return make("div", { class: "pie" }, picture(name, 120, 120, slices), key(parts));
}

/** @param {string} name @param {Part[]} parts */
export function columns(name, parts) {
  const most = Math.max(1e-9, ...parts.map((one) => one.size));
  const shown = parts.slice(0, 24);
  const wide = 276 / Math.max(shown.length, 4);
  const bars = shown.map((one, at) => {
    const tall = (one.size / most) * 104;
    return shape("rect", { x: at * wide + wide * 0.12, y: 108 - tall, width: wide * 0.76, height: Math.max(tall, 0.5), rx: Math.min(2, wide / 6), fill: one.color ?? "var(--track)" }, `${one.name}: ${one.text}`, one.act);
  });
  return make("div", {}, picture(name, 276, 110, [shape("path", { d: "M0 108.5H276", class: "axis" }), ...bars]), key(parts));
}

/** What the colours mean, and how much of each there is. @param {Part[]} parts */
function key(parts) {
  const list = make("ul", { class: "key" });
  for (const one of parts.slice(0, 24)) {
    const inside = [make("span", { class: "chip", color: one.color ?? "" }), make("span", { class: "label", text: one.name, title: one.name }), make("span", { class: "amount", text: one.text })];
    list.append(make("li", {}, one.act ? make("button", { type: "button", onclick: one.act, title: `Go to the longest ${one.name}` }, ...inside) : make("span", { class: "key-line" }, ...inside)));
  }
  if (parts.length > 24) list.append(make("li", { class: "hint", text: `and ${grouped(parts.length - 24)} more` }));
  return list;
}

/**
 * Durations in classes, each twice as long as the one before.
 * @param {string} name @param {any[]} classes @param {string} color @param {boolean} shares @param {(id: string) => void} go
 */
export function histogram(name, classes, color, shares, go) {
  const total = classes.reduce((all, one) => all + one.count, 0) || 1;
  const most = Math.max(1, ...classes.map((one) => one.count));
  const wide = 276 / Math.max(classes.length, 6);
  const bars = classes.map((one, at) => {
    const tall = (one.count / most) * 96;
    const many = shares ? percent(one.count / total) : grouped(one.count);
    const title = `${many} from ${duration(one.from)} to ${duration(one.to)}, ${duration(one.nanos)} in all; go to the longest`;
    return shape("rect", { x: at * wide + 1, y: 100 - tall, width: wide - 2, height: one.count ? Math.max(tall, 1) : 0, rx: 1.5, fill: color }, title, one.longest && (() => go(one.longest.id)));
  });
  const ends = classes.length ? [label(1, 114, duration(classes[0].from, 2)), label(Math.min(275, classes.length * wide), 114, duration(classes[classes.length - 1].to, 2), "end"), label(275, 10, shares ? percent(most / total) : grouped(most), "end")] : [];
  return picture(name, 276, 118, [shape("path", { d: "M0 100.5H276", class: "axis" }), ...bars, ...ends]);
}

/** Who sends to whom; darker is more. @param {any} type @param {"count" | "size" | "nanos"} what @param {boolean} shares @param {(id: string) => void} go */
export function matrix(type, what, shares, go) {
  const { sides, cells, many } = type.cells;
  const amount = (/** @type {any} */ cell) => cell[what] ?? 0;
  const sum = cells.reduce((/** @type {number} */ all, /** @type {any} */ cell) => all + amount(cell), 0) || 1;
  const most = Math.max(1, ...cells.map(amount));
  const text = (/** @type {any} */ cell) => shares ? percent(amount(cell) / sum) : what === "nanos" ? duration(cell.nanos) : grouped(amount(cell));
  const step = 236 / Math.max(sides.length, 3);
  const wide = step * sides.length;
  const short = (/** @type {string} */ name) => name.length > 6 ? `…${name.slice(-5)}` : name;
  const each = Math.ceil(11 / step);
  const names = sides.flatMap((/** @type {string} */ side, /** @type {number} */ at) => at % each ? [] : [
    label(37, 14 + at * step + step / 2 + 3, short(side), "end"),
    ...(each === 1 && step >= 34 ? [label(40 + at * step + step / 2, 10, short(side), "middle")] : []),
  ]);
  const boxes = cells.map((/** @type {any} */ cell) => {
    const title = `${sides[cell.from]} → ${sides[cell.to]}: ${text(cell)} (${grouped(cell.count)} links, the longest ${duration(cell.longest?.nanos ?? 0)}); go to the longest`;
    return shape("rect", { x: 40 + cell.to * step, y: 14 + cell.from * step, width: Math.max(step - 1, 1), height: Math.max(step - 1, 1), rx: Math.min(2, step / 6), fill: "var(--accent)", "fill-opacity": 0.12 + 0.88 * Math.sqrt(amount(cell) / most) }, title, cell.longest && (() => go(cell.longest.id)));
  });
  const frame = shape("rect", { x: 40, y: 14, width: wide, height: wide, class: "frame" });
  const hint = `From the rows to the columns; the darkest is ${shares ? percent(most / sum) : what === "nanos" ? duration(most) : grouped(most)}.${many > sides.length ? ` The first ${sides.length} of ${grouped(many)} are shown.` : ""}`;
  return make("div", {}, picture(`Matrix of ${type.name}`, 276, 14 + wide + 2, [frame, ...names, ...boxes]), make("p", { class: "hint", text: hint }));
}

/**
 * Shares over time, standing on each other.
 * @param {string} name @param {any[]} curves @param {(at: number) => void} go to a part of the interval, from 0 to 1
 */
export function curves(name, curves, go) {
  const count = curves[0]?.shares.length ?? 1;
  let floor = new Array(count).fill(0);
  // Nested states count at each depth.
  const most = Math.max(1, ...floor.map((_, at) => curves.reduce((all, one) => all + one.shares[at], 0)));
  const step = 276 / count;
  const y = (/** @type {number} */ share) => (100 - (share / most) * 96).toFixed(1);
  const areas = curves.map((one) => {
    const top = floor.map((base, at) => base + one.shares[at]);
    const along = (/** @type {number[]} */ line) => line.map((share, at) => `${(at * step).toFixed(1)} ${y(share)}L${((at + 1) * step).toFixed(1)} ${y(share)}`);
    const path = `M${along(top).join("L")}L${along(floor).map((part) => part.split("L").reverse().join("L")).reverse().join("L")}Z`;
    floor = top;
    const peak = one.shares.indexOf(Math.max(...one.shares));
    return shape("path", { d: path, fill: one.color }, `${one.name}: at most ${percent(one.shares[peak])}; go there`, () => go((peak + 0.5) / count));
  });
  return picture(name, 276, 102, [...areas, shape("path", { d: "M0 100.5H276", class: "axis" })]);
}
