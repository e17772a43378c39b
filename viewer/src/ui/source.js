// The source pane: the line that an entity comes from, and from lines back to all that came from them.

import { ask } from "./api.js";
import { resize } from "./chart.js";
import { byId, make } from "./dom.js";
import { facts } from "./facts.js";
import { duration, grouped } from "./format.js";
import { state } from "./over.js";
import { note } from "./status.js";
import { changed, view } from "./view.js";

/** Lines shown before and after the one that is meant. */
const AROUND = 1500;

/** @type {HTMLElement} */ const pane = byId("source");
/** @type {(id: string) => void} */
let visit = () => {};
/** The file shown, and how far each of its lines was stepped through. @type {{ file: string, at: Map<number, number> }} */
let shown = { file: "", at: new Map() };

/** @param {(id: string) => void} go shows an entity where it is */
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
  resize();
  const answer = await ask("source", { id, from: view.from, to: view.to });
  if (answer) fill(answer);
}

/** Follows the entity that is chosen, while the pane is open. */
export function followSource() {
  if (!pane.hidden && view.chosen) facts(view.chosen, "follow").then((all) => all?.source && openSource(view.chosen)).catch(() => {});
}

export function closeSource() {
  if (pane.hidden) return false;
  pane.hidden = true;
  resize();
  return true;
}

/** @param {any} answer */
function fill({ file, line, path, text, why, lines, partial }) {
  if (file !== shown.file) shown = { file, at: new Map() };
  const known = new Map(lines.map((/** @type {any} */ one) => [one.line, one]));
  const all = text === null ? [] : text.split("\n");
  const [from, to] = [Math.max(1, line - AROUND), Math.min(all.length, line + AROUND)];
  const places = text === null ? [...new Set([line, ...known.keys()])].sort((a, b) => a - b) : Array.from({ length: Math.max(0, to - from + 1) }, (_, at) => from + at);
  const most = Math.max(1, ...lines.map((/** @type {any} */ one) => one.nanos));
  const list = make("ol", { class: "lines", "aria-label": `Lines of ${file}`, tabindex: 0 }, ...places.map((place) => row(place, all[place - 1] ?? "", known.get(place), most, place === line)));
  pane.replaceChildren(
    make("header", {}, make("h2", { text: `${file}:${line}`, title: path ?? file }), partial && make("span", { class: "hint", text: "the interval holds too much to look at all of it" }),
      make("button", { class: "icon-button", type: "button", "aria-label": "Close the source", title: "Close", text: "×", onclick: closeSource })),
    ...(why ? [make("p", { class: "why", role: "status", text: why })] : []),
    list,
  );
  list.querySelector("[aria-current]")?.scrollIntoView({ block: "center" });
}

/** @param {number} place @param {string} text @param {any} of what comes from it @param {number} most @param {boolean} here */
function row(place, text, of, most, here) {
  const heat = make("i", { class: "heat" });
  if (of) heat.style.width = `${Math.max(4, (of.nanos / most) * 100)}%`;
  const many = of && `${grouped(of.count)} of line ${place}${of.nanos ? `, ${duration(of.nanos)}` : ""}`;
  return make("li", { "aria-current": here ? "true" : null, value: place },
    make("span", { class: "number", text: String(place) }),
    of ? make("button", { type: "button", class: "count", "aria-label": `Light ${many}`, title: `${many}: light them, go to the next`, text: grouped(of.count), onclick: () => next(place, of) }, heat) : make("span", { class: "count" }),
    make("code", { text: text || " " }));
}

/** Lights all that comes from a line, and goes to the next of it. @param {number} place @param {any} of */
function next(place, of) {
  const at = shown.at.get(place) ?? 0;
  shown.at.set(place, (at + 1) % of.ids.length);
  note(`${grouped(of.count)} of line ${place} are lit${of.count > of.ids.length ? `; the first ${of.ids.length}` : ""}; this is number ${at + 1}`);
  visit(of.ids[at]);
  state.kept = of.ids;
  changed("choice");
}
