// The entity at the pointer: described in the tooltip and below the diagram, and highlighted with
// all related entities.

import { request } from "../net/api.js";
import * as chart from "../view/diagram.js";
import { isolate, byId, joinNames, make } from "../util/dom.js";
import { facts, factPairs } from "../state/facts.js";
import { formatTimestamp, formatDuration, groupDigits, formatPercent } from "../util/format.js";
import { snap } from "./measurement.js";
import { paintOverlay } from "../view/overlay.js";
import { overlay } from "../state/overlay_state.js";
import { rowAt, toRows, toWindow } from "../state/rows.js";
import { showReadout, clearReadout } from "../util/status_line.js";
import { paintRuler } from "../view/timeline.js";
import { highlightRow } from "../view/tree.js";
import { imageParameters, view } from "../state/view_state.js";

/** @type {HTMLElement} */ const tooltip = byId("tooltip");

/** Counts movements, so that a late answer for an old position is ignored. */
let movements = 0;

export function repaint() {
  paintOverlay();
  paintRuler(overlay.x, overlay.dragRange);
}

export function leaveDiagram() {
  movements += 1;
  Object.assign(overlay, {
    x: null,
    y: null,
    pointedRow: null,
    snap: null,
    highlighted: [],
    pointedOperation: null,
    target: null,
  });
  tooltip.hidden = true;
  clearReadout();
  highlightRow(null);
  repaint();
}

/** The entity at the pointer has moved away. */
export function clearPointed() {
  if (overlay.target === null && tooltip.hidden) return;
  movements += 1;
  Object.assign(overlay, { highlighted: [], pointedOperation: null, target: null });
  tooltip.hidden = true;
  clearReadout();
}

/**
 * @param {number} x
 * @param {number} y in the diagram's window
 * @param {{ clientX: number, clientY: number }} pointer
 */
export async function pointAt(x, y, pointer) {
  const ownMovement = ++movements;
  const row = rowAt(y);
  Object.assign(overlay, { x, y, pointedRow: row?.id ?? null, snap: null });
  highlightRow(row?.id ?? null);
  const pointed = chart.entityAt(x, y);
  const id = pointed?.hit?.id ?? null;
  if (id !== overlay.target) {
    overlay.target = id;
    overlay.highlighted = [];
    overlay.pointedOperation = null;
  }
  repaint();
  const resolution = (view.to - view.from) / chart.size().width;
  const timestamp = formatTimestamp(chart.timeAt(x), resolution);
  showReadout(timestamp, row ? row.name : "");
  if (id) {
    const entity = await facts(id).catch(() => undefined);
    if (ownMovement !== movements || !entity) return;
    overlay.highlighted = entity.related.map((/** @type {any} */ related) => related.id);
    overlay.pointedOperation = entity.operation;
    repaint();
    const short = (/** @type {string} */ path) => joinNames(path.split(" › ").slice(-2));
    showReadout(
      timestamp,
      entity.name,
      entity.kind === "Link"
        ? `${short(entity.fields[0][1])} → ${short(entity.fields[1][1])}`
        : joinNames(entity.containers.slice(-2)),
    );
    showFacts(entity, pointed?.hit?.color ?? "", pointer);
  } else if (row && (pointed?.mixture || isVariable(row, toRows(y)))) {
    const [left, right] = pointed?.mixture ?? [Math.floor(x), Math.floor(x) + 1];
    const from = Math.floor(view.from + left * resolution);
    const to = Math.max(from + 1, Math.ceil(view.from + right * resolution));
    const contents = await request("entity_at", { ...imageParameters(), from, to, top: toRows(y) }).catch(
      () => undefined,
    );
    if (ownMovement !== movements || !contents) return;
    if (contents.facts) showFacts(contents.facts, contents.parts[0].color, pointer);
    else if (contents.states > 0) showMixture(contents, row, pointer);
    else if (contents.variable) showVariable(contents.variable, row, pointer);
    else tooltip.hidden = true;
    if (contents.states > 0)
      showReadout(
        timestamp,
        contents.parts
          .map((/** @type {Part} */ part) => `${isolate(part.name)} ${formatPercent(part.share)}`)
          .join(", "),
        row.name,
      );
    else if (contents.variable)
      showReadout(timestamp, `${isolate(contents.variable.name)} ${contents.variable.mean}`, row.name);
  } else {
    tooltip.hidden = true;
  }
}

/** @param {import("../state/rows.js").Row} row @param {number} y */
function isVariable(row, y) {
  return row.strips.some((strip) => strip.kind === "variable" && y >= strip.y && y < strip.y + strip.height);
}

