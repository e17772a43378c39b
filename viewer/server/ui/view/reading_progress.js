// Shows the progress of a trace that is still being read or written, and its newer generation as
// soon as the server has one.

import { requestParameters, request } from "../net/api.js";
import { setClock } from "./time_of_day.js";
import { facts, clearFacts } from "../state/facts.js";
import { byId } from "../util/dom.js";
import { moveOrigin } from "../util/format.js";
import { overlay } from "../state/overlay_state.js";
import { showNote } from "../util/status_line.js";
import { currentGeneration, view } from "../state/view_state.js";
import { setGeneration } from "../state/viewport.js";

/** Seconds between two requests about a trace that is final: its file may still be replaced. */
const FINAL_INTERVAL = 4;
let secondCount = 0;
/** Whether the trace is not final. */
let isGrowing = false;
let isRenewing = false;

/**
 * Shows the progress of the trace, and whether its file has changed after it was read.
 * @param {{ availability: string | null, interrupted?: boolean, changed?: string | null }} answer
 */
export function showProgress({ availability, interrupted, changed }) {
  const pill = byId("reading-status");
  isGrowing = availability !== null;
  pill.hidden = !isGrowing && !changed;
  pill.classList.toggle("alert", Boolean(changed) || Boolean(interrupted));
  pill.textContent = changed ? `${changed} since it was read` : (availability ?? "");
  pill.title = changed
    ? "The page shows the trace as it was read before. Start tumit view again to read it"
    : interrupted
      ? "The view continues when the file exists again"
      : isGrowing
        ? "A newer image replaces this one when more of the trace is available. The time range and the selection stay"
        : "";
  byId("caption").textContent = isGrowing ? "So far" : "Whole trace";
}

/**
 * Regularly checks whether the server answers and has a newer generation.
 * @param {(summary: any) => Promise<void>} showGeneration shows the newer generation
 * @param {() => void} onAnswer called at each answer
 * @param {(error: unknown) => void} onError
 */
export function watchProgress(showGeneration, onAnswer, onError) {
  window.setInterval(() => {
    secondCount += 1;
    if (!document.hidden && (isGrowing || secondCount % FINAL_INTERVAL === 0))
      ping(showGeneration, onAnswer).catch(onError);
  }, 1000);
}

/** @param {(summary: any) => Promise<void>} showGeneration @param {() => void} onAnswer */
async function ping(showGeneration, onAnswer) {
  if (isRenewing) return;
  const response = await fetch(`api/ping?${requestParameters({ filters: "" })}`);
  if (!response.ok) throw new Error("another server");
  const answer = await response.json();
  if (answer.changed)
    showNote(
      answer.changed === "removed"
        ? "The trace has been removed; the page shows it as it was read before"
        : "The trace has changed: start tumit view again to see it",
      true,
    );
  onAnswer();
  showProgress(answer);
  if (answer.generation === currentGeneration()) return;
  isRenewing = true;
  try {
    await renew(showGeneration);
  } finally {
    isRenewing = false;
  }
}

/**
 * Changes to the newer generation. Entities have other numbers there, so the function finds the
 * chosen entity by its properties.
 * @param {(summary: any) => Promise<void>} showGeneration
 */
async function renew(showGeneration) {
  const chosen = view.entity;
  const factsBefore = chosen ? await facts(chosen, "renew").catch(() => undefined) : undefined;
  const summary = await request("summary");
  if (!summary) return;
  const shift = moveOrigin(summary.origin);
  setClock(summary.clock);
  setGeneration(summary.duration, shift, summary.generation);
  clearFacts();
  overlay.chainLinks = [];
  if (factsBefore) {
    const entity = JSON.stringify({
      name: factsBefore.name,
      types: factsBefore.types,
      containers: factsBefore.containers,
      from: factsBefore.from + shift,
    });
    const answer = await request("rematch", { text: entity }).catch(() => undefined);
    // The user may have chosen another entity in the meantime.
    if (view.entity === chosen) view.entity = answer?.id ?? null;
  }
  document.documentElement.dataset.generation = String(summary.generation);
  showProgress(summary);
  await showGeneration(summary);
}
