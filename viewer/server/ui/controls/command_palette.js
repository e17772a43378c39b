// The command palette: every action, view, row and time range, found by typing.

import { ACTIONS, runAction, setPalette, keyLabel } from "./actions.js";
import { request } from "../net/api.js";
import { openView } from "../dock/dock.js";
import { reloadViews } from "../dock/own_views.js";
import { goTo } from "../panels/inspected_entity.js";
import { isolate, byId, joinNames, make } from "../util/dom.js";
import { findText } from "../panels/search.js";
import { formatDuration } from "../util/format.js";
import { parseShownTimeRange } from "./time_range_field.js";
import { select } from "../state/selection.js";
import { focusRow } from "../view/tree.js";
import { view } from "../state/view_state.js";
import { show } from "../state/viewport.js";

/** @typedef {{ name: string, more: string, run: () => unknown }} Choice */
/** @typedef {import("./actions.js").Action} Action */

/** @type {HTMLDialogElement} */ const dialog = byId("palette");
/** @type {HTMLInputElement} */ const field = byId("palette-field");
/** @type {HTMLElement} */ const list = byId("palette-choices");
/** @type {Choice[]} */ let choices = [];
let markedChoice = 0;
/** Whether the user has moved the mark since the last change of the text. */
let isMarkMoved = false;
/**
 * An action for each view, with the card files at the time when the palette opens.
 * @type {Promise<Action[]>}
 */
let viewActions = Promise.resolve([]);

export function listenToPalette() {
  setPalette(() => {
    field.value = "";
    dialog.showModal();
    viewActions = reloadViews().then(
      ({ views }) =>
        views.map(({ name, title, group, file }) => ({
          group,
          name: `Show the view ${title}`,
          detail: file ?? group,
          run: () => openView(name),
        })),
      () => [],
    );
    updateChoices();
  });
  byId("open-palette").addEventListener("click", () =>
    ACTIONS.find((action) => action.keys?.includes("Ctrl+k"))?.run?.(),
  );
  field.addEventListener("input", updateChoices);
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && choices.length) moveMark((markedChoice + step + choices.length) % choices.length);
    else if (event.key === "Enter") runChoice(choices[markedChoice]);
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
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
  const matches = matchingActions(text, ACTIONS);
  const timeRange = text && parseShownTimeRange(text, view);
  if (timeRange && "from" in timeRange) {
    matches.unshift({
      name: `Show ${text}`,
      more: formatDuration(timeRange.to - timeRange.from),
      run: () => show(timeRange.from, timeRange.to, true),
    });
    matches.splice(1, 0, {
      name: `Select ${text}`,
      more: formatDuration(timeRange.to - timeRange.from),
      run: () => select([timeRange.from, timeRange.to], view.selectedRows),
    });
  }
  if (text) matches.push({ name: `Find “${text}”`, more: "in values", run: () => findText(text) });
  fill(matches);
  const [rows, actions] = await Promise.all([text.length < 2 ? [] : matchingRows(text), viewActions]);
  if (field.value.trim() !== text) return;
  const late = [...matchingActions(text, actions), ...rows];
  fill(text ? [...matches.slice(0, -1), ...late, ...matches.slice(-1)] : [...matches, ...late]);
}

/** Rows whose names contain a text. @param {string} text @returns {Promise<Choice[]>} */
async function matchingRows(text) {
  const answer = await request("containers", { text }).catch(() => undefined);
  return (answer?.containers ?? []).slice(0, 8).map((/** @type {any} */ container) => ({
    name: `Go to ${isolate(container.name)}`,
    more: joinNames(container.path.slice(0, -1)),
    run: () => goTo(`c${container.id}`).then(() => focusRow(container.id)),
  }));
}

/**
 * Actions that contain all the words; matches at the start of a word come first.
 * @param {string} text
 * @param {Action[]} actions
 * @returns {Choice[]}
 */
function matchingActions(text, actions) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const scored = actions
    .filter((action) => action.run)
    .map((action) => {
      const name = `${action.name} ${action.group}`.toLowerCase();
      const places = words.map((word) => name.indexOf(word));
      const fits = places.every((place) => place >= 0);
      const starts = places.filter((place) => place === 0 || name[place - 1] === " ").length;
      return { action, score: fits ? starts * 10 - (places[0] ?? 0) / 100 : -1 };
    });
  return scored
    .filter((candidate) => candidate.score >= -0.9)
    .sort((a, b) => b.score - a.score)
    .map(({ action }) => ({
      name: action.name,
      more: action.detail ?? (action.keys ?? []).slice(0, 1).map(keyLabel).join(""),
      run: /** @type {() => unknown} */ (action.run),
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
  list.replaceChildren(
    ...choices.map((choice, place) =>
      make(
        "div",
        {
          role: "option",
          id: `choice-${place}`,
          onclick: () => runChoice(choice),
          onpointermove: () => {
            if (markedChoice !== place) moveMark(place, false);
          },
        },
        make("span", { text: choice.name }),
        make("span", { class: "detail", text: choice.more }),
      ),
    ),
  );
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
  [...list.children].forEach((element, index) => element.setAttribute("aria-selected", String(index === markedChoice)));
  field.setAttribute("aria-activedescendant", choices.length ? `choice-${markedChoice}` : "");
  if (scroll) list.children[markedChoice]?.scrollIntoView({ block: "nearest" });
}
