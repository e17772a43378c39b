// The gallery: all views by group, with a small image of this trace. A view without data has the
// reason and the remedy.

import { byId, make, sizedContext } from "../util/dom.js";
import { showNote } from "../util/status_line.js";
import { cards, views } from "./card_list.js";
import { paintCard, LatestRequest, requestCards } from "./card_request.js";
import { openCardFile, OWN_GROUP, reloadViews, removeButton, removedList } from "./own_views.js";

/** @type {HTMLElement} */ const box = byId("gallery");
/** The size in pixels at which a view is drawn for the gallery. Smaller drawings omit labels. */
const DRAWN = { width: 300, height: 188 };
/** The size of a small image, relative to the drawing. */
const SCALE = 0.4;
/** A drawing before it is made small. */
const fullSize = make("canvas");

/**
 * A view of the gallery. `key` differs if its description differs.
 * @typedef {{ name: string, key: string, line: HTMLElement, item: HTMLElement, canvas:
 * HTMLCanvasElement, reason: HTMLElement }} GalleryItem
 */
/** @type {GalleryItem[]} */
let items = [];
/** The views that are shown. An unchanged gallery stays, so that a click on it is not lost. */
let shown = "";

const latestRequest = new LatestRequest(fetchImages, (error) => showNote(error instanceof Error ? error.message : String(error)));

/** @param {(name: string) => void} add adds a card */
export async function showGallery(add) {
  await reloadViews();
  fillGallery(add);
  return latestRequest.run();
}

/** @param {(name: string) => void} add */
function fillGallery(add) {
  const list = JSON.stringify([views().views, views().removed]);
  if (list === shown) {
    markChosen();
    return;
  }
  shown = list;
  // Views that stay keep their images and their place.
  const before = new Map(items.map((item) => [item.key, item]));
  items = views().views.map((view) => before.get(JSON.stringify(view)) ?? galleryItem(view, add));
  const sections = views().groups.map((group) => {
    const lines = items.filter((_, index) => views().views[index].group === group).map(({ line }) => line);
    const isOwn = group === OWN_GROUP;
    const opener = isOwn && openCardFile((name) => showOpened(name, add));
    const removed = isOwn && removedList((name) => refill(add, `[data-view="${CSS.escape(name)}"]`));
    return make("section", { "aria-label": group }, make("h3", { text: group }), opener, make("ul", {}, ...lines), removed);
  });
  box.replaceChildren(...sections);
  markChosen();
}

/** Shows an opened card file. It may replace one that has a card. @param {string} name @param {(name: string) => void} add */
function showOpened(name, add) {
  if (!cards.some((card) => card.name === name)) add(name);
  refill(add);
}

/**
 * Shows the gallery again after a change of the card files.
 * @param {(name: string) => void} add
 * @param {string} [focus] the element that gets the keyboard
 */
function refill(add, focus) {
  fillGallery(add);
  if (focus) /** @type {HTMLElement | null} */ (box.querySelector(focus))?.focus();
  return latestRequest.run();
}

/**
 * @param {import("./card_list.js").View} view
 * @param {(name: string) => void} add
 * @returns {GalleryItem}
 */
function galleryItem(view, add) {
  const canvas = make("canvas", { "aria-hidden": "true" });
  const [summary, reason] = [`gallery-summary-${view.name}`, `gallery-reason-${view.name}`];
  const reasonLine = make("span", { class: "reason", id: reason });
  const button = make("button", { class: "gallery-item", "aria-label": view.title, "aria-describedby": `${summary} ${reason}`, "data-view": view.name, onclick: () => { add(view.name); markChosen(); } },
    canvas, make("span", { class: "gallery-text" }, make("b", { text: view.title }), make("span", { id: summary, text: view.summary }), reasonLine));
  const line = make("li", {}, button, view.is_removable && removeButton(view, (name) => refill(add, `[data-restores="${CSS.escape(name)}"]`)));
  return { name: view.name, key: JSON.stringify(view), line, item: button, canvas, reason: reasonLine };
}

/** Marks the views that have a card. */
function markChosen() {
  for (const { name, item } of items) item.classList.toggle("chosen", cards.some((card) => card.name === name));
}

/** Draws the small images. */
export function refreshGallery() {
  return items.length && box.checkVisibility() ? latestRequest.run() : Promise.resolve();
}

/**
 * Requests the images of one group after another: with many units, the images of the first group
 * appear long before the last ones.
 */
async function fetchImages() {
  const wanted = items;
  box.setAttribute("aria-busy", "true");
  for (const group of views().groups) {
    const groupItems = wanted.filter((_, index) => views().views[index]?.group === group);
    if (groupItems.length === 0) continue;
    const answers = (await requestCards(groupItems.map(({ name }) => ({ name, mode: "", options: {}, ...DRAWN, hash: "" })), "gallery"))?.cards;
    if (!answers || wanted !== items) return;
    answers.forEach((answer, index) => showAnswer(groupItems[index], answer));
  }
  box.setAttribute("aria-busy", "false");
}

/** @param {GalleryItem} galleryItem @param {any} answer */
function showAnswer({ item, canvas, reason }, answer) {
  item.classList.toggle("lacking", answer.error !== undefined);
  reason.textContent = answer.error ? `${answer.error} ${answer.remedy}` : "";
  if (!answer.scene) return;
  paintCard(fullSize, answer, DRAWN);
  const [width, height] = [DRAWN.width * SCALE, DRAWN.height * SCALE];
  const context = sizedContext(canvas, width, height);
  context.imageSmoothingQuality = "high";
  context.drawImage(fullSize, 0, 0, width, height);
}
