// Mixtures of values as pixels. A large trace has hundreds of thousands of them, each some pixels
// high; filling rectangles one by one would take longer than all other work.

import { NumberReader } from "../net/wire.js";

/**
 * The drawn mixtures of one lane, for the pointer: positions of the columns, and which of them are
 * not empty.
 * @typedef {{ x: number, y: number, width: number, height: number, step: number, filled: Uint8Array
 * }} Cells
 */

/**
 * A canvas that is reused, because allocating one takes as long as its use.
 * @type {HTMLCanvasElement | null}
 */
let sharedCanvas = null;

/** The pixels of all mixtures of an image. */
export class Mixtures {
  /**
   * Creates the pixels.
   * @param {CanvasRenderingContext2D} context of the image
   * @param {[string, number][]} paints
   * @param {Uint8Array[]} bytes runs, counts, parts, heights
   */
  constructor(context, paints, bytes) {
    this.context = context;
    const { width, height } = context.canvas;
    const { a: scale, f: down } = context.getTransform();
    this.scale = scale;
    this.down = down;
    this.width = width;
    this.height = height;
    this.sections = bytes.map((section) => new NumberReader(section));
    this.image = new ImageData(width, height);
    // The bytes are red, green, blue, alpha; all machines with a browser are little-endian.
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.inks = paints.map(
      ([name]) =>
        (0xff000000 |
          (parseInt(name.slice(5, 7), 16) << 16) |
          (parseInt(name.slice(3, 5), 16) << 8) |
          parseInt(name.slice(1, 3), 16)) >>>
        0,
    );
  }

  /**
   * Reads the next lane: in each column the values are stacked.
   * @param {number[]} box
   * @param {number} count of columns
   * @param {number} steps of its height
   * @returns {Cells}
   */
  read([x, y, width, height], count, steps) {
    const [runs, counts, parts, heights] = this.sections;
    const step = width / Math.max(count, 1);
    const filled = new Uint8Array(count);
    const [left, columnWidth] = [x * this.scale, step * this.scale];
    const [floor, stepHeight] = [(y + height) * this.scale + this.down, (height / steps) * this.scale];
    for (let column = 0; column < count;) {
      const [run, valueCount] = [runs.next(), counts.next()];
      if (run === 0) break;
      const [from, to] = [this.column(left + column * columnWidth), this.column(left + (column + run) * columnWidth)];
      column += run;
      if (valueCount > 0) filled.fill(1, column - run, column);
      for (let part = 0, below = floor; part < valueCount; part += 1) {
        const ink = this.inks[parts.next()];
        const above = below - heights.next() * stepHeight;
        this.fill(from, to, above, below, ink);
        below = above;
      }
    }
    return { x, y, width, height, step, filled };
  }

  /** @param {number} x */
  column(x) {
    return Math.min(Math.max(Math.round(x), 0), this.width);
  }

  /**
   * @param {number} from columns of pixels
   * @param {number} to
   * @param {number} above
   * @param {number} below
   * @param {number} ink
   */
  fill(from, to, above, below, ink) {
    const { pixels, width } = this;
    // Differences of a thousandth of a pixel are rounding errors.
    const [first, last] = [Math.ceil(above - 0.001), Math.floor(below + 0.001)];
    if (first > last) {
      this.mix(from, to, last, below - above, ink);
      return;
    }
    if (first - above > 0.001) this.mix(from, to, first - 1, first - above, ink);
    if (below - last > 0.001) this.mix(from, to, last, below - last, ink);
    const end = Math.min(last, this.height);
    for (let y = Math.max(first, 0); y < end; y += 1) {
      for (let index = y * width + from, stop = y * width + to; index < stop; index += 1) pixels[index] = ink;
    }
  }

  /**
   * Blends a colour into a share of each of some pixels in a line.
   * @param {number} from
   * @param {number} to
   * @param {number} y
   * @param {number} part
   * @param {number} ink
   */
  mix(from, to, y, part, ink) {
    if (y < 0 || y >= this.height) return;
    const addedAlpha = Math.round(part * 255);
    for (let index = y * this.width + from, stop = y * this.width + to; index < stop; index += 1) {
      const previous = this.pixels[index];
      const oldAlpha = previous >>> 24;
      if (oldAlpha === 0) {
        this.pixels[index] = ((addedAlpha << 24) | (ink & 0xffffff)) >>> 0;
        continue;
      }
      const sum = oldAlpha + addedAlpha;
      const channel = (/** @type {number} */ bits) =>
        Math.round((((previous >>> bits) & 255) * oldAlpha + ((ink >>> bits) & 255) * addedAlpha) / sum) << bits;
      this.pixels[index] = ((Math.min(sum, 255) << 24) | channel(16) | channel(8) | channel(0)) >>> 0;
    }
  }

  /** Finishes the pixels after all lanes have been read, so that they can be drawn. */
  close() {
    sharedCanvas ??= document.createElement("canvas");
    if (sharedCanvas.width !== this.width || sharedCanvas.height !== this.height)
      [sharedCanvas.width, sharedCanvas.height] = [this.width, this.height];
    /** @type {CanvasRenderingContext2D} */ (sharedCanvas.getContext("2d")).putImageData(this.image, 0, 0);
  }

  /**
   * Draws consecutive mixtures, a lane at a time: the pixels between the mixtures of a lane are
   * empty.
   * @param {Cells[]} all
   */
  draw(all) {
    const { context, scale, down } = this;
    context.globalAlpha = 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    for (let first = 0, next = 1; first < all.length; first = next, next += 1) {
      const { x, y, height } = all[first];
      while (next < all.length && all[next].y === y && all[next].height === height && all[next].x >= x) next += 1;
      const last = all[next - 1];
      const [left, right] = [this.column(x * scale), this.column((last.x + last.width) * scale)];
      const [above, below] = [Math.floor(y * scale + down + 0.001), Math.ceil((y + height) * scale + down - 0.001)].map(
        (row) => Math.min(Math.max(row, 0), this.height),
      );
      const [drawnWidth, drawnHeight] = [right - left, below - above];
      if (drawnWidth > 0 && drawnHeight > 0)
        context.drawImage(
          /** @type {HTMLCanvasElement} */ (sharedCanvas),
          left,
          above,
          drawnWidth,
          drawnHeight,
          left,
          above,
          drawnWidth,
          drawnHeight,
        );
    }
    context.setTransform(scale, 0, 0, scale, 0, down);
  }
}
