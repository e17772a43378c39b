// The units that are pointed at, in a card or in the diagram. All cards and the rows of the diagram
// highlight them. A unit is given by the number of its container.

/** The container containersAbove each container. @type {Map<number, number>} */
let parents = new Map();

/**
 * What is pointed at: units, and if two sets of them communicate, the pair of sets.
 * @typedef {{ containers: number[], pair: [number[], number[]] | null, isInDiagram: boolean }} Pointed
 */
/** @type {Pointed} */
export const pointed = { containers: [], pair: null, isInDiagram: false };
/** The pointed containers, and those above them. */
let pointedContainers = new Set();
let containersAbove = new Set();
/** @type {(() => void)[]} */
const listeners = [];

/** @param {() => void} listener called after each change */
export function onPointed(listener) {
  listeners.push(listener);
}

/** @param {[number, number][]} pairs containers, each with the container above it */
export function setParents(pairs) {
  parents = new Map(pairs);
}

/** The containers above a container, the innermost first. @param {number} container */
export function ancestorsOf(container) {
  const ancestors = [];
  for (
    let next = parents.get(container);
    next !== undefined && ancestors.length < parents.size;
    next = parents.get(next)
  )
    ancestors.push(next);
  return ancestors;
}

/**
 * @param {number[]} containers
 * @param {[number[], number[]] | null} [pair]
 * @param {boolean} [isInDiagram]
 */
export function pointUnits(containers, pair = null, isInDiagram = false) {
  const isSame =
    pointed.containers.join() === containers.join() && JSON.stringify(pointed.pair) === JSON.stringify(pair);
  if (isSame) return;
  Object.assign(pointed, { containers, pair, isInDiagram });
  pointedContainers = new Set(containers);
  containersAbove = new Set(containers.flatMap(ancestorsOf));
  listeners.forEach((listener) => listener());
}

/**
 * Whether a container is pointed at, or contains or is within one that is.
 * @param {number} container
 */
export function isPointed(container) {
  return (
    pointedContainers.size > 0 &&
    (pointedContainers.has(container) ||
      containersAbove.has(container) ||
      ancestorsOf(container).some((ancestor) => pointedContainers.has(ancestor)))
  );
}
