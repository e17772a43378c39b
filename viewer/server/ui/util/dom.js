// Helpers for the DOM. Names from traces are inserted as text, never as HTML.

/**
 * Makes an element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, unknown>} [attributes] `class`, `text`, `on…` handlers, and attributes
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  // None of the buttons submits a form.
  if (tag === "button") element.setAttribute("type", "button");
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.className = String(value);
    else if (name === "text") element.textContent = String(value);
    else if (name === "color") element.style.background = String(value);
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** @param {string} id @returns {any} */
export function byId(id) {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

/**
 * The context of a canvas for drawing in CSS pixels; the canvas gets the size of its box.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 */
export function sizedContext(canvas, width, height) {
  const ratio = pixelRatio();
  const [w, h] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
  }
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** The element that is held down, by the pointer or by a key. @type {EventTarget | null} */
let heldTarget = null;
/**
 * The number of times an element was held down. A release planned for an earlier time does not end
 * a later one.
 */
let holdCount = 0;
/**
 * Boxes to be filled at the release, with their fill functions.
 * @type {Map<HTMLElement, () => void>}
 */
const deferredFills = new Map();

/** @param {EventTarget | null} target */
function hold(target) {
  heldTarget = target;
  holdCount += 1;
}

function release() {
  heldTarget = null;
  const fills = [...deferredFills];
  deferredFills.clear();
  for (const [box, fill] of fills) refill(box, fill);
}

/** Releases later, because a click may still follow this event. */
function releaseLater() {
  const holdNumber = holdCount;
  window.setTimeout(() => {
    if (holdNumber === holdCount) release();
  });
}

window.addEventListener(
  "pointerdown",
  (event) => {
    release();
    hold(event.target);
  },
  true,
);
// The space bar clicks at its release; Enter, in some browsers, a moment after its press.
window.addEventListener(
  "keydown",
  (event) => {
    if ((event.key === "Enter" || event.key === " ") && event.target instanceof HTMLButtonElement) hold(event.target);
  },
  true,
);
for (const end of ["pointerup", "pointercancel", "keyup"]) window.addEventListener(end, releaseLater, true);
// After the click, no element is held down, so its handler may replace contents at once.
window.addEventListener(
  "click",
  () => {
    heldTarget = null;
    releaseLater();
  },
  true,
);
window.addEventListener("blur", release);

/**
 * Replaces the contents of a box. If an element in it is held down, waits for its release, because
 * a replaced element is never clicked. The focus returns to the element with the same `data-key`.
 * @param {HTMLElement} box
 * @param {() => void} fill
 */
export function refill(box, fill) {
  if (heldTarget instanceof Node && box.contains(heldTarget)) {
    deferredFills.set(box, fill);
    return;
  }
  deferredFills.delete(box);
  const inside = box.contains(document.activeElement);
  const key = inside ? /** @type {HTMLElement} */ (document.activeElement).dataset.key : undefined;
  fill();
  if (key) /** @type {HTMLElement | null} */ (box.querySelector(`[data-key="${CSS.escape(key)}"]`))?.focus();
}

const DIRECTION_CHARACTERS = new RegExp(
  "[\\u0590-\\u08ff\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069" +
    "\\ufb1d-\\ufdff\\ufe70-\\ufefe\\u{10800}-\\u{10fff}\\u{1e800}-\\u{1efff}]",
  "u",
);

/**
 * A name among other words, isolated so that its text direction affects that name alone.
 * @param {string} name
 */
export const isolate = (name) =>
  DIRECTION_CHARACTERS.test(name) ? `\u2068${name.replace(/[\u2066-\u2069]/g, "")}\u2069` : name;

/** Names in one line, each isolated. @param {string[]} names */
export const joinNames = (names, between = " › ") => names.map(isolate).join(between);

/** The name of a file about this trace, without its extension. */
export const fileName = () =>
  (byId("name").textContent ?? "trace").replace(/\.(tmt|paje|trace)$/, "").replace(/[^\p{L}\p{N}._-]+/gu, "-");

/** Lets the browser save a file. @param {string} name @param {Blob} content */
export function saveFile(name, content) {
  const link = make("a", { href: URL.createObjectURL(content), download: name });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Device pixels per CSS pixel. */
export function pixelRatio() {
  return Math.min(4, Math.max(1, window.devicePixelRatio || 1));
}

/** @param {string} name a CSS variable */
export function cssColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** A context that measures texts. */
const pen = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));

/** A function that measures texts of a font size. @param {string} size */
export function textWidth(size) {
  pen.font = `${size} Inter, sans-serif`;
  return (/** @type {string} */ text) => pen.measureText(text).width;
}
