// The whole view as a file that can be applied to another trace. Rows, types and values are stored
// by name, as numbers have a meaning only in one trace.

import { send } from "../net/api.js";
import { fileName, make, saveFile } from "../util/dom.js";
import { readRuns } from "../util/number_runs.js";
import { showNote } from "../util/status_line.js";
import { describeInvalidFilter, storeView } from "./address.js";
import { activeFilters, notifyChange, view } from "./view_state.js";

/** @typedef {"containers" | "types" | "values"} Kind */
/** @typedef {Record<Kind, Record<string, any>>} Names numbers and their names */

/**
 * Parts of an address with numbers: their kind, and the words for one or several of them.
 * @type {Record<string, [Kind, string, string]>}
 */
const PARTS = {
  pinned: ["containers", "pinned row", "pinned rows"],
  gone: ["containers", "hidden row", "hidden rows"],
  toggled: ["containers", "folded or unfolded row", "folded or unfolded rows"],
  moved: ["containers", "moved row", "moved rows"],
  selected: ["containers", "selected row", "selected rows"],
  hidden: ["types", "hidden type", "hidden types"],
  gradients: ["types", "gradient", "gradients"],
  dimmed: ["values", "dimmed value", "dimmed values"],
};

/** The number for the end of the siblings, which is no container. */
const END = "0";

/**
 * @param {URLSearchParams} parts
 * @param {string} part
 * @returns {string[][]} numbers that belong together
 */
const numbers = (parts, part) =>
  part === "selected"
    ? readRuns(parts.get(part) ?? "").map((number) => [String(number)])
    : (parts.get(part) ?? "")
        .split(" ")
        .filter((text) => /^\d+(-\d+)?$/.test(text))
        .map((text) => text.split("-"));

/** The inspected container. @param {URLSearchParams} parts */
const inspectedContainer = (parts) => /^c(\d+)$/.exec(parts.get("chosen") ?? "")?.[1];

/** The numbers in an address. @param {URLSearchParams} parts @returns {Record<Kind, string[]>} */
function allNumbers(parts) {
  /** @type {Record<Kind, Set<string>>} */
  const all = { containers: new Set(), types: new Set(), values: new Set() };
  for (const [part, [kind]] of Object.entries(PARTS)) {
    for (const group of numbers(parts, part))
      group.forEach((number, index) => {
        if (index === 0 || number !== END) all[kind].add(number);
      });
  }
  const chosen = inspectedContainer(parts);
  if (chosen) all.containers.add(chosen);
  return { containers: [...all.containers], types: [...all.types], values: [...all.values] };
}

/**
 * @param {string} address
 * @param {string} filters the filters that the rows result from
 * @returns {Promise<Names>} the names of its numbers
 */
export async function namesOf(address, filters) {
  const all = allNumbers(new URLSearchParams(address));
  const answer = await send(
    "names",
    Object.fromEntries(Object.entries(all).map(([kind, list]) => [kind, list.map(Number)])),
    filters,
  );
  const named = (/** @type {Kind} */ kind) =>
    Object.fromEntries(
      all[kind].map((number, index) => [number, answer[kind][index]]).filter(([, name]) => name !== null),
    );
  return { containers: named("containers"), types: named("types"), values: named("values") };
}

/** The displayed form of a name. @param {Kind} kind @param {any} name */
const displayName = (kind, name) =>
  kind === "containers"
    ? (name.path[name.path.length - 1] ?? "the trace")
    : kind === "types"
      ? name[name.length - 1]
      : name[1];

/**
 * Converts an address of another trace to this trace.
 * @param {string} address
 * @param {Names} names
 * @param {string} filters the filters that the rows result from
 * @returns {Promise<[string, string]>} the address, and a description of its parts that this trace
 * does not have
 */
