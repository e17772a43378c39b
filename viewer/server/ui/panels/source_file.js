// The source pane: shows the source line of an entity, and leads from a line to all its entities.

import { request, cancel } from "../net/api.js";
import { resize } from "../view/diagram.js";
import { byId, make, refill } from "../util/dom.js";
import { facts } from "../state/facts.js";
import { formatDuration, groupDigits, formatPercent } from "../util/format.js";
import { overlay } from "../state/overlay_state.js";
import { showNote } from "../util/status_line.js";
import { setSetting, setting } from "../state/address.js";
import { activeFilters, currentGeneration, notifyChange, view } from "../state/view_state.js";

/**
 * The number of highlighted entities of a line, before and after the visited one. More outlines
 * would cover each other.
 */
const MAX_HIGHLIGHTED = 200;
/** Lines shown before and after the current one. Longer tables make the page slow. */
const LINES_AROUND = 1500;

/** @type {HTMLElement} */ const pane = byId("source");
/** @type {(id: string) => Promise<void>} */
let goTo = async () => {};
/**
 * The contents of the pane: file, line and time range; the answer of the server; and for each line
 * the position of the steps through its entities.
 * @type {{ key: string, file: string, line: number, part: { from: number, to: number },
 * answer: any, steps: Map<number, number> }}
 */
let contents = { key: "", file: "", line: 0, part: { from: 0, to: 0 }, answer: null, steps: new Map() };

/** Whether the user is stepping through the entities of a line. */
let isStepping = false;

/** @param {(id: string) => Promise<void>} go shows an entity in its place */
export function listenToSource(go) {
  goTo = go;
}

/** Opens the pane on the source of an entity. @param {string | null} [id] */
export async function openSource(id = view.entity ?? overlay.target) {
  const entity = id ? await facts(id, "source").catch(() => undefined) : undefined;
  if (!id || !entity?.source) {
    showNote(id ? "The trace has no source line for this entity" : "Select an entity first: click it or search for it");
    return;
  }
  pane.hidden = false;
  setSetting("source", "1");
  resize();
  const [file, line] = entity.source;
  const part = { from: view.from, to: view.to };
  const key = JSON.stringify([file, part, activeFilters(), currentGeneration()]);
  if (key === contents.key) {
    // The entities of its lines are known, or being counted.
    contents.line = line;
    fill();
    return;
  }
  contents = { key, file, line, part, answer: null, steps: file === contents.file ? contents.steps : new Map() };
  const ownContents = contents;
  const showAnswer = (/** @type {any} */ answer) => {
    ownContents.answer = answer;
    if (ownContents === contents) fill();
  };
  try {
    const answer = await request("source", { id, ...part }, "source", showAnswer);
    if (answer) showAnswer(answer);
    else if (ownContents === contents) contents.key = "";
  } catch (error) {
    if (ownContents === contents) contents.key = "";
    throw error;
  }
}

/** Opens or closes the pane as the address requires. */
export async function restoreSource() {
  if (setting("source") && view.entity) await openSource();
  else closeSource();
}

/**
 * Follows the chosen entity while the pane is open. Steps through a line keep the time range in
 * which it was counted.
 */
export function followSource() {
  if (pane.hidden || !view.entity) return;
  const isOwnStep = isStepping;
  facts(view.entity, "follow")
    .then((entity) => {
      if (!entity?.source) return;
      if (!isOwnStep) return openSource(view.entity);
      contents.line = entity.source[1];
      fill();
    })
    .catch(() => {});
}

export function closeSource() {
  if (pane.hidden) return false;
  cancel("source");
  pane.hidden = true;
  setSetting("source", null);
  resize();
  return true;
}

