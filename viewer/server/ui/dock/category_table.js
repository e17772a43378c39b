// The table of categories: the user changes the category of a value here.

import { byId, make, refill } from "../util/dom.js";
import { assign, assignedCategory, CATEGORIES, categorizedValues, loadCategories } from "./category_list.js";

const ORIGINS = { guess: "guess", trace: "from the trace", filter: "from a filter" };

/** @type {HTMLElement} */ const box = byId("categories");

export async function showCategories() {
  await loadCategories();
  refill(box, fill);
}

function fill() {
  const row = (/** @type {import("./category_list.js").CategorizedValue} */ entry) => {
    const assigned = assignedCategory(entry.value);
    const current = assigned ?? entry.category;
    const choose = make(
      "select",
      {
        "aria-label": `Category of ${entry.name}`,
        "data-key": `category ${entry.value}`,
        onchange: () => {
          assign(entry.value, choose.value === entry.category ? null : choose.value);
          refill(box, fill);
        },
      },
      ...CATEGORIES.map(([word]) =>
        make("option", { value: word, text: word, ...(word === current ? { selected: "" } : {}) }),
      ),
    );
    const origin = assigned ? "chosen" : ORIGINS[entry.origin];
    return make(
      "tr",
      {},
      make("th", { scope: "row", text: entry.name }),
      make("td", {}, choose),
      make("td", { class: `origin ${assigned ? "chosen" : ""}`, text: origin }),
    );
  };
  /** @type {Map<string, import("./category_list.js").CategorizedValue[]>} */
  const types = new Map();
  for (const entry of categorizedValues()) types.set(entry.type, [...(types.get(entry.type) ?? []), entry]);
  // Types that determine the categories of units are first.
  const groups = [...types].sort(([, a], [, b]) => Number(b[0].counts) - Number(a[0].counts));
  const bodies = groups.map(([type, entries]) => {
    const hint = !entries[0].counts && make("small", { text: " does not count: option States" });
    const head = make("tr", { class: "type" }, make("th", { scope: "rowgroup", colspan: 3 }, type, hint));
    return make("tbody", { class: entries[0].counts ? "" : "uncounted" }, head, ...entries.map(row));
  });
  const head = ["Value", "Category", "Origin"].map((text) => make("th", { scope: "col", text }));
  const meanings = CATEGORIES.map(([word, meaning]) => `${word}: ${meaning[0].toLowerCase()}${meaning.slice(1)}`).join(
    "; ",
  );
  box.replaceChildren(
    make("p", {
      class: "hint",
      text:
        `The category of a unit is that of its innermost state. ${meanings[0].toUpperCase()}${meanings.slice(1)}. ` +
        "A guess follows from the name; choose another category where it is wrong. " +
        "The choice is kept for all traces of this program.",
    }),
    bodies.length
      ? make("table", { "aria-label": "Categories" }, make("thead", {}, make("tr", {}, ...head)), ...bodies)
      : make("p", { text: "The trace has no states." }),
  );
}
