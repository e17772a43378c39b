// Requests to the server. Each request has a purpose. A new request cancels the previous one with
// the same purpose.

import { readCards, readScene } from "./wire.js";

/** The number of the server's trace that this page shows. */
export const trace = Number(new URLSearchParams(location.search).get("trace") ?? 0);

/** Return the filters and the mode of the diagram that requests contain by default. */
let [currentFilters, currentMode] = [() => "", () => ""];

/**
 * @param {() => string} filters returns the active filters, in the format of the server
 * @param {() => string} mode returns the mode of the diagram
 */
export function setRequestSources(filters, mode) {
  [currentFilters, currentMode] = [filters, mode];
}

/** @type {Map<string, AbortController>} */
const pendingRequests = new Map();
let requestCount = 0;
/** @type {(busy: boolean) => void} */
let onBusy = () => {};

/** @param {(busy: boolean) => void} handler */
export function watchBusy(handler) {
  onBusy = handler;
}

/** The server did not answer. */
export class NoAnswerError extends Error {}

/** @type {(error: unknown) => void} */
let onNoAnswer = () => {};

/**
 * @param {(error: unknown) => void} handler called whenever the server does not answer, for any
 * request
 */
export function watchNoAnswer(handler) {
  onNoAnswer = handler;
}

/**
 * Converts a network error into `NoAnswerError` and reports it; throws any other error again.
 * @param {unknown} error
 * @returns {never}
 */
function reportNoAnswer(error) {
  if (!(error instanceof TypeError)) throw error;
  const noAnswer = new NoAnswerError("The server does not answer");
  onNoAnswer(noAnswer);
  throw noAnswer;
}

/**
 * Aborts requests with answers that are no longer useful; the server then ends its work.
 * @param {...string} purposes
 */
export function cancel(...purposes) {
  for (const purpose of purposes) pendingRequests.get(purpose)?.abort();
}

/**
 * A request in the format of the server, with this trace, the active filters and the mode of the
 * diagram.
 * @param {Record<string, unknown>} parameters
 */
export function requestParameters(parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries({
    trace: trace || "",
    filters: currentFilters(),
    mode: currentMode(),
    ...parameters,
  })) {
    if (value !== null && value !== undefined && value !== "") query.set(name, String(value));
  }
  return query;
}

/**
 * The contents of an answer in JSON. The status 403 or 404 without JSON means that another server
 * uses the address now.
 * @param {Response} response
 */
async function readJson(response) {
  return response.json().catch(() => {
    if (response.status === 403 || response.status === 404) throw new TypeError("another server answers");
    return { error: `the server answered ${response.status}` };
  });
}

/**
 * Sends data to the server.
 * @param {string} route the route
 * @param {unknown} body
 * @param {string} [filters] the filters that the data refers to
 * @returns {Promise<any>}
 */
export async function send(route, body, filters = "") {
  const response = await fetch(`api/${route}?${requestParameters({ filters })}`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  }).catch(reportNoAnswer);
  const answer = await readJson(response).catch(reportNoAnswer);
  if (!response.ok) throw new RefusedError(answer.error);
  return answer;
}

/** An answer that reports an error. */
export class RefusedError extends Error {}

/**
 * Reads an answer that grows: each line contains everything known so far.
 * @param {Response} response
 * @param {(answer: any) => void} onPart
 */
async function readLines(response, onPart) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    text += decoder.decode(value, { stream: !done });
    const lines = text.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) {
      const answer = JSON.parse(line);
      if (answer.error) throw new RefusedError(answer.error);
      if (answer.done === undefined) return answer;
      onPart(answer);
    }
    if (done) throw new Error("the server ended before it had counted all");
  }
}

/**
 * Sends a request.
 * @param {string} route the route
 * @param {Record<string, string | number | boolean | null | undefined>} [parameters]
 * @param {string} [purpose] requests with another purpose continue
 * @param {(answer: any) => void} [onPart] receives the known part of an answer that takes long:
 * `done` is its share, from 0 to 1
 * @returns {Promise<any>} `undefined` if a newer request with this purpose was sent
 */
export async function request(route, parameters = {}, purpose = route, onPart = () => {}) {
  pendingRequests.get(purpose)?.abort();
  const control = new AbortController();
  pendingRequests.set(purpose, control);
  const query = requestParameters(parameters);
  requestCount += 1;
  onBusy(requestCount > 0);
  try {
    const response = await fetch(`api/${route}?${query}`, { signal: control.signal });
    const kind = response.headers.get("Content-Type");
    const part = (/** @type {any} */ answer) => {
      if (pendingRequests.get(purpose) === control) onPart(answer);
    };
    const answer =
      kind === "application/octet-stream"
        ? readScene(await response.arrayBuffer())
        : kind === "application/x-tumit-cards"
          ? readCards(await response.arrayBuffer())
          : kind === "application/x-ndjson"
            ? await readLines(response, part)
            : await readJson(response);
    if (!response.ok) throw new RefusedError(answer.error);
    // A request that was aborted during reading has no answer.
    return pendingRequests.get(purpose) === control && !control.signal.aborted ? answer : undefined;
  } catch (error) {
    if (control.signal.aborted) return undefined;
    return reportNoAnswer(error);
  } finally {
    requestCount -= 1;
    onBusy(requestCount > 0);
  }
}
