// The entity at the pointer: described in the tooltip and below the diagram, and lit with all
// related entities.

import { request } from "../net/api.js";
import * as chart from "../view/chart.js";
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
import { imageParameters, view } from "../state/view.js";

/** @type {HTMLElement} */ const tooltip = byId("tooltip");

/** Counts movements, so that a late answer for an old position is ignored. */
let movements = 0;

export function repaint() {
  paintOverlay();
  paintRuler(overlay.x, overlay.dragRange);
}

export function leaveDiagram() {
  movements += 1;
  Object.assign(overlay, { x: null, y: null, pointedRow: null, snap: null, highlighted: [], target: null });
  tooltip.hidden = true;
  clearReadout();
  highlightRow(null);
  repaint();
}

/** The entity at the pointer has moved away. */
export function clearPointed() {
  if (overlay.target === null && tooltip.hidden) return;
  movements += 1;
  Object.assign(overlay, { highlighted: [], target: null });
  tooltip.hidden = true;
  clearReadout();
}

/**
 * @param {number} x
 * @param {number} y in the diagram's window
 * @param {{ clientX: number, clientY: number }} pointer
 */
export async function pointAt(x, y, pointer) {
  const ownTurn = ++movements;
  const row = rowAt(y);
  Object.assign(overlay, { x, y, pointedRow: row?.id ?? null, snap: null });
  highlightRow(row?.id ?? null);
  const entity = chart.entityAt(x, y);
  const id = entity?.hit?.id ?? null;
  if (id !== overlay.target) {
    overlay.target = id;
    overlay.highlighted = [];
  }
  repaint();
  const resolution = (view.to - view.from) / chart.size().width;
  const timestamp = formatTimestamp(chart.timeAt(x), resolution);
  showReadout(timestamp, row ? row.name : "");
  if (id) {
    const all = await facts(id).catch(() => undefined);
    if (ownTurn !== movements || !all) return;
    overlay.highlighted = all.related.map((/** @type {any} */ one) => one.id);
    repaint();
    const short = (/** @type {string} */ path) => joinNames(path.split(" › ").slice(-2));
    showReadout(timestamp, all.name, all.kind === "Link" ? `${short(all.fields[0][1])} → ${short(all.fields[1][1])}` : joinNames(all.containers.slice(-2)));
    showFacts(all, entity?.hit?.color ?? "", pointer);
  } else if (row && (entity?.mixture || isVariable(row, toRows(y)))) {
    const [left, right] = entity?.mixture ?? [Math.floor(x), Math.floor(x) + 1];
    const from = Math.floor(view.from + left * resolution);
    const to = Math.max(from + 1, Math.ceil(view.from + right * resolution));
    const at = await request("entity_at", { ...imageParameters(), from, to, top: toRows(y) }).catch(() => undefined);
    if (ownTurn !== movements || !at) return;
    if (at.facts) showFacts(at.facts, at.parts[0].color, pointer);
    else if (at.states > 0) showMixture(at, row, pointer);
    else if (at.variable) showVariable(at.variable, row, pointer);
    else tooltip.hidden = true;
    if (at.states > 0) showReadout(timestamp, at.parts.map((/** @type {Part} */ part) => `${isolate(part.name)} ${formatPercent(part.share)}`).join(", "), row.name);
    else if (at.variable) showReadout(timestamp, `${isolate(at.variable.name)} ${at.variable.mean}`, row.name);
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
  const one = least === largest;
  const facts = one ? [["Value", mean]] : [["Mean", mean], ["Minimum", least], ["Maximum", largest]];
  const list = make("dl", {}, ...facts.flatMap(([fact, text]) => [make("dt", { text: fact }), make("dd", { text })]));
  tooltip.replaceChildren(make("h3", { text: name }), make("p", { class: "path", text: row.name }), list);
  placeTooltip(pointer);
}

/** @param {any} all @param {string} color @param {{ clientX: number, clientY: number }} pointer */
function showFacts(all, color, pointer) {
  const list = make("dl");
  const fields = factPairs(all, false);
  for (const [name, text] of fields.slice(0, 9)) list.append(make("dt", { text: name }), make("dd", { text }));
  const long = all.to > all.from && make("span", { class: "entity-duration", text: formatDuration(all.to - all.from) });
  const more = all.related.length;
  tooltip.replaceChildren(
    make("h3", {}, make("span", { class: "chip", color }), make("span", { text: all.name }), long),
    make("p", { class: "path", text: all.kind === "Link" ? all.types.slice(-1)[0] : joinNames(all.containers.slice(all.containers.length > 2 ? 1 : 0)) }),
    list,
  );
  if (more > 0) tooltip.append(make("p", { class: "hint", text: `${groupDigits(more)} related, highlighted` }));
  placeTooltip(pointer);
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
  const description = `${groupDigits(states)} ${states === 1 ? "state" : "states"} in this column of pixels; zoom in to separate them`;
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
  const { offsetWidth: wide, offsetHeight: tall } = tooltip;
  const left = clientX + 16 + wide > innerWidth ? clientX - wide - 12 : clientX + 16;
  const below = Math.max(to, clientY + 14) + 6;
  const above = Math.min(Math.max(from, clientY - 90), clientY - 10) - tall - 6;
  const y = below + tall <= innerHeight - 4 || above < 4 ? below : above;
  tooltip.style.left = `${Math.max(4, left)}px`;
  tooltip.style.top = `${Math.max(4, Math.min(y, innerHeight - tall - 4))}px`;
}

/** Shows the position to which a measurement would snap. @param {number} x @param {number} y */
export function pointToMeasure(x, y) {
  movements += 1;
  const spot = snap(x, y);
  Object.assign(overlay, { x, y, snap: spot.id ? spot : null, highlighted: [], target: null });
  tooltip.hidden = true;
  showReadout(formatTimestamp(spot.time, (view.to - view.from) / chart.size().width), spot.id ? "snaps to the start or end of an entity" : "");
  repaint();
}

export function hideTooltip() {
  tooltip.hidden = true;
}
