// The grid of cards: views of the trace at the time cursor.

import { byId, make } from "../../util/dom.js";
import { showNote } from "../../util/status_line.js";
import { cards, largeIndex, moveCard, removeCard, setLarge, storeCards, viewOf } from "./card_list.js";
import { refreshMessages } from "./card_messages.js";
import { listenToMove } from "./card_move.js";
import { optionsForm } from "./card_options.js";
import { paintOverlay } from "./card_overlay.js";
import { leave, listenToMarks, nodePositions, setPointerTarget, showMarkText } from "./card_pointer.js";
import { completeCards, paintCard, LatestRequest, requestCards } from "./card_request.js";
import { showTable, TABLE_ROWS } from "../chart_table.js";
import { refreshMode } from "../diagram_mode.js";
import { tickAnswers } from "../ticks.js";
import { modeButton, modeSelect, symbol } from "./card_controls.js";

/** @type {HTMLElement} */ const grid = byId("cards");
/** Minimum size of a card in pixels. In smaller cards, the texts leave no room for the marks. */
const LEAST_WIDTH = 260;
const LEAST_HEIGHT = 190;
/** The ratio of width to height that suits most views. */
const ASPECT = 1.55;
/** The distance of cards in pixels, as in the style sheet. */
const GAP = 8;

/**
 * A card on the page. `answer` is the answer that it shows, `place` the mark that is pointed at,
 * `moved` the place and the radius of a node that is being moved, and `area` the measured size.
 * @typedef {{ card: import("./card_list.js").Card, box: HTMLElement, image: HTMLElement, canvas:
 * HTMLCanvasElement, overlay: HTMLCanvasElement, table: HTMLElement, options: HTMLElement, status:
 * HTMLElement, subtitle: HTMLElement, notes: HTMLElement, answer: any, regions:
 * import("./card_regions.js").Region[], top: number, size: { width: number, height: number }, place:
 * import("./card_regions.js").MarkPlace | null, moved: number[] | null, rows: number, sort: [number,
 * boolean] | null, area: { width: number, height: number } | null, hasOverlay: boolean, paintOverlay:
 * () => void }} Tile
 */
/** @type {Tile[]} */
let tiles = [];

const report = (/** @type {unknown} */ error) => showNote(error instanceof Error ? error.message : String(error));
const latestRequest = new LatestRequest(fetchCards, report);
/** The tile whose mark needs a text. @type {Tile | null} */
let textTile = null;
const latestTextRequest = new LatestRequest(fetchText, report);

/** Draws all cards for the time cursor, range and options. */
export function refreshCards() {
  if (!isShown() || tiles.length === 0) return Promise.resolve();
  refreshMessages();
  const visible = visibleTiles();
  const requested = visible.map(requestOf);
  const answers = tickAnswers(requested);
  if (answers) {
    answers.forEach((answer, index) => showAnswer(visible[index], answer, requested[index]));
    visible.forEach((tile) => tile.paintOverlay());
    return Promise.resolve();
  }
  visible.forEach((tile) => tile.paintOverlay());
  return latestRequest.run();
}

/** Whether the cards are visible. It needs no layout, unlike `checkVisibility`. */
const isShown = () => !grid.hidden && !byId("dock").hidden && !byId("views").hidden;

/**
 * The tiles that are visible. Their sizes are measured once, because play asks for them each frame.
 */
function visibleTiles() {
  for (const tile of tiles) tile.area ??= { width: tile.image.clientWidth, height: tile.image.clientHeight };
  return tiles.filter((tile) => tile.area && tile.area.width > 0);
}

/** Clears the stored sizes, so that the next request measures the tiles. */
function forgetSizes() {
  tiles.forEach((tile) => {
    tile.area = null;
  });
}

