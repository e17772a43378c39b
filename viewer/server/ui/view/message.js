// Messages in place of an image or an answer: loading, empty, damaged, no server.

import { byId, make } from "../util/dom.js";

/**
 * A text; the parts between backticks are input for the user to type.
 * @param {string} text
 * @returns {(Node | string)[]}
 */
function withCode(text) {
  return text.split("`").map((part, index) => (index % 2 ? make("code", { text: part }) : part));
}

/**
 * Shows the reason for a missing diagram.
 * @param {"loading" | "empty" | null} kind
 * @param {string} [activity] the present activity
 */
export function showMessage(kind, activity = "Reading the trace…") {
  const box = byId("message");
  box.hidden = kind === null;
  // Without a diagram the time controls are hidden.
  document.documentElement.dataset.message = kind ?? "";
  if (kind === "loading") {
    box.replaceChildren(
      make("div", { class: "placeholder-bars", "aria-hidden": "true" }, make("i"), make("i"), make("i")),
      make("p", { text: activity }),
    );
  } else if (kind === "empty") {
    box.replaceChildren(
      make("h2", { text: "Nothing was recorded" }),
      make(
        "p",
        {},
        ...withCode(
          "The trace has no states, events, links or values. Check whether its levels were on: " +
            "`tumit info` shows the records of each process.",
        ),
      ),
    );
  }
}

/**
 * Reports an error above the last image, which stays.
 * @param {string | null} text
 * @param {() => void} retry repeats the request; the page stays
 */
export function showError(text, retry = () => {}) {
  const box = byId("error-box");
  box.hidden = text === null;
  if (text === null || box.dataset.text === text) return;
  box.dataset.text = text;
  box.replaceChildren(
    make("h2", {
      text: text.includes("does not answer") ? "No connection to the server" : "The view could not be drawn",
    }),
    make("p", {}, ...withCode(text)),
    make("button", { text: "Try again", onclick: retry }),
  );
}

/**
 * Shows the diagnostics of the trace next to its name.
 * @param {{ diagnostics: { severity: "error" | "warning" | "note", text: string }[],
 * intact: boolean }} summary
 */
export function showDiagnostics({ diagnostics, intact }) {
  const pill = byId("diagnostics");
  pill.hidden = diagnostics.length === 0;
  const count = diagnostics.length === 1 ? "1 diagnostic" : `${diagnostics.length} diagnostics`;
  pill.textContent = intact ? count : `Damaged: ${count}`;
  pill.classList.toggle("alert", !intact);
  pill.title = diagnostics.map(({ text }) => text).join("\n");
  pill.onclick = () => {
    const sheet = make(
      "dialog",
      { class: "sheet", "aria-label": "Diagnostics of the trace" },
      make("h2", { text: intact ? "Diagnostics of the trace" : "Part of the trace is missing or damaged" }),
      !intact &&
        make("p", { class: "small-print", text: "The page shows the intact part. These problems were found:" }),
      make("ul", {}, ...diagnostics.map(({ severity, text }) => make("li", { class: severity }, ...withCode(text)))),
      make("form", { method: "dialog" }, make("button", { text: "Close" })),
    );
    sheet.addEventListener("close", () => sheet.remove());
    document.body.append(sheet);
    sheet.showModal();
  };
}
