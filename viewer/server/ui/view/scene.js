// Draws a scene message (viewer/src/scene/wire.rs) on a canvas, and finds the entity at a point.
// Used by diagram.js, timeline.js and overlay.js.

import { Mixtures } from "./mixtures.js";
import { arrowHead, stroke, drawArrow, strokeArrow, mark, isOnMark, distance } from "./marks.js";
import { NumberReader } from "../net/wire.js";

/** @typedef {import("./marks.js").Arrow} Arrow */
/** @typedef {import("./mixtures.js").Cells} Cells */
/**
 * Results of drawing. `reach` of an arrow is the distance at which the pointer hits it, in CSS
 * pixels.
 * @typedef {{ kind: "rect" | "arrow" | "mark", id: string, color: string, box: number[], reach?:
 * number }} Hit
 * @typedef {{ hits: Hit[], cells: Cells[], arrows: Arrow[], notes: string[] }} SceneContents
 */

/**
 * Kinds of entities, in the order of their numbers on the wire: container, state, event, link,
 * value of a variable.
 */
const KINDS = "cselvo";
/** @type {CanvasTextAlign[]} */
const ANCHORS = ["left", "center", "right"];

/**
 * Converts a column of differences to the numbers themselves, divided by `unit`.
 * @param {number[]} column
 * @param {number} unit
 */
function decodeColumn(column, unit) {
  const sums = new Array(column.length);
  for (let i = 0, sum = 0; i < column.length; i += 1) {
    sum += column[i];
    sums[i] = sum / unit;
  }
  return sums;
}

/** The number of lines of a parabola. Their corners are not visible. */
const PARABOLA_LINES = 20;

/**
 * The coordinates of a curve: differences, differences of differences, or a parabola.
 * @param {number[]} axis
 * @param {number} [form]
 */
function decodeCurve(axis, form) {
  if (form !== 3) return decodeColumn(form === 2 ? decodeColumn(axis, 1) : axis, 10);
  const [first, middle, last] = decodeColumn(axis, 10);
  const valueAt = (/** @type {number} */ share) =>
    first * (1 - share) * (1 - 2 * share) + 4 * middle * share * (1 - share) + last * share * (2 * share - 1);
  return Array.from({ length: PARABOLA_LINES + 1 }, (_, index) => valueAt(index / PARABOLA_LINES));
}

/** @param {number} number @returns {string | null} */
function entityId(number) {
  return number > 0 ? KINDS[(number - 1) % 8] + Math.floor((number - 1) / 8) : null;
}

/**
 * Draws a scene.
 * @param {CanvasRenderingContext2D} context
 * @param {any} scene
 * @param {boolean} [withArrows] otherwise they are only listed
 * @returns {SceneContents}
 */
export function drawScene(context, scene, withArrows = true) {
  const drawing = new SceneDrawing(context, scene, withArrows);
  /** The number of drawn rows of each table. @type {Record<string, number>} */
  const rowCounts = {};
  for (const [kind, rows] of scene.runs) {
    const first = rowCounts[kind] ?? 0;
    const end = (rowCounts[kind] = first + rows);
    switch (kind) {
      case "r":
        drawing.rectangles(first, end);
        break;
      case "x":
        drawing.mixtures(first, end);
        break;
      case "b":
        drawing.bands(first, end);
        break;
      case "l":
        drawing.lines(first, end);
        break;
      case "p":
        drawing.paths(first, end);
        break;
      case "a":
        drawing.arrows(first, end);
        break;
      case "m":
        drawing.marks(first, end);
        break;
      case "t":
        drawing.texts(first, end);
        break;
    }
  }
  context.globalAlpha = 1;
  return drawing.contents;
}

/**
 * The columns of a table of a scene: plain ones, then delta-coded ones. The last `integers` of
 * these are plain numbers, the others lengths in hundredths of a pixel.
 * @param {any} scene
 * @param {string} kind
 * @param {number} integers
 */
function tableColumns(scene, kind, integers) {
  const [plain, others, last] = scene.tables[kind] ?? [[], [], []];
  return [
    ...plain,
    ...others.map((/** @type {number[]} */ column, /** @type {number} */ index) =>
      decodeColumn(column, index < others.length - integers ? 100 : 1),
    ),
    last,
  ];
}

