// Requests the drawings of cards, and paints them. There is one request for all cards. While it
// runs, the newest wish waits, so that a moving cursor never queues requests.

import { request, requestParameters, RefusedError } from "../net/api.js";
import { fileName, pixelRatio, saveFile, sizedContext } from "../util/dom.js";
import { showNote } from "../util/status_line.js";
import { drawScene } from "../view/scene.js";
import { selectedRowNumbers } from "../state/selection.js";
import { cursorTime, viewsRange } from "../state/time_cursor.js";
import { activeFilters } from "../state/view.js";
import { categoryParameter } from "./category_list.js";

/**
 * A card to be drawn.
 * @typedef {{ name: string, mode: string, options: Record<string, string>, width: number, height:
 * number, hash: string }} CardRequest
 */

/** The parameters of a request for cards. @param {CardRequest[]} cards */
function parameters(cards) {
  const { from, to } = viewsRange();
  const list = cards.map((card) => ({ ...card, width: Math.round(card.width), height: Math.round(card.height) }));
  return { t: cursorTime(), from, to, units: selectedRowNumbers(), theme: document.documentElement.dataset.theme, resolution: pixelRatio(), categories: categoryParameter(), filters: activeFilters(), cards: JSON.stringify(list) };
}

/** @param {CardRequest[]} cards @param {string} purpose @returns {Promise<any[] | undefined>} */
export async function requestCards(cards, purpose) {
  const answer = await request("cards", parameters(cards), purpose);
  return answer?.cards;
}

/** The usual size of a saved image. */
const SAVED_SIZE = { width: 960, height: 600 };

/**
 * Saves a card as a file: an image, or the table of its numbers.
 * @param {import("./card_list.js").Card} card
 * @param {"svg" | "csv"} format
 */
export async function saveCard(card, format) {
  const query = requestParameters({ ...parameters([{ ...card, ...SAVED_SIZE, hash: "" }]), format });
  const answer = await fetch(`api/card_file?${query}`).catch(() => null);
  if (!answer?.ok) {
    showNote(answer ? (await answer.json().catch(() => ({ error: "The server sent no file" }))).error : "The server does not answer: nothing was saved");
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
export class Pump {
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