export async function renumber(address, names, filters) {
  const parts = new URLSearchParams(address);
  const kinds = /** @type {Kind[]} */ (["containers", "types", "values"]);
  const named = Object.fromEntries(kinds.map((kind) => [kind, Object.entries(names?.[kind] ?? {})]));
  const answer = await send(
    "numbers",
    Object.fromEntries(kinds.map((kind) => [kind, named[kind].map(([, name]) => name)])),
    filters,
  );
  const localNumbers = Object.fromEntries(
    kinds.map((kind) => [kind, new Map(named[kind].map(([number], index) => [number, answer[kind][index]]))]),
  );
  const missing = [];
  for (const [part, [kind, singular, several]] of Object.entries(PARTS)) {
    /** @type {Set<string>} */
    const unknown = new Set();
    const groups = numbers(parts, part)
      .map((group) =>
        group.map((number, index) => {
          if (index > 0 && number === END) return END;
          const localNumber = localNumbers[kind].get(number) ?? null;
          if (localNumber === null)
            unknown.add(names?.[kind]?.[number] ? displayName(kind, names[kind][number]) : `number ${number}`);
          return localNumber;
        }),
      )
      .filter((group) => group.every((number) => number !== null));
    if (groups.length) parts.set(part, groups.map((group) => group.join("-")).join(" "));
    else parts.delete(part);
    const list = [...unknown];
    if (list.length)
      missing.push(
        `${list.length} ${list.length === 1 ? singular : several} ` +
          `(${list.slice(0, 5).join(", ")}${list.length > 5 ? ", …" : ""})`,
      );
  }
  const chosen = inspectedContainer(parts);
  const container = chosen ? (localNumbers.containers.get(chosen) ?? null) : null;
  // Entities have no names that another trace knows.
  if (container === null) parts.delete("chosen");
  else parts.set("chosen", `c${container}`);
  parts.delete("of");
  // Categories are kept by name for all traces of a program.
  parts.delete("categories");
  return [String(parts), missing.join("; ")];
}

/** The identity of the trace, so that its workspace needs no names. */
let traceName = "";

/** @param {string} name */
export function setTrace(name) {
  traceName = name;
}

/**
 * Saves the filters as `tumit view --filters` reads them, and the rest of the view in the format of
 * the address, with the names of its numbers.
 */
export async function saveWorkspace() {
  storeView();
  const page = location.hash.slice(1);
  const filters = view.filters.map(([text, on]) => (on ? text : { filter: text, on: false }));
  // The file has the earliest version that can express its filters.
  const { version } = await send(
    "migrated_filters",
    view.filters.map(([text]) => text),
  );
  const file = {
    format: "tumit-view",
    version,
    filters,
    page,
    trace: traceName,
    names: await namesOf(page, activeFilters()),
  };
  saveFile(`${fileName()}.tumit-view`, new Blob([`${JSON.stringify(file, null, 2)}\n`], { type: "application/json" }));
}

export function openWorkspace() {
  const input = make("input", {
    type: "file",
    accept: ".tumit-view,application/json",
    onchange: async () => {
      const text = await input.files?.[0]?.text();
      if (text === undefined) return;
      try {
        await readWorkspace(text);
      } catch (error) {
        showNote(`The workspace could not be opened: ${error instanceof Error ? error.message : error}`);
      }
    },
  });
  input.click();
}

/** @param {string} text */
async function readWorkspace(text) {
  /** @type {any} */ let file = null;
  try {
    file = JSON.parse(text);
  } catch {
    // The error is reported below.
  }
  if (file?.format !== "tumit-view" || ![1, 2].includes(file.version) || !Array.isArray(file.filters)) {
    showNote(
      file?.format === "tumit-view"
        ? "Another version of Tumit saved this workspace"
        : file === null
          ? "This is not a workspace: it is not valid JSON and may be truncated"
          : "This is not a workspace: its format is not tumit-view",
    );
    return;
  }
  const error = describeInvalidFilter(file.filters, (entry) => (typeof entry === "string" ? entry : entry?.filter));
  if (error) {
    showNote(`The workspace was not opened: ${error}`);
    return;
  }
  /** @type {[string, boolean][]} */
  const filters = file.filters.map((/** @type {any} */ entry) =>
    typeof entry === "string" ? [entry, true] : [entry.filter, entry.on !== false],
  );
  if (file.version === 1) {
    const today = await send(
      "migrated_filters",
      filters.map(([text]) => text),
    );
    filters.forEach((filter, index) => {
      filter[0] = today.filters[index];
    });
  }
  if (typeof file.page !== "string" || !file.page) {
    view.filters = filters;
    storeView();
    notifyChange("rows");
    return;
  }
  const on = filters.filter((filter) => filter[1]).map((filter) => filter[0]);
  let [page, missing] = [file.page, ""];
  if (file.trace !== traceName) {
    const hasNumbers = Object.values(allNumbers(new URLSearchParams(page))).some((list) => list.length > 0);
    if (hasNumbers && typeof file.names !== "object") {
      showNote(
        "The workspace was not opened: an earlier version of Tumit saved it and identified rows and values by " +
          'numbers, which differ in another trace. To open only its filters, delete its line "page"',
      );
      return;
    }
    [page, missing] = await renumber(page, file.names, on.length ? JSON.stringify(on) : "");
  }
  const parts = new URLSearchParams(page);
  parts.set("filters", JSON.stringify(filters.map(([text, isOn]) => (isOn ? text : [text]))));
  location.hash = String(parts);
  showNote(missing ? `Not in this trace, but in the workspace: ${missing}` : "");
}
