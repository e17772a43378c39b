// The flame graph: a bar for each path of calls, below that of its caller. The width of a bar is its
// time. A click or Enter shows a bar across the full width.

import { make } from "../util/dom.js";
import { formatDuration, formatPercent, groupDigits } from "../util/format.js";

/** Height of a bar with its gap, in pixels. */
const BAR = 20;
/** Narrower bars have no text, in pixels. */
const LEAST_TEXT_WIDTH = 28;
/** The width of the graph before it is on the page, in pixels. */
const USUAL_WIDTH = 600;
/** Narrower bars are left out. In percent of the width. */
const LEAST_WIDTH = 0.12;

/**
 * The call tree, as the server sends it. A node is `[name, caller, calls, total, self]`.
 * @typedef {{ total: number, names: { name: string, color: string, ink: string }[], hidden: number,
 * nodes: [number, number, number, number, number][] }} CallTree
 */

/**
 * A bar: its node, left edge and width in percent, and level.
 * @typedef {{ node: number, left: number, width: number, level: number }} FlameBar
 */

export class FlameGraph {
  /** The node across the full width; -1 is the whole tree. */
  #zoomed = -1;
  /** The node that the keyboard reaches. */
  #focused = -1;
  #searched = "";
  /** @type {number[][]} */ #callees;
  /** @type {number[]} */ #roots = [];