/** A scene while it is drawn. Each method draws the rows `first` to `end` of one table. */
class SceneDrawing {
  /**
   * @param {CanvasRenderingContext2D} context
   * @param {any} scene
   * @param {boolean} withArrows
   */
  constructor(context, scene, withArrows) {
    this.context = context;
    this.withArrows = withArrows;
    /** The number of pixel columns that are drawn as one. @type {number} */
    this.columns = scene.columns;
    /** @type {[string, number][]} */
    this.paints = [["", 0], ...scene.paints];
    /** The current colours of the context. */
    this.colors = { fillStyle: "", strokeStyle: "" };
    this.bandNumbers = new NumberReader(scene.bytes[4]);
    const columns = (/** @type {string} */ kind, /** @type {number} */ integers) => tableColumns(scene, kind, integers);
    /**
     * The tables of the scene: r rectangles, x mixtures, b bands, l lines, p paths (curves),
     * a arrows, m marks, t texts.
     * @type {Record<string, any[]>}
     */
    this.tables = {
      r: columns("r", 2),
      x: columns("x", 1),
      b: columns("b", 5),
      l: columns("l", 1),
      p: columns("p", 4),
      a: columns("a", 3),
      m: columns("m", 3),
      t: columns("t", 3),
    };
    const mixtures = readMixtures(context, scene, this.tables, this.paints);
    this.mixturePixels = mixtures?.pixels;
    /** @type {SceneContents} */
    this.contents = { hits: [], cells: mixtures?.cells ?? [], arrows: [], notes: scene.notes };
    /** The right edge of the previous rectangle or mixture, in hundredths of a pixel. */
    this.rightEdge = 0;
    /** The last point of the previous curve. */
    this.curveEnd = [0, 0];
  }

  /** @param {number} paint @param {"fillStyle" | "strokeStyle"} as */
  setPaint(paint, as) {
    const [name, alpha] = this.paints[paint];
    // Comparing a colour with the previous one is faster than having the canvas parse it.
    if (this.colors[as] !== name) this.context[as] = this.colors[as] = name;
    this.context.globalAlpha = alpha;
  }

  /** @param {number} first @param {number} end */
  rectangles(first, end) {
    const { context, paints, contents } = this;
    const [gaps, widths, y, h, radius, fill, ids] = this.tables.r;
    for (let i = first; i < end; i += 1) {
      const [x, w] = [(this.rightEdge + gaps[i]) / 100, widths[i] / 100];
      this.rightEdge += gaps[i] + widths[i];
      this.setPaint(fill[i], "fillStyle");
      if (radius[i] > 0) {
        context.beginPath();
        context.roundRect(x, y[i], w, h[i], radius[i]);
        context.fill();
      } else context.fillRect(x, y[i], w, h[i]);
      const id = entityId(ids[i]);
      if (id) contents.hits.push({ kind: "rect", id, color: paints[fill[i]][0], box: [x, y[i], w, h[i]] });
    }
  }

  /** @param {number} first @param {number} end */
  mixtures(first, end) {
    const [gaps, widths] = this.tables.x;
    for (let i = first; i < end; i += 1) this.rightEdge += gaps[i] + widths[i];
    this.mixturePixels?.draw(this.contents.cells.slice(first, end));
  }

  /** @param {number} first @param {number} end */
  bands(first, end) {
    const { context } = this;
    const [x, floor, width, unit, step, count, pale, fill, line] = this.tables.b;
    for (let i = first; i < end; i += 1) {
      const { xs, edges } = band(x[i], step[i] / 10000, count[i], this.columns, unit[i], this.bandNumbers);
      const [upper, lower, mean] = edges.map((edge) => edge.map((height) => floor[i] - height));
      this.setPaint(pale[i], "fillStyle");
      curve(context, [...xs, ...[...xs].reverse()], [...upper, ...lower.reverse()]);
      context.fill();
      curve(context, xs, mean);
      this.setPaint(line[i], "strokeStyle");
      context.lineWidth = width[i];
      context.lineJoin = "round";
      context.stroke();
      this.setPaint(fill[i], "fillStyle");
      context.lineTo(xs[xs.length - 1], floor[i]);
      context.lineTo(xs[0], floor[i]);
      context.fill();
    }
  }

