// Numbers as text in which consecutive ones are a run: `3-7 9`.

/** Maximum number of numbers of a text, because a damaged address could exhaust the memory. */
const MAX_NUMBERS = 1_000_000;

/** @param {Iterable<number>} numbers */
export function writeRuns(numbers) {
  /** @type {[number, number][]} */
  const runs = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = runs[runs.length - 1];
    if (last && number <= last[1] + 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([first, last]) => (first === last ? String(first) : `${first}-${last}`)).join(" ");
}

/** @param {string} text @returns {number[]} */
export function readRuns(text) {
  const numbers = [];
  for (const part of text.split(" ")) {
    const [, first, last = first] = /^(\d{1,10})(?:-(\d{1,10}))?$/.exec(part) ?? [];
    if (first === undefined || numbers.length + Number(last) - Number(first) >= MAX_NUMBERS) continue;
    for (let number = Number(first); number <= Number(last); number += 1) numbers.push(number);
  }
  return numbers;
}
