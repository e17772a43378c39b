// The source pane: shows the source line of an entity, and leads from a line to all its entities.

import { ask, drop } from "../net/api.js";
import { resize } from "../view/chart.js";
import { byId, make, refill } from "../util/dom.js";
import { facts } from "../state/facts.js";
import { duration, grouped, percent } from "../util/format.js";
import { state } from "../view/overlay.js";
import { note } from "../util/status_line.js";
import { changed, filtersOn, picture, tellBeside, told, view } from "../state/view.js";

/** The number of lit entities of a line, before and after the visited one. */
const LIT = 200;
/** Lines shown before and after the current one. */
const AROUND = 1500;

/** @type {HTMLElement} */ const pane = byId("source");
/** @type {(id: string) => Promise<void>} */
let visit = async () => {};
/**
 * The contents of the pane: file, line and interval; the answer of the server; and for each line
 * the position of the steps through its entities.
 * @type {{ of: string, file: string, line: number, part: { from: number, to: number }, answer: any,
 * at: Map<number, number> }}
 */
let shown = { of: "", file: "", line: 0, part: { from: 0, to: 0 }, answer: null, at: new Map() };

/** Whether the user is stepping through the entities of a line. */
let stepping = false;

/** @param {(id: string) => Promise<void>} go shows an entity in its place */
export function listenToSource(go) {
  visit = go;
}

/** Opens the pane on the source of an entity. @param {string | null} [id] */
export async function openSource(id = view.chosen ?? state.main) {
  const all = id ? await facts(id, "source").catch(() => undefined) : undefined;
  if (!id || !all?.source) {
    note(id ? "The trace does not say where in the source this is" : "Choose something first: click it, or find it");
    return;
  }
  pane.hidden = false;
  tellBeside("source", "1");
  resize();
  const [file, line] = all.source;
  const part = { from: view.from, to: view.to };
  const of = JSON.stringify([file, part, filtersOn(), picture()]);
  if (of === shown.of) {
    // The entities of its lines are known, or being counted.
    shown.line = line;
    fill();
    return;
  }
  shown = { of, file, line, part, answer: null, at: file === shown.file ? shown.at : new Map() };
  const mine = shown;
  const told = (/** @type {any} */ answer) => {
    mine.answer = answer;
    if (mine === shown) fill();
  };
  try {
    const answer = await ask("source", { id, ...part }, "source", told);
    if (answer) told(answer);
    else if (mine === shown) shown.of = "";
  } catch (error) {
    if (mine === shown) shown.of = "";
    throw error;
  }
}

/** Opens or closes the pane as the address requires. */
export async function restoreSource() {
  if (told("source") && view.chosen) await openSource();
  else closeSource();
}

/**
 * Follows the chosen entity while the pane is open. Steps through a line keep the interval in which
 * it was counted.
 */
export function followSource() {
  if (pane.hidden || !view.chosen) return;
  const own = stepping;
  facts(view.chosen, "follow").then((all) => {
    if (!all?.source) return;
    if (!own) return openSource(view.chosen);
    shown.line = all.source[1];
    fill();
  }).catch(() => {});
}

export function closeSource() {
  if (pane.hidden) return false;
  drop("source");
  pane.hidden = true;
  tellBeside("source", null);
  resize();
  return true;
}

function fill() {
  if (!shown.answer) return;
  const { file, line } = shown;
  const { path, text, why, lines, done } = shown.answer;
  const known = new Map(lines.map((/** @type {any} */ one) => [one.line, one]));
  const all = text === null ? [] : text.split("\n");
  const [from, to] = [Math.max(1, line - AROUND), Math.min(all.length, line + AROUND)];
  const places = text === null ? [...new Set([line, ...known.keys()])].sort((a, b) => a - b) : Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);
  const most = Math.max(1, ...lines.map((/** @type {any} */ one) => one.nanos));
  const list = make("ol", { class: "lines", "aria-label": `Lines of ${file}`, tabindex: 0 }, ...places.map((place) => row(place, all[place - 1] ?? "", known.get(place), most, place === line)));
  const [here, scrolled] = [`${file}:${line}`, pane.querySelector(".lines")?.scrollTop ?? 0];
  refill(pane, () => pane.replaceChildren(
    make("header", {}, make("h2", { text: `${file}:${line}`, title: path ?? file }), done !== undefined && make("span", { class: "hint counting" }, make("progress", { value: done, "aria-label": "Counted so far" }), `counting… ${percent(done)}`),
      make("button", { class: "icon-button", "aria-label": "Close the source", title: "Close", text: "×", onclick: closeSource })),
    ...(why ? [make("p", { class: "why", role: "status", text: why })] : []),
    list,
  ));
  // The scroll position stays while entities are counted.
  if (pane.dataset.at === here) list.scrollTop = scrolled;
  else list.querySelector("[aria-current]")?.scrollIntoView({ block: "center" });
  pane.dataset.at = here;
}

/**
 * @param {number} place
 * @param {string} text
 * @param {any} of the entities of the line
 * @param {number} most
 * @param {boolean} here
 */
function row(place, text, of, most, here) {
  const heat = make("i", { class: "heat" });
  if (of) heat.style.width = `${Math.max(4, (of.nanos / most) * 100)}%`;
  const many = of && `${grouped(of.count)} of line ${place}${of.nanos ? `, ${duration(of.nanos)}` : ""}`;
  return make("li", { "aria-current": here ? "true" : null, value: place },
    make("span", { class: "number", text: String(place) }),
    of ? make("button", { class: "count", "data-key": `line ${place}`, "aria-label": `Light ${many}`, title: `${many}: light them, go to the next`, text: grouped(of.count), onclick: () => next(place, of) }, heat) : make("span", { class: "count" }),
    make("code", { text: text || " " }));
}

/**
 * Lights the entities of a line, and moves to the next of them. Entities that the answer did not
 * list are requested, a page at a time.
 * @param {number} place
 * @param {any} of
 */
async function next(place, of) {
  const at = (shown.at.get(place) ?? 0) % of.count;
  const last = of.ids[of.ids.length - 1];
  if (at >= of.ids.length) {
    const what = `at:"${shown.file}:${place}"`;
    const page = await ask("find", { what, id: last, by: 1, ...shown.part }, "line").catch(() => undefined);
    if (!page) return;
    of.ids.push(...page.hits.map((/** @type {any} */ hit) => hit.id));
  }
  const id = of.ids[at];
  if (!id) return;
  shown.at.set(place, at + 1);
  const lit = of.ids.slice(Math.max(0, at - LIT), at + LIT);
  stepping = true;
  await visit(id).finally(() => { stepping = false; });
  state.kept = lit;
  note(`${grouped(at + 1)} of ${grouped(of.count)} of line ${place}; ${of.count > lit.length ? `the ${grouped(lit.length)} around it` : "all"} are lit`);
  changed("choice");
}
