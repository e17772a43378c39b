// The format of an image on the wire (scene/wire.rs): a head in JSON, and byte sections with its
// mixtures and bands.

/** Reads a section of numbers, seven bits per byte, the lowest first. */
export class NumberReader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
    this.at = 0;
  }

  /** The next number; 0 after the end. */
  next() {
    for (let number = 0, factor = 1; ; factor *= 128) {
      const byte = this.bytes[this.at] ?? 0;
      this.at += 1;
      number += (byte & 127) * factor;
      if (byte < 128) return number;
    }
  }

  /** The next number, which may be negative. */
  signed() {
    const number = this.next();
    return number % 2 ? -(number + 1) / 2 : number / 2;
  }
}

/**
 * The JSON text at the start of a message, and the position after it.
 * @param {ArrayBuffer} buffer
 * @returns {[any, number]}
 */
function readHead(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  return [JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))), 4 + length];
}

/**
 * Gives a scene its sections, and returns the position after them.
 * @param {any} scene
 * @param {ArrayBuffer} buffer
 * @param {number} offset
 */
function takeSections(scene, buffer, offset) {
  scene.bytes = scene.sections.map((/** @type {number} */ length) => {
    const bytes = new Uint8Array(buffer, offset, length);
    offset += length;
    return bytes;
  });
  return offset;
}

/**
 * @param {ArrayBuffer} buffer
 * @returns {any} the head, with `bytes` in place of the lengths of its sections
 */
export function readScene(buffer) {
  const [head, offset] = readHead(buffer);
  takeSections(head, buffer, offset);
  return head;
}

/**
 * Reads the drawings of cards (api/cards.rs).
 * @param {ArrayBuffer} buffer
 * @returns {any}
 */
export function readCards(buffer) {
  const [head, start] = readHead(buffer);
  let offset = start;
  for (const { scene } of [head.cards, ...(head.later ?? [])].flat())
    if (scene) offset = takeSections(scene, buffer, offset);
  return head;
}
