// The zooms that led here, from the whole trace to the present interval. A click returns to one of
// them.

import { byId, make } from "../util/dom.js";
import { date, duration } from "../util/format.js";
import { crumbs, show, view } from "../state/view.js";

let told = "";

export function tellCrumbs() {
  const all = crumbs();
  const text = JSON.stringify(all);
  if (told === text) return;
  told = text;
  byId("crumbs").replaceChildren(...all.map(([from, to], at) => {
    const span = to - from;
    const name = at === 0 ? `All ${duration(span)}` : duration(span);
    const whole = `${date(from, span / 1000)} to ${date(to, span / 1000)}`;
    const here = at === all.length - 1 && view.from === from && view.to === to;
    return make("li", {}, make("button", { text: name, title: whole, "aria-label": `${name}: ${whole}`, "aria-current": here ? "true" : null, onclick: () => show(from, to, true) }));
  }));
}
