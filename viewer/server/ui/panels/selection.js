// The chosen entity: shown in the inspector, with steps to the next of its kind and over its links.

import { ask } from "../net/api.js";
import * as chart from "../view/chart.js";
import { byId } from "../util/dom.js";
import { facts, learn } from "../state/facts.js";
import { grouped } from "../util/format.js";
import { fillInspector } from "./inspector.js";
import { state } from "../view/overlay.js";
import { reveal, rowOf } from "../state/rows.js";
import { followSource, openSource } from "./source.js";
import { note } from "../util/status_line.js";
import { changed, keep, length, show, view } from "../state/view.js";

/** Opens the inspector. @param {string} id */
export async function open(id) {
  const all = await facts(id, "choose").catch(() => undefined);
  if (!all) return;
  view.chosen = id;
  state.kept = [];
  // The links of a chain stay lit while the user moves along it.
  if (!view.chained) state.hops = [];
  else if (!state.hops.some((hop) => hop.id === id)) state.hops = (await chainOf(id))?.hops ?? [];
  note("");
  fillInspector(all, state.hops, { close, go: visit, zoom: zoomToChosen, walk, chain, source: () => openSource(id), light: (one) => { state.lit = one ? [one] : []; changed("choice"); } });
  keep(true);
  changed("choice");
  followSource();
}

/**
 * @param {string} id
 * @returns {Promise<{ hops: import("../view/overlay.js").Hop[], before: number, after: number, cut: boolean
 * } | undefined>}
 */
function chainOf(id) {
  return ask("hops", { id }).catch(() => undefined);
}

/**
 * Lights the chain of links through the chosen entity or the one at the pointer; a second call
 * removes it.
 */
export async function chain() {
  const from = view.chosen ?? state.main;
  if (!from) {
    note("Choose a state or an arrow first");
    return;
  }
  if (view.chained && state.hops.length > 0) {
    view.chained = false;
    await open(from);
    return;
  }
  const answer = await chainOf(from);
  if (!answer) return;
  if (answer.hops.length === 0) {
    note("No link leads here or away");
    return;
  }
  state.hops = answer.hops;
  view.chained = true;
  await open(from);
  const many = answer.hops.length;
  note(`A chain of ${grouped(many)} link${many === 1 ? "" : "s"}: ${grouped(answer.before)} before, ${grouped(answer.after)} after${answer.cut ? "; there may be more" : ""}`);
}

export function close() {
  state.kept = [];
  state.hops = [];
  view.chained = false;
  if (view.chosen === null) return;
  view.chosen = null;
  byId("inspector").hidden = true;
  keep(true);
  changed("choice");
}

/** Shows the entity that the address names in the inspector. */
export async function restore() {
  if (view.chosen) await open(view.chosen);
  else byId("inspector").hidden = true;
}

/**
 * Shows another entity in its place: unfolds its row and moves the interval.
 * @param {string} id
 * @param {boolean} [near] zooms in until even a short entity is visible
 */
export async function visit(id, near = false) {
  const all = await facts(id, "choose").catch(() => undefined);
  if (!all) return;
  if (!rowOf(all.container)) await uncover(all);
  if (all.kind !== "Container") {
    const middle = (all.from + all.to) / 2;
    const long = Math.abs(all.to - all.from);
    const span = view.to - view.from;
    // An entity without duration is visible at any zoom. The chosen span separates it from others
    // and shows some of them.
    const enough = Math.max(long === 0 ? length() / 50 : long * 20, 200);
    const small = near && long < span / 60 && enough < span;
    const wanted = small ? enough : span;
    if (small || Math.max(all.to, all.from) <= view.from || Math.min(all.from, all.to) >= view.to) {
      // Stays within the trace, if it is long enough.
      const from = Math.max(0, Math.min(middle - wanted / 2, length() - wanted));
      show(from, from + wanted, true);
    }
  }
  const row = rowOf(all.container);
  if (row) reveal(row);
  await open(id);
}

/**
 * Unfolds rows, shows hidden ones and clears the name filter until a container has its row.
 * @param {any} all
 */
async function uncover(all) {
  const path = [...all.above, all.container];
  for (const container of path) view.gone.delete(container);
  for (const container of all.above) if (rowOf(container)?.folded) view.toggled.has(container) ? view.toggled.delete(container) : view.toggled.add(container);
  if (view.names) view.names = "";
  const shown = new Promise((resolve) => document.addEventListener("rows", resolve, { once: true }));
  keep();
  changed("rows");
  await shown;
  // Containers below folded ones were folded themselves.
  if (!rowOf(all.container) && path.some((container) => rowOf(container)?.folded)) await uncover(all);
}

/**
 * Moves to the next or the previous entity of the kind.
 * @param {number} by
 * @param {boolean} same only those with the same value
 */
export async function walk(by, same) {
  const from = view.chosen ?? state.main;
  if (!from) {
    note("Choose something first: click it, or find it");
    return;
  }
  const answer = await ask("step", { id: from, by, same: String(same) }).catch(() => undefined);
  if (answer === undefined) return;
  if (!answer.facts) {
    note(by > 0 ? "This is the last of its kind" : "This is the first of its kind");
    return;
  }
  learn(answer.facts);
  await visit(answer.facts.id);
}

/**
 * Moves from a state over its link to the state at the opposite endpoint; from a link to the state
 * in which it ends.
 */
export async function visitPartner() {
  const from = view.chosen ?? state.main;
  const all = from ? await facts(from, "choose").catch(() => undefined) : undefined;
  if (!all) {
    note("Choose a state or an arrow first");
    return;
  }
  const isLink = (/** @type {any} */ one) => one.id.startsWith("l");
  const link = all.kind === "Link" ? all : await facts(all.related.find(isLink)?.id ?? "", "choose").catch(() => undefined);
  if (!link) {
    note("No link starts or ends here");
    return;
  }
  const ends = link.related.filter((/** @type {any} */ one) => one.id !== all.id && !isLink(one));
  const target = link.fields[1]?.[1];
  const end = (all.kind === "Link" && ends.find((/** @type {any} */ one) => one.path.join(" › ") === target)) || ends[0];
  await visit(end?.id ?? link.id);
}

export async function zoomToChosen() {
  const all = view.chosen ? await facts(view.chosen, "choose").catch(() => undefined) : undefined;
  if (!view.chosen) note("Choose something first: click it, or find it");
  if (!all) return;
  const [from, to] = [Math.min(all.from, all.to), Math.max(all.from, all.to)];
  const edge = Math.max(to === from ? (view.to - view.from) / 16 : (to - from) * 0.15, 20);
  show(from - edge, to + edge, true);
}

/**
 * Opens the inspector on the entity at a point of the diagram's window, or closes it.
 * @param {number} x
 * @param {number} y
 * @param {import("../state/rows.js").Row | undefined} row
 */
export async function choose(x, y, row) {
  const found = chart.under(x, y);
  if (found?.hit) await open(found.hit.id);
  else if (found?.mixture || !row) close();
  else await open(`c${row.id}`);
}
