// What is seen, as a file: picture, page, table, or the workspace itself. And back: a workspace is opened from its file.

import { about } from "./api.js";
import { byId, make, save } from "./dom.js";
import { menu } from "./menu.js";
import { note } from "./status.js";
import { keep, looks, readFilters, view, changed } from "./view.js";

/** @param {"svg" | "png" | "html" | "csv"} format */
export async function exportAs(format) {
  note(`Making the ${format.toUpperCase()}…`, true);
  const width = Math.max(600, document.querySelector(".stage")?.clientWidth ?? 1200);
  const answer = await fetch(`api/export?${about({ ...looks(), fill: "", from: view.from, to: view.to, width, resolution: 1, format })}`).catch(() => null);
  if (!answer?.ok) {
    note(answer ? (await answer.json().catch(() => ({ error: "The server gave no file" }))).error : "The server does not answer: nothing was saved");
    return;
  }
  save(`${name()}.${format}`, await answer.blob());
  note(`Saved ${name()}.${format}`);
}

const name = () => (byId("name").textContent ?? "trace").replace(/\.(tmt|paje|trace)$/, "").replace(/[^\p{L}\p{N}._-]+/gu, "-");

/** The filters as `tumit view --filters` takes them, and all else that is seen as the address holds it. */
export function saveWorkspace() {
  keep();
  const filters = view.filters.map(([text, on]) => (on ? text : { filter: text, on: false }));
  save(`${name()}.tumit-view`, new Blob([`${JSON.stringify({ format: "tumit-view", version: 1, filters, page: location.hash.slice(1) }, null, 2)}\n`], { type: "application/json" }));
}

export function openWorkspace() {
  const input = make("input", { type: "file", accept: ".tumit-view,application/json", onchange: async () => {
    const text = await input.files?.[0]?.text();
    if (text !== undefined) readWorkspace(text);
  } });
  input.click();
}

/** @param {string} text */
export function readWorkspace(text) {
  /** @type {any} */ let file = null;
  try {
    file = JSON.parse(text);
  } catch {
    // Told below.
  }
  if (file?.format !== "tumit-view" || file.version !== 1 || !Array.isArray(file.filters)) {
    note(file?.format === "tumit-view" ? "This workspace is of another version of Tumit" : "This is no workspace: its file ends in .tumit-view");
    return;
  }
  const filters = file.filters.map((/** @type {any} */ one) => (typeof one === "string" ? one : [String(one?.filter ?? "")]));
  if (typeof file.page === "string" && file.page) {
    const parts = new URLSearchParams(file.page);
    parts.set("filters", JSON.stringify(filters));
    location.hash = String(parts);
  } else {
    view.filters = readFilters(JSON.stringify(filters)).map(([text, on], at) => [text, on && file.filters[at]?.on !== false]);
    keep();
    changed("rows");
  }
}

/** @type {[string, () => void][]} */
export const EXPORTS = [
  ["Save picture as SVG", () => exportAs("svg")], ["Save picture as PNG", () => exportAs("png")], ["Save picture as HTML that zooms", () => exportAs("html")],
  ["Save statistics as CSV", () => exportAs("csv")], ["Save workspace", saveWorkspace], ["Open workspace…", openWorkspace],
];

export function listenToExport() {
  byId("export").addEventListener("click", (/** @type {MouseEvent} */ event) => {
    const items = EXPORTS.map(([name, act]) => ({ name, act }));
    menu("Save and open", /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect(), [...items.slice(0, 4), null, ...items.slice(4)]);
  });
}
