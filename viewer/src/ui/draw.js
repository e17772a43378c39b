// A scene of the server (scene/wire.rs) on a canvas, and what lies under a point of it.

/**
 * @typedef {{ kind: "rect" | "arrow" | "mark", id: string, color: string, box: number[] }} Hit
 * @typedef {{ x: number, y: number, width: number, height: number, step: number, colors: string[], values: number[], columns: [number, number][][] }} Cells
 * @typedef {{ hits: Hit[], cells: Cells[] }} Drawn
 */

/**
 * Draws a scene.
 * @param {CanvasRenderingContext2D} context @param {any} scene @returns {Drawn}
 */
export function drawScene(context, scene) {
  /** @type {Drawn} */
  const drawn = { hits: [], cells: [] };
  const { colors } = scene;
  /** @param {[number, number]} paint @param {"fillStyle" | "strokeStyle"} as */
  const ink = ([place, alpha], as) => {
    context[as] = colors[place];
    context.globalAlpha = alpha;
  };
  for (const item of scene.items) {
    switch (item[0]) {
      case "r": {
        const [, x, y, w, h, paint, radius, id] = item;
        ink(paint, "fillStyle");
        if (radius > 0) {
          context.beginPath();
          context.roundRect(x, y, w, h, radius);
          context.fill();
        } else context.fillRect(x, y, w, h);
        if (id) drawn.hits.push({ kind: "rect", id, color: colors[paint[0]], box: [x, y, w, h] });
        break;
      }
      case "x": drawn.cells.push(drawCells(context, item, colors)); break;
      case "l": {
        const [, x0, y0, x1, y1, width, paint] = item;
        ink(paint, "strokeStyle");
        stroke(context, [x0, y0, x1, y1], width);
        break;
      }
      case "p": {
        const [, points, fill, line] = item;
        context.beginPath();
        for (let i = 0; i < points.length; i += 2) context.lineTo(points[i], points[i + 1]);
        if (fill) { ink(fill, "fillStyle"); context.fill(); }
        if (line) { ink(line[0], "strokeStyle"); context.lineWidth = line[1]; context.lineJoin = "round"; context.stroke(); }
        break;
      }
      case "a": {
        const [, ends, width, head, paint, halo, id] = item;
        if (halo) { ink(halo, "strokeStyle"); stroke(context, ends, width + 1.8); }
        ink(paint, "strokeStyle");
        ink(paint, "fillStyle");
        arrow(context, ends, width, head);
        if (id) drawn.hits.push({ kind: "arrow", id, color: colors[paint[0]], box: ends });
        break;
      }
      case "m": {
        const [, x, y, size, paint, id] = item;
        ink(paint, "fillStyle");
        mark(context, x, y, size);
        if (id) drawn.hits.push({ kind: "mark", id, color: colors[paint[0]], box: [x, y, size] });
        break;
      }
      case "t": {
        const [, x, y, text, size, weight, anchor, paint] = item;
        ink(paint, "fillStyle");
        context.font = `${weight} ${size}px Inter, sans-serif`;
        context.textAlign = anchor;
        context.fillText(text, x, y);
        break;
      }
    }
  }
  context.globalAlpha = 1;
  return drawn;
}

/** @param {CanvasRenderingContext2D} context @param {number[]} ends @param {number} width */
function stroke(context, [x0, y0, x1, y1], width) {
  context.lineWidth = width;
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {number[]} ends @param {number} width @param {number} head */
export function arrow(context, [x0, y0, x1, y1], width, head) {
  const long = Math.hypot(x1 - x0, y1 - y0);
  const [ux, uy] = long > 0 ? [(x1 - x0) / long, (y1 - y0) / long] : [1, 0];
  const back = Math.min(head, long);
  stroke(context, [x0, y0, x1 - ux * back * 0.9, y1 - uy * back * 0.9], width);
  const [bx, by, half] = [x1 - ux * back, y1 - uy * back, head * 0.34];
  context.beginPath();
  context.moveTo(x1, y1);
  context.lineTo(bx - uy * half, by + ux * half);
  context.lineTo(bx + uy * half, by - ux * half);
  context.fill();
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} size */
function mark(context, x, y, size) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - size * 0.55, y - size);
  context.lineTo(x + size * 0.55, y - size);
  context.fill();
}

