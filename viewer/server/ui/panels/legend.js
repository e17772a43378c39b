// The legend, which counts and filters: a click dims a value or hides a type.

import { ask } from "../net/api.js";
import { add, addFilter, quoted, replace } from "./filter_chain.js";
import { overlap } from "./charts.js";
import { byId, make, refill } from "../util/dom.js";
import { duration, grouped, percent } from "../util/format.js";
import { findText } from "./search.js";
import { menu } from "../util/menu.js";
import { layout } from "../state/rows.js";
import { changed, remember, toggle, view } from "../state/view.js";

/** With more values than these, they are in the order of their shares. */
const FEW = 24;
/**
 * More values than these are listed only on request: a thousand lines take longer to make than an
 * image.
 */
const LISTED = 100;
/** The types with all values listed. @type {Set<string>} */
const unfolded = new Set();
/** The last answer. @type {any} */
let shown = null;

/** The signs of kinds, and of the shapes of events. @type {Record<string, string>} */
const SIGNS = {
  link: "M1 10 13 3M13 3 8.5 3.4M13 3 10.6 6.8",
  variable: "M1 9.5h4v-7h5v4h5",
  triangle: "M3.5 2.5h9L8 10.5z",
  diamond: "M8 1.5 12.2 6 8 10.5 3.8 6z",
  circle: "M8 2a4 4 0 1 1 0 8a4 4 0 1 1 0-8z",
  square: "M4.3 2.3h7.4v7.4H4.3z",
  line: "M7.2 1.5h1.6v9H7.2z",
};

/** Shows the legend of the interval. */
export async function showLegend() {
  const answer = await ask("legend", { from: view.from, to: view.to, theme: document.documentElement.dataset.theme });
  if (!answer) return;
  shown = answer;
  list();
}

function list() {
  const groups = [];
  /** @type {HTMLElement[]} */
  const others = [];
  for (const group of shown.groups) {
    if (group.kind === "state") groups.push(states(group));
    else if (group.entries.length > 1) groups.push(several(group));
    else others.push(type(group, group.entries[0]));
  }
  if (others.length) groups.push(make("div", { class: "group" }, make("h2", {}, "Also shown"), ...others));
  if (groups.length === 0) groups.push(make("p", { class: "hint", text: "What is in the interval is listed here, with its share of the time." }));
  refill(byId("legend"), () => byId("legend").replaceChildren(...groups));
}

/** @param {any} group */
function states(group) {
  const bar = make("div", { class: "bar-of-shares", "aria-hidden": "true" });
  const entries = [];
  // A few values keep their positions; of many values the largest shares come first.
  if (group.entries.length > FEW) group.entries.sort((/** @type {any} */ one, /** @type {any} */ other) => other.share - one.share);
  const all = group.entries.reduce((/** @type {number} */ before, /** @type {any} */ one) => before + one.share, 0);
  const sum = Math.max(1, all);
  const { listed, rest } = some(group);
  for (const entry of listed) {
    const part = make("i", { color: entry.color });
    part.style.width = `${(entry.share / sum) * 100}%`;
    bar.append(part);
    const chip = make("span", { class: "chip", color: entry.color });
    if (entry.size < 1) Object.assign(chip.style, { height: `${Math.max(2, entry.size * 12)}px`, alignSelf: "end", borderRadius: "2px" });
    const self = Math.abs(entry.self_share - entry.share) > 5e-4 ? `, ${percent(entry.self_share)} self` : "";
    const what = `${duration(entry.nanos)} over ${grouped(group.containers)} containers${self && `, ${percent(entry.self_share)} self time`}`;
    chip.title = "Drag it to another value to give that this colour";
    entries.push(painted(button(`v${entry.value}`, view.dimmed, entry.value, chip, entry.name, `${percent(entry.share)}${self}`, `${what}; click to dim`, undefined, () => valueItems(group, entry)), group, entry));
  }
  const many = `${grouped(group.containers)} row${group.containers === 1 ? "" : "s"}`;
  return make("div", { class: "group" }, make("h2", {}, group.name, make("small", { text: many }), more(group.name, () => typeItems(group))), bar, ...entries, rest, overlap(all));
}

/**
 * The entries to list (the largest and the dimmed ones), and the button that lists the rest.
 * @param {any} group
 */
