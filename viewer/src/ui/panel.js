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

/**
 * What is known of an entity, as pairs: when, then from where to where, then its own fields. A link's dates stand beside its ends.
 * @param {any} facts @param {boolean} [whole] also what matters to few: where in the source, and the key of a link
 * @returns {[string, string][]}
 */
export function pairs(facts, whole = true) {
  const span = Math.abs(facts.to - facts.from);
  const dates = [facts.from, facts.to].map((time) => date(time, Math.max(1, span / 1000)));
  /** @type {[string, string][]} */
  let fields = facts.fields;
  /** @type {[string, string][]} */
  let when = span === 0 ? [["At", dates[0]]] : [["From", dates[0]], ["To", dates[1]]];
  if (facts.kind === "Link") {
    const [from, to, key, ...own] = fields;
    const place = (/** @type {string} */ path) => whole ? path : path.split(" › ").slice(path.split(" › ").length > 2 ? 1 : -1).join(" › ");
    when = [["From", `${place(from[1])}, ${dates[0]}`], ["To", `${place(to[1])}, ${dates[1]}`]];
    // A key that the trace does not spell out is a number of the viewer's own.
    fields = whole && !/^k\d+$/.test(key[1]) ? [...own, ["Key", key[1]]] : own;
  }
  /** @type {[string, string][]} */
  const source = whole && facts.source ? [["Source", `${facts.source[0]}:${facts.source[1]}`]] : [];
  const spaced = (/** @type {string} */ text) => /^\d{5,15}$/.test(text) ? grouped(Number(text)) : text;
  return [...when, .../** @type {[string, string][]} */ (fields.map(([name, text]) => [name, spaced(text)])), ...source];
}

/**
 * @param {any} facts @param {{ close: () => void, go: (id: string) => void, zoom: (facts: any) => void }} act
 */
export function inspect(facts, act) {
  const list = make("dl");
  const all = [...pairs(facts), ["In", facts.containers.join(" › ")], ["Kind", facts.types.join(" › ")]];
  if (facts.to > facts.from) all.unshift(["Duration", duration(facts.to - facts.from)]);
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
