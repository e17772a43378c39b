// The help sheet, made of the table of actions.

import { ACTIONS, keyLabel } from "./actions.js";
import { byId, make } from "../util/dom.js";

export function fillHelp() {
  // Actions that exist only in menus and in the palette are not listed here.
  const helpActions = ACTIONS.filter((action) => action.keys || action.pointer);
  const groups = [...new Set(helpActions.map((action) => action.group))].map((group) => {
    const list = make("dl");
    for (const action of helpActions.filter((action) => action.group === group)) {
      const labels = (action.keys ?? []).slice(0, 2).map(keyLabel);
      // Two directions with the same modifiers are written once: `Shift ← →`.
      const labelsOfKeys = action.press ? [`${labels[0]} ${labels[1].split(" ").at(-1)}`] : labels;
      const keys = make("dt", {}, ...labelsOfKeys.map((text) => make("kbd", { text })));
      list.append(
        keys,
        make("dd", {}, make("span", { text: action.name }), action.pointer && make("i", { text: action.pointer })),
      );
    }
    return make("section", {}, make("h3", { text: group }), list);
  });
  byId("help-groups").replaceChildren(...groups);
}
