// Finds entities by value, container, attribute and duration, including those too small to be
// drawn. Hits are in a list and marked on the minimap.
// All hits are counted. The list contains one stretch of them, which grows as the user moves along
// it.

import { ask, drop } from "../net/api.js";
import { visit } from "./selection.js";
import { byId, inLine, make, refill } from "../util/dom.js";
import { date, duration, grouped, percent } from "../util/format.js";
import { showTab } from "./side_panel.js";
import { markFound } from "../view/timeline.js";
import { length, tellBeside, told, view } from "../state/view.js";

/** @typedef {{ id: string, name: string, path: string[], from: number, to: number }} Hit */

/** The most hits in the list: more make it slow. */
const KEPT = 2000;

/** @type {HTMLInputElement} */ const field = byId("find-field");
/** @type {HTMLInputElement} */ const inside = byId("find-inside");
/** @type {HTMLElement} */ const list = byId("hits");
/** A stretch of all hits, in order. @type {Hit[]} */
let hits = [];
/**
 * The numbers of hits before and after the stretch. While hits are counted, only one of them is
 * known.
 * @type {{ before: number | null, behind: number | null }}
 */
let around = { before: 0, behind: null };
/** The number of all hits, once they have been counted. @type {number | null} */
let total = null;
/** The index of the hit that was visited last. */
let at = -1;
/** The last request, so that moving the interval repeats it only if it changed. */
let asked = "";
/** The first page. @type {Hit[]} */
let first = [];
/** The last step or page: they run one after the other. @type {Promise<unknown>} */
let last = Promise.resolve();
/** Whether the list is growing, because it was scrolled to its end. */
let growing = false;

export function listenToFind() {
  byId("find-form").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    if (asked === question() && hits.length) step(1);
    else search();
  });
  inside.addEventListener("change", search);
  field.addEventListener("input", keep);
  byId("find-next").addEventListener("click", () => step(1));
  byId("find-before").addEventListener("click", () => step(-1));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      field.value = "";
      search();
      field.blur();
    } else if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault();
      step(-1);
    }
  });
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const all = /** @type {HTMLElement[]} */ ([...list.querySelectorAll("button")]);
    all[all.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + by]?.focus();
  });
  list.addEventListener("scroll", () => {
    const by = list.scrollTop + list.clientHeight > list.scrollHeight - 60 ? 1 : list.scrollTop < 60 ? -1 : 0;
    if (by === 0 || growing) return;
    growing = true;
    inTurn(async () => {
      await turn(by);
      growing = false;
    });
  });
}

/** Searches for the text in the address. */
export function restoreFind() {
  const [text, part] = [told("find") ?? "", told("inside") === "1"];
  if (field.value.trim() === text && inside.checked === part) return;
  field.value = text;
  inside.checked = part;
  search();
}

/** Writes the search to the address. */
function keep() {
  tellBeside("find", field.value.trim() || null);
  tellBeside("inside", inside.checked ? "1" : null);
}

/** @param {() => Promise<unknown>} act */
function inTurn(act) {
  last = last.then(act, act);
}

/** Opens the tab and searches for a text. @param {string} text */
export function findText(text) {
  showTab("find", true).catch(() => {});
  field.value = /\s/.test(text) ? `"${text}"` : text;
  search();
}

function question() {
  const [from, to] = inside.checked ? [view.from, view.to] : [0, length() + 1];
  return JSON.stringify({ what: field.value.trim(), from, to });
}

/** Repeats the search if it depends on the interval and the interval has changed. */
export async function showFind() {
  if (inside.checked && field.value.trim() && asked !== question()) await search();
}

async function search() {
  keep();
  asked = question();
  const ask_ = JSON.parse(asked);
  drop("find", "page");
  at = -1;
  total = null;
  hits = first = [];
  around = { before: 0, behind: null };
  if (!ask_.what) {
    tell("");
    fill();
    markFound(null);
    return;
  }
  let named = -1;
  const told = (/** @type {any} */ answer) => {
    const many = grouped(answer.total);
    if (answer.done === undefined) {
      total = answer.total;
    }
    first = answer.hits;
    tell(answer.done !== undefined ? `counting… ${many} found, ${percent(answer.done)}` : answer.total === 0 ? "Nothing found" : `${many} found`);
    // The list grows until it has a page. It stays in place if the user has moved elsewhere in
    // it.
    if (answer.hits.length > named && (named < 0 || hits.length === named) && around.before === 0) {
      named = answer.hits.length;
      hits = answer.hits;
      settle();
      fill();
    } else {
      settle();
      place();
    }
    markFound({ from: ask_.from, to: ask_.to, bins: answer.bins });
  };
  try {
    const answer = await ask("find", ask_, "find", told);
    if (answer) told(answer);
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error), true);
    fill();
    markFound(null);
  }
}

/** Derives the number of hits on one side from that on the other, once all are counted. */
function settle() {
  if (total === null) return;
  if (around.before !== null) around.behind = total - around.before - hits.length;
  else if (around.behind !== null) around.before = total - around.behind - hits.length;
}

