// The controls in the head of a card for its time mode and for the mode of the diagram; the symbols
// of buttons.

import { make } from "../../util/dom.js";
import { storeCards } from "./card_list.js";
import { toggleMode } from "../diagram_mode.js";
import { view } from "../../state/view_state.js";

/** The words for the time modes. @type {Record<string, [string, string]>} */
const MODES = {
  at: ["at t", "The values at the time cursor, and the maximum so far"],
  range: ["range", "The selected time range, or the visible one"],
  moving: ["moving", "The time around the time cursor; the option Width is half its length"],
};

/**
 * The button that shows a view in the diagram itself. The card is its small copy.
 * @param {string} name
 * @param {string} title
 */
export function modeButton(name, title) {
  return make(
    "button",
    {
      class: "card-button",
      "aria-label": `Show ${title} in the diagram`,
      title: "Show in the diagram",
      "data-mode": name,
      "aria-pressed": String(view.mode === name),
      onclick: () => {
        toggleMode(name);
      },
    },
    symbol("M8 13V3M4.5 6.5 8 3l3.5 3.5M3 13h10"),
  );
}

/**
 * The choice of the time mode; a view with one mode has none.
 * @param {import("./card_list.js").Card} card
 * @param {string[]} modes
 * @param {string} title
 * @param {() => void} onSelect
 */
export function modeSelect(card, modes, title, onSelect) {
  if (modes.length < 2)
    return make("span", { class: "card-mode", text: MODES[modes[0]]?.[0] ?? "", title: MODES[modes[0]]?.[1] ?? "" });
  const current = modes.includes(card.mode) ? card.mode : modes[0];
  const select = make(
    "select",
    {
      class: "card-mode",
      "aria-label": `Time of ${title}`,
      title: MODES[current]?.[1] ?? "",
      onchange: () => {
        card.mode = select.value === modes[0] ? "" : select.value;
        select.title = MODES[select.value]?.[1] ?? "";
        storeCards();
        onSelect();
      },
    },
    ...modes.map((mode) =>
      make("option", { value: mode, text: MODES[mode]?.[0] ?? mode, ...(mode === current ? { selected: "" } : {}) }),
    ),
  );
  return select;
}

/** @param {string} path */
export function symbol(path) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
  shape.setAttribute("d", path);
  svg.append(shape);
  return svg;
}
