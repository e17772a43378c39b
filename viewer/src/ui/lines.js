// Answers that grow: lines of JSON, each all that is known so far.

/** An answer that says what is wrong. */
export class Refused extends Error {}

/** Reads an answer that grows. @param {Response} response @param {(answer: any) => void} [onPart] */
export async function lines(response, onPart = () => {}) {
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
