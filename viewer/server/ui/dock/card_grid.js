// The grid of cards: views of the trace at the time cursor.

import { byId, make } from "../util/dom.js";
import { showNote } from "../util/status_line.js";
import { cards, largeIndex, removeCard, setLarge, storeCards, viewOf } from "./card_list.js";
import { optionsForm } from "./card_options.js";
import { paintCard, Pump, requestCards } from "./card_request.js";

/** @type {HTMLElement} */ const grid = byId("cards");
/** The least size of a card that shows its view well, in pixels. */
const LEAST_WIDTH = 260;
const LEAST_HEIGHT = 190;
/** The ratio of width to height that suits most views. */
const ASPECT = 1.55;
const GAP = 8;
/** The words for the time modes. @type {Record<string, [string, string]>} */
const MODES = {
  at: ["at t", "The present time, and the maximum so far"],
  range: ["range", "The selected time range, or the visible one"],
  moving: ["moving", "The time around the present time; the option Width gives its length"],
};

/**
 * A card on the page.
 * @typedef {{ card: import("./card_list.js").Card, box: HTMLElement, image: HTMLElement, canvas:
 * HTMLCanvasElement, options: HTMLElement, status: HTMLElement, subtitle: HTMLElement, notes: HTMLElement, hash: string }} Tile
 */
/** @type {Tile[]} */
let tiles = [];

const pump = new Pump(fetchCards, (error) => showNote(error instanceof Error ? error.message : String(error)));

/** Draws all cards for the present time, range and options. */
export function refreshCards() {
  if (!grid.checkVisibility() || tiles.length === 0) return Promise.resolve();
  return pump.run();
}

async function fetchCards() {
  const visible = tiles.filter((tile) => tile.image.clientWidth > 0);
  if (visible.length === 0) return;
  const requested = visible.map((tile) => ({ ...tile.card, width: tile.image.clientWidth, height: tile.image.clientHeight, hash: tile.hash }));
  grid.dataset.settled = "";
  const answers = await requestCards(requested, "cards");
  if (!answers) return;
  answers.forEach((answer, at) => { if (tiles.includes(visible[at])) showAnswer(visible[at], answer, requested[at]); });
  if (!pump.isWanted) grid.dataset.settled = "1";
}

/** @param {Tile} tile @param {any} answer @param {{ width: number, height: number }} size */
function showAnswer(tile, answer, size) {
  const isLacking = answer.error !== undefined;
  tile.canvas.hidden = isLacking;
  tile.status.hidden = !isLacking;
  if (isLacking) {
    tile.hash = "";
    tile.subtitle.textContent = "";
    const text = `${answer.error} ${answer.remedy}`;
    if (tile.status.dataset.text !== text) {
      const title = viewOf(tile.card.name)?.title ?? tile.card.name;
      tile.status.dataset.text = text;
      tile.status.replaceChildren(make("p", { text: answer.error }), answer.remedy ? make("p", { class: "hint", text: answer.remedy }) : "",
        make("button", { class: "quiet-button", text: "Choose options", "aria-label": `Choose options of ${title}`, onclick: () => toggleOptions(tile) }));
    }
    showNotes(tile, []);
    return;
  }
  if (!answer.scene) return;
  tile.hash = answer.hash;
  paintCard(tile.canvas, answer, size);
  const { subtitle, notes } = answer.about;
  tile.canvas.setAttribute("aria-label", `${viewOf(tile.card.name)?.title ?? tile.card.name}. ${subtitle}`);
  tile.subtitle.textContent = subtitle;
  tile.subtitle.title = subtitle;
  showNotes(tile, notes);
}

/** @param {Tile} tile @param {string[]} notes */
function showNotes(tile, notes) {
  const text = notes.join(" ");
  if (tile.notes.textContent === text) return;
  tile.notes.textContent = text;
  tile.notes.title = text;
  if (tile.notes.hidden !== (text === "")) {
    // The line changes the height of the drawing.
    tile.notes.hidden = text === "";
    pump.isWanted = true;
  }
}

/** Makes the tiles of all cards. */
export function showCards() {
  const large = largeIndex();
  tiles = cards.map((card, at) => makeTile(card, at));
  tiles.forEach((tile, at) => { tile.box.hidden = large !== null && at !== large; });
  grid.replaceChildren(...(tiles.length ? tiles.map((tile) => tile.box) : [make("p", { class: "no-cards", text: "No views are chosen. Add views, or choose a preset." })]));
  layOut();
}