function some(group) {
  const key = String(group.types[0]);
  const all = group.entries.length <= LISTED || unfolded.has(key);
  const listed = all ? group.entries : group.entries.filter((/** @type {any} */ entry, /** @type {number} */ at) => at < LISTED || view.dimmed.has(entry.value));
  if (group.entries.length <= LISTED) return { listed, rest: null };
  const text = all ? "Fewer values" : `${grouped(group.entries.length - listed.length)} more values`;
  const flip = () => { if (!unfolded.delete(key)) unfolded.add(key); list(); };
  return { listed, rest: make("button", { class: "rest", type: "button", "aria-expanded": String(all), "data-key": `rest ${key}`, text, onclick: flip }) };
}

/** A type of links or events with its values. @param {any} group */
function several(group) {
  const total = { ...group.entries[0], name: "All", count: group.entries.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.count, 0) };
  const values = group.entries.map((/** @type {any} */ entry) =>
    painted(button(`v${entry.value}`, view.dimmed, entry.value, sign(entry.shape ?? group.kind, entry.color, entry.size), entry.name, grouped(entry.count), "click to dim", undefined, () => valueItems(group, entry)), group, entry));
  const all = type(group, total);
  all.firstElementChild?.classList.add("total");
  return make("div", { class: "group" }, make("h2", {}, group.name), ...values, all);
}

/**
 * The sign of a kind or shape.
 * @param {string} kind
 * @param {string | null} [ink]
 * @param {number} [size]
 */
function sign(kind, ink = null, size = 1) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 12");
  svg.setAttribute("aria-hidden", "true");
  if (ink) svg.style.color = ink;
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SIGNS[kind]);
  const isLine = kind === "link" || kind === "variable";
  // As large as a line of the legend allows.
  const drawn = Math.min(1.3, Math.max(0.4, size));
  if (isLine) path.style.strokeWidth = `${1.6 * Math.min(2, Math.max(0.4, size))}`;
  else Object.assign(path.style, { fill: "currentColor", stroke: "none", transform: `scale(${drawn})`, transformOrigin: "50% 50%" });
  svg.append(path);
  return svg;
}

/** A whole type, which can be hidden. @param {any} group @param {any} entry */
function type(group, entry) {
  const amount = entry.count === null ? "" : grouped(entry.count);
  const hidden = new Set(group.types.filter((/** @type {number} */ ty) => view.hidden.has(ty)));
  const mark = group.entries.length > 1 ? make("span") : sign(entry.shape ?? group.kind, entry.color, entry.size);
  return button(`t${group.types[0]}`, hidden, group.types[0], mark, entry.name, amount, `${group.kind}s; click to hide`, () => {
    for (const ty of group.types) toggle(view.hidden, ty);
    remember();
    changed("rows");
  }, () => typeItems(group));
}

/**
 * Okabe and Ito's colours, which people with any colour vision can distinguish.
 * @type {[string, string][]}
 */
const COLORS = [["Sky blue", "#56b4e9"], ["Orange", "#e69f00"], ["Green", "#009e73"], ["Vermilion", "#d55e00"], ["Blue", "#0072b2"], ["Purple", "#cc79a7"], ["Yellow", "#f0e442"], ["Grey", "#969696"]];

/**
 * Sets a colour, shape or size by a filter, which replaces the earlier one.
 * @param {string} what values, or `of` and a type
 * @param {string} look
 * @param {string} [verb]
 */
function give(what, look, verb = "color") {
  replace((text) => text.startsWith(`${verb} `) && text.replace(/^\S+ \S+ /, "") === what, () => `${verb} ${look} ${what}`);
}

/** The shapes of marks. */
const MARKS = ["triangle", "diamond", "circle", "square", "line"];
/** Sizes to choose from; states are not higher than their rows. */
const SIZES = [0.25, 0.5, 0.75, 1, 1.5, 2, 3];

/**
 * Menu items for the style of a value or type.
 * @param {any} group
 * @param {string} name
 * @param {string} what
 * @param {any} [entry]
 * @returns {import("../util/menu.js").Item[]}
 */
