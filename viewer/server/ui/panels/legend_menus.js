// The menus of the legend: styles and filters of values and types, and the signs of shapes.

import { appendFilter, addFilter, quoteName, replaceFilter } from "./filter_chain.js";
import { byId, make } from "../util/dom.js";
import { findText } from "./search.js";
import { openMenu } from "../util/menu.js";
import { layout } from "../state/rows.js";
import { storeViewSoon } from "../state/address.js";
import { notifyChange, view } from "../state/view_state.js";

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

/**
 * The sign of a kind or shape.
 * @param {string} kind
 * @param {string | null} [ink]
 * @param {number} [size]
 */
export function shapeIcon(kind, ink = null, size = 1) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 12");
  svg.setAttribute("aria-hidden", "true");
  if (ink) svg.style.color = ink;
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SIGNS[kind]);
  const isLine = kind === "link" || kind === "variable";
  // As large as a line of the legend allows.
  const scale = Math.min(1.3, Math.max(0.4, size));
  if (isLine) path.style.strokeWidth = `${1.6 * Math.min(2, Math.max(0.4, size))}`;
  else
    Object.assign(path.style, {
      fill: "currentColor",
      stroke: "none",
      transform: `scale(${scale})`,
      transformOrigin: "50% 50%",
    });
  svg.append(path);
  return svg;
}

/**
 * Okabe and Ito's colours, which people with any colour vision can distinguish.
 * @type {[string, string][]}
 */
const COLORS = [
  ["Sky blue", "#56b4e9"],
  ["Orange", "#e69f00"],
  ["Green", "#009e73"],
  ["Vermilion", "#d55e00"],
  ["Blue", "#0072b2"],
  ["Purple", "#cc79a7"],
  ["Yellow", "#f0e442"],
  ["Grey", "#969696"],
];

/**
 * Sets a colour, shape or size by a filter, which replaces the earlier one.
 * @param {string} target values, or `of` and a type
 * @param {string} value
 * @param {string} [verb]
 */
export function setStyle(target, value, verb = "color") {
  replaceFilter(
    (text) => text.startsWith(`${verb} `) && text.replace(/^\S+ \S+ /, "") === target,
    () => `${verb} ${value} ${target}`,
  );
}

/** The shapes of marks. */
const MARKS = ["triangle", "diamond", "circle", "square", "line"];
/** Sizes to choose from; states are not higher than their rows. */
const SIZES = [0.25, 0.5, 0.75, 1, 1.5, 2, 3];

/**
 * Menu items for the style of a value or type.
 * @param {any} group
 * @param {string} name
 * @param {string} target
 * @param {any} [entry]
 * @returns {import("../util/menu.js").Item[]}
 */
function styleItems(group, name, target, entry) {
  const place = () => byId("legend").getBoundingClientRect();
  const capitalise = (/** @type {string} */ word) => word[0].toUpperCase() + word.slice(1);
  const shapes = () =>
    MARKS.map((shape) => ({
      name: capitalise(shape),
      checked: entry && entry.shape === shape,
      sign: shapeIcon(shape),
      act: () => setStyle(target, shape, "shape"),
    }));
  const sizes = () =>
    SIZES.filter((size) => size <= 1 || group.kind !== "state").map((size) => ({
      name: size === 1 ? "1 (default)" : String(size),
      checked: entry && Math.abs(entry.size - size) < 1e-3,
      act: () => setStyle(target, String(size), "size"),
    }));
  return [
    { name: "Colour…", act: () => openMenu(`Colour of ${name}`, place(), colorItems(target)) },
    ...(group.kind === "event" ? [{ name: "Shape…", act: () => openMenu(`Shape of ${name}`, place(), shapes()) }] : []),
    { name: "Size…", act: () => openMenu(`Size of ${name}`, place(), sizes()) },
  ];
}

/** @param {string} target values, or `of` and a type @returns {import("../util/menu.js").Item[]} */
function colorItems(target) {
  const paint = (/** @type {string} */ color) => setStyle(target, color);
  const chooseColor = () => {
    // Browsers open the dialog next to its field, which must be on the page. Colours that are only
    // tried make no undo steps.
    const legend = byId("legend").getBoundingClientRect();
    const input = make("input", {
      type: "color",
      class: "visually-hidden",
      tabindex: -1,
      "aria-label": "Another colour",
      onchange: () => {
        input.remove();
        paint(input.value);
      },
    });
    document.querySelectorAll("input[type=color]").forEach((element) => element.remove());
    document.body.append(input);
    Object.assign(input.style, { left: `${legend.left}px`, top: `${legend.top}px` });
    input.click();
  };
  return [
    ...COLORS.map(([name, color]) => ({ name, color, act: () => paint(color) })),
    { name: "Another colour…", act: chooseColor },
  ];
}