  /**
   * @param {CallTree} tree
   * @param {{ findValue: (name: string) => void, isBottomUp: boolean }} options
   */
  constructor(tree, options) {
    this.tree = tree;
    this.options = options;
    this.#callees = tree.nodes.map(() => []);
    for (const [index, [, caller]] of tree.nodes.entries()) (this.#callees[caller] ?? this.#roots).push(index);
    this.bars = make("div", { class: "flame-bars", role: "tree", "aria-label": "Flame graph" });
    this.facts = make("p", { class: "flame-facts", role: "status" });
    this.element = make("div", { class: "flame-graph" }, this.facts, this.bars);
    this.bars.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#pressKey(event));
    this.bars.addEventListener("pointerover", (/** @type {PointerEvent} */ event) => this.#showFacts(nodeOf(event)));
    this.bars.addEventListener("pointerleave", () => this.#showFacts(this.#zoomed));
    this.#draw();
  }

  /** Marks the bars with a text in their names. @param {string} text */
  mark(text) {
    this.#searched = text.toLowerCase();
    for (const bar of this.bars.children) this.#markBar(/** @type {HTMLElement} */ (bar));
  }

  /** @param {HTMLElement} bar */
  #markBar(bar) {
    const name = this.#name(Number(bar.dataset.node)).name.toLowerCase();
    const isFound = this.#searched !== "" && name.includes(this.#searched);
    bar.classList.toggle("found", isFound);
    bar.classList.toggle("dimmed", this.#searched !== "" && !isFound);
  }

  /** @param {number} node */
  #name(node) {
    return this.tree.names[this.tree.nodes[node][0]];
  }

  /** The sums of a node: its calls, its time and its share of the whole time. @param {number} node */
  #text(node) {
    const [, , calls, total, self] = this.tree.nodes[node];
    const share = formatPercent(total / Math.max(this.tree.total, 1));
    const count = `${groupDigits(calls)} call${calls === 1 ? "" : "s"}`;
    const own = this.options.isBottomUp ? "" : `, self ${formatDuration(self)}`;
    return `${this.#name(node).name}: ${formatDuration(total)} (${share})${own}, ${count}`;
  }

  /** The bars of the callers of the zoomed node, which are as wide as the graph, and those below it. */
  #layOut() {
    /** @type {FlameBar[]} */ const bars = [];
    const callers = [];
    for (let node = this.#zoomed; node >= 0; node = this.tree.nodes[node][1]) callers.unshift(node);
    for (const [level, node] of callers.entries()) bars.push({ node, left: 0, width: 100, level });
    const whole = this.#zoomed < 0 ? this.tree.total : this.tree.nodes[this.#zoomed][3];
    /** @type {[number[], number, number][]} */
    const pending = [[this.#zoomed < 0 ? this.#roots : this.#callees[this.#zoomed], 0, callers.length]];
    for (const [nodes, start, level] of pending) {
      let left = start;
      for (const node of nodes) {
        const width = (this.tree.nodes[node][3] / Math.max(whole, 1)) * 100;
        if (width >= LEAST_WIDTH) {
          bars.push({ node, left, width, level });
          pending.push([this.#callees[node], left, level + 1]);
        }
        left += width;
      }
    }
    return bars;
  }

  #draw() {
    const bars = this.#layOut();
    if (!bars.some(({ node }) => node === this.#focused)) this.#focused = bars[0]?.node ?? -1;
    const levels = Math.max(0, ...bars.map(({ level }) => level + 1));
    this.bars.style.height = `${levels * BAR}px`;
    this.bars.replaceChildren(...bars.map((bar) => this.#bar(bar)));
    this.#showFacts(this.#zoomed);
  }

  /** @param {FlameBar} bar */
  #bar({ node, left, width, level }) {
    const { name, color, ink } = this.#name(node);
    const isCaller = level < this.#depth(this.#zoomed);
    const bar = make("button", {
      class: isCaller ? "caller" : null,
      role: "treeitem",
      "aria-level": level + 1,
      "aria-label": this.#text(node),
      "aria-selected": String(node === this.#zoomed),
      tabindex: node === this.#focused ? 0 : -1,
      "data-node": node,
      text: (width / 100) * (this.bars.clientWidth || USUAL_WIDTH) >= LEAST_TEXT_WIDTH ? name : "",
      onclick: () => this.#zoom(node === this.#zoomed ? -1 : node),
    });
    Object.assign(bar.style, {
      left: `${left}%`,
      width: `${width}%`,
      top: `${level * BAR}px`,
      background: color,
      color: ink,
    });
    this.#markBar(bar);
    return bar;
  }

  /** @param {number} node */
  #depth(node) {
    let depth = 0;
    for (let caller = node; caller >= 0; caller = this.tree.nodes[caller][1]) depth += 1;
    return depth;
  }

  /** Shows a node across the full width. @param {number} node -1 for the whole tree */
  #zoom(node) {
    const hadFocus = this.bars.contains(document.activeElement);
    this.#zoomed = node;
    if (node >= 0) this.#focused = node;
    this.#draw();
    if (hadFocus) this.#focus(this.#focused);
  }

  /** @param {number} node */
  #focus(node) {
    const bar = /** @type {HTMLElement | null} */ (this.bars.querySelector(`[data-node="${node}"]`));
    if (!bar) return;
    const before = /** @type {HTMLElement | null} */ (this.bars.querySelector('[tabindex="0"]'));
    if (before) before.tabIndex = -1;
    bar.tabIndex = 0;
    bar.focus();
    this.#focused = node;
    this.#showFacts(node);
  }

  /** The facts of a node, and the actions for the zoomed one. @param {number} node */
  #showFacts(node) {
    const shown = node >= 0 ? node : this.#zoomed;
    if (shown < 0) {
      const hidden = this.tree.hidden > 0 ? `; ${groupDigits(this.tree.hidden)} short calls are left out` : "";
      const question = this.options.isBottomUp
        ? "self time, with the callers below"
        : "total time, with the callees below";
      this.facts.textContent = `${formatDuration(this.tree.total)}: ${question}${hidden}`;
      return;
    }
    const actions =
      shown === this.#zoomed
        ? [
            make("button", {
              class: "text-button",
              text: "Find in the diagram",
              onclick: () => this.options.findValue(this.#name(shown).name),
            }),
            make("button", { class: "text-button", text: "Show all", onclick: () => this.#zoom(-1) }),
          ]
        : [];
    this.facts.replaceChildren(this.#text(shown), ...actions);
  }

  /** @param {KeyboardEvent} event */
  #pressKey(event) {
    const node = nodeOf(event);
    if (node < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    const caller = this.tree.nodes[node][1];
    const siblings = caller < 0 ? this.#roots : this.#callees[caller];
    const position = siblings.indexOf(node);
    const next = {
      ArrowUp: caller,
      ArrowDown: this.#callees[node][0],
      ArrowLeft: siblings[position - 1],
      ArrowRight: siblings[position + 1],
    }[event.key];
    if (event.key === "Escape" && this.#zoomed >= 0) this.#zoom(-1);
    else if (!event.key.startsWith("Arrow")) return;
    else if (next !== undefined && next >= 0) this.#focus(next);
    event.preventDefault();
    event.stopPropagation();
  }
}

/** The node of the bar of an event, -1 if there is none. @param {Event} event */
function nodeOf(event) {
  const bar = /** @type {HTMLElement} */ (event.target).closest("[data-node]");
  return bar ? Number(/** @type {HTMLElement} */ (bar).dataset.node) : -1;
}
