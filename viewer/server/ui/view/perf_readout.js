// The cost of images, shown on request: bytes on the wire and the time until the answer of the
// newest image that the user waited for. Images fetched in advance do not count.

import { byId } from "../util/dom.js";
import { groupDigits } from "../util/format.js";

/** @type {PerformanceObserver | null} */
let observer = null;

/** Shows or hides the figures. */
export function togglePerfReadout() {
  const line = byId("image-cost");
  line.hidden = !line.hidden;
  if (line.hidden) {
    observer?.disconnect();
    observer = null;
    return;
  }
  line.textContent = "no image yet";
  observer = new PerformanceObserver((list) => {
    const last = /** @type {PerformanceResourceTiming[]} */ (list.getEntries())
      .filter((entry) => entry.name.includes("/api/scene?") && !entry.name.includes("whole=true"))
      .pop();
    if (!last) return;
    const size = groupDigits(Math.ceil(last.encodedBodySize / 1024));
    line.textContent = `image: ${size} KiB, ${groupDigits(Math.round(last.duration))} ms`;
  });
  observer.observe({ type: "resource", buffered: true });
}