/**
 * Offers colours for a value of a type.
 * @param {string} name
 * @param {string} type
 * @param {DOMRect} anchor position of the menu
 */
export function colorOf(name, type, anchor) {
  openMenu(`Colour of ${name}`, anchor, colorItems(`${quoteName(name)} of ${quoteName(type)}`));
}

/**
 * Menu items of a value.
 * @param {any} group
 * @param {any} entry
 * @returns {import("../util/menu.js").Item[]}
 */
export function valueItems(group, entry) {
  const { name } = entry;
  const ofType = `of ${quoteName(group.name)}`;
  const target = `${quoteName(name)} ${ofType}`;
  const rows = [
    ...new Set(
      layout.rows.filter((row) => row.strips.some((strip) => strip.name === group.name)).map((row) => row.type),
    ),
  ];
  const highlight = () =>
    replaceFilter(
      (text) => text.startsWith("bright ") && text.endsWith(` ${ofType}`),
      (previous) => (previous ? `${previous.slice(0, -ofType.length - 1)}, ${target}` : `bright ${target}`),
    );
  return [
    { name: `Only ${name}`, act: () => appendFilter(`only value ${target}`) },
    { name: `Without ${name}`, act: () => appendFilter(`hide value ${target}`) },
    { name: `${name} bright, all others grey`, act: highlight },
    ...styleItems(group, name, target, entry),
    null,
    ...(group.kind === "state"
      ? rows.slice(-1).map((type) => ({
          name: `Sort ${type} rows by its time`,
          act: () =>
            replaceFilter(
              (text) => text.startsWith(`sort ${quoteName(type)} by `),
              () => `sort ${quoteName(type)} by time ${target} descending`,
            ),
        }))
      : []),
    {
      name: group.kind === "event" ? "Cumulative count per…" : "Count over time per…",
      act: () => addFilter(`count ${target} per `),
    },
    { name: `Find ${name}`, act: () => findText(name) },
  ];
}

/** Menu items of a type. @param {any} group @returns {import("../util/menu.js").Item[]} */
export function typeItems(group) {
  const name = quoteName(group.name);
  const isGradient = group.types.every((/** @type {number} */ ty) => view.gradients.has(ty));
  const isHidden = group.types.every((/** @type {number} */ ty) => view.hiddenTypes.has(ty));
  return [
    {
      name: isHidden ? `Show ${group.name}` : `Hide ${group.name}`,
      act: () => {
        for (const ty of group.types) isHidden ? view.hiddenTypes.delete(ty) : view.hiddenTypes.add(ty);
        storeViewSoon();
        notifyChange("rows");
      },
    },
    { name: `Filter: only ${group.name}`, act: () => appendFilter(`only type ${name}`) },
    { name: `Filter: without ${group.name}`, act: () => appendFilter(`hide type ${name}`) },
    ...styleItems(group, group.name, `of ${name}`, group.entries.length === 1 ? group.entries[0] : undefined),
    null,
    ...(group.kind === "variable"
      ? [
          {
            name: isGradient ? "As a curve" : "As a gradient",
            act: () => {
              for (const ty of group.types) isGradient ? view.gradients.delete(ty) : view.gradients.add(ty);
              storeViewSoon();
              notifyChange("rows");
            },
          },
        ]
      : []),
    ...(group.kind === "variable"
      ? [
          { name: "Sum over…", act: () => addFilter(`sum of ${name} per `) },
          { name: "Mean over…", act: () => addFilter(`mean of ${name} per `) },
        ]
      : []),
    ...(group.kind === "state" || group.kind === "link"
      ? [
          { name: "Count over time per…", act: () => addFilter(`count of ${name} per `) },
          { name: "By duration…", act: () => addFilter(`only duration > 1ms of ${name}`) },
        ]
      : []),
    ...(group.kind === "variable" ? [] : [{ name: "By field…", act: () => addFilter("only where ") }]),
    ...(group.kind === "state" || group.kind === "link"
      ? [{ name: "Colours by duration", act: () => appendFilter(`classify ${name} by duration`) }]
      : []),
    ...(group.kind === "variable" ? [] : [{ name: "Colours by field…", act: () => addFilter(`classify ${name} by `) }]),
  ];
}
