// The user's own views in the gallery: card files of the user's folder and of the trace, and a
// button that opens another file.

import { request, send } from "../net/api.js";
import { make } from "../util/dom.js";
import { showNote } from "../util/status_line.js";
import { activeFilters } from "../state/view.js";
import { views, viewOf } from "./card_list.js";

/** The group of the user's own views. */
export const OWN_GROUP = "Your own";

/**
 * The button that opens a card file, and an explanation.
 * @param {(name: string) => void} onOpen called with the name of the view of an opened file
 */
export function openCardFile(onOpen) {
  const input = make("input", { type: "file", accept: ".toml", onchange: async () => {
    const file = input.files?.[0];
    if (!file) return;
    try {
      await addFile(file.name, await file.text(), onOpen);
    } catch (error) {
      showNote(`The card file was not opened: ${error instanceof Error ? error.message : error}`);
    }
  } });
  return make("p", { class: "hint" },
    make("button", { class: "quiet-button", text: "Open card file…", onclick: () => input.click() }),
    " A card file defines a view by names of series and events. It is copied into your folder of cards, for all traces.");
}

/** @param {string} file @param {string} text @param {(name: string) => void} onOpen */
async function addFile(file, text, onOpen) {
  const { name } = await send("own_card", { file, text });
  await reloadViews();
  onOpen(name);
  showNote(`Added the view ${viewOf(name)?.title ?? name}`);
}

/** Updates the list of views: card files may have been added or changed. */
export async function reloadViews() {
  const answer = await request("views", { filters: activeFilters() }, "own views");
  if (answer) Object.assign(views(), answer);
}