  /** @param {number} first @param {number} end */
  lines(first, end) {
    const [x0, y0, x1, y1, width, paint] = this.tables.l;
    for (let i = first; i < end; i += 1) {
      this.setPaint(paint[i], "strokeStyle");
      stroke(this.context, [x0[i], y0[i], x1[i], y1[i]], width[i]);
    }
  }

  /** @param {number} first @param {number} end */
  paths(first, end) {
    const { context } = this;
    const [fill, line, width, floor, points] = this.tables.p;
    for (let i = first; i < end; i += 1) {
      const [xs, ys, form] = points[i];
      const [x, y] =
        form === 4 ? arrowHead(this.curveEnd, xs[0] / 10, ys[0] / 10) : [decodeCurve(xs, form), decodeCurve(ys, form)];
      this.curveEnd = form === 4 ? [x[0], y[0]] : [x[x.length - 1] ?? 0, y[y.length - 1] ?? 0];
      curve(context, x, y);
      if (line[i]) {
        this.setPaint(line[i], "strokeStyle");
        context.lineWidth = width[i] / 100;
        context.lineJoin = "round";
        context.stroke();
      }
      if (fill[i] && x.length) {
        this.setPaint(fill[i], "fillStyle");
        if (floor[i] >= 0) {
          context.lineTo(x[x.length - 1], floor[i] / 100);
          context.lineTo(x[0], floor[i] / 100);
        }
        context.fill();
      }
    }
  }

  /** @param {number} first @param {number} end */
  arrows(first, end) {
    const { paints, contents } = this;
    const [x0, y0, dx, y1, width, head, paint, halo, ids] = this.tables.a;
    for (let i = first; i < end; i += 1) {
      const ends = [x0[i], y0[i], x0[i] + dx[i], y1[i]];
      /** @type {Arrow} */
      const arrow = {
        ends,
        width: width[i],
        head: head[i],
        paint: paints[paint[i]],
        halo: halo[i] ? paints[halo[i]] : null,
      };
      contents.arrows.push(arrow);
      if (this.withArrows) {
        drawArrow(this.context, arrow);
        this.colors.fillStyle = this.colors.strokeStyle = "";
      }
      const id = entityId(ids[i]);
      // The pointer hits a faint arrow only from nearby, so that it can hit entities below the
      // arrow.
      if (id)
        contents.hits.push({
          kind: "arrow",
          id,
          color: paints[paint[i]][0],
          box: ends,
          reach: width[i] / 2 + (arrow.paint[1] < 0.5 ? 0.5 : 2),
        });
    }
  }

  /** @param {number} first @param {number} end */
  marks(first, end) {
    const { paints, contents } = this;
    const [x, y, size, shape, fill, ids] = this.tables.m;
    for (let i = first; i < end; i += 1) {
      this.setPaint(fill[i], "fillStyle");
      const box = [x[i], y[i], size[i], shape[i]];
      mark(this.context, box);
      const id = entityId(ids[i]);
      if (id) contents.hits.push({ kind: "mark", id, color: paints[fill[i]][0], box });
    }
  }

  /** @param {number} first @param {number} end */
  texts(first, end) {
    const { context } = this;
    const [x, y, size, weight, anchor, fill, texts] = this.tables.t;
    for (let i = first; i < end; i += 1) {
      this.setPaint(fill[i], "fillStyle");
      context.font = `${weight[i]} ${size[i]}px Inter, sans-serif`;
      context.textAlign = ANCHORS[anchor[i]];
      context.fillText(texts[i], x[i], y[i]);
    }
  }
}

/**
 * Reads all mixtures of a scene. They become pixels together, before the first of them is drawn.
 * @param {CanvasRenderingContext2D} context
 * @param {any} scene
 * @param {Record<string, any[]>} tables
 * @param {[string, number][]} paints
 */