/**
 * @param {{ name: string, least: string, mean: string, largest: string }} variable
 * @param {import("../state/rows.js").Row} row
 * @param {{ clientX: number, clientY: number }} pointer
 */
function showVariable({ name, least, mean, largest }, row, pointer) {
  const isConstant = least === largest;
  const facts = isConstant
    ? [["Value", mean]]
    : [
        ["Mean", mean],
        ["Minimum", least],
        ["Maximum", largest],
      ];
  const list = make("dl", {}, ...facts.flatMap(([fact, text]) => [make("dt", { text: fact }), make("dd", { text })]));
  tooltip.replaceChildren(make("h3", { text: name }), make("p", { class: "path", text: row.name }), list);
  placeTooltip(pointer);
}

/**
 * @param {any} entity
 * @param {string} color
 * @param {{ clientX: number, clientY: number }} pointer
 */
function showFacts(entity, color, pointer) {
  const list = make("dl");
  const fields = factPairs(entity, false);
  for (const [name, text] of fields.slice(0, 9)) list.append(make("dt", { text: name }), make("dd", { text }));
  const duration =
    entity.to > entity.from &&
    make("span", { class: "entity-duration", text: formatDuration(entity.to - entity.from) });
  const relatedCount = entity.related.length;
  tooltip.replaceChildren(
    make("h3", {}, make("span", { class: "chip", color }), make("span", { text: entity.name }), duration),
    make("p", {
      class: "path",
      text:
        entity.kind === "Link"
          ? entity.types.slice(-1)[0]
          : joinNames(entity.containers.slice(entity.containers.length > 2 ? 1 : 0)),
    }),
    list,
  );
  if (entity.operation)
    tooltip.append(make("p", { class: "hint", text: operationSentence(entity.operation, entity.from) }));
  if (relatedCount > 0)
    tooltip.append(make("p", { class: "hint", text: `${groupDigits(relatedCount)} related, highlighted` }));
  placeTooltip(pointer);
}

/**
 * @param {import("../state/overlay_state.js").Operation} operation
 * @param {number} enter the time at which the pointed part enters
 */
function operationSentence({ count, last }, enter) {
  const wait = last.enter - enter;
  const end =
    wait > 0 ? `${isolate(last.name)} enters last, ${formatDuration(wait)} later` : `${isolate(last.name)} enters last`;
  return `One of ${groupDigits(count)} parts of an operation: ${end}`;
}

/** @typedef {{ name: string, color: string, share: number }} Part */

/**
 * @param {{ parts: Part[], states: number }} mix
 * @param {import("../state/rows.js").Row} row
 * @param {{ clientX: number, clientY: number }} pointer
 */
function showMixture({ parts, states }, row, pointer) {
  const list = make("div", { class: "mixture" });
  for (const { name, color, share } of parts) {
    list.append(make("i", { color }), make("span", { text: name }), make("span", { text: formatPercent(share) }));
  }
  const statesText = `${groupDigits(states)} ${states === 1 ? "state" : "states"}`;
  const description = `${statesText} in this column of pixels; zoom in to separate them`;
  tooltip.replaceChildren(make("h3", { text: row.name }), list, make("p", { class: "hint", text: description }));
  placeTooltip(pointer);
}

/**
 * Puts the tooltip below the row at the pointer, or above it; never over it.
 * @param {{ clientX: number, clientY: number }} pointer
 */
function placeTooltip({ clientX, clientY }) {
  const chartTop = byId("chart").getBoundingClientRect().top;
  const row = rowAt(clientY - chartTop);
  const from = row ? toWindow(row.y) + chartTop : clientY;
  const to = row ? Math.min(from + row.height, clientY + 90) : clientY;
  tooltip.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = tooltip;
  const left = clientX + 16 + width > innerWidth ? clientX - width - 12 : clientX + 16;
  const below = Math.max(to, clientY + 14) + 6;
  const above = Math.min(Math.max(from, clientY - 90), clientY - 10) - height - 6;
  const y = below + height <= innerHeight - 4 || above < 4 ? below : above;
  tooltip.style.left = `${Math.max(4, left)}px`;
  tooltip.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
}

/** Shows the position to which a measurement would snap. @param {number} x @param {number} y */
export function pointToMeasure(x, y) {
  movements += 1;
  const point = snap(x, y);
  Object.assign(overlay, { x, y, snap: point.id ? point : null, highlighted: [], target: null });
  tooltip.hidden = true;
  showReadout(
    formatTimestamp(point.time, (view.to - view.from) / chart.size().width),
    point.id ? "snaps to the start or end of an entity" : "",
  );
  repaint();
}

export function hideTooltip() {
  tooltip.hidden = true;
}
