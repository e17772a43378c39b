// Finds entities by value, container, attribute and duration, including those too small to be
// drawn. Hits are in a list and marked on the minimap.
// All hits are counted. The list contains one stretch of them, which grows as the user moves along
// it.

import { request, cancel } from "../net/api.js";
import { goTo } from "./inspected_entity.js";
import { byId, joinNames, make, refill } from "../util/dom.js";
import { formatTimestamp, formatDuration, groupDigits, formatPercent } from "../util/format.js";
import { showTab } from "./side_panel.js";
import { markHits } from "../view/timeline.js";
import { hasSelection, selectedRowNumbers, sizeInWords } from "../state/selection.js";
import { setSetting, setting } from "../state/address.js";
import { traceDuration, view } from "../state/view_state.js";

/** @typedef {{ id: string, name: string, path: string[], from: number, to: number }} Hit */

/** The most hits in the list: more make it slow. */
const MAX_LISTED = 2000;

/** @type {HTMLInputElement} */ const field = byId("find-field");
/** @type {HTMLInputElement} */ const onlyTimeRange = byId("find-in-time-range");
/** @type {HTMLInputElement} */ const onlySelection = byId("find-in-selection");
/** @type {HTMLElement} */ const list = byId("hits");
/** A stretch of all hits, in order. @type {Hit[]} */
let hits = [];
/**
 * The numbers of hits before and after the stretch. While hits are counted, only one of them is
 * known.
 * @type {{ before: number | null, after: number | null }}
 */
let counts = { before: 0, after: null };
/** The number of all hits, once they have been counted. @type {number | null} */
let total = null;
/** The index of the hit that was visited last. */
let currentIndex = -1;
/** The last request, so that moving the time range repeats it only if it changed. */
let searchKey = "";
/** The part of the trace that it searched. */
let searchedScope = "";
/** The first page. @type {Hit[]} */
let firstPage = [];
/** The last step or page: they run one after the other. @type {Promise<unknown>} */
let lastStep = Promise.resolve();
/** Whether the list is growing, because it was scrolled to its end. */
let isGrowing = false;

export function listenToSearch() {
  byId("find-form").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    if (searchKey === currentSearch() && hits.length) stepHits(1);
    else search();
  });
  for (const box of [onlyTimeRange, onlySelection]) box.addEventListener("change", search);
  field.addEventListener("input", storeSearch);
  byId("find-next").addEventListener("click", () => stepHits(1));
  byId("find-previous").addEventListener("click", () => stepHits(-1));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      field.value = "";
      search();
      field.blur();
    } else if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault();
      stepHits(-1);
    }
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const buttons = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("button")]);
    buttons[buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + step]?.focus();
  });
  list.addEventListener("scroll", () => {
    const step = list.scrollTop + list.clientHeight > list.scrollHeight - 60 ? 1 : list.scrollTop < 60 ? -1 : 0;
    if (step === 0 || isGrowing) return;
    isGrowing = true;
    enqueue(async () => {
      await extendList(step);
      isGrowing = false;
    });
  });
}

/** Searches for the text in the address. */
export function restoreSearch() {
  const [text, inTimeRange, inSelection] = [
    setting("find") ?? "",
    setting("inside") === "1",
    setting("everywhere") !== "1",
  ];
  if (field.value.trim() === text && onlyTimeRange.checked === inTimeRange && onlySelection.checked === inSelection)
    return;
  field.value = text;
  onlyTimeRange.checked = inTimeRange;
  onlySelection.checked = inSelection;
  search();
}

/** Writes the search to the address. */
function storeSearch() {
  setSetting("find", field.value.trim() || null);
  setSetting("inside", onlyTimeRange.checked ? "1" : null);
  setSetting("everywhere", onlySelection.checked ? null : "1");
}

/** @param {() => Promise<unknown>} act */
function enqueue(act) {
  lastStep = lastStep.then(act, act);
}

/** Opens the tab and searches for a text. @param {string} text */
export function findText(text) {
  showTab("find", true).catch(() => {});
  field.value = /\s/.test(text) ? `"${text}"` : text;
  search();
}

/** The part of the trace to be searched; null: all of it. */
function scope() {
  if (hasSelection()) return onlySelection.checked ? { time: view.selectedTime, rows: selectedRowNumbers() } : null;
  return onlyTimeRange.checked ? { time: [view.from, view.to], rows: "" } : null;
}

