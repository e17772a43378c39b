// The inspected entity: its panel, steps to the next entity of its type, and steps over its links.

import { request } from "../net/api.js";
import * as chart from "../view/diagram.js";
import { byId } from "../util/dom.js";
import { facts, storeFacts } from "../state/facts.js";
import { groupDigits } from "../util/format.js";
import { fillInspector } from "./inspector.js";
import { overlay } from "../state/overlay_state.js";
import { reveal, rowOf } from "../state/rows.js";
import { followSource, openSource } from "./source_file.js";
import { showNote } from "../util/status_line.js";
import { storeView } from "../state/address.js";
import { notifyChange, traceDuration, view } from "../state/view_state.js";
import { show } from "../state/viewport.js";

/**
 * Opens the inspector.
 * @param {string} id
 * @param {boolean} [isRestored] whether it is the chosen entity, which may change meanwhile
 */
export async function openInspector(id, isRestored = false) {
  const entity = await facts(id, "choose").catch(() => undefined);
  if (!entity || (isRestored && view.entity !== id)) return;
  view.entity = id;
  overlay.stickyHighlights = [];
  overlay.chosenOperation = entity.operation;
  // The links of a chain stay highlighted while the user moves along it.
  if (!view.showsChain) overlay.chainLinks = [];
  else if (!overlay.chainLinks.some((link) => link.id === id))
    overlay.chainLinks = (await requestChain(id))?.links ?? [];
  showNote("");
  fillInspector(entity, overlay.chainLinks, {
    close: closeInspector,
    go: goTo,
    zoom: zoomToInspected,
    step: stepTo,
    chain: toggleChain,
    source: () => openSource(id),
    highlight: (related) => {
      overlay.highlighted = related ? [related] : [];
      notifyChange("selection");
    },
  });
  storeView(true);
  notifyChange("selection");
  followSource();
}

/**
 * @param {string} id
 * @returns {Promise<{ links: import("../state/overlay_state.js").ChainLink[], before:
 * number, after: number, truncated: boolean } | undefined>}
 */
function requestChain(id) {
  return request("link_chain", { id }).catch(() => undefined);
}

/**
 * Lights the chain of links through the chosen entity or the one at the pointer; a second call
 * removes it.
 */
export async function toggleChain() {
  const from = view.entity ?? overlay.target;
  if (!from) {
    showNote("Select a state or a link first");
    return;
  }
  if (view.showsChain && overlay.chainLinks.length > 0) {
    view.showsChain = false;
    await openInspector(from);
    return;
  }
  const answer = await requestChain(from);
  if (!answer) return;
  if (answer.links.length === 0) {
    showNote("No link starts or ends here");
    return;
  }
  overlay.chainLinks = answer.links;
  view.showsChain = true;
  await openInspector(from);
  const count = answer.links.length;
  showNote(
    `A chain of ${groupDigits(count)} link${count === 1 ? "" : "s"}: ${groupDigits(answer.before)} before, ` +
      `${groupDigits(answer.after)} after${answer.truncated ? "; there may be more" : ""}`,
  );
}

export function closeInspector() {
  overlay.stickyHighlights = [];
  overlay.chosenOperation = null;
  overlay.chainLinks = [];
  view.showsChain = false;
  if (view.entity === null) return;
  view.entity = null;
  byId("inspector").hidden = true;
  storeView(true);
  notifyChange("selection");
}

/** Shows the entity that the address names in the inspector. */
export async function restoreInspected() {
  if (view.entity) await openInspector(view.entity, true);
  else byId("inspector").hidden = true;
}

/**
 * Shows another entity in its place: unfolds its row and moves the time range.
 * @param {string} id
 * @param {boolean} [zoomIn] zooms in until even a short entity is visible
 */
