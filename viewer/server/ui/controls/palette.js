// The command palette: every action, row and interval, found by typing.

import { ACTIONS, run, setPalette, shown } from "./actions.js";
import { ask } from "../net/api.js";
import { visit } from "../panels/selection.js";
import { apart, byId, inLine, make } from "../util/dom.js";
import { findText } from "../panels/search.js";
import { duration } from "../util/format.js";
import { parseInterval } from "./interval.js";
import { focus } from "../view/tree.js";
import { show, view } from "../state/view.js";

/** @typedef {{ name: string, more: string, run: () => unknown }} Choice */

/** @type {HTMLDialogElement} */ const dialog = byId("palette");
/** @type {HTMLInputElement} */ const field = byId("command");
/** @type {HTMLElement} */ const list = byId("choices");
/** @type {Choice[]} */ let choices = [];
let at = 0;

export function listenToPalette() {
  setPalette(() => {
    field.value = "";
    dialog.showModal();
    offer();
  });
  byId("palette-button").addEventListener("click", () => ACTIONS.find((action) => action.keys?.includes("Ctrl+k"))?.run?.());
  field.addEventListener("input", offer);
  field.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && choices.length) mark((at + by + choices.length) % choices.length);
    else if (event.key === "Enter") take(choices[at]);
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}

/** @param {Choice | undefined} choice */
function take(choice) {
  if (!choice) return;
  dialog.close();
  run(choice.run);
}

async function offer() {
  const text = field.value.trim();
  const found = actions(text);
  const interval = text && parseInterval(text, view);
  if (interval && "from" in interval) {
    found.unshift({ name: `Show ${text}`, more: duration(interval.to - interval.from), run: () => show(interval.from, interval.to, true) });
  }
  if (text) found.push({ name: `Find “${text}”`, more: "in values", run: () => findText(text) });
  fill(found);
  if (text.length < 2) return;
  const answer = await ask("containers", { what: text }).catch(() => undefined);
  if (!answer || field.value.trim() !== text) return;
  const rows = answer.containers.slice(0, 8).map((/** @type {any} */ one) => ({
    name: `Go to ${apart(one.name)}`, more: inLine(one.path.slice(0, -1)), run: () => visit(`c${one.id}`).then(() => focus(one.id)),
  }));
  fill([...found.slice(0, -1), ...rows, ...found.slice(-1)]);
}

/**
 * Actions that contain all the words; matches at the start of a word come first.
 * @param {string} text
 * @returns {Choice[]}
 */
function actions(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = ACTIONS.filter((action) => action.run).map((action) => {
    const name = `${action.name} ${action.group}`.toLowerCase();
    const places = words.map((word) => name.indexOf(word));
    const fits = places.every((place) => place >= 0);
    const starts = places.filter((place) => place === 0 || name[place - 1] === " ").length;
    return { action, score: fits ? starts * 10 - (places[0] ?? 0) / 100 : -1 };
  });
  return scored.filter((one) => one.score >= -0.9).sort((a, b) => b.score - a.score).map(({ action }) => ({
    name: action.name, more: (action.keys ?? []).slice(0, 1).map(shown).join(""), run: /** @type {() => unknown} */ (action.run),
  }));
}

/** @param {Choice[]} next */
function fill(next) {
  choices = next;
  list.replaceChildren(...choices.map((choice, place) => make("div", {
    role: "option", id: `choice-${place}`, onclick: () => take(choice), onpointermove: () => { if (at !== place) mark(place, false); },
  }, make("span", { text: choice.name }), make("span", { class: "more", text: choice.more }))));
  mark(0);
}

/** @param {number} place @param {boolean} [scroll] */
function mark(place, scroll = true) {
  at = place;
  [...list.children].forEach((one, index) => one.setAttribute("aria-selected", String(index === at)));
  field.setAttribute("aria-activedescendant", choices.length ? `choice-${at}` : "");
  if (scroll) list.children[at]?.scrollIntoView({ block: "nearest" });
}
