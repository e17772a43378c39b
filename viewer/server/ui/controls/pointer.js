// The entity at the pointer: described in the tooltip and below the diagram, and lit with all
// related entities.

import { ask } from "../net/api.js";
import * as chart from "../view/chart.js";
import { apart, byId, inLine, make } from "../util/dom.js";
import { facts, pairs } from "../state/facts.js";
import { date, duration, grouped, percent } from "../util/format.js";
import { snap } from "./measurement.js";
import { paintOver, state } from "../view/overlay.js";
import { rowAt, toRows, toWindow } from "../state/rows.js";
import { say, sayNothing } from "../util/status_line.js";
import { paintRuler } from "../view/timeline.js";
import { light } from "../view/tree.js";
import { looks, view } from "../state/view.js";

/** @type {HTMLElement} */ const tooltip = byId("tooltip");

/** Counts movements, so that a late answer for an old position is ignored. */
let turn = 0;

export function repaint() {
  paintOver();
  paintRuler(state.x, state.choice);
}

export function leave() {
  turn += 1;
  Object.assign(state, { x: null, y: null, row: null, snap: null, lit: [], main: null });
  tooltip.hidden = true;
  sayNothing();
  light(null);
  repaint();
}

/** The entity at the pointer has moved away. */
export function forgetPointed() {
  if (state.main === null && tooltip.hidden) return;
  turn += 1;
  Object.assign(state, { lit: [], main: null });
  tooltip.hidden = true;
  sayNothing();
}

/**
 * @param {number} x
 * @param {number} y in the diagram's window
 * @param {{ clientX: number, clientY: number }} pointer
 */
export async function point(x, y, pointer) {
  const mine = ++turn;
  const row = rowAt(y);
  Object.assign(state, { x, y, row: row?.id ?? null, snap: null });
  light(row?.id ?? null);
  const found = chart.under(x, y);
  const id = found?.hit?.id ?? null;
  if (id !== state.main) {
    state.main = id;
    state.lit = [];
  }
  repaint();
  const resolution = (view.to - view.from) / chart.size().width;
  const now = date(chart.timeAt(x), resolution);
  say(now, row ? row.name : "");
  if (id) {
    const all = await facts(id).catch(() => undefined);
    if (mine !== turn || !all) return;
    state.lit = all.related.map((/** @type {any} */ one) => one.id);
    repaint();
    const short = (/** @type {string} */ path) => inLine(path.split(" › ").slice(-2));
    say(now, all.name, all.kind === "Link" ? `${short(all.fields[0][1])} → ${short(all.fields[1][1])}` : inLine(all.containers.slice(-2)));
    describe(all, found?.hit?.color ?? "", pointer);
  } else if (row && (found?.mixture || isVariable(row, toRows(y)))) {
    const [left, right] = found?.mixture ?? [Math.floor(x), Math.floor(x) + 1];
    const from = Math.floor(view.from + left * resolution);
    const to = Math.max(from + 1, Math.ceil(view.from + right * resolution));
    const at = await ask("at", { ...looks(), from, to, top: toRows(y) }).catch(() => undefined);
    if (mine !== turn || !at) return;
    if (at.facts) describe(at.facts, at.parts[0].color, pointer);
    else if (at.states > 0) blend(at, row, pointer);
    else if (at.variable) measure(at.variable, row, pointer);
    else tooltip.hidden = true;
    if (at.states > 0) say(now, at.parts.map((/** @type {Part} */ part) => `${apart(part.name)} ${percent(part.share)}`).join(", "), row.name);
    else if (at.variable) say(now, `${apart(at.variable.name)} ${at.variable.mean}`, row.name);
  } else {
    tooltip.hidden = true;
  }
}

/** @param {import("../state/rows.js").Row} row @param {number} y */
function isVariable(row, y) {
  return row.strips.some((strip) => strip.kind === "variable" && y >= strip.y && y < strip.y + strip.height);
}

/**
 * @param {{ name: string, least: string, mean: string, largest: string }} what
 * @param {import("../state/rows.js").Row} row
 * @param {{ clientX: number, clientY: number }} pointer
 */
function measure({ name, least, mean, largest }, row, pointer) {
  const one = least === largest;
  const facts = one ? [["Value", mean]] : [["Mean", mean], ["Least", least], ["Largest", largest]];
  const list = make("dl", {}, ...facts.flatMap(([fact, text]) => [make("dt", { text: fact }), make("dd", { text })]));
  tooltip.replaceChildren(make("h3", { text: name }), make("p", { class: "path", text: row.name }), list);
  place(pointer);
}

/** @param {any} all @param {string} color @param {{ clientX: number, clientY: number }} pointer */
function describe(all, color, pointer) {
  const list = make("dl");
  const fields = pairs(all, false);
  for (const [name, text] of fields.slice(0, 9)) list.append(make("dt", { text: name }), make("dd", { text }));
  const long = all.to > all.from && make("span", { class: "long", text: duration(all.to - all.from) });
  const more = all.related.length;
  tooltip.replaceChildren(
    make("h3", {}, make("span", { class: "chip", color }), make("span", { text: all.name }), long),
    make("p", { class: "path", text: all.kind === "Link" ? all.types.slice(-1)[0] : inLine(all.containers.slice(all.containers.length > 2 ? 1 : 0)) }),
    list,
  );
  if (more > 0) tooltip.append(make("p", { class: "hint", text: `${grouped(more)} related, lit` }));
  place(pointer);
}

/** @typedef {{ name: string, color: string, share: number }} Part */

/**
 * @param {{ parts: Part[], states: number }} mix
 * @param {import("../state/rows.js").Row} row
 * @param {{ clientX: number, clientY: number }} pointer
 */
function blend({ parts, states }, row, pointer) {
  const list = make("div", { class: "mix" });
  for (const { name, color, share } of parts) {
    list.append(make("i", { color }), make("span", { text: name }), make("span", { text: percent(share) }));
  }
  const what = `${grouped(states)} ${states === 1 ? "state" : "states"} in this column of pixels; zoom in to part them`;
  tooltip.replaceChildren(make("h3", { text: row.name }), list, make("p", { class: "hint", text: what }));
  place(pointer);
}

/**
 * Puts the tooltip below the row at the pointer, or above it; never over it.
 * @param {{ clientX: number, clientY: number }} pointer
 */
function place({ clientX, clientY }) {
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
  turn += 1;
  const spot = snap(x, y);
  Object.assign(state, { x, y, snap: spot.id ? spot : null, lit: [], main: null });
  tooltip.hidden = true;
  say(date(spot.time, (view.to - view.from) / chart.size().width), spot.id ? "snaps to what begins or ends there" : "");
  repaint();
}

export function hideTooltip() {
  tooltip.hidden = true;
}