/** @param {Tile} tile @returns {import("./card_request.js").CardRequest} */
function requestOf({ card: { name, mode, options, table: isTable }, area, answer, place, rows, sort }) {
  const table = isTable ? { rows, sort } : null;
  return {
    name,
    mode,
    options,
    width: area?.width ?? 0,
    height: area?.height ?? 0,
    hash: answer?.hash ?? "",
    marks: answer?.marks?.hash ?? "",
    pointed: place && place.mark >= 0 ? [place.region, place.mark] : null,
    table,
  };
}

async function fetchCards() {
  const visible = visibleTiles();
  if (visible.length === 0) return;
  const requested = visible.map(requestOf);
  const before = visible.map((tile) => tile.answer);
  grid.dataset.settled = "";
  const answer = await requestCards(requested, "cards");
  if (!answer) return;
  completeCards(before, answer.cards).forEach((completed, index) => {
    if (tiles.includes(visible[index])) showAnswer(visible[index], completed, requested[index]);
  });
  if (!latestRequest.isWanted) grid.dataset.settled = "1";
}

/** Requests the text of the pointed mark. */
async function fetchText() {
  const tile = textTile;
  if (!tile?.place || !tile.answer) return;
  const [requested, place, before] = [requestOf(tile), tile.place, tile.answer];
  const answer = await requestCards([requested], "mark");
  const [completed] = answer ? completeCards([before], answer.cards) : [];
  if (completed && tile.place === place) showAnswer(tile, completed, requested);
}

/** @param {Tile} tile @param {any} answer @param {{ width: number, height: number }} size */
function showAnswer(tile, answer, { width, height }) {
  const isLacking = answer.error !== undefined;
  const isTable = answer.table !== undefined;
  tile.canvas.hidden = tile.overlay.hidden = isLacking || isTable;
  tile.table.hidden = isLacking || !isTable;
  tile.status.hidden = !isLacking;
  const isNew = answer.hash !== tile.answer?.hash || tile.size.width !== width || tile.size.height !== height;
  tile.answer = answer;
  if (isLacking) {
    showLack(tile, answer);
    return;
  }
  tile.size = { width, height };
  tile.regions = isTable ? [] : (answer.marks?.regions ?? []);
  tile.top = answer.top ?? 0;
  showMarkText(tile, answer.text);
  if (!isNew) return;
  const title = titleOf(tile.card);
  const { subtitle, notes } = answer.about;
  if (isTable) {
    showTable(
      tile.table,
      title,
      answer.table,
      tile.sort,
      (sort) => {
        tile.sort = sort;
        refreshCards();
      },
      () => {
        tile.rows += TABLE_ROWS;
        refreshCards();
      },
    );
  } else {
    paintCard(tile.canvas, answer, tile.size);
    tile.canvas.setAttribute("aria-label", `${title}. ${subtitle}`);
    tile.paintOverlay();
  }
  tile.subtitle.textContent = subtitle;
  tile.subtitle.title = subtitle;
  showNotes(tile, notes);
}

const titleOf = (/** @type {import("./card_list.js").Card} */ card) => viewOf(card.name)?.title ?? card.name;

/** Shows why a card has no drawing. @param {Tile} tile @param {any} answer */
function showLack(tile, answer) {
  tile.regions = [];
  tile.subtitle.textContent = "";
  const text = `${answer.error} ${answer.remedy}`;
  if (tile.status.dataset.text !== text) {
    tile.status.dataset.text = text;
    tile.status.replaceChildren(
      make("p", { text: answer.error }),
      answer.remedy ? make("p", { class: "hint", text: answer.remedy }) : "",
      make("button", {
        class: "quiet-button",
        text: "Choose options",
        "aria-label": `Choose options of ${titleOf(tile.card)}`,
        onclick: () => toggleOptions(tile),
      }),
    );
  }
  showNotes(tile, []);
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
    tile.area = null;
    latestRequest.isWanted = true;
  }
}

/** Marks the units that are pointed at in all cards. */
export function showPointed() {
  if (isShown()) visibleTiles().forEach((tile) => tile.paintOverlay());
}

setPointerTarget(
  (tile) => {
    textTile = tile;
    return latestTextRequest.run();
  },
  () => refreshCards(),
);

