// The contents of the diagram's overlay, which `view/overlay.js` draws.

/** The position of the pointer, and the time range being chosen, to zoom to. */
export const overlay = {
  /** @type {number | null} */ x: null,
  /** @type {number | null} */ y: null,
  /** The row that is pointed at. @type {number | null} */ pointedRow: null,
  /** @type {[number, number] | null} */ dragRange: null,
  /** Where the pointer would snap to. @type {{ time: number, y: number } | null} */ snap: null,
  /** @type {string[]} */ highlighted: [],
  /** Entities that stay highlighted until another one is chosen. @type {string[]} */ stickyHighlights: [],
  /** The chain of links through the chosen entity. @type {ChainLink[]} */ chainLinks: [],
  /** The messages of the pointed mark of a card. @type {LinkArrow[]} */ messages: [],
  /** @type {string | null} */ target: null,
};

/**
 * A link. `start` and `end` are the containers at its endpoints with their ancestors, the innermost
 * last.
 * @typedef {{ id: string, from: number, to: number, start: number[], end: number[] }} LinkArrow
 * A link of a chain.
 * @typedef {LinkArrow & { name: string, endpoint_names: [string, string] }} ChainLink
 */
