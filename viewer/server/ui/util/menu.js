// A menu next to its subject: opened by pointer or key, navigated by arrows, closed by Escape or an
// outside click.

import { make } from "./dom.js";

/**
 * @typedef {{ name: string, key?: string, checked?: boolean, color?: string, sign?: Element, act:
 * () => void } | null} Item null is a line between items
 */

/** @type {HTMLElement | null} */
let open = null;
/** @type {HTMLElement | null} */
let back = null;

/** @param {string} label @param {DOMRect} at @param {Item[]} items */
export function menu(label, at, items) {
  close();
  back = /** @type {HTMLElement | null} */ (document.activeElement);
  const box = make("div", { class: "menu", role: "menu", "aria-label": label });
  for (const item of items) {
    if (item === null) {
      box.append(make("hr", { role: "separator" }));
      continue;
    }
    const radio = item.checked !== undefined;
    box.append(make("button", {
      role: radio ? "menuitemradio" : "menuitem", tabindex: -1, "aria-checked": radio ? String(item.checked) : null,
      onclick: () => { close(); item.act(); },
    }, item.color ? make("i", { class: "chip", color: item.color }) : item.sign, make("span", { text: item.name }), item.key && make("kbd", { text: item.key, "aria-hidden": "true" })));
  }
  // The menu is placed in a landmark, where screen readers search for content.
  (document.querySelector("main") ?? document.body).append(box);
  open = box;
  const { offsetWidth: wide, offsetHeight: tall } = box;
  box.style.left = `${Math.max(4, Math.min(at.left, innerWidth - wide - 4))}px`;
  box.style.top = `${at.bottom + 4 + tall <= innerHeight ? at.bottom + 4 : Math.max(4, at.top - tall - 4)}px`;
  box.addEventListener("keydown", key);
  document.addEventListener("pointerdown", outside, true);
  /** @type {HTMLElement | null} */ (box.querySelector("button"))?.focus();
}

function close() {
  if (!open) return;
  document.removeEventListener("pointerdown", outside, true);
  open.remove();
  open = null;
  if (back?.isConnected) back.focus();
}

/** @param {PointerEvent} event */
function outside(event) {
  if (!open?.contains(/** @type {Node} */ (event.target))) close();
}

/** @param {KeyboardEvent} event */
function key(event) {
  const all = /** @type {HTMLElement[]} */ ([...(open?.querySelectorAll("button") ?? [])]);
  const at = all.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  /** @type {Record<string, () => void>} */
  const acts = {
    ArrowDown: () => all[(at + 1) % all.length].focus(),
    ArrowUp: () => all[(at + all.length - 1) % all.length].focus(),
    Home: () => all[0].focus(),
    End: () => all[all.length - 1].focus(),
    Escape: close,
    Tab: close,
  };
  event.stopPropagation();
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}
