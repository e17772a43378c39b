// The tree of containers: rows beside the diagram, folded by click and by key.

import { byId, make } from "./dom.js";
import { changed, remember, toggle, view } from "./view.js";

/**
 * @typedef {{ kind: string, name: string, y: number, height: number, bounds: [string, string] | null }} Strip with its largest and least value
 * @typedef {{ id: number, name: string, type: string, depth: number, y: number, height: number, expandable: boolean, folded: boolean, strips: Strip[] }} Row
 */

/** @type {Row[]} */
let rows = [];
/** The row that has the keyboard's attention. */
let current = 0;

const tree = () => byId("tree");

/** @param {Row[]} next */
export function showRows(next) {
  rows = next;
  const focused = document.activeElement?.closest?.("[role=row]");
  const kept = focused ? Number(/** @type {HTMLElement} */ (focused).dataset.id) : null;
  const place = rows.findIndex((row) => row.id === kept);
  current = Math.max(0, place >= 0 ? place : Math.min(current, rows.length - 1));
  tree().replaceChildren(...rows.map(element));
  if (place >= 0) focus(place);
}

/** The row at a height. @param {number} y @returns {Row | undefined} */
export function rowAt(y) {
  return rows.find((row) => y >= row.y && y < row.y + row.height);
}

/** The row of a container. @param {number} id */
export function rowOf(id) {
  return rows.find((row) => row.id === id);
}

/** Lights the row that is pointed at. @param {number | null} id */
export function light(id) {
  tree().querySelector(".lit")?.classList.remove("lit");
  if (id !== null) tree().querySelector(`[data-id="${id}"]`)?.classList.add("lit");
}

/** The strips of a row that its name alone does not explain. @param {Row} row */
export function labelled(row) {
  const several = row.strips.filter((strip) => strip.kind === "states" || strip.kind === "summary").length > 1;
  return row.strips.filter((strip) => strip.kind === "variable" || (several && strip.kind !== "events"));
}

/** Whether a strip has room for its least and largest value. @param {Strip} strip */
export function measured(strip) {
  return strip.bounds !== null && strip.height >= 20;
}

/** @param {Row} row @param {number} place */
function element(row, place) {
  const labels = labelled(row).map((strip) => {
    const label = make("span", { class: "what", text: strip.name, title: strip.name });
    label.style.top = `${strip.y - row.y + strip.height / 2 - 7}px`;
    return label;
  });
  const bounds = row.strips.filter(measured).flatMap((strip) => /** @type {[string, string]} */ (strip.bounds).map((text, at) => {
    const inset = strip.height > 30 ? 3 : 0;
    const bound = make("span", { class: "bound", text, "aria-hidden": "true" });
    bound.style.top = `${strip.y - row.y + (at === 0 ? inset : strip.height - 11 - inset)}px`;
    return bound;
  }));
  const turn = make("span", { class: "turn", "aria-hidden": "true" });
  if (row.expandable) turn.append(triangle());
  const box = make(
    "div",
    {
      class: row.expandable ? "row group" : "row", role: "row", "aria-level": row.depth + 1, "aria-label": row.name,
      "aria-expanded": row.expandable ? String(!row.folded) : null, tabindex: place === current ? 0 : -1, "data-id": row.id,
      title: `${row.type} · ${row.name}`, onclick: () => { focus(place); fold(row); }, onkeydown: (/** @type {KeyboardEvent} */ event) => key(event, place),
    },
    turn,
    make("span", { class: "label", role: "gridcell", text: row.name }),
    ...labels, ...bounds,
  );
  // The name ends where the label beside it begins.
  if (labels.length > 0) box.style.setProperty("--label", `calc(var(--what) + var(--bounds) + 18px)`);
  box.style.top = `${row.y}px`;
  box.style.height = `${row.height}px`;
  box.style.paddingLeft = `${4 + row.depth * 12}px`;
  if (labels.length > 0 && row.strips.length > 1) {
    const line = row.strips[0].kind === "events" && row.strips[1] ? row.strips[1] : row.strips[0];
    const at = line.y - row.y + line.height / 2 - row.height / 2;
    for (const child of [turn, /** @type {HTMLElement} */ (box.querySelector(".label"))]) child.style.transform = `translateY(${at}px)`;
  } else if (row.strips[0]?.kind === "events" && row.strips[1]) {
    box.style.paddingTop = `${row.strips[1].y - row.strips[0].y}px`;
  }
  return box;
}

function triangle() {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 10 10");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  path.setAttribute("d", "M3 1.5 7.5 5 3 8.5z");
  svg.append(path);
  return svg;
}

/** @param {Row} row */
function fold(row) {
  if (!row.expandable) return;
  toggle(view.toggled, row.id);
  remember();
  changed("rows");
}

/** @param {number} place */
function focus(place) {
  const boxes = tree().children;
  boxes[current]?.setAttribute("tabindex", "-1");
  current = Math.min(Math.max(place, 0), rows.length - 1);
  const box = /** @type {HTMLElement | undefined} */ (boxes[current]);
  box?.setAttribute("tabindex", "0");
  box?.focus();
}

/** @param {KeyboardEvent} event @param {number} place */
function key(event, place) {
  const row = rows[place];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  switch (event.key) {
    case "ArrowDown": focus(place + 1); break;
    case "ArrowUp": focus(place - 1); break;
    case "Home": focus(0); break;
    case "End": focus(rows.length - 1); break;
    case "Enter": case " ": fold(row); break;
    case "ArrowRight":
      if (row.expandable && row.folded) fold(row);
      else if (row.expandable) focus(place + 1);
      break;
    case "ArrowLeft":
      if (row.expandable && !row.folded) fold(row);
      else focus(rows.findLastIndex((other, at) => at < place && other.depth < row.depth));
      break;
    default: return;
  }
  event.preventDefault();
  event.stopPropagation();
}

/** @param {number | null} level containers at this depth are folded, all others are not */
export function foldAll(level) {
  view.level = level;
  view.toggled.clear();
  remember();
  changed("rows");
}