/** Makes the tiles of all cards. */
export function showCards() {
  const large = largeIndex();
  tiles.forEach(leave);
  tiles = cards.map((card, index) => makeTile(card, index));
  tiles.forEach((tile, index) => {
    tile.box.hidden = large !== null && index !== large;
  });
  grid.replaceChildren(
    ...(tiles.length
      ? tiles.map((tile) => tile.box)
      : [make("p", { class: "no-cards", text: "No views are chosen. Add views, or choose a preset." })]),
  );
  layOut();
}

/** Moves the keyboard to the card of a view. @param {string} name */
export function focusCard(name) {
  const tile = tiles.find(({ card }) => card.name === name);
  tile?.image.focus();
  tile?.box.scrollIntoView({ block: "nearest" });
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
    // The area of the largest chart of the usual shape in a tile; scrolling costs.
    const overflow = Math.max(0, rows * (tileHeight + GAP) - GAP - height);
    const score = Math.min(tileWidth, tileHeight * ASPECT) / (1 + (2 * overflow) / height);
    if (score > best.score) best = { columns, score, tileHeight };
  }
  grid.style.gridTemplateColumns = `repeat(${best.columns}, minmax(0, 1fr))`;
  grid.style.gridAutoRows = `${Math.floor(best.tileHeight)}px`;
  forgetSizes();
  refreshCards();
}

/**
 * A part of a card that is hidden at first.
 * @param {string} name
 * @param {Record<string, any>} attributes
 */
const hiddenPart = (name, attributes) => make("div", { class: name, ...attributes, hidden: "" });

/**
 * The image of a card. The arrow keys move from mark to mark.
 * @param {string} title
 * @param {...HTMLCanvasElement} layers
 */
function imageBox(title, ...layers) {
  const attributes = { role: "application", "aria-roledescription": "view", "aria-label": `Marks of ${title}` };
  return make("div", { class: "card-image", ...attributes, tabindex: 0 }, ...layers);
}

/** @param {import("./card_list.js").Card} card @param {number} index @returns {Tile} */
function makeTile(card, index) {
  const title = titleOf(card);
  const canvas = make("canvas", { role: "img", "aria-label": title });
  const overlay = make("canvas", { class: "card-overlay", "aria-hidden": "true" });
  const table = hiddenPart("card-table", { role: "region", "aria-label": `Table of ${title}`, tabindex: 0 });
  const status = hiddenPart("card-status", { role: "status", "aria-label": `${title}: missing data` });
  const image = imageBox(title, canvas, overlay);
  const notes = make("p", { class: "card-notes", hidden: "" });
  const subtitle = make("small");
  const buttons = cardButtons(card, index, title);
  const header = tileHeader(card, title, subtitle, buttons);
  const box = make(
    "section",
    { class: "card", role: "group", "aria-label": title },
    header,
    make("div", { class: "card-content" }, image, table, status),
    notes,
  );
  /** @type {Tile} */
  const tile = {
    card,
    box,
    image,
    canvas,
    overlay,
    table,
    options: buttons[1],
    status,
    subtitle,
    notes,
    answer: null,
    regions: [],
    top: 0,
    size: { width: 0, height: 0 },
    place: null,
    moved: null,
    rows: TABLE_ROWS,
    sort: null,
    area: null,
    hasOverlay: false,
    paintOverlay: () => paintOverlay(tile),
  };
  buttons[0].addEventListener("click", () => {
    card.table = !card.table;
    leave(tile);
    storeCards();
    showCards();
    focusKey(`card-table ${index}`);
  });
  buttons[1].addEventListener("click", () => toggleOptions(tile));
  listenToMarks(tile);
  const boxes = () => tiles.map((tile) => tile.box);
  listenToMove(box, header, boxes, moveTile);
  return tile;
}

/**
 * @param {import("./card_list.js").Card} card
 * @param {string} title
 * @param {HTMLElement} subtitle
 * @param {HTMLElement[]} buttons
 */
