// The help sheet, made of the table of actions.

import { ACTIONS, shown } from "./actions.js";
import { byId, make } from "./dom.js";

export function fillHelp() {
  const groups = [...new Set(ACTIONS.map((action) => action.group))].map((group) => {
    const list = make("dl");
    for (const action of ACTIONS.filter((one) => one.group === group && (one.keys || one.pointer))) {
      const keys = make("dt", {}, ...(action.keys ?? []).slice(0, 2).map((key) => make("kbd", { text: shown(key) })));
      list.append(keys, make("dd", {}, make("span", { text: action.name }), action.pointer && make("i", { text: action.pointer })));
    }
    return make("section", {}, make("h3", { text: group }), list);
  });
  byId("help-groups").replaceChildren(...groups);
}
