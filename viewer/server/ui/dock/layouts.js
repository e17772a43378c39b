// The layouts of networks that the user made by moving nodes. The server saves them for the next
// run of the program.

import { make, saveFile } from "../util/dom.js";
import { showNote } from "../util/status_line.js";
import { views } from "./cards/card_list.js";
import { requestText, sendAbout } from "./cards/card_request.js";

/** The name of a layout that has no name yet. */
const FIRST_NAME = "My layout";

/** @typedef {import("./cards/card_list.js").Card} Card */

/** Whether the option `layout` of a card is a layout of the user. @param {Card} card */
export const hasOwnLayout = (card) => views().layouts.includes(card.options.layout ?? "");

/**
 * Saves the positions of the nodes of a card, and chooses them. A built-in layout is not changed:
 * its positions get a new name.
 * @param {Card} card
 * @param {[number, number, number][]} positions containers with their positions from 0 to 1
 * @param {string} [name]
 */
export async function saveLayout(card, positions, name) {
  const chosen = name ?? (hasOwnLayout(card) ? card.options.layout : freeName());
  const answer = await sendAbout("layouts", card, { put: [chosen, positions] });
  views().layouts = answer.layouts;
  card.options.layout = chosen;
  return chosen;
}

/** A name that no layout has. */
function freeName() {
  const names = views().layouts;
  for (let number = 2, name = FIRST_NAME; ; name = `${FIRST_NAME} ${number}`, number += 1)
    if (!names.includes(name)) return name;
}

/** Deletes the layout of a card. @param {Card} card */
async function removeLayout(card) {
  const name = card.options.layout;
  const answer = await sendAbout("layouts", card, { remove: name });
  views().layouts = answer.layouts;
  delete card.options.layout;
  showNote(`Deleted the layout ${name}`);
}

/** Saves the layout of a card as a file for `--option layout=FILE`. @param {Card} card */
async function exportLayout(card) {
  const name = card.options.layout ?? "";
  saveFile(`${name}.txt`, new Blob([await requestText("layout_file", card, { name })], { type: "text/plain" }));
  showNote(`Saved ${name}.txt, for --option layout=FILE`);
}

/**
 * The part of the options of a card that names, exports and deletes its layout.
 * @param {Card} card
 * @param {() => [number, number, number][]} positions of the nodes of the card
 * @param {() => void} onChange
 */
export function layoutForm(card, positions, onChange) {
  const report = (/** @type {Promise<unknown>} */ done) =>
    done.then(onChange).catch((error) => showNote(error instanceof Error ? error.message : String(error)));
  const isOwn = hasOwnLayout(card);
  const field = make("input", {
    type: "text",
    value: isOwn ? card.options.layout : "",
    placeholder: "Name",
    "aria-label": "Name of the layout",
    spellcheck: "false",
    maxlength: "64",
  });
  const save = () => {
    const name = field.value.trim();
    if (name) report(saveLayout(card, positions(), name).then(() => showNote(`Saved the layout ${name}`)));
    else {
      showNote("Write a name for the layout first");
      field.focus();
    }
  };
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") save();
  });
  return make(
    "div",
    { class: "card-layout", role: "group", "aria-label": "Layout of the nodes" },
    make("p", { class: "hint", text: "Drag nodes, or point at one by the arrow keys and move it with Shift." }),
    field,
    make("button", { class: "quiet-button", text: "Save as", onclick: save }),
    isOwn &&
      make("button", {
        class: "quiet-button",
        text: "Export",
        "aria-label": "Export the layout",
        onclick: () => report(exportLayout(card)),
      }),
    isOwn &&
      make("button", {
        class: "quiet-button",
        text: "Delete",
        "aria-label": "Delete the layout",
        onclick: () => report(removeLayout(card)),
      }),
  );
}
