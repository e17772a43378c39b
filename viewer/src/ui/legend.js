// The legend, which counts and filters: a click dims a value or hides a type.

import { ask } from "./api.js";
import { byId, make } from "./dom.js";
import { duration, grouped, percent } from "./format.js";
import { changed, remember, toggle, view } from "./view.js";

/** @type {Map<number, { name: string, color: string }>} values by number, for names of mixtures */
export const values = new Map();

const SHAPES = {
  link: "M1 10 13 3M13 3 8.5 3.4M13 3 10.6 6.8",
  event: "M3.5 2.5h9L8 10.5z",
  variable: "M1 9.5h4v-7h5v4h5",
};

/** Shows the legend of the interval. */
export async function showLegend() {
  const answer = await ask("legend", { from: view.from, to: view.to, theme: document.documentElement.dataset.theme });
  if (!answer) return;
  const groups = [];
  /** @type {HTMLElement[]} */
  const others = [];
  for (const group of answer.groups) {
    if (group.kind === "state") groups.push(states(group));
    else if (group.entries.length > 1) groups.push(several(group));
    else others.push(type(group, group.entries[0]));
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

/** A type of links or events with its values. @param {any} group */
function several(group) {
  const total = { ...group.entries[0], name: "All", count: group.entries.reduce((/** @type {number} */ sum, /** @type {any} */ one) => sum + one.count, 0) };
  const values = group.entries.map((/** @type {any} */ entry) =>
    button(`v${entry.value}`, view.dimmed, entry.value, sign(group.kind, entry.color), entry.name, grouped(entry.count), "click to dim"));
  const all = type(group, total);
  all.classList.add("total");
  return make("div", { class: "group" }, make("h2", {}, group.name), ...values, all);
}

/** How a kind is drawn. @param {keyof typeof SHAPES} kind @param {string | null} ink */
function sign(kind, ink) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 12");
  svg.setAttribute("aria-hidden", "true");
  if (ink) svg.style.color = ink;
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", SHAPES[kind]);
  if (kind === "event") path.setAttribute("fill", "currentColor");
  svg.append(path);
  return svg;
}

/** A whole type, which can be hidden. @param {any} group @param {any} entry */
function type(group, entry) {
  const amount = entry.count === null ? "" : grouped(entry.count);
  const hidden = new Set(group.types.filter((/** @type {number} */ ty) => view.hidden.has(ty)));
  const mark = group.entries.length > 1 ? make("span") : sign(group.kind, entry.color);
  return button(`t${group.types[0]}`, hidden, group.types[0], mark, entry.name, amount, `${group.kind}s; click to hide`, () => {
    for (const ty of group.types) toggle(view.hidden, ty);
    remember();
    changed("rows");
  });
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
