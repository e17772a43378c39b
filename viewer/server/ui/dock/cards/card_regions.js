// The places of the marks of a drawing (api/cards/region_message.rs): finds the mark at a point,
// and outlines marks.

/**
 * A region. `units` has the containers of each mark; for pairs, those of each row and column; for
 * lanes, those of each lane. Lanes are the rows of a diagram, with columns over time as marks.
 * @typedef {{ kind: "grid" | "times" | "lanes" | "spokes" | "points" | "edges", marks: number,
 * frame: number[], columns: number, tops: number[], heights: number[], from: number, to: number,
 * center: number[], radius: number, x: number[], y: number[], square: number[] | null, first:
 * number[], last: number[], bends: number[], units: number[][] | null, isPair: boolean, counts:
 * [string, number] | null, links: (string | null)[] | null }} Region
 * @typedef {{ region: number, mark: number }} MarkPlace
 * @typedef {{ containers: number[], pair: [number[], number[]] | null, link: string | null, count:
 * [string, number, number] | null, time: number | null }} Subject
 */

/** The distance in pixels at which the pointer hits an edge or a small disc. */
const REACH = 5;
/** Pieces of a curved edge. Between their ends, the curve is less than a pixel away. */
const PIECES = 16;

/**
 * Numbers from the first one and the differences.
 * @param {number[] | undefined} list
 * @param {number} unit
 */
function sums(list, unit = 1) {
  let sum = 0;
  return (list ?? []).map((step) => (sum += step) / unit);
}

/** @param {any[]} list @returns {Region[]} */
export function readRegions(list) {
  return list.map((region) => {
    const tenths = (/** @type {number[] | undefined} */ numbers) => (numbers ?? []).map((number) => number / 10);
    const flat = sums(region.units ?? region.pairs);
    let offset = 0;
    const units = !(region.units ?? region.pairs)
      ? null
      : region.sizes
        ? region.sizes.map((/** @type {number} */ size) => flat.slice(offset, (offset += size)))
        : flat.map((unit) => [unit]);
    return {
      ...region,
      units,
      isPair: Boolean(region.pairs),
      counts: region.counts ?? null,
      links: region.links ?? null,
      frame: tenths(region.frame),
      tops: sums(region.tops, 10),
      heights: tenths(region.heights),
      center: tenths(region.center),
      radius: (region.radius ?? 0) / 10,
      x: sums(region.x, 10),
      y: sums(region.y, 10),
      square: region.square ? tenths(region.square) : null,
      first: sums(region.first),
      last: sums(region.last),
      bends: sums(region.bends, 100),
    };
  });
}

/** The width and height of a cell of a grid. @param {Region} region @returns {[number, number]} */
function cellSize({ frame, columns, marks }) {
  return [frame[2] / Math.max(columns, 1), frame[3] / Math.max(Math.ceil(marks / Math.max(columns, 1)), 1)];
}

/** The box of a cell. @param {Region} region @param {number} mark */
function cellBox(region, mark) {
  const [width, height] = cellSize(region);
  return [
    region.frame[0] + (mark % region.columns) * width,
    region.frame[1] + Math.floor(mark / region.columns) * height,
    width,
    height,
  ];
}

/** The box of a lane. @param {Region} region @param {number} lane */
function laneBox({ frame, tops, heights }, lane) {
  return [frame[0], frame[1] + tops[lane], frame[2], heights[lane]];
}

/** Whether the columns of a region are times. @param {Region} region */
export function isOverTime({ kind }) {
  return kind === "times" || kind === "lanes";
}

/**
 * The point of a curved edge at a share of its length.
 * @param {Region[]} regions
 * @param {number} index of the region of edges
 * @param {number} mark
 * @param {number} share
 */
function edgePoint(regions, index, mark, share) {
  const [edges, nodes] = [regions[index], regions[index - 1]];
  const [from, to] = [edges.first[mark], edges.last[mark]];
  const [x0, y0, x1, y1] = [nodes.x[from], nodes.y[from], nodes.x[to], nodes.y[to]];
  const bend = 2 * edges.bends[mark];
  const [cx, cy] = [(x0 + x1) / 2 + (y1 - y0) * bend, (y0 + y1) / 2 - (x1 - x0) * bend];
  const [a, b, c] = [(1 - share) ** 2, 2 * share * (1 - share), share ** 2];
  return [a * x0 + b * cx + c * x1, a * y0 + b * cy + c * y1];
}

