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
 * @param {number} at
 */
function takeSections(scene, buffer, at) {
  scene.bytes = scene.sections.map((/** @type {number} */ length) => {
    const bytes = new Uint8Array(buffer, at, length);
    at += length;
    return bytes;
  });
  return at;
}

/**
 * @param {ArrayBuffer} buffer
 * @returns {any} the head, with `bytes` in place of the lengths of its sections
 */
export function readScene(buffer) {
  const [head, at] = readHead(buffer);
  takeSections(head, buffer, at);
  return head;
}

/**
 * Reads the drawings of cards (api/cards.rs).
 * @param {ArrayBuffer} buffer
 * @returns {any}
 */
export function readCards(buffer) {
  const [head, start] = readHead(buffer);
  let at = start;
  for (const { scene } of [head.cards, ...(head.later ?? [])].flat()) if (scene) at = takeSections(scene, buffer, at);
  return head;
}