function currentSearch() {
  const { time, rows } = scope() ?? { time: null, rows: "" };
  const [from, to] = time ?? [0, traceDuration() + 1];
  return JSON.stringify({ text: field.value.trim(), from, to, rows });
}

/** Repeats the search if the searched part of the trace has changed. */
export async function refreshSearch() {
  showScope();
  if (field.value.trim() && searchKey !== "" && searchedScope !== JSON.stringify(scope())) await search();
}

/** Offers a search in the selection, or in the visible time range if nothing is selected. */
function showScope() {
  byId("find-scope-time").hidden = hasSelection();
  byId("find-scope-selection").hidden = !hasSelection();
  byId("find-selection-size").textContent = sizeInWords();
}

async function search() {
  storeSearch();
  searchKey = currentSearch();
  searchedScope = JSON.stringify(scope());
  const parameters = JSON.parse(searchKey);
  cancel("find", "page");
  currentIndex = -1;
  total = null;
  hits = firstPage = [];
  counts = { before: 0, after: null };
  if (!parameters.text) {
    showStatus("");
    showList();
    markHits(null);
    return;
  }
  let listedCount = -1;
  const showAnswer = (/** @type {any} */ answer) => {
    const countText = groupDigits(answer.total);
    if (answer.done === undefined) {
      total = answer.total;
    }
    firstPage = answer.hits;
    showStatus(
      answer.done !== undefined
        ? `counting… ${countText} found, ${formatPercent(answer.done)}`
        : answer.total === 0
          ? "Nothing found"
          : `${countText} found`,
    );
    // The list grows until it has a page. It stays in place if the user has moved elsewhere in
    // it.
    if (answer.hits.length > listedCount && (listedCount < 0 || hits.length === listedCount) && counts.before === 0) {
      listedCount = answer.hits.length;
      hits = answer.hits;
      deriveCounts();
      showList();
    } else {
      deriveCounts();
      markCurrent();
    }
    markHits({ from: parameters.from, to: parameters.to, bins: answer.bins });
  };
  try {
    const answer = await request("find", parameters, "find", showAnswer);
    if (answer) showAnswer(answer);
  } catch (error) {
    showStatus(error instanceof Error ? error.message : String(error), true);
    showList();
    markHits(null);
  }
}

/** Derives the number of hits on one side from that on the other, once all are counted. */
function deriveCounts() {
  if (total === null) return;
  if (counts.before !== null) counts.after = total - counts.before - hits.length;
  else if (counts.after !== null) counts.before = total - counts.after - hits.length;
}

/** @param {string} text @param {boolean} [isError] */
function showStatus(text, isError = false) {
  const line = byId("find-status");
  line.textContent = text;
  line.classList.toggle("invalid", isError);
  field.setAttribute("aria-invalid", String(isError));
}

/** Shows the stretch of the list. */
function showList() {
  byId("find-next").disabled = byId("find-previous").disabled = hits.length === 0;
  const span = view.to - view.from;
  refill(list, () =>
    list.replaceChildren(
      ...hits.map((hit) =>
        make(
          "li",
          {},
          make(
            "button",
            { "data-key": hit.id, onclick: () => enqueue(() => visitHit(hits.findIndex(({ id }) => id === hit.id))) },
            make("span", { class: "label", text: hit.name }),
            make("span", { class: "amount", text: hit.to > hit.from ? formatDuration(hit.to - hit.from) : "" }),
            make("span", {
              class: "location",
              text: `${formatTimestamp(hit.from, span / 1000)} · ${joinNames(hit.path.slice(-2))}`,
            }),
          ),
        ),
      ),
    ),
  );
  markCurrent();
}

/** Marks the visited hit and shows its number. */
function markCurrent() {
  [...list.children].forEach((item, index) =>
    item.firstElementChild?.setAttribute("aria-current", String(index === currentIndex)),
  );
  const { before, after } = counts;
  const totalText = total === null ? "…" : groupDigits(total);
  const following = after === null ? 0 : after + hits.length - 1 - currentIndex;
  byId("find-position").textContent =
    currentIndex < 0
      ? ""
      : before !== null
        ? `${groupDigits(before + currentIndex + 1)} of ${totalText}`
        : following === 0
          ? "the last"
          : `${groupDigits(following)} before the last`;
}

