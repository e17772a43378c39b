// The legend, which counts and filters: a click dims a value or hides a type.

import { request } from "../net/api.js";
import { appendFilter, addFilter, quoteName, replaceFilter } from "./filter_chain.js";
import { overlapHint } from "./statistics_charts.js";
import { byId, make, refill } from "../util/dom.js";
import { formatDuration, groupDigits, formatPercent } from "../util/format.js";
import { findText } from "./search.js";
import { openMenu } from "../util/menu.js";
import { layout } from "../state/rows.js";
import { storeViewSoon } from "../state/address.js";
import { notifyChange, toggle, view } from "../state/view_state.js";

/** With more values than these, they are in the order of their shares. */
const MAX_UNSORTED = 24;
/**
 * More values than these are listed only on request: a thousand lines take longer to make than an
 * image.
 */
const MAX_LISTED = 100;
/** The types with all values listed. @type {Set<string>} */
const expandedTypes = new Set();
/** The last answer. @type {any} */
let shownAnswer = null;

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

/** Shows the legend of the time range. */
export async function showLegend() {
  const answer = await request("legend", {
    from: view.from,
    to: view.to,
    theme: document.documentElement.dataset.theme,
  });
  if (!answer) return;
  shownAnswer = answer;
  showGroups();
}

function showGroups() {
  /** @type {HTMLElement[]} */
  const groups = [];
  /** @type {HTMLElement[]} */
  const typeEntries = [];
  for (const group of shownAnswer.groups) {
    if (group.kind === "state") groups.push(stateGroup(group));
    else if (group.entries.length > 1) groups.push(valueGroup(group));
    else typeEntries.push(typeEntry(group, group.entries[0]));
  }
  if (typeEntries.length) groups.push(make("div", { class: "group" }, make("h2", {}, "Other types"), ...typeEntries));
  if (groups.length === 0)
    groups.push(
      make("p", {
        class: "hint",
        text: "The legend lists the types and values of the time range, with their shares of the time.",
      }),
    );
  refill(byId("legend"), () => byId("legend").replaceChildren(...groups));
}

/** @param {any} group */
function stateGroup(group) {
  const bar = make("div", { class: "bar-of-shares", "aria-hidden": "true" });
  const entries = [];
  // A few values keep their positions; of many values the largest shares come first.
  if (group.entries.length > MAX_UNSORTED)
    group.entries.sort((/** @type {any} */ a, /** @type {any} */ b) => b.share - a.share);
  const shareSum = group.entries.reduce((/** @type {number} */ sum, /** @type {any} */ entry) => sum + entry.share, 0);
  const barLength = Math.max(1, shareSum);
  const { entries: listedEntries, rest } = shortList(group);
  for (const entry of listedEntries) {
    const part = make("i", { color: entry.color });
    part.style.width = `${(entry.share / barLength) * 100}%`;
    bar.append(part);
    const chip = make("span", { class: "chip", color: entry.color });
    if (entry.size < 1)
      Object.assign(chip.style, { height: `${Math.max(2, entry.size * 12)}px`, alignSelf: "end", borderRadius: "2px" });
    const selfText = Math.abs(entry.self_share - entry.share) > 5e-4 ? `, ${formatPercent(entry.self_share)} self` : "";
    const details =
      `${formatDuration(entry.nanos)} in ${groupDigits(group.containers)} containers` +
      (selfText && `, ${formatPercent(entry.self_share)} self time`);
    chip.title = "Drag the colour to another value to copy it";
    entries.push(
      makeColorSource(
        entryButton(
          `v${entry.value}`,
          view.dimmedValues,
          entry.value,
          chip,
          entry.name,
          `${formatPercent(entry.share)}${selfText}`,
          `${details}; click to dim`,
          undefined,
          () => valueItems(group, entry),
        ),
        group,
        entry,
      ),
    );
  }
  const rowCount = `${groupDigits(group.containers)} row${group.containers === 1 ? "" : "s"}`;
  return make(
    "div",
    { class: "group" },
    make(
      "h2",
      {},
      group.name,
      make("small", { text: rowCount }),
      menuButton(group.name, () => typeItems(group)),
    ),
    bar,
    ...entries,
    rest,
    overlapHint(shareSum),
  );
}

/**
 * The entries to list (the largest and the dimmed ones), and the button that lists the rest.
 * @param {any} group
 */
function shortList(group) {
  const key = String(group.types[0]);
  const isComplete = group.entries.length <= MAX_LISTED || expandedTypes.has(key);
  const entries = isComplete
    ? group.entries
    : group.entries.filter(
        (/** @type {any} */ entry, /** @type {number} */ index) =>
          index < MAX_LISTED || view.dimmedValues.has(entry.value),
      );
  if (group.entries.length <= MAX_LISTED) return { entries, rest: null };
  const text = isComplete ? "Fewer values" : `${groupDigits(group.entries.length - entries.length)} more values`;
  const toggleRest = () => {
    if (!expandedTypes.delete(key)) expandedTypes.add(key);
    showGroups();
  };
  return {
    entries,
    rest: make("button", {
      class: "more-values",
      type: "button",
      "aria-expanded": String(isComplete),
      "data-key": `rest ${key}`,
      text,
      onclick: toggleRest,
    }),
  };
}