function readMixtures(context, scene, { r, x }, paints) {
  const [gaps, widths, extraColumns, y, h, steps] = x;
  if (!gaps.length) return null;
  const pixels = new Mixtures(context, paints, scene.bytes);
  const cells = [];
  // Positions are relative to the end of the previous rectangle or mixture.
  for (let position = 0, rectangle = 0, run = 0, mixture = 0; run < scene.runs.length; run += 1) {
    const [kind, rows] = scene.runs[run];
    if (kind === "r") {
      for (const end = rectangle + rows; rectangle < end; rectangle += 1) position += r[0][rectangle] + r[1][rectangle];
    } else if (kind === "x") {
      for (const end = mixture + rows; mixture < end; mixture += 1) {
        const [left, w] = [(position + gaps[mixture]) / 100, widths[mixture] / 100];
        position += gaps[mixture] + widths[mixture];
        cells.push(
          pixels.read(
            [left, y[mixture], w, h[mixture]],
            Math.round(w * scene.resolution) + extraColumns[mixture],
            steps[mixture],
          ),
        );
      }
    }
  }
  pixels.close();
  return { pixels, cells };
}

/** @param {CanvasRenderingContext2D} context @param {number[]} x @param {number[]} y */
function curve(context, x, y) {
  context.beginPath();
  for (let i = 0; i < x.length; i += 1) context.lineTo(x[i], y[i]);
}

/**
 * The band of a variable: the centre of each column, and the heights of its upper edge, lower edge
 * and mean above the floor.
 * @param {number} first
 * @param {number} step
 * @param {number} count
 * @param {number} columnsPerPoint columns that are drawn as one
 * @param {number} unit
 * @param {NumberReader} numbers
 */
function band(first, step, count, columnsPerPoint, unit, numbers) {
  const xs = [];
  /** @type {[number[], number[], number[]]} */
  const edges = [[], [], []];
  const sums = [0, 0, 0];
  for (let column = 0; column < count; column += columnsPerPoint) {
    const columnCount = Math.min(columnsPerPoint, count - column);
    xs.push(first + (column + (columnCount - 1) / 2) * step);
    edges.forEach((edge, number) => edge.push((sums[number] += numbers.signed()) / unit));
  }
  return { xs, edges };
}

/**
 * The topmost entity at a point.
 * @param {SceneContents} contents
 * @param {number} x
 * @param {number} y among the rows
 * @param {number} windowY the same height in the window
 * @param {(y: number) => number} toWindow converts heights, because an arrow may connect a pinned
 * and a scrolled row
 * @returns {Hit | null}
 */
export function hitAt(contents, x, y, windowY, toWindow) {
  for (let i = contents.hits.length - 1; i >= 0; i -= 1) {
    const { kind, box, reach = 0 } = contents.hits[i];
    const [a, b, c, d] = box;
    if (kind === "rect" && x >= a && x < a + c + 1 && y >= b && y < b + d) return contents.hits[i];
    if (kind === "mark" && isOnMark(x, y, box)) return contents.hits[i];
    if (kind === "arrow" && distance(x, windowY, [a, toWindow(b), c, toWindow(d)]) <= reach) return contents.hits[i];
  }
  return null;
}

/**
 * The left and right edge of the column of pixels at a point of a mixture. Inner mixtures take
 * precedence.
 * @param {SceneContents} contents
 * @param {number} x
 * @param {number} y
 * @returns {[number, number] | null}
 */
export function columnAt(contents, x, y) {
  for (let i = contents.cells.length - 1; i >= 0; i -= 1) {
    const { filled, step, ...cells } = contents.cells[i];
    const column = Math.floor((x - cells.x) / step);
    if (filled[column] && y >= cells.y && y < cells.y + cells.height)
      return [cells.x + column * step, cells.x + (column + 1) * step];
  }
  return null;
}

/**
 * Draws an outline around an entity.
 * @param {CanvasRenderingContext2D} context
 * @param {Hit} of
 * @param {string} color
 * @param {number} width
 */
export function outline(context, { kind, box }, color, width) {
  context.strokeStyle = color;
  context.fillStyle = color;
  context.lineWidth = width;
  if (kind === "rect")
    context.strokeRect(box[0] + width / 2 - 1, box[1] + width / 2 - 1, box[2] - width + 2, box[3] - width + 2);
  else if (kind === "arrow") strokeArrow(context, box, width + 0.4, 10);
  else mark(context, [box[0], box[1] + 1, box[2] + 3, box[3]]);
}
