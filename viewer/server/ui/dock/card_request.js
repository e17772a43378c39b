// Requests the drawings of cards, and paints them. There is one request for all cards. While it
// runs, the newest wish waits, so that a moving cursor never queues requests.

import { request, RefusedError } from "../net/api.js";
import { pixelRatio, sizedContext } from "../util/dom.js";
import { drawScene } from "../view/scene.js";
import { cursorTime, viewsRange } from "../state/time_cursor.js";
import { activeFilters } from "../state/view.js";
import { categoryParameter } from "./category_list.js";

/**
 * A card to be drawn.
 * @typedef {{ name: string, mode: string, options: Record<string, string>, width: number, height:
 * number, hash: string }} CardRequest
 */

/** @param {CardRequest[]} cards @param {string} purpose @returns {Promise<any[] | undefined>} */
export async function requestCards(cards, purpose) {
  const { from, to } = viewsRange();
  const list = cards.map((card) => ({ ...card, width: Math.round(card.width), height: Math.round(card.height) }));
  const answer = await request("cards", { t: cursorTime(), from, to, theme: document.documentElement.dataset.theme, resolution: pixelRatio(), categories: categoryParameter(), filters: activeFilters(), cards: JSON.stringify(list) }, purpose);
  return answer?.cards;
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
