// Reorders the cards: a card is dragged by its header, or moved by keys.

/** The distance in pixels from which a press is a drag. A click may move the pointer a little. */
const DRAG_DISTANCE = 5;

/**
 * @param {HTMLElement} box the card
 * @param {HTMLElement} header
 * @param {() => HTMLElement[]} boxes all cards
 * @param {(from: number, to: number) => void} move
 */
export function listenToMove(box, header, boxes, move) {
  header.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || /** @type {HTMLElement} */ (event.target).closest("button, select")) return;
    const [startX, startY] = [event.clientX, event.clientY];
    let isDragged = false;
    header.setPointerCapture(event.pointerId);
    const target = (/** @type {PointerEvent} */ current) =>
      boxes().find((element) => {
        const { left, right, top, bottom } = element.getBoundingClientRect();
        return (
          !element.hidden &&
          current.clientX >= left &&
          current.clientX < right &&
          current.clientY >= top &&
          current.clientY < bottom
        );
      });
    const mark = (/** @type {HTMLElement | undefined} */ dropTarget) =>
      boxes().forEach((element) => element.classList.toggle("target", element === dropTarget && element !== box));
    const follow = (/** @type {PointerEvent} */ current) => {
      isDragged ||= Math.hypot(current.clientX - startX, current.clientY - startY) >= DRAG_DISTANCE;
      if (!isDragged) return;
      box.classList.add("dragged");
      mark(target(current));
    };
    const end = (/** @type {PointerEvent} */ last) => {
      header.removeEventListener("pointermove", follow);
      header.removeEventListener("pointerup", end);
      header.removeEventListener("pointercancel", end);
      box.classList.remove("dragged");
      mark(undefined);
      const dropTarget = isDragged && last.type === "pointerup" ? target(last) : undefined;
      if (dropTarget && dropTarget !== box) move(boxes().indexOf(box), boxes().indexOf(dropTarget));
    };
    header.addEventListener("pointermove", follow);
    header.addEventListener("pointerup", end);
    header.addEventListener("pointercancel", end);
  });
  box.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
    if (!step || !event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const from = boxes().indexOf(box);
    if (from + step >= 0 && from + step < boxes().length) move(from, from + step);
  });
}
