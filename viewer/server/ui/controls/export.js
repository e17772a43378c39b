// The view as a file: image, page, table, or the workspace itself.

import { about } from "../net/api.js";
import { byId, fileName, save } from "../util/dom.js";
import { menu } from "../util/menu.js";
import { note } from "../util/status_line.js";
import { looks, view } from "../state/view.js";
import { openWorkspace, saveWorkspace } from "../state/workspace.js";

/** @param {"svg" | "png" | "html" | "csv"} format */
export async function exportAs(format) {
  note(`Making the ${format.toUpperCase()}…`, true);
  const width = Math.max(600, document.querySelector(".stage")?.clientWidth ?? 1200);
  const answer = await fetch(`api/export?${about({ ...looks(), fill: "", from: view.from, to: view.to, width, resolution: 1, format })}`).catch(() => null);
  if (!answer?.ok) {
    note(answer ? (await answer.json().catch(() => ({ error: "The server gave no file" }))).error : "The server does not answer: nothing was saved");
    return;
  }
  save(`${fileName()}.${format}`, await answer.blob());
  note(`Saved ${fileName()}.${format}`);
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
