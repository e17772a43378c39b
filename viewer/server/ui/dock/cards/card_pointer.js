// Pointing at the marks of a card by pointer or keys: shows their exact values, highlights their
// units in all cards and in the diagram, and moves the nodes of networks.

import { byId, make } from "../../util/dom.js";
import { showNote } from "../../util/status_line.js";
import { overlay } from "../../state/overlay_state.js";
import { pointUnits } from "../../state/pointed_units.js";
import { setCursor, storeCursor } from "../../state/time_cursor.js";
import { paintOverlay } from "../../view/overlay.js";
import { markTimes } from "../../view/timeline.js";
import { goTo } from "../../panels/inspected_entity.js";
import { clearMessages, showMessages } from "./card_messages.js";
import { isOverTime, markAt, middleOf, subjectOf } from "./card_regions.js";
import { requestAbout } from "./card_request.js";
import { saveLayout } from "../layouts.js";
import { storeCards, viewOf } from "./card_list.js";

/** @typedef {import("./card_grid.js").Tile} Tile */

/** The distance in pixels from which a press is a drag. A click may move the pointer a little. */
const DRAG_DISTANCE = 4;
/** The share of the square of positions by which a key moves a node: a few pixels. */
const NODE_STEP = 0.02;
/** @type {HTMLElement} */ const tooltip = byId("tooltip");
/** @type {HTMLElement} */ const speech = byId("mark-text");

/**
 * The tile that is pointed at, and where its tooltip belongs.
 * @type {{ tile: Tile, x: number, y: number, isByKey: boolean } | null}
 */
let pointedMark = null;
/** @type {(tile: Tile) => void} */
let requestText = () => {};
/** @type {() => void} */
let redraw = () => {};

/**
 * @param {(tile: Tile) => unknown} request requests the text of the pointed mark of a tile
 * @param {() => void} refresh requests the drawings
 */
export function setPointerTarget(request, refresh) {
  [requestText, redraw] = [request, refresh];
  // A drag in the diagram keeps the focus, so that no other event ends the pointing by keys.
  document.addEventListener(
    "pointerdown",
    ({ target }) => {
      if (pointedMark && !pointedMark.tile.image.contains(/** @type {Node} */ (target))) leave(pointedMark.tile);
    },
    true,
  );
}

// A press elsewhere ends the pointing, also that by keys.
document.addEventListener(
  "pointerdown",
  (event) => {
    if (pointedMark && !pointedMark.tile.image.contains(/** @type {Node} */ (event.target))) leave(pointedMark.tile);
  },
  true,
);

/** @param {Tile} tile */
export function listenToMarks(tile) {
  const { image } = tile;
  image.addEventListener("pointermove", (event) => {
    if (!event.buttons) pointAt(tile, event);
  });
  image.addEventListener("pointerleave", () => {
    if (!pointedMark?.isByKey) leave(tile);
  });
  image.addEventListener("pointerdown", (event) => {
    if (event.button === 0) press(tile, event);
  });
  image.addEventListener("keydown", (event) => pressKey(tile, event));
  image.addEventListener("blur", () => leave(tile));
}

/**
 * The point of a drawing under the pointer.
 * @param {Tile} tile
 * @param {{ clientX: number, clientY: number }} event
 */
function pointOf(tile, event) {
  const { left, top } = tile.image.getBoundingClientRect();
  return [event.clientX - left, event.clientY - top + tile.top];
}

/** @param {Tile} tile @param {PointerEvent} event */
function pointAt(tile, event) {
  const [x, y] = pointOf(tile, event);
  point(tile, markAt(tile.regions, x, y), event.clientX, event.clientY, false);
}

/**
 * @param {Tile} tile
 * @param {import("./card_regions.js").MarkPlace | null} place
 * @param {number} x of the tooltip
 * @param {number} y
 * @param {boolean} isByKey
 */
function point(tile, place, x, y, isByKey) {
  if (!place) {
    leave(tile);
    return;
  }
  if (pointedMark && pointedMark.tile !== tile) leave(pointedMark.tile);
  pointedMark = { tile, x, y, isByKey };
  const isSame = tile.place?.region === place.region && tile.place.mark === place.mark;
  tile.image.style.cursor = tile.regions[place.region].square ? "grab" : "";
  if (isSame) {
    placeTooltip();
    return;
  }
  tile.place = place;
  showSubject(tile, subjectOf(tile.regions, place));
  tile.paintOverlay();
  requestText(tile);
}

/**
 * Highlights what a mark stands for.
 * @param {Tile} tile
 * @param {import("./card_regions.js").Subject} subject
 */
