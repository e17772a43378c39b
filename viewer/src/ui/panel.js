// The side panel: the legend, which counts and filters, and the inspector, which tells all of one entity.

import { ask } from "./api.js";
import { byId, make } from "./dom.js";
import { date, duration, grouped, percent } from "./format.js";
import { changed, remember, toggle, view } from "./view.js";

/** @type {Map<number, { name: string, color: string }>} values by number, for names of mixtures */
export const values = new Map();

const SHAPES = {
  link: "M1 10 13 3M13 3 8.5 3.4M13 3 10.6 6.8",
  event: "M3.5 2.5h9L8 10.5z",
  variable: "M1 9.5h4v-7h5v4h5",
};

/** The legend of what is shown. */
export async function showLegend() {
  const answer = await ask("legend", { from: view.from, to: view.to, theme: document.documentElement.dataset.theme });
  if (!answer) return;
  const groups = [];
  /** @type {HTMLElement[]} */
  const others = [];
  for (const group of answer.groups) {
    if (group.kind === "state") groups.push(states(group));
    else others.push(type(group));
  }
  if (others.length) groups.push(make("div", { class: "group" }, make("h2", {}, "Also shown"), ...others));
  const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.key;
  byId("legend").replaceChildren(...groups);
  if (focused) /** @type {HTMLElement | null} */ (byId("legend").querySelector(`[data-key="${focused}"]`))?.focus();
}

/** @param {any} group */
function states(group) {
  const bar = make("div", { class: "bar-of-shares", "aria-hidden": "true" });
  const entries = [];
  const sum = Math.max(1, group.entries.reduce((/** @type {number} */ all, /** @type {any} */ one) => all + one.share, 0));
  for (const entry of group.entries) {
    values.set(entry.value, entry);
    const part = make("i", { color: entry.color });
    part.style.width = `${(entry.share / sum) * 100}%`;
    bar.append(part);
    const chip = make("span", { class: "chip", color: entry.color });
    const what = `${duration(entry.nanos)} over ${grouped(group.containers)} containers`;
    entries.push(button(`v${entry.value}`, view.dimmed, entry.value, chip, entry.name, percent(entry.share), `${what}; click to dim`));
  }
  const many = `${grouped(group.containers)} row${group.containers === 1 ? "" : "s"}`;
  return make("div", { class: "group" }, make("h2", {}, group.name, make("small", { text: many })), bar, ...entries);
}

/** @param {any} group */
function type(group) {
  const entry = group.entries[0];
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 12");
  svg.setAttribute("aria-hidden", "true");
  if (entry.color) svg.style.color = entry.color;
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SHAPES[/** @type {keyof typeof SHAPES} */ (group.kind)]);
  if (group.kind === "event") path.setAttribute("fill", "currentColor");
  svg.append(path);
  const amount = entry.count === null ? "" : grouped(entry.count);
  const hidden = new Set(group.types.filter((/** @type {number} */ ty) => view.hidden.has(ty)));
  const box = button(`t${group.types[0]}`, hidden, group.types[0], svg, entry.name, amount, `${group.kind}s; click to hide`, () => {
    for (const ty of group.types) toggle(view.hidden, ty);
    remember();
    changed("rows");
  });
  return box;
}

/**
 * @param {string} key @param {Set<number>} set @param {number} member @param {Element} sign @param {string} name @param {string} amount
 * @param {string} title @param {() => void} [act]
 */
function button(key, set, member, sign, name, amount, title, act) {
  const click = act ?? (() => { toggle(set, member); remember(); changed("look"); });
  return make("button", { class: "entry", type: "button", "aria-pressed": String(set.has(member)), title, "data-key": key, onclick: click },
    sign, make("span", { class: "label", text: name }), make("span", { class: "amount", text: amount }));
}

/**
 * What is known of an entity, as pairs.
 * @param {any} facts @returns {[string, string][]}
 */
export function pairs(facts) {
  const span = facts.to - facts.from;
  const resolution = Math.max(1, span / 1000);
  /** @type {[string, string][]} */
  const when = span === 0
    ? [["At", date(facts.from, 1)]]
    : [["From", date(facts.from, resolution)], ["To", date(facts.to, resolution)]];
  const source = facts.source ? [["Source", `${facts.source[0]}:${facts.source[1]}`]] : [];
  return /** @type {[string, string][]} */ ([...when, ...facts.fields, ...source]);
}

/**
 * @param {any} facts @param {{ close: () => void, go: (id: string) => void, zoom: (facts: any) => void }} act
 */
export function inspect(facts, act) {
  const list = make("dl");
  const all = [["Kind", facts.types.join(" › ")], ["In", facts.containers.join(" › ")], ...pairs(facts)];
  if (facts.to > facts.from) all.splice(4, 0, ["Duration", duration(facts.to - facts.from)]);
  for (const [name, text] of all) list.append(make("dt", { text: name }), make("dd", { text }));
  const related = make("div", { class: "related" });
  if (facts.related.length) related.append(make("h3", { text: `Related (${facts.related.length})` }));
  for (const one of facts.related.slice(0, 12)) {
    related.append(make("button", { type: "button", onclick: () => act.go(one.id), text: [one.name, ...one.path.slice(-1)].join(" · ") }));
  }
  const copy = make("button", { type: "button", text: "Copy", onclick: async () => {
    const text = [["Name", facts.name], ...all].map(([name, value]) => `${name}\t${value}`).join("\n");
    try {
      await navigator.clipboard.writeText(text);
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Select the text to copy";
    }
    window.setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  } });
  const zoom = make("button", { type: "button", text: "Zoom to it", onclick: () => act.zoom(facts) });
  byId("inspector").replaceChildren(
    make("header", {}, make("h2", { text: facts.name }), make("button", { class: "icon-button", type: "button", "aria-label": "Close the inspector", onclick: act.close, text: "×" })),
    list, related, make("footer", {}, copy, facts.to > facts.from && zoom),
  );
  byId("inspector").hidden = false;
}