export async function goTo(id, zoomIn = false) {
  const entity = await facts(id, "choose").catch(() => undefined);
  if (!entity) return;
  if (!rowOf(entity.container)) await revealContainer(entity);
  if (entity.kind !== "Container") {
    const middle = (entity.from + entity.to) / 2;
    const length = Math.abs(entity.to - entity.from);
    const span = view.to - view.from;
    // An entity without duration is visible at any zoom. The chosen span separates it from others
    // and shows some of them.
    const targetSpan = Math.max(length === 0 ? traceDuration() / 50 : length * 20, 200);
    const isSmall = zoomIn && length < span / 60 && targetSpan < span;
    const newSpan = isSmall ? targetSpan : span;
    if (isSmall || Math.max(entity.to, entity.from) <= view.from || Math.min(entity.from, entity.to) >= view.to) {
      // Stays within the trace, if it is long enough.
      const from = Math.max(0, Math.min(middle - newSpan / 2, traceDuration() - newSpan));
      show(from, from + newSpan, true);
    }
  }
  const row = rowOf(entity.container);
  if (row) reveal(row);
  await openInspector(id);
}

/**
 * Unfolds rows, shows hidden ones and clears the name filter until a container has its row.
 * @param {any} entity
 */
async function revealContainer(entity) {
  const path = [...entity.ancestors, entity.container];
  for (const container of path) view.hiddenRows.delete(container);
  for (const container of entity.ancestors)
    if (rowOf(container)?.folded)
      view.toggledRows.has(container) ? view.toggledRows.delete(container) : view.toggledRows.add(container);
  if (view.names) view.names = "";
  const rowsShown = new Promise((resolve) => document.addEventListener("rows", resolve, { once: true }));
  storeView();
  notifyChange("rows");
  await rowsShown;
  // Containers below folded ones were folded themselves.
  if (!rowOf(entity.container) && path.some((container) => rowOf(container)?.folded)) await revealContainer(entity);
}

/**
 * Moves to the next or the previous entity of the kind.
 * @param {number} offset
 * @param {boolean} sameValue only those with the same value
 */
export async function stepTo(offset, sameValue) {
  const from = view.entity ?? overlay.target;
  if (!from) {
    showNote("Select an entity first: click it or search for it");
    return;
  }
  const answer = await request("neighbour", { id: from, direction: offset, same_value: String(sameValue) }).catch(
    () => undefined,
  );
  if (answer === undefined) return;
  if (!answer.facts) {
    showNote(offset > 0 ? "This is the last entity of its type" : "This is the first entity of its type");
    return;
  }
  storeFacts(answer.facts);
  await goTo(answer.facts.id);
}

/**
 * Moves from a state over its link to the state at the opposite endpoint; from a link to the state
 * in which it ends.
 */
export async function goToPartner() {
  const from = view.entity ?? overlay.target;
  const entity = from ? await facts(from, "choose").catch(() => undefined) : undefined;
  if (!entity) {
    showNote("Select a state or a link first");
    return;
  }
  const isLink = (/** @type {any} */ related) => related.id.startsWith("l");
  const link =
    entity.kind === "Link"
      ? entity
      : await facts(entity.related.find(isLink)?.id ?? "", "choose").catch(() => undefined);
  if (!link) {
    showNote("No link starts or ends here");
    return;
  }
  const ends = link.related.filter((/** @type {any} */ related) => related.id !== entity.id && !isLink(related));
  const target = link.fields[1]?.[1];
  const partner =
    (entity.kind === "Link" && ends.find((/** @type {any} */ end) => end.path.join(" › ") === target)) || ends[0];
  await goTo(partner?.id ?? link.id);
}

export async function zoomToInspected() {
  const entity = view.entity ? await facts(view.entity, "choose").catch(() => undefined) : undefined;
  if (!view.entity) showNote("Select an entity first: click it or search for it");
  if (!entity) return;
  const [from, to] = [Math.min(entity.from, entity.to), Math.max(entity.from, entity.to)];
  const margin = Math.max(to === from ? (view.to - view.from) / 16 : (to - from) * 0.15, 20);
  show(from - margin, to + margin, true);
}

/**
 * Opens the inspector on the entity at a point of the diagram's window, or closes it.
 * @param {number} x
 * @param {number} y
 * @param {import("../state/rows.js").Row | undefined} row
 */
export async function inspectAt(x, y, row) {
  const pointed = chart.entityAt(x, y);
  if (pointed?.hit) await openInspector(pointed.hit.id);
  else if (pointed?.mixture || !row) closeInspector();
  else await openInspector(`c${row.id}`);
}