function showSubject(tile, subject) {
  const { containers, pair, link, count } = subject;
  pointUnits(containers, pair);
  showMessages(tile.card, subject);
  overlay.highlighted = link ? [link] : [];
  paintOverlay();
  if (!count) {
    markTimes(null);
    return;
  }
  const [category, least, most] = count;
  requestAbout("concurrency_times", tile.card, { category, least, most })
    .then((answer) => {
      if (answer && pointedMark?.tile === tile) markTimes(answer);
    })
    .catch(() => {});
}

/** The pointer has left the marks of a tile. @param {Tile} tile */
export function leave(tile) {
  if (pointedMark?.tile !== tile) return;
  pointedMark = null;
  tile.place = null;
  tooltip.hidden = true;
  speech.textContent = "";
  overlay.highlighted = [];
  clearMessages();
  pointUnits([]);
  markTimes(null);
  paintOverlay();
  tile.paintOverlay();
}

/**
 * Shows the text of the pointed mark, after an answer.
 * @param {Tile} tile
 * @param {string | undefined} text
 */
export function showMarkText(tile, text) {
  if (pointedMark?.tile !== tile || !text) return;
  const [name, ...values] = text.split(": ");
  tooltip.replaceChildren(
    make("p", { class: "mark-name", text: name }),
    ...(values.length ? [make("p", { class: "mark-values", text: values.join(": ") })] : []),
  );
  if (pointedMark.isByKey) speech.textContent = text;
  placeTooltip();
}

function placeTooltip() {
  if (!pointedMark || tooltip.childElementCount === 0) return;
  tooltip.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = tooltip;
  const left = pointedMark.x + 14 + width > innerWidth - 4 ? pointedMark.x - width - 10 : pointedMark.x + 14;
  const top = pointedMark.y + 16 + height > innerHeight - 4 ? pointedMark.y - height - 12 : pointedMark.y + 16;
  tooltip.style.left = `${Math.max(4, left)}px`;
  tooltip.style.top = `${Math.max(4, top)}px`;
}

/**
 * A press moves a node, moves the time cursor, or goes to a link.
 * @param {Tile} tile
 * @param {PointerEvent} event
 */
function press(tile, event) {
  const [x, y] = pointOf(tile, event);
  const place = markAt(tile.regions, x, y);
  if (!place) return;
  const region = tile.regions[place.region];
  if (region.square && canMoveNodes(tile)) moveNode(tile, place, event);
  else if (isOverTime(region)) moveCursor(tile, region, event);
  else if (region.links?.[place.mark]) goTo(/** @type {string} */ (region.links[place.mark]), true);
}

/**
 * @param {Tile} tile
 * @param {PointerEvent} event
 * @param {(event: PointerEvent) => void} move
 * @param {(event: PointerEvent) => void} end
 */
function follow({ image }, event, move, end) {
  image.setPointerCapture(event.pointerId);
  image.addEventListener("pointermove", move);
  const finish = (/** @type {PointerEvent} */ last) => {
    image.removeEventListener("pointermove", move);
    image.removeEventListener("pointerup", finish);
    image.removeEventListener("pointercancel", finish);
    end(last);
  };
  image.addEventListener("pointerup", finish);
  image.addEventListener("pointercancel", finish);
}

/**
 * @param {Tile} tile
 * @param {import("./card_regions.js").Region} region
 * @param {PointerEvent} event
 */
function moveCursor(tile, { frame, from, to }, event) {
  const move = (/** @type {PointerEvent} */ current) => {
    const share = Math.min(1, Math.max(0, (pointOf(tile, current)[0] - frame[0]) / frame[2]));
    setCursor(from + share * (to - from), true);
  };
  move(event);
  follow(tile, event, move, storeCursor);
}

/** Whether the nodes of a card have a layout. @param {Tile} tile */
export function canMoveNodes(tile) {
  return viewOf(tile.card.name)?.options.includes("layout") ?? false;
}

/**
 * The containers and positions of all nodes.
 * @param {Tile} tile
 * @returns {[number, number, number][]}
 */
export function nodePositions(tile) {
  const region = tile.regions.find((region) => region.square && region.units);
  if (!region?.square || !region.units) return [];
  const [left, top, width, height] = region.square;
  const round = (/** @type {number} */ share) => Math.round(Math.min(1, Math.max(0, share)) * 1e4) / 1e4;
  return region.units.flatMap((units, mark) =>
    units.map(
      (unit) =>
        /** @type {[number, number, number]} */ ([
          unit,
          round((region.x[mark] - left) / width),
          round((region.y[mark] - top) / height),
        ]),
    ),
  );
}

