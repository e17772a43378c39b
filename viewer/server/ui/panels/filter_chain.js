// The chain of filters, above the diagram: each can be switched off, edited, moved and removed. The
// language is that of docs/filters.md.

import { request, send } from "../net/api.js";
import { byId, make, refill } from "../util/dom.js";
import { openEditor } from "./filter_editor.js";
import { showNote } from "../util/status_line.js";
import { storeView } from "../state/address.js";
import { notifyChange, view } from "../state/view_state.js";

/** @typedef {[string, boolean]} Filter the expression, and whether it is switched on */

/** @type {HTMLElement} */ const list = byId("filters");
/** The errors of the filters that are switched on, by position. @type {Map<number, string>} */
let errors = new Map();
/** The chain that was shown and checked last. */
let shownChain = "";

/** A name in the notation of an expression: in quotes where necessary. @param {string} name */
export function quoteName(name) {
  const plain = name
    .split(" ")
    .every(
      (word) => word && !/[\s,"=<>!~]/.test(word) && !/^(of|per|into|by|in|with|descending|variable|state)$/.test(word),
    );
  return plain ? name : `"${name.replace(/["\\]/g, "\\$&")}"`;
}

/** @param {Filter[]} filters */
function setFilters(filters) {
  view.filters = filters;
  storeView();
  notifyChange("rows");
}

/** Adds a filter at the end of the chain. @param {string} text */
export function appendFilter(text) {
  setFilters([...view.filters, [text, true]]);
  showNote(`Filter: ${text}`);
}

/** Adds several filters at the end of the chain. @param {string[]} texts */
export function appendFilters(texts) {
  setFilters([...view.filters, ...texts.map((text) => /** @type {Filter} */ ([text, true]))]);
  showNote(`Filters: ${texts.join("; ")}`);
}

/**
 * Removes the last filter that fits; false if none does.
 * @param {(text: string) => boolean} matches
 */
export function removeLast(matches) {
  const index = view.filters.findLastIndex(([text]) => matches(text));
  if (index < 0) return false;
  setFilters(view.filters.filter((_, place) => place !== index));
  return true;
}

/**
 * Replaces the last acting filter that fits; adds one at the end if none does.
 * @param {(text: string) => boolean} matches
 * @param {(old: string | null) => string} next
 */
export function replaceFilter(matches, next) {
  const index = view.filters.findLastIndex(([text, on]) => on && matches(text));
  if (index < 0) return appendFilter(next(null));
  setFilters(view.filters.map((filter, place) => (place === index ? [next(filter[0]), true] : filter)));
}

/** @param {string} [text] the initial text */
export function addFilter(text = "") {
  openEditor(
    byId("add-filter"),
    text,
    view.filters.filter(([, on]) => on).map(([expressionBefore]) => expressionBefore),
    (expression) => appendFilter(expression),
  );
}

/** @param {number} index */
function editFilter(index) {
  const before = view.filters
    .slice(0, index)
    .filter(([, on]) => on)
    .map(([expression]) => expression);
  const chip = /** @type {HTMLElement} */ (list.children[index]);
  openEditor(chip, view.filters[index][0], before, (expression) =>
    setFilters(view.filters.map((filter, place) => (place === index ? [expression, true] : filter))),
  );
}

/** @param {number} from @param {number} to */
function moveFilter(from, to) {
  const filters = [...view.filters];
  filters.splice(to, 0, ...filters.splice(from, 1));
  setFilters(filters);
}

/** Offers the filters that the trace had at the last visit. @param {Filter[]} saved */
export function offerFilters(saved) {
  if (view.filters.length > 0 || saved.length === 0) return;
  const offer = byId("restore-filters");
  offer.textContent = saved.length === 1 ? "Restore the last filter" : `Restore the last ${saved.length} filters`;
  offer.title = saved.map(([text]) => text).join("\n");
  offer.hidden = false;
  offer.onclick = () => setFilters(saved);
  fill();
}

export function listenToChain() {
  byId("add-filter").addEventListener("click", () => addFilter());
  byId("remove-filters").addEventListener("click", () => setFilters([]));
}

/** Shows the chain, and requests its errors. */
export async function showChain() {
  const text = JSON.stringify(view.filters);
  if (shownChain === text) return;
  // The filters that exist when the page opens are not new.
  if (shownChain) send("saved_filters", view.filters).catch(() => {});
  shownChain = text;
  errors = new Map();
  fill();
  const places = view.filters.flatMap(([, on], index) => (on ? [index] : []));
  if (!places.length) return;
  const answer = await request("filter_problems");
  if (!answer || shownChain !== text) return;
  errors = new Map(answer.problems.map((/** @type {any} */ problem) => [places[problem.filter_index], problem.error]));
  if (errors.size) fill();
}

function fill() {
  const offer = byId("restore-filters");
  offer.hidden ||= view.filters.length > 0;
  byId("remove-filters").hidden = view.filters.length === 0;
  byId("chain").hidden = view.filters.length === 0 && offer.hidden;
  refill(list, () => list.replaceChildren(...view.filters.map(chip)));
}

/** @param {Filter} filter @param {number} index */
function chip([text, on], index) {
  const error = errors.get(index);
  const [verb, ...rest] = text.split(" ");
  const body = make(
    "button",
    {
      class: "filter-text",
      "data-key": `f${index}`,
      title: error ?? `${text}\nClick to edit, drag to move (Alt ← →)`,
      "aria-label": `Edit filter ${index + 1}: ${text}`,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        const offset = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (event.key === "Delete") setFilters(view.filters.filter((_, place) => place !== index));
        else if (offset && event.altKey && view.filters[index + offset]) moveFilter(index, index + offset);
        else return;
        event.preventDefault();
        event.stopPropagation();
        /** @type {HTMLElement | null} */ (
          list.querySelector(`[data-key="f${Math.max(0, Math.min(index + (offset ?? 0), view.filters.length - 1))}"]`)
        )?.focus();
      },
      onpointerdown: (/** @type {PointerEvent} */ event) => {
        if (event.button === 0) dragFilter(event, index);
      },
      onclick: (/** @type {MouseEvent} */ event) => {
        if (event.detail === 0) editFilter(index);
      },
    },
    make("b", { text: verb }),
    rest.length ? ` ${rest.join(" ")}` : "",
  );
  return make(
    "li",
    { class: `filter${on ? "" : " off"}${error ? " invalid" : ""}` },
    make("button", {
      role: "switch",
      class: "filter-switch",
      "aria-checked": String(on),
      "data-key": `s${index}`,
      "aria-label": `Filter ${index + 1} is active: ${text}`,
      title: on ? "Switch off" : "Switch on",
      onclick: () =>
        setFilters(view.filters.map((filter, place) => (place === index ? [filter[0], !filter[1]] : filter))),
    }),
    body,
    error && make("span", { class: "filter-error-sign", role: "img", "aria-label": error, title: error, text: "!" }),
    make("button", {
      class: "filter-remove",
      "data-key": `r${index}`,
      "aria-label": `Remove filter ${index + 1}: ${text}`,
      title: "Remove",
      text: "×",
      onclick: () => setFilters(view.filters.filter((_, place) => place !== index)),
    }),
  );
}