/** @param {string} text @param {boolean} [wrong] */
function tell(text, wrong = false) {
  const line = byId("find-says");
  line.textContent = text;
  line.classList.toggle("wrong", wrong);
  field.setAttribute("aria-invalid", String(wrong));
}

/** Shows the stretch of the list. */
function fill() {
  byId("find-next").disabled = byId("find-before").disabled = hits.length === 0;
  const span = view.to - view.from;
  refill(list, () => list.replaceChildren(...hits.map((hit) => make("li", {}, make("button", { "data-key": hit.id, onclick: () => inTurn(() => go(hits.findIndex(({ id }) => id === hit.id))) },
    make("span", { class: "label", text: hit.name }), make("span", { class: "amount", text: hit.to > hit.from ? duration(hit.to - hit.from) : "" }),
    make("span", { class: "where", text: `${date(hit.from, span / 1000)} · ${inLine(hit.path.slice(-2))}` }))))));
  place();
}

/** Marks the visited hit and shows its number. */
function place() {
  [...list.children].forEach((item, index) => item.firstElementChild?.setAttribute("aria-current", String(index === at)));
  const { before, behind } = around;
  const many = total === null ? "…" : grouped(total);
  const left = behind === null ? 0 : behind + hits.length - 1 - at;
  byId("find-place").textContent = at < 0 ? "" : before !== null ? `${grouped(before + at + 1)} of ${many}` : left === 0 ? "the last" : `${grouped(left)} before the last`;
}

/**
 * Fetches the hits next to the stretch, after or before it; returns whether there were any.
 * @param {number} by
 * @returns {Promise<boolean>}
 */
async function turn(by) {
  const edge = by > 0 ? hits[hits.length - 1] : hits[0];
  const known = by > 0 ? around.behind : around.before;
  if (!edge || known === 0) return false;
  const more = await page({ id: edge.id, by });
  if (!more) return false;
  const added = more.hits.length;
  const before = list.scrollHeight;
  if (by > 0) {
    hits = [...hits, ...more.hits];
    if (around.behind !== null) around.behind -= added;
  } else {
    hits = [...more.hits, ...hits];
    if (around.before !== null) around.before -= added;
    if (at >= 0) at += added;
  }
  if (!more.more) around[by > 0 ? "behind" : "before"] = 0;
  settle();
  if (added === 0) return false;
  const top = list.scrollTop;
  fill();
  // The visible hits keep their position.
  list.scrollTop = by > 0 ? top : top + list.scrollHeight - before;
  forget(by);
  return true;
}

/** Removes hits at the opposite end of a list that has become long. @param {number} by */
function forget(by) {
  const many = hits.length - KEPT;
  if (many <= 0) return;
  const before = list.scrollHeight;
  const top = list.scrollTop;
  if (by > 0) {
    hits = hits.slice(many);
    if (around.before !== null) around.before += many;
    at = Math.max(-1, at - many);
  } else {
    hits = hits.slice(0, KEPT);
    if (around.behind !== null) around.behind += many;
    if (at >= KEPT) at = -1;
  }
  fill();
  list.scrollTop = by > 0 ? top - (before - list.scrollHeight) : top;
}

/**
 * Fetches a page of the list.
 * @param {Record<string, string | number>} where
 * @returns {Promise<{ hits: Hit[], more: boolean } | undefined>}
 */
async function page(where) {
  const of = asked;
  byId("find").setAttribute("aria-busy", "true");
  try {
    const answer = await ask("find", { ...JSON.parse(of), ...where }, "page");
    return of === asked ? answer : undefined;
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error), true);
    return undefined;
  } finally {
    byId("find").removeAttribute("aria-busy");
  }
}

/**
 * Moves from one end of all hits to the opposite one.
 * @param {boolean} end true moves to the last hit
 */
async function wrap(end) {
  if ((end ? around.behind : around.before) !== 0) {
    const answer = end ? await page({ by: -1 }) : { hits: first, more: true };
    if (!answer || answer.hits.length === 0) return;
    hits = answer.hits;
    around = end ? { before: answer.more ? null : 0, behind: 0 } : { before: 0, behind: null };
    settle();
  }
  at = end ? hits.length - 1 : 0;
  fill();
}

/** Moves to the next hit, or to the previous one. @param {number} by */
function step(by) {
  inTurn(() => go(at < 0 && by < 0 ? -1 : at + by));
}

/**
 * Shows a hit in its place.
 * @param {number} number index in the stretch; hits next to it are fetched, and the first follows
 * the last
 */
async function go(number) {
  const edge = number < 0 ? hits[0] : hits[hits.length - 1];
  if (!edge) return;
  const by = number < 0 ? -1 : 1;
  if (number >= 0 && number < hits.length) at = number;
  else if (await turn(by)) at = hits.indexOf(edge) + by;
  else if ((by < 0 ? around.before : around.behind) === 0) await wrap(by < 0);
  else return;
  const hit = hits[at];
  if (!hit) return;
  place();
  const look = () => list.children[hits.indexOf(hit)]?.scrollIntoView({ block: "nearest" });
  look();
  await visit(hit.id, true);
  // The inspector has taken space from the list.
  look();
}
