// The form with the options of a card, made of the list of options.

import { make } from "../../util/dom.js";
import { cards, views, viewOf } from "./card_list.js";
import { saveCard } from "./card_request.js";
import { layoutForm } from "../layouts.js";

let formCount = 0;

/** @param {string} text */
const capitalise = (text) => text[0].toUpperCase() + text.slice(1);

/**
 * The text that the page shows for a value of an option.
 * @param {import("./card_list.js").Option} option
 * @param {string} value
 */
const titleOf = (option, value) => (option.titles[value] ? capitalise(option.titles[value]) : value);

/** @param {import("./card_list.js").Option} option */
const defaultText = (option) => (option.default ? `Default: ${option.default}` : "Default");

/**
 * A text in which words between backticks are code.
 * @param {string} text
 */
const withCode = (text) => text.split("`").map((part, index) => (index % 2 ? make("code", { text: part }) : part));

/**
 * @param {import("./card_list.js").Card} card
 * @param {() => [number, number, number][]} positions of the nodes of its drawing
 * @param {() => void} onChange
 * @param {() => void} onClose
 */
export function optionsForm(card, positions, onChange, onClose) {
  const view = viewOf(card.name);
  formCount += 1;
  const field = (/** @type {string} */ name) => optionField(card, name, `${formCount}-${name}`, onChange);
  const reset = () => {
    card.options = {};
    for (const otherCard of cards) for (const name of views().of_all) delete otherCard.options[name];
    onChange();
    onClose();
  };
  return make(
    "form",
    {
      class: "card-options",
      "aria-label": `Options of ${view?.title ?? card.name}`,
      autocomplete: "off",
      onsubmit: (/** @type {Event} */ event) => event.preventDefault(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Escape") {
          event.stopPropagation();
          onClose();
        }
      },
    },
    ...(view?.options ?? []).flatMap((name) => [
      field(name),
      name === "layout" &&
        layoutForm(card, positions, () => {
          onChange();
          onClose();
        }),
    ]),
    make("h4", { text: "Options of all cards" }),
    ...(view?.common ?? views().of_all).map(field),
    make(
      "p",
      { class: "card-form-buttons" },
      make("button", { class: "quiet-button", text: "Save SVG", onclick: () => saveCard(card, "svg") }),
      make("button", { class: "quiet-button", text: "Save CSV", onclick: () => saveCard(card, "csv") }),
      make("span", { class: "spacer" }),
      make("button", { class: "quiet-button", text: "Reset", onclick: reset }),
      make("button", { class: "quiet-button", text: "Done", onclick: onClose }),
    ),
  );
}

/**
 * A field for an option: a choice if the option has words only, otherwise text with suggestions.
 * @param {import("./card_list.js").Card} card
 * @param {string} name
 * @param {string} id
 * @param {() => void} onChange
 */
function optionField(card, name, id, onChange) {
  const option = views().options.find((candidate) => candidate.name === name);
  if (!option) return null;
  const value = card.options[name] ?? "";
  const suggestions = [
    ...new Set([...(name === "layout" ? views().layouts : []), ...option.words, ...(views().names[name] ?? [])]),
  ];
  const set = (/** @type {string} */ text) => {
    // The options of all views determine the units, so that all cards have the same ones.
    for (const changedCard of views().of_all.includes(name) ? cards : [card]) {
      if (text.trim()) changedCard.options[name] = text.trim();
      else delete changedCard.options[name];
    }
    onChange();
  };
  const label = make("label", {}, make("span", { text: capitalise(name) }));
  const isOpen = option.is_free && option.words.length > 0;
  const field = { option, id, value, suggestions, isOpen, set };
  const isList = !option.is_free || isOpen || ((views().names[name] ?? []).length > 0 && suggestions.length <= 40);
  const isChoice = suggestions.length > 0 && isList && (value === "" || suggestions.includes(value));
  label.append(...(isChoice ? [optionSelect(field)] : optionInput(field)));
  return make("div", { class: "card-option" }, label, make("small", { id: hintId(id) }, ...withCode(option.help)));
}

/** The id of the text that explains an option. @param {string} id */
const hintId = (id) => `option-hint-${id}`;

// It has a space, so that it is no word of an option.
const OTHER_VALUE = "other value";

/**
 * A field for an option. `isOpen` means that values other than the words are possible.
 * @typedef {{ option: any, id: string, value: string, suggestions: string[], isOpen: boolean,
 *   set: (text: string) => void }} OptionField
 */

/** A choice of values. The last choice can replace it with an input. @param {OptionField} field */
function optionSelect(field) {
  const { option, value, suggestions, isOpen } = field;
  const choose = () => {
    if (element.value !== OTHER_VALUE) {
      field.set(element.value);
      return;
    }
    const elements = optionInput(field);
    element.replaceWith(...elements);
    elements[0].focus();
  };
  const element = make(
    "select",
    { "aria-describedby": hintId(field.id), onchange: choose },
    make("option", { value: "", text: defaultText(option) }),
    ...suggestions.map((word) =>
      make("option", { value: word, text: titleOf(option, word), ...(word === value ? { selected: "" } : {}) }),
    ),
    isOpen && make("option", { value: OTHER_VALUE, text: "Other…" }),
  );
  return element;
}

/** An input with suggestions. @param {OptionField} field @returns {HTMLElement[]} */
function optionInput({ option, id, value, suggestions, isOpen, set }) {
  const list = `option-list-${id}`;
  const element = make("input", {
    type: "text",
    value,
    placeholder: isOpen ? option.forms : defaultText(option),
    spellcheck: "false",
    "aria-describedby": hintId(id),
    list: suggestions.length ? list : null,
    onchange: () => set(element.value),
  });
  return suggestions.length
    ? [
        element,
        make(
          "datalist",
          { id: list },
          ...suggestions.map((word) => make("option", { value: word, label: titleOf(option, word) })),
        ),
      ]
    : [element];
}