function lookItems(group, name, what, entry) {
  const place = () => byId("legend").getBoundingClientRect();
  const capital = (/** @type {string} */ word) => word[0].toUpperCase() + word.slice(1);
  const shapes = () => MARKS.map((shape) => ({ name: capital(shape), checked: entry && entry.shape === shape, sign: sign(shape), act: () => give(what, shape, "shape") }));
  const sizes = () => SIZES.filter((size) => size <= 1 || group.kind !== "state")
    .map((size) => ({ name: size === 1 ? "1, as usual" : String(size), checked: entry && Math.abs(entry.size - size) < 1e-3, act: () => give(what, String(size), "size") }));
  return [
    { name: "Colour…", act: () => menu(`Colour of ${name}`, place(), colorItems(what)) },
    ...(group.kind === "event" ? [{ name: "Shape…", act: () => menu(`Shape of ${name}`, place(), shapes()) }] : []),
    { name: "Size…", act: () => menu(`Size of ${name}`, place(), sizes()) },
  ];
}

/**
 * A line with a colour that can be dragged to other lines.
 * @param {HTMLElement} line
 * @param {any} group
 * @param {any} entry
 */
function painted(line, group, entry) {
  Object.assign(line.dataset, { what: `${quoted(entry.name)} of ${quoted(group.name)}`, color: entry.color });
  return line;
}

/** Lets colours be dragged from value to value. */
export function listenToLegend() {
  const legend = byId("legend");
  legend.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    const from = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest(".line[data-what]"));
    const sign = from?.querySelector(".chip, svg")?.getBoundingClientRect();
    if (!from || !sign || event.button !== 0 || event.clientX > sign.right + 2) return;
    /** @type {HTMLElement | null} */ let to = null;
    const move = (/** @type {PointerEvent} */ now) => {
      to?.classList.remove("target");
      to = /** @type {HTMLElement | null} */ (document.elementFromPoint(now.clientX, now.clientY)?.closest("#legend .line[data-what]") ?? null);
      if (to === from) to = null;
      to?.classList.add("target");
      document.body.classList.toggle("dragging", to !== null);
    };
    const end = (/** @type {PointerEvent} */ ended) => {
      window.removeEventListener("pointermove", move);
      for (const kind of /** @type {const} */ (["pointerup", "pointercancel"])) window.removeEventListener(kind, end);
      document.body.classList.remove("dragging");
      to?.classList.remove("target");
      if (to && ended.type === "pointerup") give(to.dataset.what ?? "", from.dataset.color ?? "");
    };
    window.addEventListener("pointermove", move);
    for (const kind of /** @type {const} */ (["pointerup", "pointercancel"])) window.addEventListener(kind, end);
  });
}

/** @param {string} what values, or `of` and a type @returns {import("../util/menu.js").Item[]} */
function colorItems(what) {
  const paint = (/** @type {string} */ color) => give(what, color);
  const other = () => {
    // Browsers open the dialog next to its field, which must be on the page. Colours that are only
    // tried make no undo steps.
    const legend = byId("legend").getBoundingClientRect();
    const input = make("input", { type: "color", class: "sr", tabindex: -1, "aria-label": "Another colour", onchange: () => { input.remove(); paint(input.value); } });
    document.querySelectorAll("input[type=color]").forEach((one) => one.remove());
    document.body.append(input);
    Object.assign(input.style, { left: `${legend.left}px`, top: `${legend.top}px` });
    input.click();
  };
  return [...COLORS.map(([name, color]) => ({ name, color, act: () => paint(color) })), { name: "Another colour…", act: other }];
}

/**
 * Offers colours for a value of a type.
 * @param {string} name
 * @param {string} type
 * @param {DOMRect} at position of the menu
 */
export function colorOf(name, type, at) {
  menu(`Colour of ${name}`, at, colorItems(`${quoted(name)} of ${quoted(type)}`));
}

/**
 * Menu items of a value.
 * @param {any} group
 * @param {any} entry
 * @returns {import("../util/menu.js").Item[]}
 */
