// The cards that the user chose, and the list of all views. The address contains the cards.

import { request } from "../../net/api.js";
import { setParents } from "../../state/pointed_units.js";
import { setSetting, setting } from "../../state/address.js";

/**
 * A card: the name of a view, its time mode (empty: the default of the view), its options, and
 * whether it shows its numbers as a table.
 * @typedef {{ name: string, mode: string, options: Record<string, string>, table?: boolean }} Card
 * A view, as the server describes it. `file` is its card file.
 * @typedef {{ name: string, number: number | null, title: string, group: string, summary: string,
 * needs: string, modes: string[], options: string[], common: string[], is_diagram: boolean, file?: string,
 * is_removable?: boolean }} View
 * @typedef {{ name: string, forms: string, help: string, words: string[], titles: Record<string,
 * string>, default: string | null, is_free: boolean }} Option
 * @typedef {{ groups: string[], views: View[], options: Option[], of_all: string[], names:
 * Record<string, string[]>, layouts: string[], parents: [number, number][], removed:
 * { name: string, title: string }[] }} ViewList
 */

/** @type {Card[]} */
export const cards = [];

/** The index of the card that fills the dock. @type {number | null} */
let largeCard = null;

/** The cards of a preset, by the names of their views. @type {[string, string[]][]} */
export const PRESETS = [
  ["Overview", ["utilization-count", "concurrency-profile", "kiviat"]],
  ["Messages", ["communication-matrix", "traffic", "message-queues"]],
  ["Load balance", ["utilization-summary", "statistical-summary", "streak"]],
  ["Tasks", ["task-count", "task-summary", "task-status", "task-surface"]],
];

/** @type {ViewList | null} */
let viewList = null;
/** The filters of the list: names of units depend on them. */
let listFilters = "";

/**
 * The list of all views.
 * @param {string} filters
 * @param {boolean} [again] loads the list even if it is loaded
 * @returns {Promise<ViewList>}
 */
export async function loadViews(filters, again = false) {
  if (viewList && listFilters === filters && !again) return viewList;
  const answer = await request("views", { filters }, again ? "views again" : "views");
  if (answer) {
    [viewList, listFilters] = [answer, filters];
    setParents(answer.parents);
  }
  if (!viewList) throw new Error("The list of views was not loaded");
  return viewList;
}

/** The loaded list of views. @returns {ViewList} */
export function views() {
  if (!viewList) throw new Error("The list of views is not loaded yet");
  return viewList;
}

/** @param {string} name */
export function viewOf(name) {
  return viewList?.views.find((view) => view.name === name);
}

export function largeIndex() {
  return largeCard;
}

/** @param {number | null} index */
export function setLarge(index) {
  largeCard = index !== null && index < cards.length ? index : null;
  storeCards();
}

/** The options of all views, which all cards share. @returns {Record<string, string>} */
export function sharedOptions() {
  const names = viewList?.of_all ?? [];
  return Object.fromEntries(Object.entries(cards[0]?.options ?? {}).filter(([name]) => names.includes(name)));
}

/** @param {string[]} names */
export function replaceCards(names) {
  const options = sharedOptions();
  cards.splice(0, cards.length, ...names.map((name) => ({ name, mode: "", options: { ...options } })));
  setLarge(null);
}

/** @param {string} name */
export function addCard(name) {
  cards.push({ name, mode: "", options: sharedOptions() });
  setLarge(null);
}

/** @param {number} index */
export function removeCard(index) {
  cards.splice(index, 1);
  setLarge(null);
}

/**
 * Removes the cards of a view. Returns them with their places, for `putCards`.
 * @param {string} name
 * @returns {[number, Card][]}
 */
export function takeCards(name) {
  const removedCards = cards.flatMap((card, index) =>
    card.name === name ? [/** @type {[number, Card]} */ ([index, card])] : [],
  );
  cards.splice(0, cards.length, ...cards.filter((card) => card.name !== name));
  if (removedCards.length) setLarge(null);
  return removedCards;
}

/** Puts cards back to their places. @param {[number, Card][]} removedCards */
export function putCards(removedCards) {
  for (const [index, card] of removedCards) cards.splice(index, 0, card);
  if (removedCards.length) setLarge(null);
}

/** Moves a card to the place of another one. @param {number} from @param {number} to */
export function moveCard(from, to) {
  cards.splice(to, 0, ...cards.splice(from, 1));
  if (largeCard === from) largeCard = to;
  storeCards();
}

/** Writes the cards to the address. */
export function storeCards() {
  const compact = cards.map(({ name, mode, options, table }) =>
    table ? [name, mode, options, 1] : Object.keys(options).length ? [name, mode, options] : mode ? [name, mode] : name,
  );
  setSetting("cards", compact.length ? JSON.stringify(compact) : null);
  setSetting("large", largeCard === null ? null : String(largeCard));
}

/** Restores the cards from the address. Entries that are no cards are left out. */
export function restoreCards() {
  /** @type {any} */ let stored = [];
  try {
    stored = JSON.parse(setting("cards") ?? "[]");
  } catch {
    // An address that was cut off has no cards.
  }
  cards.length = 0;
  for (const entry of Array.isArray(stored) ? stored : []) {
    const [name, mode = "", options = {}, table = 0] = Array.isArray(entry) ? entry : [entry];
    if (typeof name !== "string" || typeof mode !== "string" || typeof options !== "object" || options === null)
      continue;
    cards.push({
      name,
      mode,
      options: Object.fromEntries(
        Object.entries(options)
          .filter(([, value]) => typeof value === "string")
          .map(([key, value]) => [key, String(value)]),
      ),
      table: table === 1,
    });
  }
  const large = setting("large");
  largeCard = large !== null && /^\d+$/.test(large) && Number(large) < cards.length ? Number(large) : null;
}
