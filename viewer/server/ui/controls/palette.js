// The command palette: every action, row and time range, found by typing.

import { ACTIONS, runAction, setPalette, keyLabel } from "./actions.js";
import { request } from "../net/api.js";
import { goTo } from "../panels/selection.js";
import { isolate, byId, joinNames, make } from "../util/dom.js";
import { findText } from "../panels/search.js";
import { formatDuration } from "../util/format.js";
import { parseShownTimeRange } from "./time_range_field.js";
import { select } from "../state/selection.js";
import { focusRow } from "../view/tree.js";
import { show, view } from "../state/view.js";

/** @typedef {{ name: string, more: string, run: () => unknown }} Choice */

/** @type {HTMLDialogElement} */ const dialog = byId("palette");
/** @type {HTMLInputElement} */ const field = byId("palette-field");
/** @type {HTMLElement} */ const list = byId("palette-choices");
/** @type {Choice[]} */ let choices = [];
let markedChoice = 0;
/** Whether the user has moved the mark since the last change of the text. */
let isMarkMoved = false;

export function listenToPalette() {
  setPalette(() => {
    field.value = "";
    dialog.showModal();
    updateChoices();
  });
  byId("open-palette").addEventListener("click", () => ACTIONS.find((action) => action.keys?.includes("Ctrl+k"))?.run?.());
  field.addEventListener("input", updateChoices);
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && choices.length) moveMark((markedChoice + step + choices.length) % choices.length);
    else if (event.key === "Enter") runChoice(choices[markedChoice]);
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}

/** @param {Choice | undefined} choice */
function runChoice(choice) {
  if (!choice) return;
  dialog.close();
  runAction(choice.run);
}

async function updateChoices() {
  isMarkMoved = false;
  const text = field.value.trim();
  const matches = matchingActions(text);
  const timeRange = text && parseShownTimeRange(text, view);
  if (timeRange && "from" in timeRange) {
    matches.unshift({ name: `Show ${text}`, more: formatDuration(timeRange.to - timeRange.from), run: () => show(timeRange.from, timeRange.to, true) });
    matches.splice(1, 0, { name: `Select ${text}`, more: formatDuration(timeRange.to - timeRange.from), run: () => select([timeRange.from, timeRange.to], view.selectedRows) });
  }
  if (text) matches.push({ name: `Find “${text}”`, more: "in values", run: () => findText(text) });
  fill(matches);
  if (text.length < 2) return;
  const answer = await request("containers", { text }).catch(() => undefined);
  if (!answer || field.value.trim() !== text) return;
  const rows = answer.containers.slice(0, 8).map((/** @type {any} */ one) => ({
    name: `Go to ${isolate(one.name)}`, more: joinNames(one.path.slice(0, -1)), run: () => goTo(`c${one.id}`).then(() => focusRow(one.id)),
  }));
  fill([...matches.slice(0, -1), ...rows, ...matches.slice(-1)]);
}

/**
 * Actions that contain all the words; matches at the start of a word come first.
 * @param {string} text
 * @returns {Choice[]}
 */
function matchingActions(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = ACTIONS.filter((action) => action.run).map((action) => {
    const name = `${action.name} ${action.group}`.toLowerCase();
    const places = words.map((word) => name.indexOf(word));
    const fits = places.every((place) => place >= 0);
    const starts = places.filter((place) => place === 0 || name[place - 1] === " ").length;
    return { action, score: fits ? starts * 10 - (places[0] ?? 0) / 100 : -1 };
  });
  return scored.filter((one) => one.score >= -0.9).sort((a, b) => b.score - a.score).map(({ action }) => ({
    name: action.name, more: (action.keys ?? []).slice(0, 1).map(keyLabel).join(""), run: /** @type {() => unknown} */ (action.run),
  }));
}

/**
 * Shows the choices. A mark that the user has moved stays at its choice, because rows that arrive
 * late must not change what Enter runs.
 * @param {Choice[]} next
 */
function fill(next) {
  const place = isMarkMoved ? next.indexOf(choices[markedChoice]) : 0;
  choices = next;
  list.replaceChildren(...choices.map((choice, place) => make("div", {
    role: "option", id: `choice-${place}`, onclick: () => runChoice(choice), onpointermove: () => { if (markedChoice !== place) moveMark(place, false); },
  }, make("span", { text: choice.name }), make("span", { class: "detail", text: choice.more }))));
  markChoice(Math.max(place, 0));
}

/** @param {number} place @param {boolean} [scroll] */
function moveMark(place, scroll) {
  isMarkMoved = true;
  markChoice(place, scroll);
}

/** @param {number} place @param {boolean} [scroll] */
function markChoice(place, scroll = true) {
  markedChoice = place;
  [...list.children].forEach((one, index) => one.setAttribute("aria-selected", String(index === markedChoice)));
  field.setAttribute("aria-activedescendant", choices.length ? `choice-${markedChoice}` : "");
  if (scroll) list.children[markedChoice]?.scrollIntoView({ block: "nearest" });
}