function valueItems(group, entry) {
  const { name } = entry;
  const of = `of ${quoted(group.name)}`;
  const what = `${quoted(name)} ${of}`;
  const rows = [...new Set(layout.rows.filter((row) => row.strips.some((strip) => strip.name === group.name)).map((row) => row.type))];
  const bright = () => replace((text) => text.startsWith("bright ") && text.endsWith(` ${of}`), (old) => (old ? `${old.slice(0, -of.length - 1)}, ${what}` : `bright ${what}`));
  return [
    { name: `Only ${name}`, act: () => add(`only value ${what}`) },
    { name: `Without ${name}`, act: () => add(`hide value ${what}`) },
    { name: `${name} bright, all else grey`, act: bright },
    ...lookItems(group, name, what, entry),
    null,
    ...(group.kind === "state" ? rows.slice(-1).map((type) => ({ name: `Sort ${type} rows by its time`, act: () => replace((text) => text.startsWith(`sort ${quoted(type)} by `), () => `sort ${quoted(type)} by time ${what} descending`) })) : []),
    { name: group.kind === "event" ? "Count so far per…" : "Count at each moment per…", act: () => addFilter(`count ${what} per `) },
    { name: `Find ${name}`, act: () => findText(name) },
  ];
}

/** Menu items of a type. @param {any} group @returns {import("../util/menu.js").Item[]} */
function typeItems(group) {
  const name = quoted(group.name);
  const isGradient = group.types.every((/** @type {number} */ ty) => view.gradients.has(ty));
  const isHidden = group.types.every((/** @type {number} */ ty) => view.hidden.has(ty));
  return [
    { name: isHidden ? `Show ${group.name}` : `Hide ${group.name}`, act: () => { for (const ty of group.types) isHidden ? view.hidden.delete(ty) : view.hidden.add(ty); remember(); changed("rows"); } },
    { name: `Filter: only ${group.name}`, act: () => add(`only type ${name}`) },
    { name: `Filter: without ${group.name}`, act: () => add(`hide type ${name}`) },
    ...lookItems(group, group.name, `of ${name}`, group.entries.length === 1 ? group.entries[0] : undefined),
    null,
    ...(group.kind === "variable" ? [{ name: isGradient ? "As a curve" : "As a gradient", act: () => { for (const ty of group.types) isGradient ? view.gradients.delete(ty) : view.gradients.add(ty); remember(); changed("rows"); } }] : []),
    ...(group.kind === "variable" ? [{ name: "Sum over…", act: () => addFilter(`sum of ${name} per `) }, { name: "Mean over…", act: () => addFilter(`mean of ${name} per `) }] : []),
    ...(group.kind === "state" || group.kind === "link" ? [{ name: "Count at each moment per…", act: () => addFilter(`count of ${name} per `) }, { name: "By duration…", act: () => addFilter(`only duration > 1ms of ${name}`) }] : []),
    ...(group.kind === "variable" ? [] : [{ name: "By field…", act: () => addFilter("only where ") }]),
    ...(group.kind === "state" || group.kind === "link" ? [{ name: "Colours by duration", act: () => add(`classify ${name} by duration`) }] : []),
    ...(group.kind === "variable" ? [] : [{ name: "Colours by field…", act: () => addFilter(`classify ${name} by `) }]),
  ];
}

/** The button of a menu. @param {string} name @param {() => import("../util/menu.js").Item[]} items */
function more(name, items) {
  return make("button", { class: "more-button", "aria-label": `Filters for ${name}`, "aria-haspopup": "menu", title: "Filter, colour, sort", text: "⋯",
    onclick: (/** @type {MouseEvent} */ event) => menu(name, /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect(), items()) });
}

/**
 * @param {string} key
 * @param {Set<number>} set
 * @param {number} member
 * @param {Element} sign
 * @param {string} name
 * @param {string} amount
 * @param {string} title
 * @param {() => void} [act]
 * @param {() => import("../util/menu.js").Item[]} [items]
 */
function button(key, set, member, sign, name, amount, title, act, items) {
  const click = act ?? (() => { toggle(set, member); remember(); changed("look"); });
  const entry = make("button", { class: "entry", "aria-pressed": String(set.has(member)), title, "data-key": key, onclick: click },
    sign, make("span", name.trim() ? { class: "label", text: name, title: name } : { class: "label nameless", text: "(no name)" }), make("span", { class: "amount", text: amount }));
  if (!items) return entry;
  const line = make("div", { class: "line", oncontextmenu: (/** @type {MouseEvent} */ event) => { event.preventDefault(); menu(name, new DOMRect(event.clientX, event.clientY, 0, 0), items()); } }, entry, more(name, items));
  return line;
}
