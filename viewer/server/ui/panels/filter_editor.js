// The field in which a filter is typed: it offers the possible continuations and shows errors
// below.

import { request } from "../net/api.js";
import { byId, make } from "../util/dom.js";

/** The words that begin a filter, with their meanings. @type {Record<string, string>} */
const VERBS = {
  hide: "remove types, values or rows, or by field or duration", only: "remove all others", cut: "a time range", group: "merge rows into one", reuse: "one row for consecutive containers",
  count: "number of entities over time", sum: "of variables or a field over time", mean: "of variables over time", min: "of variables over time", max: "of variables over time", sort: "rows by name or statistic", order: "rows in a given order",
  best: "the first rows by a statistic", least: "the last rows by a statistic", keep: "rows by a statistic", classify: "colours by a field or duration", color: "of values", bright: "these bright, all others grey",
};

/** @type {HTMLInputElement} */ const field = byId("filter-field");
/** @type {HTMLElement} */ const box = byId("editor");
/** @type {HTMLElement} */ const list = byId("filter-offers");
/** @type {any[]} */ let offers = [];
/** The index of the marked offer; -1 for none. */
let markedOffer = -1;
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
  [filtersBefore, onAccept, previousFocus] = [filters, accept, /** @type {HTMLElement | null} */ (document.activeElement)];
  const place = near.getBoundingClientRect();
  box.hidden = false;
  box.style.left = `${Math.max(8, Math.min(place.left, innerWidth - box.offsetWidth - 8))}px`;
  box.style.top = `${place.bottom + 6}px`;
  field.value = text;
  field.focus();
  field.setSelectionRange(text.length, text.length);
  updateOffers();
}

function close() {
  if (box.hidden) return;
  box.hidden = true;
  field.blur();
  if (previousFocus?.isConnected) previousFocus.focus();
}

export function listenToEditor() {
  field.addEventListener("input", updateOffers);
  field.addEventListener("keydown", (event) => {
    event.stopPropagation();
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (by && offers.length) markOffer((markedOffer + by + offers.length + (markedOffer < 0 && by < 0 ? 1 : 0)) % offers.length);
    else if (event.key === "Escape") close();
    else if (event.key === "Tab" && offers.length && !event.shiftKey) acceptOffer(offers[Math.max(markedOffer, 0)]);
    else if (event.key === "Enter" && markedOffer >= 0) acceptOffer(offers[markedOffer]);
    else if (event.key === "Enter") commit();
    else return;
    event.preventDefault();
  });
  box.addEventListener("submit", (event) => { event.preventDefault(); commit(); });
  document.addEventListener("pointerdown", (event) => { if (!box.hidden && !box.contains(/** @type {Node} */ (event.target))) close(); }, true);
}

async function updateOffers() {
  const text = field.value;
  const answer = await request("filter", { filters: filtersBefore.length ? JSON.stringify(filtersBefore) : "[]", what: text, by: field.selectionEnd ?? text.length })
    .catch((error) => { if (!box.hidden) showError({ from: 0, to: 0, error: `${error.message}: the filter was not applied` }); });
  if (!answer || field.value !== text || box.hidden) return null;
  offers = answer.offers;
  error = answer.wrong;
  fill();
  // An incomplete filter is not reported as an error.
  showError(error && error.from < text.trimEnd().length ? error : null);
  return answer;
}

/** @param {any} error */
function showError(error) {
  const line = byId("filter-wrong");
  const text = field.value;
  field.setAttribute("aria-invalid", String(error !== null));
  line.hidden = error === null;
  if (!error) return;
  const errorText = text.slice(error.from, error.to);
  const place = make("span", { class: "where", "aria-hidden": "true" }, text.slice(0, error.from), make("mark", { text: errorText || "␣" }), text.slice(error.to));
  line.replaceChildren(...(error.to > 0 ? [place] : []), make("span", { text: error.error.replace(/^`[^`]*`: /, "") }));
}

async function commit() {
  const answer = await updateOffers();
  if (!answer) return;
  if (answer.wrong || answer.meant === null) {
    showError(answer.wrong);
    return;
  }
  close();
  onAccept(answer.meant);
}

/** Replaces the text before the cursor by an offer. @param {any} offer */
function acceptOffer(offer) {
  if (!offer || offer.told) return;
  const end = field.selectionEnd ?? field.value.length;
  const start = field.value.slice(0, offer.from).trimEnd();
  const text = `${offer.text === "," || !start ? start : `${start} `}${offer.text} `;
  field.value = text + field.value.slice(end).trimStart();
  field.setSelectionRange(text.length, text.length);
  field.focus();
  updateOffers();
}

function fill() {
  list.replaceChildren(...offers.map((offer, place) => make("div", {
    role: "option", id: `offer-${place}`, class: offer.told ? "told" : "", onpointermove: () => { if (markedOffer !== place) markOffer(place); }, onclick: () => acceptOffer(offer),
  }, make("span", { text: offer.text }), make("span", { class: "more", text: offer.told ? "" : offer.what === "word" ? VERBS[offer.text] && !field.value.includes(" ") ? VERBS[offer.text] : "" : offer.what.replace(/^the names? of (a )?/, "") }))));
  field.setAttribute("aria-expanded", String(offers.length > 0));
  markOffer(-1);
}

/** @param {number} place */
function markOffer(place) {
  markedOffer = place;
  [...list.children].forEach((one, index) => one.setAttribute("aria-selected", String(index === markedOffer)));
  field.setAttribute("aria-activedescendant", markedOffer >= 0 ? `offer-${markedOffer}` : "");
  list.children[Math.max(markedOffer, 0)]?.scrollIntoView({ block: "nearest" });
}