/**
 * Drags a filter. A press without movement edits it.
 * @param {PointerEvent} event
 * @param {number} index
 */
function dragFilter(event, index) {
  const chips = /** @type {HTMLElement[]} */ ([...list.children]);
  const boxes = chips.map((element) => element.getBoundingClientRect());
  let [moved, to] = [false, index];
  const follow = (/** @type {PointerEvent} */ current) => {
    moved ||= Math.hypot(current.clientX - event.clientX, current.clientY - event.clientY) > 5;
    if (!moved) return;
    chips[index].classList.add("dragged");
    const distances = boxes.map((box) =>
      Math.hypot(box.left + box.width / 2 - current.clientX, (box.top + box.height / 2 - current.clientY) * 3),
    );
    to = distances.indexOf(Math.min(...distances));
    chips.forEach((element, place) => element.classList.toggle("target", place === to && to !== index));
  };
  const end = (/** @type {PointerEvent} */ current) => {
    window.removeEventListener("pointermove", follow);
    window.removeEventListener("pointerup", end);
    window.removeEventListener("pointercancel", end);
    chips.forEach((element) => element.classList.remove("dragged", "target"));
    if (current.type !== "pointerup") return;
    if (!moved) editFilter(index);
    else if (to !== index) moveFilter(index, to);
  };
  window.addEventListener("pointermove", follow);
  window.addEventListener("pointerup", end);
  window.addEventListener("pointercancel", end);
}