/**
 * Fetches the hits next to the stretch, after or before it; returns whether there were any.
 * @param {number} direction
 * @returns {Promise<boolean>}
 */
async function extendList(direction) {
  const edge = direction > 0 ? hits[hits.length - 1] : hits[0];
  const remaining = direction > 0 ? counts.after : counts.before;
  if (!edge || remaining === 0) return false;
  const page = await requestPage({ id: edge.id, direction });
  if (!page) return false;
  const added = page.hits.length;
  const before = list.scrollHeight;
  if (direction > 0) {
    hits = [...hits, ...page.hits];
    if (counts.after !== null) counts.after -= added;
  } else {
    hits = [...page.hits, ...hits];
    if (counts.before !== null) counts.before -= added;
    if (currentIndex >= 0) currentIndex += added;
  }
  if (!page.more) counts[direction > 0 ? "after" : "before"] = 0;
  deriveCounts();
  if (added === 0) return false;
  const top = list.scrollTop;
  showList();
  // The visible hits keep their position.
  list.scrollTop = direction > 0 ? top : top + list.scrollHeight - before;
  trimList(direction);
  return true;
}

/** Removes hits at the opposite end of a list that has become long. @param {number} direction */
function trimList(direction) {
  const surplus = hits.length - MAX_LISTED;
  if (surplus <= 0) return;
  const before = list.scrollHeight;
  const top = list.scrollTop;
  if (direction > 0) {
    hits = hits.slice(surplus);
    if (counts.before !== null) counts.before += surplus;
    currentIndex = Math.max(-1, currentIndex - surplus);
  } else {
    hits = hits.slice(0, MAX_LISTED);
    if (counts.after !== null) counts.after += surplus;
    if (currentIndex >= MAX_LISTED) currentIndex = -1;
  }
  showList();
  list.scrollTop = direction > 0 ? top - (before - list.scrollHeight) : top;
}

/**
 * Fetches a page of the list.
 * @param {Record<string, string | number>} pageParameters
 * @returns {Promise<{ hits: Hit[], more: boolean } | undefined>}
 */
async function requestPage(pageParameters) {
  const ownKey = searchKey;
  byId("find").setAttribute("aria-busy", "true");
  try {
    const answer = await request("find", { ...JSON.parse(ownKey), ...pageParameters }, "page");
    return ownKey === searchKey ? answer : undefined;
  } catch (error) {
    showStatus(error instanceof Error ? error.message : String(error), true);
    return undefined;
  } finally {
    byId("find").removeAttribute("aria-busy");
  }
}

/**
 * Moves from one end of all hits to the opposite one.
 * @param {boolean} toLast true moves to the last hit
 */
async function jumpToEnd(toLast) {
  if ((toLast ? counts.after : counts.before) !== 0) {
    const answer = toLast ? await requestPage({ direction: -1 }) : { hits: firstPage, more: true };
    if (!answer || answer.hits.length === 0) return;
    hits = answer.hits;
    counts = toLast ? { before: answer.more ? null : 0, after: 0 } : { before: 0, after: null };
    deriveCounts();
  }
  currentIndex = toLast ? hits.length - 1 : 0;
  showList();
}

/** Moves to the next hit, or to the previous one. @param {number} direction */
function stepHits(direction) {
  enqueue(() => visitHit(currentIndex < 0 && direction < 0 ? -1 : currentIndex + direction));
}

/**
 * Shows a hit in its place.
 * @param {number} number index in the stretch; hits next to it are fetched, and the first follows
 * the last
 */
async function visitHit(number) {
  const edge = number < 0 ? hits[0] : hits[hits.length - 1];
  if (!edge) return;
  const direction = number < 0 ? -1 : 1;
  if (number >= 0 && number < hits.length) currentIndex = number;
  else if (await extendList(direction)) currentIndex = hits.indexOf(edge) + direction;
  else if ((direction < 0 ? counts.before : counts.after) === 0) await jumpToEnd(direction < 0);
  else return;
  const hit = hits[currentIndex];
  if (!hit) return;
  markCurrent();
  const scrollToHit = () => list.children[hits.indexOf(hit)]?.scrollIntoView({ block: "nearest" });
  scrollToHit();
  await goTo(hit.id, true);
  // The inspector has taken space from the list.
  scrollToHit();
}
