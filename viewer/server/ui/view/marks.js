// The marks of events and the heads of arrows on a canvas: their shapes, drawing and extent.

/**
 * The drawing of a link.
 * @typedef {{ ends: number[], width: number, head: number, paint: [string, number], halo: [string,
 * number] | null }} Arrow
 */

/** The width of the head of an arrow to each side of its line, relative to its length. */
const HEAD_WIDTH = 0.42;

/**
 * The coordinates of the head of an arrow. Its line ends in its middle.
 * @param {number[]} end of the line
 * @param {number} x of the tip, relative to the end
 * @param {number} y
 */
export function arrowHead([endX, endY], x, y) {
  const [sideX, sideY] = [2 * HEAD_WIDTH * y, 2 * HEAD_WIDTH * x];
  return [
    [endX + x, endX - x - sideX, endX - x + sideX],
    [endY + y, endY - y + sideY, endY - y - sideY],
  ];
}

/** @param {CanvasRenderingContext2D} context @param {number[]} ends @param {number} width */
export function stroke(context, [x0, y0, x1, y1], width) {
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {Arrow} of */
export function drawArrow(context, { ends, width, head, paint, halo }) {
  const setPaint = (/** @type {[string, number]} */ [name, alpha]) => {
    context.strokeStyle = name;
    context.fillStyle = name;
    context.globalAlpha = alpha;
  };
  if (halo) {
    setPaint(halo);
    stroke(context, ends, width + 1.8);
  }
  setPaint(paint);
  strokeArrow(context, ends, width, head);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number[]} ends
 * @param {number} width
 * @param {number} head
 */
export function strokeArrow(context, [x0, y0, x1, y1], width, head) {
  const length = Math.hypot(x1 - x0, y1 - y0);
  const [ux, uy] = length > 0 ? [(x1 - x0) / length, (y1 - y0) / length] : [1, 0];
  const back = Math.min(head, length);
  stroke(context, [x0, y0, x1 - ux * back * 0.9, y1 - uy * back * 0.9], width);
  if (head <= 0) return;
  const [bx, by, halfWidth] = [x1 - ux * back, y1 - uy * back, head * 0.34];
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(bx - uy * halfWidth, by + ux * halfWidth);
  context.lineTo(bx + uy * halfWidth, by - ux * halfWidth);
  context.fill();
}

// Marks are triangles, diamonds, discs, squares and lines, in the order of their numbers on the
// wire. The widths and heights equal those in scene/primitives.rs.
const [TRIANGLE, DIAMOND, DISC, SQUARE, LINE] = [0, 1, 2, 3, 4];

/**
 * Half of a mark's greatest width, and its height.
 * @param {number} size
 * @param {number} shape
 * @returns {[number, number]}
 */
function extent(size, shape) {
  const halfWidth = shape === LINE ? Math.max(size * 0.09, 0.75) : size * [0.55, 0.5, 0.46, 0.42][shape];
  return [halfWidth, shape === DISC || shape === SQUARE ? 2 * halfWidth : size];
}

/** @param {CanvasRenderingContext2D} context @param {number[]} box foot, size and shape */
export function mark(context, [x, y, size, shape]) {
  const [halfWidth, height] = extent(size, shape);
  context.beginPath();
  if (shape === DISC) context.arc(x, y - halfWidth, halfWidth, 0, 2 * Math.PI);
  else if (shape === SQUARE || shape === LINE) context.rect(x - halfWidth, y - height, 2 * halfWidth, height);
  else {
    context.moveTo(x, y);
    if (shape === DIAMOND) context.lineTo(x - halfWidth, y - height / 2);
    context.lineTo(x - (shape === TRIANGLE ? halfWidth : 0), y - height);
    context.lineTo(x + halfWidth, y - (shape === TRIANGLE ? height : height / 2));
  }
  context.fill();
}

/**
 * Whether a point is on a mark or within 2.5 pixels of it, because a pointer is not exact.
 * @param {number} x
 * @param {number} y
 * @param {number[]} box
 */
export function isOnMark(x, y, [foot, floor, size, shape]) {
  const [halfWidth, height] = extent(size, shape);
  const heightAboveFloor = Math.min(height, Math.max(0, floor - y));
  const part =
    {
      [TRIANGLE]: heightAboveFloor / height,
      [DIAMOND]: 1 - Math.abs((2 * heightAboveFloor) / height - 1),
      [DISC]: Math.sqrt(1 - (heightAboveFloor / halfWidth - 1) ** 2),
    }[shape] ?? 1;
  return y <= floor + 1.5 && y >= floor - height - 1.5 && Math.abs(x - foot) <= halfWidth * part + 2.5;
}

/** @param {number} x @param {number} y @param {number[]} ends */
export function distance(x, y, [x0, y0, x1, y1]) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const along = Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
}