/**
 * @param {Tile} tile
 * @param {import("./card_regions.js").MarkPlace} place
 * @param {PointerEvent} event
 */
function moveNode(tile, place, event) {
  const start = pointOf(tile, event);
  const node = { x: tile.regions[place.region].x[place.mark], y: tile.regions[place.region].y[place.mark] };
  let isDragged = false;
  const move = (/** @type {PointerEvent} */ current) => {
    const [x, y] = pointOf(tile, current);
    isDragged ||= Math.hypot(x - start[0], y - start[1]) >= DRAG_DISTANCE;
    if (!isDragged) return;
    tooltip.hidden = true;
    tile.image.style.cursor = "grabbing";
    tile.moved = [node.x + x - start[0], node.y + y - start[1], tile.regions[place.region].radius];
    tile.paintOverlay();
  };
  follow(tile, event, move, (last) => {
    const target = tile.moved;
    tile.moved = null;
    tile.image.style.cursor = "grab";
    if (isDragged && target && last.type === "pointerup") putNode(tile, place, target[0], target[1]);
    else tile.paintOverlay();
  });
}

/**
 * Puts a node at a point, and saves the layout.
 * @param {Tile} tile
 * @param {import("./card_regions.js").MarkPlace} place
 * @param {number} x
 * @param {number} y
 */
function putNode(tile, place, x, y) {
  const region = tile.regions[place.region];
  const [left, top, width, height] = /** @type {number[]} */ (region.square);
  region.x[place.mark] = Math.min(left + width, Math.max(left, x));
  region.y[place.mark] = Math.min(top + height, Math.max(top, y));
  tile.paintOverlay();
  const before = tile.card.options.layout;
  saveLayout(tile.card, nodePositions(tile))
    .then((name) => {
      if (name !== before) showNote(`The positions are kept as the layout ${name}`);
      storeCards();
      redraw();
    })
    .catch((error) => showNote(error instanceof Error ? error.message : String(error)));
}

/** @param {Tile} tile @param {KeyboardEvent} event */
function pressKey(tile, event) {
  if (event.altKey || event.ctrlKey || event.metaKey || tile.regions.length === 0) return;
  if (event.key === "Escape" && tile.place) {
    event.stopPropagation();
    leave(tile);
    return;
  }
  const place = tile.place ?? { region: 0, mark: -1 };
  const region = tile.regions[place.region];
  const arrow = /** @type {Record<string, [number, number]>} */ ({
    ArrowLeft: [-1, 0],
    ArrowRight: [1, 0],
    ArrowUp: [0, -1],
    ArrowDown: [0, 1],
  })[event.key];
  if (event.shiftKey && arrow && region.square && place.mark >= 0 && canMoveNodes(tile)) {
    take(event);
    putNode(
      tile,
      place,
      region.x[place.mark] + arrow[0] * NODE_STEP * region.square[2],
      region.y[place.mark] + arrow[1] * NODE_STEP * region.square[3],
    );
    return;
  }
  const next = nextPlace(tile.regions, place, event.key, arrow);
  if (!next) return;
  take(event);
  const { left, top } = tile.image.getBoundingClientRect();
  const [x, y] = middleOf(tile.regions, next);
  point(tile, next, left + x, top + y - tile.top, true);
}

/** @param {KeyboardEvent} event */
function take(event) {
  event.preventDefault();
  event.stopPropagation();
}

/**
 * The mark that a key leads to.
 * @param {import("./card_regions.js").Region[]} regions
 * @param {import("./card_regions.js").MarkPlace} place
 * @param {string} key
 * @param {[number, number] | undefined} arrow
 */
function nextPlace(regions, { region: index, mark }, key, arrow) {
  const region = regions[index];
  if (arrow) {
    // In a grid of several rows, the vertical arrows change the row.
    const step =
      arrow[0] + arrow[1] * (/^(grid|lanes)$/.test(region.kind) && region.marks > region.columns ? region.columns : 1);
    const next = mark < 0 ? 0 : mark + step;
    return next >= 0 && next < region.marks
      ? { region: index, mark: next }
      : mark >= 0
        ? { region: index, mark }
        : null;
  }
  if (key === "Home" && region.marks > 0) return { region: index, mark: 0 };
  if (key === "End" && region.marks > 0) return { region: index, mark: region.marks - 1 };
  const step = { PageDown: 1, PageUp: -1 }[key];
  if (!step) return null;
  for (let next = index + step; regions[next]; next += step)
    if (regions[next].marks > 0) return { region: next, mark: 0 };
  return null;
}