/** Arranges the tiles so that they fill the dock, or scroll if there are too many. */
export function layOut() {
  const count = largeIndex() === null ? cards.length : Math.min(1, cards.length);
  const [width, height] = [grid.clientWidth - 2 * GAP, grid.clientHeight - 2 * GAP];
  if (count === 0 || width <= 0 || height <= 0) return;
  let best = { columns: 1, score: -1, tileHeight: height };
  for (let columns = 1; columns <= count; columns += 1) {
    const rows = Math.ceil(count / columns);
    const tileWidth = (width - GAP * (columns - 1)) / columns;
    if (columns > 1 && tileWidth < LEAST_WIDTH) break;
    const tileHeight = Math.max(Math.min(LEAST_HEIGHT, height), (height - GAP * (rows - 1)) / rows);
    // The area of the largest picture of the usual shape in a tile; scrolling costs.
    const overflow = Math.max(0, rows * (tileHeight + GAP) - GAP - height);
    const score = Math.min(tileWidth, tileHeight * ASPECT) / (1 + (2 * overflow) / height);
    if (score > best.score) best = { columns, score, tileHeight };
  }
  grid.style.gridTemplateColumns = `repeat(${best.columns}, minmax(0, 1fr))`;
  grid.style.gridAutoRows = `${Math.floor(best.tileHeight)}px`;
  refreshCards();
}

/** @param {import("./card_list.js").Card} card @param {number} at @returns {Tile} */
function makeTile(card, at) {
  const view = viewOf(card.name);
  const title = view?.title ?? card.name;
  const canvas = make("canvas", { role: "img", "aria-label": title });
  const status = make("div", { class: "card-status", role: "status", "aria-label": `${title}: missing data`, hidden: "" });
  const notes = make("p", { class: "card-notes", hidden: "" });
  const image = make("div", { class: "card-image" }, canvas, status);
  const subtitle = make("small");
  const isLarge = largeIndex() === at;
  const options = make("button", { class: "card-button", "aria-label": `Options of ${title}`, "aria-expanded": "false", title: "Options", "data-key": `card-options ${at}` }, symbol("M2.5 5h5M11.5 5h2M2.5 11h2M8.5 11h5M9.5 3.2a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6M6.5 9.2a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6"));
  const box = make("section", { class: "card", role: "group", "aria-label": title },
    make("header", {}, make("h3", { text: title, title: view?.summary ?? "" }), subtitle, modeSelect(card, view?.modes ?? [], title), options,
      make("button", { class: "card-button", "aria-label": isLarge ? `Show all views beside ${title}` : `Maximise ${title}`, "aria-pressed": String(isLarge), title: isLarge ? "Show all views" : "Maximise", "data-key": `card-large ${at}`, onclick: () => { setLarge(isLarge ? null : at); showCards(); focusKey(`card-large ${at}`); } }, symbol(isLarge ? "M6.5 3v3.5H3M9.5 13V9.5H13" : "M9.5 3H13v3.5M6.5 13H3V9.5")),
      make("button", { class: "card-button", "aria-label": `Remove ${title}`, title: "Remove", "data-key": `card-remove ${at}`, onclick: () => { removeCard(at); showCards(); (/** @type {HTMLElement | null} */ (grid.querySelector(`[data-key="card-remove ${Math.min(at, cards.length - 1)}"]`)) ?? grid).focus(); } }, symbol("M4.5 4.5l7 7M11.5 4.5l-7 7"))),
    image, notes);
  /** @type {Tile} */
  const tile = { card, box, image, canvas, options, status, subtitle, notes, hash: "" };
  options.addEventListener("click", () => toggleOptions(tile));
  return tile;
}

/** @param {string} key */
function focusKey(key) {
  /** @type {HTMLElement | null} */ (grid.querySelector(`[data-key="${key}"]`))?.focus();
}

/** Opens the options of a card beside their button, or closes them. @param {Tile} tile */
function toggleOptions(tile) {
  const close = () => {
    tile.box.querySelector("form")?.remove();
    tile.options.setAttribute("aria-expanded", "false");
    tile.options.focus();
  };
  if (tile.box.querySelector("form")) {
    close();
    return;
  }
  grid.querySelector("form")?.remove();
  const form = optionsForm(tile.card, () => { storeCards(); refreshCards(); }, close);
  tile.box.append(form);
  tile.options.setAttribute("aria-expanded", "true");
  const { bottom, right } = tile.options.getBoundingClientRect();
  form.style.top = `${Math.max(8, Math.min(bottom + 4, innerHeight - form.offsetHeight - 8))}px`;
  form.style.left = `${Math.max(8, right - form.offsetWidth)}px`;
  /** @type {HTMLElement | null} */ (form.querySelector("select, input"))?.focus();
}

/**
 * The choice of the time mode; a view with one mode has none.
 * @param {import("./card_list.js").Card} card
 * @param {string[]} modes
 * @param {string} title
 */
function modeSelect(card, modes, title) {
  if (modes.length < 2) return make("span", { class: "card-mode", text: MODES[modes[0]]?.[0] ?? "", title: MODES[modes[0]]?.[1] ?? "" });
  const current = modes.includes(card.mode) ? card.mode : modes[0];
  const select = make("select", { class: "card-mode", "aria-label": `Time of ${title}`, title: MODES[current]?.[1] ?? "", onchange: () => {
    card.mode = select.value === modes[0] ? "" : select.value;
    select.title = MODES[select.value]?.[1] ?? "";
    storeCards();
    refreshCards();
  } }, ...modes.map((mode) => make("option", { value: mode, text: MODES[mode]?.[0] ?? mode, ...(mode === current ? { selected: "" } : {}) })));
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