function fill() {
  if (!contents.answer) return;
  const { file, line } = contents;
  const { path, text, reason, lines, done } = contents.answer;
  const lineFacts = new Map(lines.map((/** @type {any} */ facts) => [facts.line, facts]));
  const sourceLines = text === null ? [] : text.split("\n");
  const [from, to] = [Math.max(1, line - LINES_AROUND), Math.min(sourceLines.length, line + LINES_AROUND)];
  const shownLines =
    text === null
      ? [...new Set([line, ...lineFacts.keys()])].sort((a, b) => a - b)
      : Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
  const largest = Math.max(1, ...lines.map((/** @type {any} */ facts) => facts.nanos));
  const list = make(
    "ol",
    { class: "lines", "aria-label": `Lines of ${file}`, tabindex: 0 },
    ...shownLines.map((number) =>
      lineElement(number, sourceLines[number - 1] ?? "", lineFacts.get(number), largest, number === line),
    ),
  );
  const [location, scrolled] = [`${file}:${line}`, pane.querySelector(".lines")?.scrollTop ?? 0];
  refill(pane, () =>
    pane.replaceChildren(
      make(
        "header",
        {},
        make("h2", { text: `${file}:${line}`, title: path ?? file }),
        done !== undefined &&
          make(
            "span",
            { class: "hint counting" },
            make("progress", { value: done, "aria-label": "Counted so far" }),
            `counting… ${formatPercent(done)}`,
          ),
        make("button", {
          class: "icon-button",
          "aria-label": "Close the source",
          title: "Close",
          text: "×",
          onclick: closeSource,
        }),
      ),
      ...(reason ? [make("p", { class: "reason", role: "status", text: reason })] : []),
      list,
    ),
  );
  // The scroll position stays while entities are counted.
  if (pane.dataset.location === location) list.scrollTop = scrolled;
  else list.querySelector("[aria-current]")?.scrollIntoView({ block: "center" });
  pane.dataset.location = location;
}

/**
 * @param {number} number
 * @param {string} text
 * @param {any} entities of the line
 * @param {number} largest
 * @param {boolean} current
 */
function lineElement(number, text, entities, largest, current) {
  const bar = make("i", { class: "heat" });
  if (entities) bar.style.width = `${Math.max(4, (entities.nanos / largest) * 100)}%`;
  const description =
    entities &&
    `${groupDigits(entities.count)} of line ${number}${entities.nanos ? `, ${formatDuration(entities.nanos)}` : ""}`;
  return make(
    "li",
    { "aria-current": current ? "true" : null, value: number },
    make("span", { class: "number", text: String(number) }),
    entities
      ? make(
          "button",
          {
            class: "count",
            "data-key": `line ${number}`,
            "aria-label": `Highlight ${description}`,
            title: `${description}: highlight them and go to the next`,
            text: groupDigits(entities.count),
            onclick: () => showNext(number, entities),
          },
          bar,
        )
      : make("span", { class: "count" }),
    make("code", { text: text || " " }),
  );
}

/**
 * Lights the entities of a line, and moves to the next of them. Entities that the answer did not
 * list are requested, a page at a time.
 * @param {number} number
 * @param {any} entities
 */
async function showNext(number, entities) {
  const index = (contents.steps.get(number) ?? 0) % entities.count;
  const last = entities.ids[entities.ids.length - 1];
  if (index >= entities.ids.length) {
    const filter = `at:"${contents.file}:${number}"`;
    const page = await request("find", { text: filter, id: last, direction: 1, ...contents.part }, "line").catch(
      () => undefined,
    );
    if (!page) return;
    entities.ids.push(...page.hits.map((/** @type {any} */ hit) => hit.id));
  }
  const id = entities.ids[index];
  if (!id) return;
  contents.steps.set(number, index + 1);
  const highlighted = entities.ids.slice(Math.max(0, index - MAX_HIGHLIGHTED), index + MAX_HIGHLIGHTED);
  isStepping = true;
  await goTo(id).finally(() => {
    isStepping = false;
  });
  overlay.stickyHighlights = highlighted;
  showNote(
    `${groupDigits(index + 1)} of ${groupDigits(entities.count)} of line ${number}; ` +
      `${entities.count > highlighted.length ? `the ${groupDigits(highlighted.length)} around it` : "all"} ` +
      "are highlighted",
  );
  notifyChange("selection");
}