/**
 * Mixtures: in each column the values stand on each other.
 * @param {CanvasRenderingContext2D} context @param {any[]} item @param {string[]} table @returns {Cells}
 */
function drawCells(context, [, x, y, width, height, palette, values, count, packed], table) {
  const colors = palette.map((/** @type {number} */ place) => table[place]);
  const step = width / Math.max(count, 1);
  /** @type {[number, number][][]} */
  const columns = [];
  /** @type {number[][][]} rectangles of each colour, filled together */
  const shapes = colors.map(() => []);
  const short = (/** @type {number} */ at) => parseInt(packed.slice(at + 2, at + 4) + packed.slice(at, at + 2), 16);
  for (let at = 0; at < packed.length;) {
    const [run, parts] = [short(at), short(at + 4)];
    at += 8;
    /** @type {[number, number][]} */
    const column = [];
    let floor = y + height;
    for (let part = 0; part < parts; part += 1, at += 6) {
      const [place, share] = [short(at), parseInt(packed.slice(at + 4, at + 6), 16) / 255];
      column.push([place, share]);
      const tall = Math.min(share * height, floor - y);
      shapes[place].push([x + columns.length * step, floor - tall, run * step, tall]);
      floor -= tall;
    }
    for (let i = 0; i < run; i += 1) columns.push(column);
  }
  context.globalAlpha = 1;
  shapes.forEach((shape, place) => {
    context.fillStyle = colors[place];
    for (const [a, b, c, d] of shape) context.fillRect(a, b, c, d);
  });
  return { x, y, width, height, step, colors, values, columns };
}

/**
 * The topmost entity at a point.
 * @param {Drawn} drawn @param {number} x @param {number} y @returns {Hit | null}
 */
export function hit(drawn, x, y) {
  for (let i = drawn.hits.length - 1; i >= 0; i -= 1) {
    const { kind, box } = drawn.hits[i];
    const [a, b, c, d] = box;
    if (kind === "rect" && x >= a && x < a + c + 1 && y >= b && y < b + d) return drawn.hits[i];
    if (kind === "mark" && Math.abs(x - a) <= 5 && y <= b + 1 && y >= b - c - 1) return drawn.hits[i];
    if (kind === "arrow" && distance(x, y, box) <= 3) return drawn.hits[i];
  }
  return null;
}

/**
 * The mixture at a point, innermost first.
 * @param {Drawn} drawn @param {number} x @param {number} y
 * @returns {{ cells: Cells, column: number, parts: [number, number][] } | null}
 */
export function mixture(drawn, x, y) {
  for (let i = drawn.cells.length - 1; i >= 0; i -= 1) {
    const cells = drawn.cells[i];
    const column = Math.floor((x - cells.x) / cells.step);
    const parts = cells.columns[column];
    if (parts?.length && y >= cells.y && y < cells.y + cells.height) return { cells, column, parts };
  }
  return null;
}

/** @param {number} x @param {number} y @param {number[]} ends */
function distance(x, y, [x0, y0, x1, y1]) {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const along = Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(x - x0 - along * dx, y - y0 - along * dy);
}

/**
 * Draws around an entity.
 * @param {CanvasRenderingContext2D} context @param {Hit} of @param {string} ink @param {number} width
 */
export function outline(context, { kind, box }, ink, width) {
  context.strokeStyle = ink;
  context.fillStyle = ink;
  context.lineWidth = width;
  if (kind === "rect") context.strokeRect(box[0] + width / 2 - 1, box[1] + width / 2 - 1, box[2] - width + 2, box[3] - width + 2);
  else if (kind === "arrow") arrow(context, box, width + 0.4, 10);
  else mark(context, box[0], box[1] + 1, box[2] + 3);
}
