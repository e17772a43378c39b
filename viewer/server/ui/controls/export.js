// The view as a file: image, page, table, or the workspace itself.

import { requestParameters } from "../net/api.js";
import { byId, fileName, saveFile } from "../util/dom.js";
import { openMenu } from "../util/menu.js";
import { showNote } from "../util/status_line.js";
import { hasSelection, selectedRange, selectedRowNumbers, sizeInWords } from "../state/selection.js";
import { imageParameters, view } from "../state/view_state.js";
import { openWorkspace, saveWorkspace } from "../state/workspace.js";

/** @param {"svg" | "png" | "html" | "csv"} format */
export async function exportAs(format) {
  showNote(`Creating the ${format.toUpperCase()}…`, true);
  const width = Math.max(600, document.querySelector(".stage")?.clientWidth ?? 1200);
  const [from, to] = selectedRange();
  const parameters = requestParameters({
    ...imageParameters(),
    fill: "",
    from,
    to,
    rows: selectedRowNumbers(),
    id: view.entity ?? "",
    width,
    resolution: 1,
    format,
  });
  const answer = await fetch(`api/export?${parameters}`).catch(() => null);
  if (!answer?.ok) {
    showNote(
      answer
        ? (await answer.json().catch(() => ({ error: "The server sent no file" }))).error
        : "The server does not answer: nothing was saved",
    );
    return;
  }
  saveFile(`${fileName()}.${format}`, await answer.blob());
  showNote(`Saved ${fileName()}.${format}${hasSelection() ? ` of the selection: ${sizeInWords()}` : ""}`);
}

/** @type {[string, () => void][]} */
export const EXPORTS = [
  ["Save image as SVG", () => exportAs("svg")],
  ["Save image as PNG", () => exportAs("png")],
  ["Save image as zoomable HTML", () => exportAs("html")],
  ["Save statistics as CSV", () => exportAs("csv")],
  ["Save workspace", saveWorkspace],
  ["Open workspace…", openWorkspace],
];

export function listenToExport() {
  byId("export").addEventListener("click", (/** @type {MouseEvent} */ event) => {
    // Images and statistics are of the selection, if there is one.
    const title = (/** @type {string} */ name) =>
      hasSelection() ? name.replace(/^Save (image|statistics)/, "Save $1 of the selection") : name;
    const items = EXPORTS.map(([name, act]) => ({ name: title(name), act }));
    openMenu("Save and open", /** @type {HTMLElement} */ (event.currentTarget).getBoundingClientRect(), [
      ...items.slice(0, 4),
      null,
      ...items.slice(4),
    ]);
  });
}