function tileHeader(card, title, subtitle, buttons) {
  const view = viewOf(card.name);
  return make(
    "header",
    { title: "Drag to move the card; Alt and an arrow key in the card" },
    make("h3", { text: title, title: view?.summary ?? "" }),
    subtitle,
    modeSelect(card, view?.modes ?? [], title, refreshCards),
    view?.is_diagram && modeButton(card.name, title),
    ...buttons,
  );
}

/** Moves a card. The focus stays on it. @param {number} from @param {number} to */
function moveTile(from, to) {
  const key = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.key?.replace(/\d+$/, String(to));
  moveCard(from, to);
  showCards();
  if (key) focusKey(key);
  else tiles[to]?.image.focus();
}

/**
 * The buttons of a card: table, options, maximise, remove.
 * @param {import("./card_list.js").Card} card
 * @param {number} index
 * @param {string} title
 */
function cardButtons(card, index, title) {
  const table = make(
    "button",
    {
      class: "card-button",
      "aria-label": `Table of ${title}`,
      "aria-pressed": String(Boolean(card.table)),
      title: card.table ? "Show the drawing" : "Show the numbers as a table",
      "data-key": `card-table ${index}`,
    },
    symbol("M2.5 3.5h11v9h-11zM2.5 6.5h11M2.5 9.5h11M6.5 3.5v9"),
  );
  return [
    table,
    make(
      "button",
      {
        class: "card-button",
        "aria-label": `Options of ${title}`,
        "aria-expanded": "false",
        title: "Options",
        "data-key": `card-options ${index}`,
      },
      symbol(
        "M2.5 5h5M11.5 5h2M2.5 11h2M8.5 11h5" +
          "M9.5 3.2a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6M6.5 9.2a1.8 1.8 0 1 0 0 3.6a1.8 1.8 0 0 0 0-3.6",
      ),
    ),
    sizeButton(index, title),
    removeButton(index, title),
  ];
}

/** Maximises a card, or shows all cards again. @param {number} index @param {string} title */
function sizeButton(index, title) {
  const isLarge = largeIndex() === index;
  return make(
    "button",
    {
      class: "card-button",
      "aria-label": isLarge ? `Show all views beside ${title}` : `Maximise ${title}`,
      "aria-pressed": String(isLarge),
      title: isLarge ? "Show all views" : "Maximise",
      "data-key": `card-large ${index}`,
      onclick: () => {
        setLarge(isLarge ? null : index);
        showCards();
        focusKey(`card-large ${index}`);
      },
    },
    symbol(isLarge ? "M6.5 3v3.5H3M9.5 13V9.5H13" : "M9.5 3H13v3.5M6.5 13H3V9.5"),
  );
}

/** @param {number} index @param {string} title */
function removeButton(index, title) {
  return make(
    "button",
    {
      class: "card-button",
      "aria-label": `Remove ${title}`,
      title: "Remove",
      "data-key": `card-remove ${index}`,
      onclick: () => {
        removeCard(index);
        showCards();
        const key = `card-remove ${Math.min(index, cards.length - 1)}`;
        const button = /** @type {HTMLElement | null} */ (grid.querySelector(`[data-key="${key}"]`));
        (button ?? grid).focus();
      },
    },
    symbol("M4.5 4.5l7 7M11.5 4.5l-7 7"),
  );
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
  const form = optionsForm(
    tile.card,
    () => nodePositions(tile),
    () => {
      storeCards();
      refreshCards();
      refreshMode();
    },
    close,
  );
  tile.box.append(form);
  tile.options.setAttribute("aria-expanded", "true");
  const { bottom, right } = tile.options.getBoundingClientRect();
  form.style.top = `${Math.max(8, Math.min(bottom + 4, innerHeight - form.offsetHeight - 8))}px`;
  form.style.left = `${Math.max(8, right - form.offsetWidth)}px`;
  /** @type {HTMLElement | null} */ (form.querySelector("select, input"))?.focus();
}
