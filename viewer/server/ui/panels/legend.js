// The legend, which counts and filters: a click dims a value or hides a type.

import { request } from "../net/api.js";
import { quoteName } from "./filter_chain.js";
import { overlapHint } from "./statistics_charts.js";
import { byId, make, refill } from "../util/dom.js";
import { formatDuration, groupDigits, formatPercent } from "../util/format.js";
import { openMenu } from "../util/menu.js";
import { storeViewSoon } from "../state/address.js";
import { shapeIcon, setStyle, valueItems, typeItems } from "./legend_menus.js";
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
