// The drawings of all cards at the next times of play. They are fetched about one second ahead in
// the direction of play, so that a tick needs no round trip.

import { cancel } from "../net/api.js";
import { completeCards, requestCards } from "./cards/card_request.js";

/** Ticks per second of play: the usual number of frames per second of a screen. */
export const TICKS_PER_SECOND = 60;
/** The number of ticks that are fetched ahead: those of one second. */
const AHEAD = 60;
/** The number of times in the first request, so that play begins soon, and in the others. */
const FIRST_TIMES = 6;
const TIMES = 20;
/** The share of the time of play in which the server may draw. The rest is for the network. */
const SERVER_SHARE = 0.8;

/**
 * The times of play: the time of each tick from 0, and the number of the last tick.
 * @typedef {{ timeOf: (tick: number) => number, last: number }} Plan
 * @typedef {import("./cards/card_request.js").CardRequest} CardRequest
 */

/** @type {Plan | null} */
let plan = null;
/** The current tick. */
let position = 0;
/** The complete answers by tick. @type {Map<number, any[]>} */
const answersByTick = new Map();
/** The next tick to fetch. */
let nextTick = 0;
/** If the server is slow, only each n-th tick is fetched. */
let stride = 1;
/** The latest fetched answers, to which the next ones refer. @type {any[]} */
let latestAnswers = [];
/** The cards of the fetched answers. */
let fetchedCards = "";
let isFetching = false;

/** Begins to fetch ahead. @param {Plan} wanted */
export function startTicks(wanted) {
  stopTicks();
  plan = wanted;
}

export function stopTicks() {
  plan = null;
  clear(0);
  cancel("ticks");
}

/** @param {number} from the next tick to fetch */
function clear(from) {
  answersByTick.clear();
  latestAnswers = [];
  nextTick = from;
  position = from;
}

/** @param {number} tick */
export function setTick(tick) {
  position = tick;
}

/**
 * The answers of the current tick, or of an earlier one if the server is slow; undefined if none
 * was fetched. Fetches the next ones.
 * @param {CardRequest[]} cards
 * @returns {any[] | undefined}
 */
export function tickAnswers(cards) {
  if (!plan) return undefined;
  const key = JSON.stringify(cards.map((card) => ({ ...card, hash: "", marks: "" })));
  if (key !== fetchedCards) {
    fetchedCards = key;
    clear(position);
  }
  let currentTick;
  for (const tick of answersByTick.keys()) {
    if (tick > position) break;
    currentTick = tick;
  }
  for (const tick of answersByTick.keys())
    if (currentTick !== undefined && tick < currentTick) answersByTick.delete(tick);
  fetchAhead(cards).catch(() => {});
  return currentTick === undefined ? undefined : answersByTick.get(currentTick);
}

/** @param {CardRequest[]} cards */
async function fetchAhead(cards) {
  if (isFetching) return;
  isFetching = true;
  try {
    while (plan && nextTick <= Math.min(plan.last, position + AHEAD)) {
      const [ownPlan, ownKey] = [plan, fetchedCards];
      // Ticks that are over need no drawing.
      nextTick = Math.max(nextTick, position);
      const count = latestAnswers.length ? TIMES : FIRST_TIMES;
      const ticks = Array.from({ length: count }, (_, index) => nextTick + index * stride).filter(
        (tick) => tick <= ownPlan.last,
      );
      const start = performance.now();
      const requests = cards.map((card, index) => ({
        ...card,
        hash: latestAnswers[index]?.hash ?? "",
        marks: latestAnswers[index]?.marks?.hash ?? "",
      }));
      const answer = await requestCards(requests, "ticks", ticks.map(ownPlan.timeOf));
      if (!answer || plan !== ownPlan || ownKey !== fetchedCards) return;
      [answer.cards, ...(answer.later ?? [])].forEach((answers, index) => {
        latestAnswers = completeCards(latestAnswers, answers);
        answersByTick.set(ticks[index], latestAnswers);
      });
      nextTick = ticks[ticks.length - 1] + stride;
      const tickTime = (performance.now() - start) / ticks.length;
      stride = Math.min(30, Math.max(1, Math.ceil((tickTime * TICKS_PER_SECOND) / 1000 / SERVER_SHARE)));
    }
  } finally {
    isFetching = false;
  }
}