/**
 * @param {Region} region
 * @param {number} x
 * @param {number} y
 * @param {Region[]} regions
 * @param {number} index
 */
function markIn(region, x, y, regions, index) {
  const { frame, columns, marks, center, radius } = region;
  switch (region.kind) {
    case "grid": {
      if (x < frame[0] || y < frame[1] || x >= frame[0] + frame[2] || y >= frame[1] + frame[3]) return -1;
      const [width, height] = cellSize(region);
      const mark = Math.floor((y - frame[1]) / height) * columns + Math.floor((x - frame[0]) / width);
      return mark < marks ? mark : -1;
    }
    case "times":
      return columns > 0 && x >= frame[0] && x < frame[0] + frame[2] && y >= frame[1] && y <= frame[1] + frame[3]
        ? Math.floor(((x - frame[0]) / frame[2]) * columns)
        : -1;
    case "lanes": {
      const lane = region.tops.findIndex(
        (top, index) => y >= frame[1] + top && y < frame[1] + top + region.heights[index],
      );
      return lane >= 0 && x >= frame[0] && x < frame[0] + frame[2]
        ? lane * columns + Math.floor(((x - frame[0]) / frame[2]) * columns)
        : -1;
    }
    case "spokes": {
      const [dx, dy] = [x - center[0], y - center[1]];
      if (marks === 0 || Math.hypot(dx, dy) > radius + 3 * REACH) return -1;
      const turn = (Math.atan2(dx, -dy) / (2 * Math.PI) + 1) % 1;
      return Math.round(turn * marks) % marks;
    }
    case "points":
      return findNearestMark(marks, radius + REACH / 2, (mark) => Math.hypot(x - region.x[mark], y - region.y[mark]));
    default:
      return findNearestMark(marks, REACH, (mark) =>
        Math.min(
          ...Array.from({ length: PIECES + 1 }, (_, piece) => {
            const [px, py] = edgePoint(regions, index, mark, piece / PIECES);
            return Math.hypot(x - px, y - py);
          }),
        ),
      );
  }
}

/**
 * The nearest mark within a distance; -1 if there is none.
 * @param {number} marks
 * @param {number} limit
 * @param {(mark: number) => number} distance
 */
function findNearestMark(marks, limit, distance) {
  let [nearestMark, minDistance] = [-1, limit];
  for (let mark = 0; mark < marks; mark += 1) {
    const markDistance = distance(mark);
    if (markDistance <= minDistance) [nearestMark, minDistance] = [mark, markDistance];
  }
  return nearestMark;
}

/**
 * The mark at a point of a drawing.
 * @param {Region[]} regions
 * @param {number} x
 * @param {number} y
 * @returns {MarkPlace | null}
 */
export function markAt(regions, x, y) {
  for (const [index, region] of regions.entries()) {
    const mark = markIn(region, x, y, regions, index);
    if (mark >= 0) return { region: index, mark };
  }
  return null;
}

/** The middle of a mark. @param {Region[]} regions @param {MarkPlace} place */
export function middleOf(regions, { region: index, mark }) {
  const region = regions[index];
  const [x, y, width, height] = region.frame;
  if (region.kind === "grid") {
    const box = cellBox(region, mark);
    return [box[0] + box[2] / 2, box[1] + box[3] / 2];
  }
  if (region.kind === "lanes") {
    const [, top, , laneHeight] = laneBox(region, Math.floor(mark / region.columns));
    return [x + (((mark % region.columns) + 0.5) * width) / region.columns, top + laneHeight / 2];
  }
  if (region.kind === "times") return [x + ((mark + 0.5) * width) / region.columns, y + height / 2];
  if (region.kind === "spokes") return spokeEnd(region, mark, 0.7);
  if (region.kind === "points") return [region.x[mark], region.y[mark]];
  return edgePoint(regions, index, mark, 0.5);
}

/** @param {Region} region @param {number} mark @param {number} share of the length */
function spokeEnd({ center, radius, marks }, mark, share) {
  const angle = (2 * Math.PI * mark) / Math.max(marks, 1);
  return [center[0] + Math.sin(angle) * radius * share, center[1] - Math.cos(angle) * radius * share];
}

