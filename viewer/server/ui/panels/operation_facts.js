// The collective operation of the entity in the inspector: its facts with links to its first, last
// and root part, and the list of its parts.

import { isolate, make } from "../util/dom.js";
import { formatDuration, formatTimestamp, groupDigits } from "../util/format.js";

/**
 * @typedef {import("../state/overlay_state.js").Operation} Operation
 * @typedef {import("../state/overlay_state.js").OperationPart} OperationPart
 * @typedef {{ go: (id: string) => void, highlight: (id: string | null) => void }} OperationActions
 */

/** The number of parts listed at first, so that the facts stay on the screen. */
const MAX_LISTED = 8;

/**
 * The facts as pairs of name and text, and the part to which a fact refers.
 * @param {Operation} operation
 * @param {number} enter the time at which the entity enters
 * @returns {[string, string, OperationPart?][]}
 */
export function operationPairs({ kind, count, place, bytes, spread, first, last, root }, enter) {
  /** @type {[string, string, OperationPart?][]} */
  const pairs = [
    ["Operation", `${kind} of ${groupDigits(count)} ${count === 1 ? "part" : "parts"}`],
    ["First entry", first.name, first],
    ["Last entry", last.name, last],
  ];
  if (root) pairs.push(["Root", root.name, root]);
  pairs.push(
    ["Last at", formatTimestamp(last.enter, Math.max(1, spread / 1000))],
    ["Entry spread", formatDuration(spread)],
  );
  if (place)
    pairs.push([
      "This part",
      enter < last.enter
        ? `enters as ${groupDigits(place)} of ${groupDigits(count)}, ` +
          `${formatDuration(last.enter - enter)} before the last`
        : "enters last",
    ]);
  if (bytes !== null) pairs.push(["All bytes", groupDigits(bytes)]);
  return pairs;
}

/**
 * @param {Operation} operation
 * @param {string} id the entity in the inspector
 * @param {number} enter
 * @param {OperationActions} actions
 */
export function operationSection(operation, id, enter, actions) {
  const list = make("dl");
  for (const [name, text, part] of operationPairs(operation, enter)) {
    list.append(
      make("dt", { text: name }),
      make("dd", {}, part ? partButton(part, isolate(text), id, actions) : make("span", { text })),
    );
  }
  return make(
    "section",
    { class: "operation", "aria-label": "Collective operation" },
    make("h3", { text: "Collective operation" }),
    list,
    partList(operation, id, actions, MAX_LISTED),
  );
}

/**
 * @param {OperationPart} part
 * @param {string} text
 * @param {string} id
 * @param {OperationActions} actions
 */
function partButton(part, text, id, actions) {
  return make("button", {
    class: "link",
    text,
    "aria-current": part.id === id ? "true" : null,
    onclick: () => actions.go(part.id),
    onpointerenter: () => actions.highlight(part.id),
    onpointerleave: () => actions.highlight(null),
    onfocus: () => actions.highlight(part.id),
    onblur: () => actions.highlight(null),
  });
}

/**
 * The parts in the order in which they enter, with their delay after the first one.
 * @param {Operation} operation
 * @param {string} id
 * @param {OperationActions} actions
 * @param {number} limit
 * @returns {HTMLElement}
 */
function partList(operation, id, actions, limit) {
  const { parts, count, first } = operation;
  const number =
    parts.length < count ? `${groupDigits(parts.length)} nearest of ${groupDigits(count)}` : groupDigits(count);
  const items = parts
    .slice(0, limit)
    .map((part) =>
      make(
        "li",
        {},
        partButton(
          part,
          `${isolate(part.name)} · ` +
            (part.enter > first.enter ? `+${formatDuration(part.enter - first.enter)}` : "first"),
          id,
          actions,
        ),
      ),
    );
  const box = make(
    "div",
    {},
    make("h4", { text: `Parts by entry (${number})` }),
    make("ol", { "aria-label": "Parts by entry" }, ...items),
  );
  if (parts.length > limit) {
    box.append(
      make("button", {
        class: "link",
        text: `${groupDigits(parts.length - limit)} more`,
        onclick: () => box.replaceWith(partList(operation, id, actions, parts.length)),
      }),
    );
  }
  return box;
}
