// The inspector: every field of one entity, each with a button to copy it, and links to other
// entities.

import { isolate, byId, joinNames, make, refill } from "../util/dom.js";
import { factPairs } from "../state/facts.js";
import { formatDuration, groupDigits } from "../util/format.js";
import { operationPairs, operationSection } from "./operation_facts.js";

/**
 * Name, text to copy, and the displayed text where it differs.
 * @typedef {[string, string, string?]} FactPair
 */

/** The number of related entities listed at first, so that the facts stay on the screen. */
const MAX_LISTED = 12;

/**
 * Fills the inspector.
 * @param {any} facts
 * @param {import("../state/overlay_state.js").ChainLink[]} chainLinks the chain of links through it
 * @param {{ close: () => void, go: (id: string) => void, zoom: () => void,
 *   step: (offset: number, sameValue: boolean) => void, chain: () => void, source: () => void,
 *   highlight: (id: string | null) => void }} actions
 */
export function fillInspector(facts, chainLinks, actions) {
  /** @type {FactPair[]} */
  const pairs = [
    ...factPairs(facts),
    ["In", facts.containers.join(" › "), joinNames(facts.containers)],
    ["Kind", facts.types.join(" › "), joinNames(facts.types)],
  ];
  if (facts.to > facts.from) pairs.unshift(["Duration", formatDuration(facts.to - facts.from)]);
  const ofOperation = facts.operation ? operationPairs(facts.operation, facts.from) : [];
  const allText = () =>
    [["Name", facts.name], ...pairs, ...ofOperation].map(([name, value]) => `${name}\t${value}`).join("\n");
  const stepButton = (
    /** @type {string} */ label,
    /** @type {string} */ sign,
    /** @type {string} */ key,
    /** @type {number} */ offset,
  ) =>
    make("button", {
      class: "icon-button",
      "aria-label": label,
      title: `${label}  ${key}`,
      text: sign,
      onclick: () => actions.step(offset, false),
    });
  refill(byId("inspector"), () =>
    byId("inspector").replaceChildren(
      make(
        "header",
        {},
        make("h2", { text: facts.name }),
        stepButton("Previous entity of the same type", "‹", ",", -1),
        stepButton("Next entity of the same type", "›", ".", 1),
        make("button", {
          class: "icon-button",
          "aria-label": "Close the inspector",
          title: "Close  Esc",
          onclick: actions.close,
          text: "×",
        }),
      ),
      factList(pairs, actions.source),
      ...(facts.operation ? [operationSection(facts.operation, facts.id, facts.from, actions)] : []),
      ...(chainLinks.length > 0 ? [chainList(facts.id, chainLinks, actions)] : []),
      relatedList(facts, actions, MAX_LISTED),
      inspectorFooter(facts, chainLinks.length > 0, allText, actions),
    ),
  );
  byId("inspector").hidden = false;
}

/** @param {FactPair[]} pairs @param {() => void} showSource */
function factList(pairs, showSource) {
  const list = make("dl");
  for (const [name, text, shownText = text] of pairs) {
    const value =
      name === "Source"
        ? make("button", { class: "link", text, title: "Show the source  s", onclick: showSource })
        : make("span", { text: shownText });
    const copy = copyButton(`Copy ${name}`, () => text);
    list.append(make("dt", { text: name }), make("dd", {}, value, copy));
  }
  return list;
}

/**
 * The buttons below the facts.
 * @param {any} facts
 * @param {boolean} isChained whether the chain of links is shown
 * @param {() => string} allText
 * @param {{ chain: () => void, zoom: () => void }} actions
 */
function inspectorFooter(facts, isChained, allText, { chain, zoom }) {
  return make(
    "footer",
    {},
    copyButton("Copy all", allText, true),
    /[sl]/.test(facts.id[0]) &&
      make("button", {
        text: "Chain",
        "aria-pressed": String(isChained),
        title: "Show the chain of links through this entity  c",
        onclick: chain,
      }),
    facts.to > facts.from && make("button", { text: "Zoom to entity", title: "z", onclick: zoom }),
  );
}

/**
 * The links of a chain, in order.
 * @param {string} id the shown entity
 * @param {import("../state/overlay_state.js").ChainLink[]} chainLinks
 * @param {{ go: (id: string) => void }} actions
 */
function chainList(id, chainLinks, actions) {
  return make(
    "div",
    { class: "related" },
    make("h3", { text: `Chain (${groupDigits(chainLinks.length)})` }),
    make(
      "ol",
      { class: "link-chain", "aria-label": "Chain of links" },
      ...chainLinks.map((link) =>
        make(
          "li",
          {},
          make("button", {
            text: `${isolate(link.name)} · ${joinNames(link.endpoint_names, " → ")}`,
            "aria-current": link.id === id ? "true" : null,
            onclick: () => actions.go(link.id),
          }),
        ),
      ),
    ),
  );
}

/**
 * @param {any} facts
 * @param {{ go: (id: string) => void, highlight: (id: string | null) => void }} actions
 * @param {number} limit
 * @returns {HTMLElement}
 */
function relatedList(facts, actions, limit) {
  const box = make("div", { class: "related" });
  if (facts.related.length) box.append(make("h3", { text: `Related (${groupDigits(facts.related.length)})` }));
  for (const related of facts.related.slice(0, limit)) {
    const name = joinNames([related.name, ...related.path.slice(-1)], " · ");
    box.append(
      make("button", {
        text: name,
        onclick: () => actions.go(related.id),
        onpointerenter: () => actions.highlight(related.id),
        onpointerleave: () => actions.highlight(null),
        onfocus: () => actions.highlight(related.id),
        onblur: () => actions.highlight(null),
      }),
    );
  }
  if (facts.related.length > limit) {
    box.append(
      make("button", {
        text: `${groupDigits(facts.related.length - limit)} more`,
        onclick: () => box.replaceWith(relatedList(facts, actions, facts.related.length)),
      }),
    );
  }
  return box;
}

/**
 * A button that copies.
 * @param {string} name
 * @param {() => string} text
 * @param {boolean} [withName] shows the name instead of a sign
 */
function copyButton(name, text, withName = false) {
  const button = make("button", {
    class: withName ? "" : "copy-button",
    "aria-label": name,
    title: name,
    onclick: async () => {
      const copied = await copyText(text());
      button.classList.add("done");
      button.setAttribute("aria-label", copied ? "Copied" : "Select the text to copy it");
      if (withName) button.textContent = copied ? "Copied" : "Select the text";
      window.setTimeout(() => {
        button.classList.remove("done");
        button.setAttribute("aria-label", name);
        if (withName) button.textContent = name;
      }, 1500);
    },
  });
  if (withName) button.textContent = name;
  else {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", "0 0 16 16");
    svg.setAttribute("aria-hidden", "true");
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", "M6 5.5h6.5v7H6zM3.5 10.5v-7H10");
    svg.append(path);
    button.append(svg);
  }
  return button;
}

/** @param {string} text */
async function copyText(text) {
  try {
    // The characters that isolate text directions on the page are no part of a name.
    await navigator.clipboard.writeText(text.replace(/[\u2066-\u2069]/g, ""));
    return true;
  } catch {
    return false;
  }
}