/** The meaning of a mark. @param {Region[]} regions @param {MarkPlace} place @returns {Subject} */
export function subjectOf(regions, { region: index, mark }) {
  const region = regions[index];
  const subject = /** @type {Subject} */ ({
    containers: [],
    pair: null,
    link: region.links?.[mark] ?? null,
    count: null,
    time: null,
  });
  if (region.counts) subject.count = [region.counts[0], mark * region.counts[1], (mark + 1) * region.counts[1] - 1];
  if (isOverTime(region))
    subject.time = region.from + (((mark % region.columns) + 0.5) / region.columns) * (region.to - region.from);
  const pair = pairOf(regions, index, mark);
  if (pair) Object.assign(subject, { pair, containers: [...new Set(pair.flat())] });
  else if (region.units)
    subject.containers = region.units[region.kind === "lanes" ? Math.floor(mark / region.columns) : mark] ?? [];
  return subject;
}

/**
 * The units on both sides of a cell or an edge.
 * @param {Region[]} regions
 * @param {number} index
 * @param {number} mark
 * @returns {[number[], number[]] | null}
 */
function pairOf(regions, index, mark) {
  const region = regions[index];
  if (region.isPair && region.units)
    return [region.units[Math.floor(mark / region.columns)] ?? [], region.units[mark % region.columns] ?? []];
  const nodes = region.kind === "edges" ? regions[index - 1]?.units : null;
  return nodes ? [nodes[region.first[mark]] ?? [], nodes[region.last[mark]] ?? []] : null;
}

/**
 * Outlines a mark.
 * @param {CanvasRenderingContext2D} context
 * @param {Region[]} regions
 * @param {MarkPlace} place
 */
export function outlineMark(context, regions, { region: index, mark }) {
  const region = regions[index];
  context.beginPath();
  if (region.kind === "grid") {
    const [x, y, width, height] = cellBox(region, mark);
    context.rect(x - 0.5, y - 0.5, Math.max(width, 2) + 1, Math.max(height, 2) + 1);
  } else if (isOverTime(region)) {
    const [x] = middleOf(regions, { region: index, mark });
    const [, top, , height] =
      region.kind === "lanes" ? laneBox(region, Math.floor(mark / region.columns)) : region.frame;
    context.moveTo(x, top);
    context.lineTo(x, top + height);
  } else if (region.kind === "spokes") {
    const [x, y] = spokeEnd(region, mark, 1);
    context.moveTo(region.center[0], region.center[1]);
    context.lineTo(x, y);
    context.moveTo(x + 4, y);
    context.arc(x, y, 4, 0, 7);
  } else if (region.kind === "points") context.arc(region.x[mark], region.y[mark], region.radius + 2.5, 0, 7);
  else {
    for (let piece = 0; piece <= PIECES; piece += 1) {
      const [x, y] = edgePoint(regions, index, mark, piece / PIECES);
      context.lineTo(x, y);
    }
  }
}

/**
 * The marks of a unit or of a pair of units.
 * @param {Region[]} regions
 * @param {(container: number) => boolean} isHighlighted
 * @param {[number[], number[]] | null} pair
 * @returns {MarkPlace[]}
 */
export function highlightedMarks(regions, isHighlighted, pair) {
  const isWithin = (/** @type {number[]} */ units, /** @type {number[]} */ wanted) =>
    units.some((unit) => wanted.includes(unit));
  return regions.flatMap((region, index) => {
    // Bands cover whole lanes.
    if (region.kind === "lanes") return [];
    const marks = Array.from({ length: region.marks }, (_, mark) => mark);
    const highlighted =
      region.isPair || region.kind === "edges"
        ? pair
          ? marks.filter((mark) => {
              const markPair = pairOf(regions, index, mark);
              return markPair && isWithin(markPair[0], pair[0]) && isWithin(markPair[1], pair[1]);
            })
          : []
        : marks.filter((mark) => region.units?.[mark]?.some(isHighlighted));
    return highlighted.map((mark) => ({ region: index, mark }));
  });
}

/**
 * The rows and columns of matrices, and the lanes of diagrams, that belong to a unit, as boxes.
 * @param {Region[]} regions
 * @param {(container: number) => boolean} isHighlighted
 */
export function highlightedBands(regions, isHighlighted) {
  return regions
    .filter((region) => region.isPair || region.kind === "lanes")
    .flatMap((region) => {
      const [[x, y, width, height], [cellWidth, cellHeight]] = [region.frame, cellSize(region)];
      const highlighted = (region.units ?? []).flatMap((units, index) => (units.some(isHighlighted) ? [index] : []));
      if (region.kind === "lanes") return highlighted.map((lane) => laneBox(region, lane));
      return highlighted.flatMap((index) => [
        [x, y + index * cellHeight, width, cellHeight],
        [x + index * cellWidth, y, cellWidth, height],
      ]);
    });
}
