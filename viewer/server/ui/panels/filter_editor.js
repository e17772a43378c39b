// The field in which a filter is typed: it completes the possible continuations and shows errors
// below.

import { request } from "../net/api.js";
import { byId, make } from "../util/dom.js";

/** The words that begin a filter, with their meanings. @type {Record<string, string>} */
const VERBS = {
  hide: "remove types, values or rows, or by field or duration",
  only: "remove all others",
  cut: "a time range",
  group: "merge rows into one",
  reuse: "one row for consecutive containers",
  count: "number of entities over time",
  sum: "of variables or a field over time",
  mean: "of variables over time",
  min: "of variables over time",
  max: "of variables over time",
  sort: "rows by name or statistic",
  order: "rows in a given order",
  best: "the first rows by a statistic",
  least: "the last rows by a statistic",
  keep: "rows by a statistic",
  classify: "colours by a field or duration",
  color: "of values",
  bright: "these bright, all others grey",
  category: "busy, overhead, idle or ignored states",
  series: "utilization, messages and tasks as curves",
};

/** @type {HTMLInputElement} */ const field = byId("filter-field");
/** @type {HTMLElement} */ const box = byId("editor");
/** @type {HTMLElement} */ const list = byId("filter-completions");
/** @type {any[]} */ let completions = [];
/** The index of the marked completion; -1 for none. */
let markedCompletion = -1;
/** @type {string[]} */ let filtersBefore = [];
/** @type {(text: string) => void} */ let onAccept = () => {};
/** @type {any} */ let error = null;
/** @type {HTMLElement | null} */ let previousFocus = null;

/**
 * Opens the field.
 * @param {HTMLElement} near position of the field
 * @param {string} text
 * @param {string[]} filters the acting filters before it
 * @param {(text: string) => void} accept
 */
export function openEditor(near, text, filters, accept) {
  [filtersBefore, onAccept, previousFocus] = [
    filters,
    accept,
    /** @type {HTMLElement | null} */ (document.activeElement),
  ];
  const place = near.getBoundingClientRect();
  box.hidden = false;
  box.style.left = `${Math.max(8, Math.min(place.left, innerWidth - box.offsetWidth - 8))}px`;
  box.style.top = `${place.bottom + 6}px`;
  field.value = text;
  field.focus();
  field.setSelectionRange(text.length, text.length);
  updateCompletions();
}

function close() {
  if (box.hidden) return;
  box.hidden = true;
  field.blur();
  if (previousFocus?.isConnected) previousFocus.focus();
}

export function listenToEditor() {
  field.addEventListener("input", updateCompletions);
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && completions.length)
      markCompletion(
        (markedCompletion + step + completions.length + (markedCompletion < 0 && step < 0 ? 1 : 0)) %
          completions.length,
      );
    else if (event.key === "Escape") close();
    else if (event.key === "Tab" && completions.length && !event.shiftKey)
      acceptCompletion(completions[Math.max(markedCompletion, 0)]);
    else if (event.key === "Enter" && markedCompletion >= 0) acceptCompletion(completions[markedCompletion]);
    else if (event.key === "Enter") commit();
    else return;
    event.preventDefault();
  });
  box.addEventListener("submit", (event) => {
    event.preventDefault();
    commit();
  });
  document.addEventListener(
    "pointerdown",
    (event) => {
      if (!box.hidden && !box.contains(/** @type {Node} */ (event.target))) close();
    },
    true,
  );
}

async function updateCompletions() {
  const text = field.value;
  const answer = await request("typed_filter", {
    filters: filtersBefore.length ? JSON.stringify(filtersBefore) : "[]",
    text,
    cursor: field.selectionEnd ?? text.length,
  }).catch((error) => {
    if (!box.hidden) showError({ from: 0, to: 0, error: `${error.message}: the filter was not applied` });
  });
  if (!answer || field.value !== text || box.hidden) return null;
  completions = answer.completions;
  error = answer.problem;
  fill();
  // An incomplete filter is not reported as an error.
  showError(error && error.from < text.trimEnd().length ? error : null);
  return answer;
}

/** @param {any} error */
function showError(error) {
  const line = byId("filter-error");
  const text = field.value;
  field.setAttribute("aria-invalid", String(error !== null));
  line.hidden = error === null;
  if (!error) return;
  const errorText = text.slice(error.from, error.to);
  const place = make(
    "span",
    { class: "location", "aria-hidden": "true" },
    text.slice(0, error.from),
    make("mark", { text: errorText || "␣" }),
    text.slice(error.to),
  );
  line.replaceChildren(...(error.to > 0 ? [place] : []), make("span", { text: error.error.replace(/^`[^`]*`: /, "") }));
}

async function commit() {
  const answer = await updateCompletions();
  if (!answer) return;
  if (answer.problem || answer.canonical === null) {
    showError(answer.problem);
    return;
  }
  close();
  onAccept(answer.canonical);
}

/** Replaces the text before the cursor by a completion. @param {any} completion */
function acceptCompletion(completion) {
  if (!completion || completion.is_hint) return;
  const end = field.selectionEnd ?? field.value.length;
  const start = field.value.slice(0, completion.from).trimEnd();
  const text = `${completion.text === "," || !start ? start : `${start} `}${completion.text} `;
  field.value = text + field.value.slice(end).trimStart();
  field.setSelectionRange(text.length, text.length);
  field.focus();
  updateCompletions();
}

function fill() {
  list.replaceChildren(
    ...completions.map((completion, place) =>
      make(
        "div",
        {
          role: "option",
          id: `completion-${place}`,
          class: completion.is_hint ? "hint-only" : "",
          onpointermove: () => {
            if (markedCompletion !== place) markCompletion(place);
          },
          onclick: () => acceptCompletion(completion),
        },
        make("span", { text: completion.text }),
        make("span", {
          class: "detail",
          text: completion.is_hint
            ? ""
            : completion.kind === "word"
              ? VERBS[completion.text] && !field.value.includes(" ")
                ? VERBS[completion.text]
                : ""
              : completion.kind.replace(/^the names? of (a )?/, ""),
        }),
      ),
    ),
  );
  field.setAttribute("aria-expanded", String(completions.length > 0));
  markCompletion(-1);
}

/** @param {number} place */
function markCompletion(place) {
  markedCompletion = place;
  [...list.children].forEach((element, index) =>
    element.setAttribute("aria-selected", String(index === markedCompletion)),
  );
  field.setAttribute("aria-activedescendant", markedCompletion >= 0 ? `completion-${markedCompletion}` : "");
  list.children[Math.max(markedCompletion, 0)]?.scrollIntoView({ block: "nearest" });
}
