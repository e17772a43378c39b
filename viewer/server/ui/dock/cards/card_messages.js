// The messages that a pointed mark of a card stands for, as arrows in the diagram.

import { overlay } from "../../state/overlay_state.js";
import { paintOverlay } from "../../view/overlay.js";
import { LatestRequest, requestAbout } from "./card_request.js";

/** @typedef {import("./card_list.js").Card} Card */
/** @typedef {import("./card_regions.js").Subject} Subject */
/** @typedef {Record<string, string | number | boolean>} Parameters */

/**
 * The messages of a mark, by view: those of a pair of units, those that wait for the units, or
 * those that are pending at the time of a column.
 * @type {Record<string, (subject: Subject) => Parameters | null>}
 */
const CHOICES = {
  "communication-matrix": pairParameters,
  animation: pairParameters,
  hypercube: pairParameters,
  "message-queues": ({ containers }) => (containers.length ? { receivers: containers.join() } : null),
  traffic: ({ time }) => (time === null ? null : { is_pending: true, t: Math.round(time) }),
  "communication-meter": () => ({ is_pending: true }),
};

/** @param {Subject} subject @returns {Parameters | null} */
function pairParameters({ pair }) {
  return pair && { senders: pair[0].join(), receivers: pair[1].join() };
}

/** The pointed mark. @type {{ card: Card, choice: Parameters } | null} */
let pointedMark = null;
const latestRequest = new LatestRequest(fetchMessages, () => {});

/** Shows the messages of a mark. @param {Card} card @param {Subject} subject */
export function showMessages(card, subject) {
  const choice = CHOICES[card.name]?.(subject);
  clearMessages();
  if (!choice) return;
  pointedMark = { card, choice };
  latestRequest.run();
}

/** Shows the messages of the pointed mark at another time, or in another time range. */
export function refreshMessages() {
  if (pointedMark) latestRequest.run();
}

/** No mark is pointed at any more. The caller paints the overlay. */
export function clearMessages() {
  pointedMark = null;
  overlay.messages = [];
}

async function fetchMessages() {
  const mark = pointedMark;
  if (!mark) return;
  const answer = await requestAbout("card_messages", mark.card, mark.choice);
  if (!answer || pointedMark !== mark) return;
  overlay.messages = answer.links;
  paintOverlay();
}
