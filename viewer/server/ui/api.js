// Questions to the server. Of each kind only the newest matters: asking again drops the one before.

import { filtersOn, trace } from "./view.js";
import { read } from "./wire.js";

/** @type {Map<string, AbortController>} */
const running = new Map();
let busy = 0;
/** @type {(busy: boolean) => void} */
let onBusy = () => {};

/** @param {(busy: boolean) => void} handler */
export function watchBusy(handler) {
  onBusy = handler;
}

/** The server did not answer. */
export class Lost extends Error {}

/** @type {(error: unknown) => void} */
let onLost = () => {};

/** @param {(error: unknown) => void} handler told whenever the server does not answer, whoever asked */
export function watchLost(handler) {
  onLost = handler;
}

/** What became of an answer on its way. @param {unknown} error */
function lost(error) {
  if (!(error instanceof TypeError)) throw error;
  const told = new Lost("The server does not answer");
  onLost(told);
  throw told;
}

/** Hangs up on questions whose answers are of no use any more: the server ends them. @param {...string} purposes */
export function drop(...purposes) {
  for (const purpose of purposes) running.get(purpose)?.abort();
}

/** A question as the server reads it: about this trace, behind the filters that act. @param {Record<string, unknown>} ask */
export function about(ask) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({ trace: trace || "", filters: filtersOn(), ...ask })) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  return query;
}

/** What a plain answer says. One that knows nothing of this page comes from another server, which has taken the place of the one that has gone. @param {Response} response */
async function said(response) {
  return response.json().catch(() => {
    if (response.status === 403 || response.status === 404) throw new TypeError("another server answers");
    return { error: `the server answered ${response.status}` };
  });
}

/** Tells the server something. @param {string} what the route @param {unknown} body @param {string} [filters] behind which it is meant @returns {Promise<any>} */
export async function tell(what, body, filters = "") {
  const response = await fetch(`api/${what}?${about({ filters })}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }).catch(lost);
  const answer = await said(response).catch(lost);
  if (!response.ok) throw new Refused(answer.error);
  return answer;
}

/** An answer that says what is wrong. */
export class Refused extends Error {}

/** Reads an answer that grows: each line is all that is known. @param {Response} response @param {(answer: any) => void} onPart */
async function lines(response, onPart) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: !done });
    const whole = text.split("\n");
    text = whole.pop() ?? "";
    for (const line of whole) {
      const answer = JSON.parse(line);
      if (answer.error) throw new Refused(answer.error);
      if (answer.done === undefined) return answer;
      onPart(answer);
    }
    if (done) throw new Error("the server ended before it had counted all");
  }
}

/**
 * @param {string} what the route @param {Record<string, string | number | null | undefined>} [ask]
 * @param {string} [purpose] questions of another purpose are left alone
 * @param {(answer: any) => void} [onPart] is given what is known so far of an answer that takes long: `done` says how much of it, from 0 to 1
 * @returns {Promise<any>} `undefined` when a newer question of the kind was asked
 */
export async function ask(what, ask = {}, purpose = what, onPart = () => {}) {
  running.get(purpose)?.abort();
  const control = new AbortController();
  running.set(purpose, control);
  const query = about(ask);
  busy += 1;
  onBusy(busy > 0);
  try {
    const response = await fetch(`api/${what}?${query}`, { signal: control.signal });
    const kind = response.headers.get("Content-Type");
    const part = (/** @type {any} */ answer) => { if (running.get(purpose) === control) onPart(answer); };
    const answer = kind === "application/octet-stream" ? read(await response.arrayBuffer()) : kind === "application/x-ndjson" ? await lines(response, part) : await said(response);
    if (!response.ok) throw new Refused(answer.error);
    // What was hung up on while it was read is no answer.
    return running.get(purpose) === control && !control.signal.aborted ? answer : undefined;
  } catch (error) {
    if (control.signal.aborted) return undefined;
    return lost(error);
  } finally {
    busy -= 1;
    onBusy(busy > 0);
  }
}
