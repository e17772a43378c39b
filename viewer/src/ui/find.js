// Finding entities by value, container, attribute and duration: a list to step through, marks on the minimap; also of what is too small to be seen.

import { ask } from "./api.js";
import { visit } from "./choice.js";
import { byId, make, refill } from "./dom.js";
import { date, duration, grouped } from "./format.js";
import { showTab } from "./panel.js";
import { markFound } from "./timeline.js";
import { length, view } from "./view.js";

/** @type {HTMLInputElement} */ const field = byId("find-field");
/** @type {HTMLInputElement} */ const inside = byId("find-inside");
/** @type {{ id: string, name: string, path: string[], from: number, to: number }[]} */ let hits = [];
/** The hit that was visited last. */
let at = -1;
/** What was asked last, so that moving asks only when it matters. */
let asked = "";

export function listenToFind() {
  byId("find-form").addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    if (asked === question() && hits.length) go(at + 1);
    else search();
  });
  inside.addEventListener("change", search);
  byId("find-next").addEventListener("click", () => go(at + 1));
  byId("find-before").addEventListener("click", () => go(at - 1));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      field.value = "";
      search();
      field.blur();
    } else if (event.key === "Enter" && event.shiftKey) {
      event.preventDefault();
      go(at - 1);
    }
  });
  byId("hits").addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const all = /** @type {HTMLElement[]} */ ([...byId("hits").querySelectorAll("button")]);
    all[all.indexOf(/** @type {HTMLElement} */ (document.activeElement)) + by]?.focus();
  });
}

/** Opens the tab and looks for a text. @param {string} text */
export function findText(text) {
  showTab("find", true).catch(() => {});
  field.value = /\s/.test(text) ? `"${text}"` : text;
  search();
}

function question() {
  const [from, to] = inside.checked ? [view.from, view.to] : [0, length() + 1];
  return JSON.stringify({ what: field.value.trim(), from, to });
}

/** Asks again when the interval matters and has changed. */
export async function showFind() {
  if (inside.checked && field.value.trim() && asked !== question()) await search();
}

async function search() {
  asked = question();
  const ask_ = JSON.parse(asked);
  at = -1;
  if (!ask_.what) {
    tell([], "");
    markFound(null);
    return;
  }
  try {
    const answer = await ask("find", ask_);
    if (!answer) return;
    const many = answer.total === 1 ? "1 found" : `${grouped(answer.total)} found`;
    const shown = answer.total > answer.hits.length ? `; the first ${grouped(answer.hits.length)} are listed` : "";
    tell(answer.hits, answer.total === 0 ? "Nothing found" : `${many}${shown}${answer.partial ? "; the trace is too large to look at all of it: take a part" : ""}`);
    markFound({ from: ask_.from, to: ask_.to, bins: answer.bins });
  } catch (error) {
    tell([], error instanceof Error ? error.message : String(error), true);
    markFound(null);
  }
}

/** @param {typeof hits} found @param {string} text @param {boolean} [wrong] */
function tell(found, text, wrong = false) {
  hits = found;
  const line = byId("find-says");
  line.textContent = text;
  line.classList.toggle("wrong", wrong);
  field.setAttribute("aria-invalid", String(wrong));
  byId("find-next").disabled = byId("find-before").disabled = hits.length === 0;
  const span = view.to - view.from;
  refill(byId("hits"), () => byId("hits").replaceChildren(...hits.map((hit, place) => make("li", {}, make("button", { type: "button", onclick: () => go(place) },
    make("span", { class: "label", text: hit.name }), make("span", { class: "amount", text: hit.to > hit.from ? duration(hit.to - hit.from) : "" }),
    make("span", { class: "where", text: `${date(hit.from, span / 1000)} · ${hit.path.slice(-2).join(" › ")}` }))))));
}

/** Shows a hit where it is. @param {number} place */
function go(place) {
  if (!hits.length) return;
  at = (place + hits.length) % hits.length;
  const items = [...byId("hits").children];
  items.forEach((item, index) => item.firstElementChild?.setAttribute("aria-current", String(index === at)));
  items[at].scrollIntoView({ block: "nearest" });
  byId("find-place").textContent = `${grouped(at + 1)} of ${grouped(hits.length)}`;
  visit(hits[at].id, true);
}
