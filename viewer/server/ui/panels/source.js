// The source pane: shows the source line of an entity, and leads from a line to all its entities.

import { request, cancel } from "../net/api.js";
import { resize } from "../view/chart.js";
import { byId, make, refill } from "../util/dom.js";
import { facts } from "../state/facts.js";
import { formatDuration, groupDigits, formatPercent } from "../util/format.js";
import { overlay } from "../state/overlay_state.js";
import { showNote } from "../util/status_line.js";
import { notifyChange, activeFilters, currentGeneration, setSetting, setting, view } from "../state/view.js";

/** The number of lit entities of a line, before and after the visited one. */
const MAX_HIGHLIGHTED = 200;
/** Lines shown before and after the current one. */
const LINES_AROUND = 1500;

/** @type {HTMLElement} */ const pane = byId("source");
/** @type {(id: string) => Promise<void>} */
let goTo = async () => {};
/**
 * The contents of the pane: file, line and interval; the answer of the server; and for each line
 * the position of the steps through its entities.
 * @type {{ of: string, file: string, line: number, part: { from: number, to: number }, answer: any,
 * at: Map<number, number> }}
 */
let shown = { of: "", file: "", line: 0, part: { from: 0, to: 0 }, answer: null, at: new Map() };

/** Whether the user is stepping through the entities of a line. */
let isStepping = false;

/** @param {(id: string) => Promise<void>} go shows an entity in its place */
export function listenToSource(go) {
  goTo = go;
}

/** Opens the pane on the source of an entity. @param {string | null} [id] */
export async function openSource(id = view.chosen ?? overlay.target) {
  const all = id ? await facts(id, "source").catch(() => undefined) : undefined;
  if (!id || !all?.source) {
    showNote(id ? "The trace has no source line for this entity" : "Select an entity first: click it or search for it");
    return;
  }
  pane.hidden = false;
  setSetting("source", "1");
  resize();
  const [file, line] = all.source;
  const part = { from: view.from, to: view.to };
  const of = JSON.stringify([file, part, activeFilters(), currentGeneration()]);
  if (of === shown.of) {
    // The entities of its lines are known, or being counted.
    shown.line = line;
    fill();
    return;
  }
  shown = { of, file, line, part, answer: null, at: file === shown.file ? shown.at : new Map() };
  const ownRequest = shown;
  const showAnswer = (/** @type {any} */ answer) => {
    ownRequest.answer = answer;
    if (ownRequest === shown) fill();
  };
  try {
    const answer = await request("source", { id, ...part }, "source", showAnswer);
    if (answer) showAnswer(answer);
    else if (ownRequest === shown) shown.of = "";
  } catch (error) {
    if (ownRequest === shown) shown.of = "";
    throw error;
  }
}

/** Opens or closes the pane as the address requires. */
export async function restoreSource() {
  if (setting("source") && view.chosen) await openSource();
  else closeSource();
}

/**
 * Follows the chosen entity while the pane is open. Steps through a line keep the interval in which
 * it was counted.
 */
export function followSource() {
  if (pane.hidden || !view.chosen) return;
  const isOwnStep = isStepping;
  facts(view.chosen, "follow").then((all) => {
    if (!all?.source) return;
    if (!isOwnStep) return openSource(view.chosen);
    shown.line = all.source[1];
    fill();
  }).catch(() => {});
}

export function closeSource() {
  if (pane.hidden) return false;
  cancel("source");
  pane.hidden = true;
  setSetting("source", null);
  resize();
  return true;
}

function fill() {
  if (!shown.answer) return;
  const { file, line } = shown;
  const { path, text, why, lines, done } = shown.answer;
  const lineFacts = new Map(lines.map((/** @type {any} */ one) => [one.line, one]));
  const all = text === null ? [] : text.split("\n");
  const [from, to] = [Math.max(1, line - LINES_AROUND), Math.min(all.length, line + LINES_AROUND)];
  const places = text === null ? [...new Set([line, ...lineFacts.keys()])].sort((a, b) => a - b) : Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);
  const most = Math.max(1, ...lines.map((/** @type {any} */ one) => one.nanos));
  const list = make("ol", { class: "lines", "aria-label": `Lines of ${file}`, tabindex: 0 }, ...places.map((place) => lineElement(place, all[place - 1] ?? "", lineFacts.get(place), most, place === line)));
  const [here, scrolled] = [`${file}:${line}`, pane.querySelector(".lines")?.scrollTop ?? 0];
  refill(pane, () => pane.replaceChildren(
    make("header", {}, make("h2", { text: `${file}:${line}`, title: path ?? file }), done !== undefined && make("span", { class: "hint counting" }, make("progress", { value: done, "aria-label": "Counted so far" }), `counting… ${formatPercent(done)}`),
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
 * @param {boolean} current
 */
function lineElement(place, text, of, most, current) {
  const heat = make("i", { class: "heat" });
  if (of) heat.style.width = `${Math.max(4, (of.nanos / most) * 100)}%`;
  const many = of && `${groupDigits(of.count)} of line ${place}${of.nanos ? `, ${formatDuration(of.nanos)}` : ""}`;
  return make("li", { "aria-current": current ? "true" : null, value: place },
    make("span", { class: "number", text: String(place) }),
    of ? make("button", { class: "count", "data-key": `line ${place}`, "aria-label": `Highlight ${many}`, title: `${many}: highlight them and go to the next`, text: groupDigits(of.count), onclick: () => showNext(place, of) }, heat) : make("span", { class: "count" }),
    make("code", { text: text || " " }));
}

/**
 * Lights the entities of a line, and moves to the next of them. Entities that the answer did not
 * list are requested, a page at a time.
 * @param {number} place
 * @param {any} of
 */
async function showNext(place, of) {
  const at = (shown.at.get(place) ?? 0) % of.count;
  const last = of.ids[of.ids.length - 1];
  if (at >= of.ids.length) {
    const filter = `at:"${shown.file}:${place}"`;
    const page = await request("find", { what: filter, id: last, by: 1, ...shown.part }, "line").catch(() => undefined);
    if (!page) return;
    of.ids.push(...page.hits.map((/** @type {any} */ hit) => hit.id));
  }
  const id = of.ids[at];
  if (!id) return;
  shown.at.set(place, at + 1);
  const highlighted = of.ids.slice(Math.max(0, at - MAX_HIGHLIGHTED), at + MAX_HIGHLIGHTED);
  isStepping = true;
  await goTo(id).finally(() => { isStepping = false; });
  overlay.stickyHighlights = highlighted;
  showNote(`${groupDigits(at + 1)} of ${groupDigits(of.count)} of line ${place}; ${of.count > highlighted.length ? `the ${groupDigits(highlighted.length)} around it` : "all"} are highlighted`);
  notifyChange("selection");
}
