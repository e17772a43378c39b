// Requests the drawings of cards, and paints them. There is one request for all cards. While it
// runs, the latest request waits, so that a moving cursor never queues requests.

import { request, requestParameters, RefusedError } from "../../net/api.js";
import { fileName, pixelRatio, saveFile, sizedContext } from "../../util/dom.js";
import { showNote } from "../../util/status_line.js";
import { drawScene } from "../../view/scene.js";
import { selectedRowNumbers } from "../../state/selection.js";
import { cursorTime, viewsRange } from "../../state/time_cursor.js";
import { activeFilters } from "../../state/view_state.js";
import { readRegions } from "./card_regions.js";
import { categoryParameter } from "../category_list.js";
import { completeRegions, completeScene } from "../scene_changes.js";

/**
 * A card to be drawn. `hash` and `marks` are the hashes of the drawing and of the places of its
 * marks that the page has; `pointed` is the mark whose text is wanted, and `table` the wanted rows.
 * @typedef {{ name: string, mode: string, options: Record<string, string>, width: number, height:
 * number, hash: string, marks?: string, pointed?: [number, number] | null, table?: { rows: number,
 * sort: [number, boolean] | null } | null }} CardRequest
 */

/** The parameters of a request for cards. @param {CardRequest[]} cards */
function parameters(cards) {
  const { from, to } = viewsRange();
  const list = cards.map((card) => ({ ...card, width: Math.round(card.width), height: Math.round(card.height) }));
  return {
    t: cursorTime(),
    from,
    to,
    units: selectedRowNumbers(),
    theme: document.documentElement.dataset.theme,
    resolution: pixelRatio(),
    categories: categoryParameter(),
    filters: activeFilters(),
    cards: JSON.stringify(list),
  };
}

/**
 * Requests the drawings of cards at one time or several.
 * @param {CardRequest[]} cards
 * @param {string} purpose
 * @param {number[]} [times] the first time and later ones; without it, the time cursor
 * @returns {Promise<{ cards: any[], later?: any[][] } | undefined>}
 */
export function requestCards(cards, purpose, times = []) {
  const later = times.length > 1 ? times.slice(1).join() : "";
  return request("cards", { ...parameters(cards), ...(times.length ? { t: times[0], later } : {}) }, purpose);
}

/**
 * Answers without references to the earlier ones: an unchanged drawing is the earlier one.
 * @param {any[]} earlier
 * @param {any[]} answers
 */
export function completeCards(earlier, answers) {
  return answers.map((answer, index) => {
    if (answer.error !== undefined) return answer;
    const before = earlier[index];
    const isNew = answer.scene !== undefined || answer.table !== undefined;
    const scene = answer.base ? completeScene(answer.scene, before.scene) : answer.scene;
    return {
      ...(isNew ? { ...answer, scene } : { ...before, text: answer.text }),
      marks: completeMarks(answer.marks, before?.marks),
    };
  });
}

/**
 * The places of marks: as on the wire, and as regions.
 * @param {any} marks
 * @param {any} before those of the earlier answer
 */
function completeMarks(marks, before) {
  if (!marks) return before;
  const sent = marks.base ? completeRegions(marks.regions, before.sent) : marks.regions;
  return { hash: marks.hash, sent, regions: readRegions(sent) };
}

/**
 * Requests an answer about a card, such as the times of a mark.
 * @param {string} route
 * @param {import("./card_list.js").Card} card
 * @param {Record<string, string | number | boolean>} more
 */
export function requestAbout(route, card, more) {
  return request(route, { ...parameters([asRequest(card)]), ...more }, route);
}

/**
 * The text of a file about a card.
 * @param {string} route
 * @param {import("./card_list.js").Card} card
 * @param {Record<string, string>} more
 */
export async function requestText(route, card, more) {
  const query = requestParameters({ ...parameters([asRequest(card)]), ...more });
  const answer = await fetch(`api/${route}?${query}`).catch(() => null);
  if (!answer?.ok)
    throw new RefusedError(
      (await answer?.json().catch(() => null))?.error ?? "The server does not answer: nothing was saved",
    );
  return answer.text();
}

/**
 * Sends a change that concerns a card.
 * @param {string} route
 * @param {import("./card_list.js").Card} card
 * @param {unknown} body
 */
export async function sendAbout(route, card, body) {
  const query = requestParameters(parameters([asRequest(card)]));
  const answer = await fetch(`api/${route}?${query}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  }).catch(() => null);
  const content = await answer?.json().catch(() => null);
  if (!answer?.ok) throw new RefusedError(content?.error ?? "The server does not answer: nothing was saved");
  return content;
}

/** The size of a saved image in CSS pixels, which suits a page of a document. */
const SAVED_SIZE = { width: 960, height: 600 };

/** @param {import("./card_list.js").Card} card @returns {CardRequest} */
const asRequest = ({ name, mode, options }) => ({ name, mode, options, ...SAVED_SIZE, hash: "" });

/**
 * Saves a card as a file: an image, or the table of its numbers.
 * @param {import("./card_list.js").Card} card
 * @param {"svg" | "csv"} format
 */
export async function saveCard(card, format) {
  const query = requestParameters({ ...parameters([asRequest(card)]), format });
  const answer = await fetch(`api/card_file?${query}`).catch(() => null);
  if (!answer?.ok) {
    showNote(
      answer
        ? (await answer.json().catch(() => ({ error: "The server sent no file" }))).error
        : "The server does not answer: nothing was saved",
    );
    return;
  }
  const name = `${fileName()}-${card.name}.${format}`;
  saveFile(name, await answer.blob());
  showNote(`Saved ${name}`);
}

/**
 * Paints a drawing on a canvas of the requested size.
 * @param {HTMLCanvasElement} canvas
 * @param {any} drawing
 * @param {{ width: number, height: number }} size in CSS pixels
 */
export function paintCard(canvas, { scene, top }, { width, height }) {
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = sizedContext(canvas, width, height);
  context.translate(0, -top);
  drawScene(context, scene);
}

/** Runs an action at most once at a time. A call during the action repeats it afterwards. */
export class LatestRequest {
  /** @param {() => Promise<unknown>} act @param {(error: unknown) => void} onError */
  constructor(act, onError) {
    this.act = act;
    this.onError = onError;
    this.isRunning = false;
    this.isWanted = false;
  }

  async run() {
    this.isWanted = true;
    if (this.isRunning) return;
    this.isRunning = true;
    try {
      while (this.isWanted) {
        this.isWanted = false;
        await this.act();
      }
    } catch (error) {
      if (error instanceof RefusedError) this.onError(error);
    } finally {
      this.isRunning = false;
    }
  }
}