/** A type of links or events with its values. @param {any} group */
function valueGroup(group) {
  const total = {
    ...group.entries[0],
    name: "All",
    count: group.entries.reduce((/** @type {number} */ sum, /** @type {any} */ entry) => sum + entry.count, 0),
  };
  const values = group.entries.map((/** @type {any} */ entry) =>
    makeColorSource(
      entryButton(
        `v${entry.value}`,
        view.dimmedValues,
        entry.value,
        shapeIcon(entry.shape ?? group.kind, entry.color, entry.size),
        entry.name,
        groupDigits(entry.count),
        "click to dim",
        undefined,
        () => valueItems(group, entry),
      ),
      group,
      entry,
    ),
  );
  const typeLine = typeEntry(group, total);
  typeLine.firstElementChild?.classList.add("total");
  return make("div", { class: "group" }, make("h2", {}, group.name), ...values, typeLine);
}

/**
 * The sign of a kind or shape.
 * @param {string} kind
 * @param {string | null} [ink]
 * @param {number} [size]
 */
function shapeIcon(kind, ink = null, size = 1) {
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

/** A whole type, which can be hidden. @param {any} group @param {any} entry */
function typeEntry(group, entry) {
  const amount = entry.count === null ? "" : groupDigits(entry.count);
  const hidden = new Set(group.types.filter((/** @type {number} */ ty) => view.hiddenTypes.has(ty)));
  const mark = group.entries.length > 1 ? make("span") : shapeIcon(entry.shape ?? group.kind, entry.color, entry.size);
  return entryButton(
    `t${group.types[0]}`,
    hidden,
    group.types[0],
    mark,
    entry.name,
    amount,
    `${group.kind}s; click to hide`,
    () => {
      for (const ty of group.types) toggle(view.hiddenTypes, ty);
      storeViewSoon();
      notifyChange("rows");
    },
    () => typeItems(group),
  );
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
function setStyle(target, value, verb = "color") {
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

/**
 * A line with a colour that can be dragged to other lines.
 * @param {HTMLElement} line
 * @param {any} group
 * @param {any} entry
 */
function makeColorSource(line, group, entry) {
  Object.assign(line.dataset, {
    styleTarget: `${quoteName(entry.name)} of ${quoteName(group.name)}`,
    color: entry.color,
  });
  return line;
}

/** Lets colours be dragged from value to value. */
export function listenToLegend() {
  const legend = byId("legend");
  legend.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    const from = /** @type {HTMLElement | null} */ (
      /** @type {Element} */ (event.target).closest(".line[data-style-target]")
    );
    const sign = from?.querySelector(".chip, svg")?.getBoundingClientRect();
    if (!from || !sign || event.button !== 0 || event.clientX > sign.right + 2) return;
    /** @type {HTMLElement | null} */ let to = null;
    const move = (/** @type {PointerEvent} */ current) => {
      to?.classList.remove("target");
      to = /** @type {HTMLElement | null} */ (
        document.elementFromPoint(current.clientX, current.clientY)?.closest("#legend .line[data-style-target]") ?? null
      );
      if (to === from) to = null;
      to?.classList.add("target");
      document.body.classList.toggle("dragging", to !== null);
    };
    const end = (/** @type {PointerEvent} */ endEvent) => {
      window.removeEventListener("pointermove", move);
      for (const kind of /** @type {const} */ (["pointerup", "pointercancel"])) window.removeEventListener(kind, end);
      document.body.classList.remove("dragging");
      to?.classList.remove("target");
      if (to && endEvent.type === "pointerup") setStyle(to.dataset.styleTarget ?? "", from.dataset.color ?? "");
    };
    window.addEventListener("pointermove", move);
    for (const kind of /** @type {const} */ (["pointerup", "pointercancel"])) window.addEventListener(kind, end);
  });
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
function valueItems(group, entry) {
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
function typeItems(group) {
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

/**
 * The button of a menu.
 * @param {string} name
 * @param {() => import("../util/menu.js").Item[]} items
 */
function menuButton(name, items) {
  return make("button", {
    class: "more-button",
    "aria-label": `Filters for ${name}`,
    "aria-haspopup": "menu",
    title: "Filter, colour, sort",
    text: "⋯",
    onclick: (/** @type {MouseEvent} */ event) =>
      openMenu(name, /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect(), items()),
  });
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
function entryButton(key, set, member, sign, name, amount, title, act, items) {
  const click =
    act ??
    (() => {
      toggle(set, member);
      storeViewSoon();
      notifyChange("style");
    });
  const entry = make(
    "button",
    { class: "entry", "aria-pressed": String(set.has(member)), title, "data-key": key, onclick: click },
    sign,
    make(
      "span",
      name.trim() ? { class: "label", text: name, title: name } : { class: "label nameless", text: "(no name)" },
    ),
    make("span", { class: "amount", text: amount }),
  );
  if (!items) return entry;
  const line = make(
    "div",
    {
      class: "line",
      oncontextmenu: (/** @type {MouseEvent} */ event) => {
        event.preventDefault();
        openMenu(name, new DOMRect(event.clientX, event.clientY, 0, 0), items());
      },
    },
    entry,
    menuButton(name, items),
  );
  return line;
}
