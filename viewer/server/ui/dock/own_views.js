// The user's own views in the gallery: card files of the user's folder and of the trace. A file is
// opened, removed and restored.

import { send } from "../net/api.js";
import { make } from "../util/dom.js";
import { showNote } from "../util/status_line.js";
import { activeFilters } from "../state/view_state.js";
import { loadViews, putCards, takeCards, views, viewOf } from "./cards/card_list.js";

/** The group of the user's own views. */
export const OWN_GROUP = "Your own";

/**
 * The cards of removed views with their places, for their restoration.
 * @type {Map<string, [number, import("./cards/card_list.js").Card][]>}
 */
const removedCards = new Map();

/**
 * Lets the user choose a card file, and opens it.
 * @param {(name: string) => unknown} onOpen called with the name of the view of the file
 */
export function chooseCardFile(onOpen) {
  const input = make("input", {
    type: "file",
    accept: ".toml",
    onchange: async () => {
      const file = input.files?.[0];
      if (!file) return;
      try {
        const { name } = await send("own_card", { put: { file: file.name, text: await file.text() } });
        await reloadViews();
        await onOpen(name);
        showNote(`Added the view ${viewOf(name)?.title ?? name}`);
      } catch (error) {
        showNote(`The card file was not opened: ${error instanceof Error ? error.message : error}`);
      }
    },
  });
  input.click();
}

/**
 * The button that opens a card file, and an explanation.
 * @param {(name: string) => void} onOpen called with the name of the view of an opened file
 */
export function openCardFile(onOpen) {
  return make(
    "p",
    { class: "hint" },
    make("button", { class: "quiet-button", text: "Open card file…", onclick: () => chooseCardFile(onOpen) }),
    " A card file defines a view by names of series and events. " +
      "It is copied into your folder of cards, for all traces.",
  );
}

/**
 * The list of removed card files, each with a button that restores it.
 * @param {(name: string) => unknown} onRestore called with the name of the restored view
 */
export function removedList(onRestore) {
  const { removed } = views();
  if (removed.length === 0) return null;
  const line = (/** @type {{ name: string, title: string }} */ { name, title }) =>
    make(
      "li",
      {},
      make("span", { text: `Removed: ${title}` }),
      make("button", {
        class: "quiet-button",
        text: "Restore",
        "aria-label": `Restore ${title}`,
        "data-restores": name,
        onclick: () =>
          change({ restore: name }, async () => {
            putCards(removedCards.get(name) ?? []);
            removedCards.delete(name);
            await onRestore(name);
          }),
      }),
    );
  return make("ul", { class: "removed-cards", "aria-label": "Removed card files" }, ...removed.map(line));
}

/**
 * The button that removes the card file of a view, with the cards that show it.
 * @param {import("./cards/card_list.js").View} view
 * @param {(name: string) => unknown} onRemove called with the name of the removed view
 */
export function removeButton({ name, title, file }, onRemove) {
  return make("button", {
    class: "card-button remove-card-file",
    "aria-label": `Remove the card file of ${title}`,
    title: `Remove ${file}`,
    text: "×",
    onclick: () =>
      change({ remove: name }, async () => {
        removedCards.set(name, takeCards(name));
        await onRemove(name);
      }),
  });
}

/**
 * Changes the folder of card files, and updates the views.
 * @param {{ remove: string } | { restore: string }} edit
 * @param {() => unknown} onChange
 */
async function change(edit, onChange) {
  try {
    await send("own_card", edit);
    await reloadViews();
    await onChange();
  } catch (error) {
    showNote(`The card file was not changed: ${error instanceof Error ? error.message : error}`);
  }
}

/** Updates the list of views: card files may have been added or changed. */
export function reloadViews() {
  return loadViews(activeFilters(), true);
}
