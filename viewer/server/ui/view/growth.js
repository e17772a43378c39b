// A trace that is still being read or written: shows its progress, and the newer generation once
// the server has one.

import { about, ask } from "../net/api.js";
import { setClock } from "./clock.js";
import { facts, forgetFacts } from "../state/facts.js";
import { byId } from "../util/dom.js";
import { moveOrigin } from "../util/format.js";
import { state } from "./overlay.js";
import { note } from "../util/status_line.js";
import { grow, picture, view } from "../state/view.js";

/** Seconds between two requests about a trace that is final. */
const SELDOM = 4;
let rounds = 0;
/** Whether the trace is not final. */
let goes = false;
let renewing = false;

/**
 * Shows the progress of the trace, and whether its file has changed since.
 * @param {{ standing: string | null, kept?: boolean, changed?: string | null }} answer
 */
export function tellStanding({ standing, kept, changed }) {
  const pill = byId("standing");
  goes = standing !== null;
  pill.hidden = !goes && !changed;
  pill.classList.toggle("alert", Boolean(changed) || Boolean(kept));
  pill.textContent = changed ? `${changed} since it was read` : standing ?? "";
  pill.title = changed ? "What is shown was read before; start tumit view again to see what is there now"
    : kept ? "When the file is there again, the picture goes on with it" : goes ? "The picture is replaced by a newer one as there is more; the interval and what is chosen stay" : "";
  byId("caption").textContent = goes ? "So far" : "Whole trace";
}

/**
 * Regularly checks whether the server answers and has a newer generation.
 * @param {(summary: any) => Promise<void>} renewed shows it
 * @param {() => void} back called at each answer
 * @param {(error: unknown) => void} failed
 */
export function watchGrowth(renewed, back, failed) {
  window.setInterval(() => {
    rounds += 1;
    if (!document.hidden && (goes || rounds % SELDOM === 0)) ping(renewed, back).catch(failed);
  }, 1000);
}

/** @param {(summary: any) => Promise<void>} renewed @param {() => void} back */
async function ping(renewed, back) {
  if (renewing) return;
  const answer = await fetch(`api/ping?${about({ filters: "" })}`);
  if (!answer.ok) throw new Error("another server");
  const said = await answer.json();
  if (said.changed) note(said.changed === "removed" ? "The trace has been removed; what is shown was read before" : "The trace has changed: start tumit view again to see it", true);
  back();
  tellStanding(said);
  if (said.generation === picture()) return;
  renewing = true;
  try {
    await renew(renewed);
  } finally {
    renewing = false;
  }
}

/**
 * Changes to the newer generation. It numbers entities anew, so that the chosen one is searched
 * there.
 * @param {(summary: any) => Promise<void>} renewed
 */
async function renew(renewed) {
  const chosen = view.chosen;
  const known = chosen ? await facts(chosen, "renew").catch(() => undefined) : undefined;
  const summary = await ask("summary");
  if (!summary) return;
  const later = moveOrigin(summary.origin);
  setClock(summary.clock);
  grow(summary.duration, later, summary.generation);
  forgetFacts();
  state.hops = [];
  if (known) {
    const what = JSON.stringify({ name: known.name, types: known.types, containers: known.containers, from: known.from + later });
    const answer = await ask("same", { what }).catch(() => undefined);
    // The user may have chosen another entity in the meantime.
    if (view.chosen === chosen) view.chosen = answer?.id ?? null;
  }
  document.documentElement.dataset.generation = String(summary.generation);
  tellStanding(summary);
  await renewed(summary);
}
