// A menu next to its subject: opened by pointer or key, navigated by arrows, closed by Escape or an
// outside click.

import { make } from "./dom.js";

/**
 * @typedef {{ name: string, key?: string, checked?: boolean, color?: string, sign?: Element, act:
 * () => void } | null} Item null is a line between items
 */

/** @type {HTMLElement | null} */
let menuBox = null;
/** @type {HTMLElement | null} */
let previousFocus = null;

/** @param {string} label @param {DOMRect} anchor @param {Item[]} items */
export function openMenu(label, anchor, items) {
  closeMenu();
  previousFocus = /** @type {HTMLElement | null} */ (document.activeElement);
  const box = make("div", { class: "menu", role: "menu", "aria-label": label });
  for (const item of items) {
    if (item === null) {
      box.append(make("hr", { role: "separator" }));
      continue;
    }
    const isRadio = item.checked !== undefined;
    box.append(
      make(
        "button",
        {
          role: isRadio ? "menuitemradio" : "menuitem",
          tabindex: -1,
          "aria-checked": isRadio ? String(item.checked) : null,
          onclick: () => {
            closeMenu();
            item.act();
          },
        },
        item.color ? make("i", { class: "chip", color: item.color }) : item.sign,
        make("span", { text: item.name }),
        item.key && make("kbd", { text: item.key, "aria-hidden": "true" }),
      ),
    );
  }
  // The menu is placed in a landmark, where screen readers search for content.
  (document.querySelector("main") ?? document.body).append(box);
  menuBox = box;
  const { offsetWidth: width, offsetHeight: height } = box;
  box.style.left = `${Math.max(4, Math.min(anchor.left, innerWidth - width - 4))}px`;
  const hasRoomBelow = anchor.bottom + 4 + height <= innerHeight;
  box.style.top = `${hasRoomBelow ? anchor.bottom + 4 : Math.max(4, anchor.top - height - 4)}px`;
  box.addEventListener("keydown", moveByKey);
  document.addEventListener("pointerdown", closeFromOutside, true);
  /** @type {HTMLElement | null} */ (box.querySelector("button"))?.focus();
}

function closeMenu() {
  if (!menuBox) return;
  document.removeEventListener("pointerdown", closeFromOutside, true);
  menuBox.remove();
  menuBox = null;
  if (previousFocus?.isConnected) previousFocus.focus();
}

/** @param {PointerEvent} event */
function closeFromOutside(event) {
  if (!menuBox?.contains(/** @type {Node} */ (event.target))) closeMenu();
}

/** @param {KeyboardEvent} event */
function moveByKey(event) {
  const buttons = /** @type {HTMLElement[]} */ ([...(menuBox?.querySelectorAll("button") ?? [])]);
  const index = buttons.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  /** @type {Record<string, () => void>} */
  const acts = {
    ArrowDown: () => buttons[(index + 1) % buttons.length].focus(),
    ArrowUp: () => buttons[(index + buttons.length - 1) % buttons.length].focus(),
    Home: () => buttons[0].focus(),
    End: () => buttons[buttons.length - 1].focus(),
    Escape: closeMenu,
    Tab: closeMenu,
  };
  event.stopPropagation();
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
}
