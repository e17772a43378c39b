#!/usr/bin/env python3
"""Measures the answers of `tumit view` to requests for cards: the views of an execution at one time.

    cargo build --release -p tumit-cli -p tests --bin tumit --bin make_trace
    target/release/make_trace big.tmt 10000000 64
    tests/benchmarks/card_costs.py big.tmt

For each view, and for six views together: the first request, which reads the trace, and requests at
random times. As the page does, the program requests the rows of the diagram before any card, and a
request has the hash of the last drawing, so an equal drawing is not sent again. Processor time is
that of the server. At the end, a category changes. With `--alone`, only single views are measured,
and each has a server of its own. With `--gallery`, the program first requests the images of the
gallery, one group of views after another, as the page does before a user can choose a view.
"""

import argparse
import json
import random
import statistics
import time
import urllib.parse

from request_costs import query, wait_for_index
from viewer_process import check_command, viewer

SIX_VIEWS = ["utilization-count", "utilization-meter", "kiviat", "communication-matrix", "message-queues", "processor-status"]
VIEWS = SIX_VIEWS + ["concurrency-profile", "utilization-summary", "streak", "traffic", "communication-meter", "animation", "hypercube", "network", "node-statistics", "phase-portrait", "statistical-summary", "clock", "trace-records", "task-count", "task-status", "task-summary", "task-surface", "utilization-gantt", "space-time", "task-gantt", "critical-path"]


# The size of an image of the gallery before it is made small.
GALLERY_SIZE = (300, 188)


def card(name, size, known):
    return {"name": name, "width": size[0], "height": size[1], "hash": known.get(name, "")}


class Cards:
    """Requests for the same cards at different times."""

    def __init__(self, page, names, options, size=(420, 300)):
        self.page, self.names, self.options, self.size, self.known = page, names, options, size, {}

    def request(self, time_in_trace, categories="[]"):
        """Returns seconds, seconds of processor time, bytes on the network, and the errors."""
        cards = [{**card(name, self.size, self.known), "options": self.options} for name in self.names]
        parameters = {"t": time_in_trace, "theme": "light", "resolution": 1, "categories": categories, "filters": "[]", "cards": json.dumps(cards)}
        begin, before = time.monotonic(), self.page.processor_time()
        answer, sent = self.page.request(f"api/cards?{urllib.parse.urlencode(parameters)}")
        seconds, processor = time.monotonic() - begin, self.page.processor_time() - before
        length = int.from_bytes(answer[:4], "little")
        drawings = json.loads(answer[4 : 4 + length])["cards"]
        self.known = {name: drawing.get("hash", "") for name, drawing in zip(self.names, drawings)}
        return seconds, processor, sent, [drawing["error"] for drawing in drawings if "error" in drawing]


def row(name, first, ticks):
    """Prints the first request, and the requests at random times."""
    if not ticks:
        print(f"| {name} | {first[0] * 1000:.0f} | {first[1] * 1000:.0f} | | | | | |", flush=True)
        return
    seconds = sorted(tick[0] for tick in ticks)
    cells = [
        f"{first[0] * 1000:.0f}",
        f"{first[1] * 1000:.0f}",
        f"{statistics.median(seconds) * 1000:.1f}",
        f"{seconds[len(seconds) * 95 // 100] * 1000:.1f}",
        f"{sum(tick[1] for tick in ticks) / len(ticks) * 1000:.1f}",
        f"{statistics.median(tick[2] for tick in ticks) / 1024:.1f} KiB",
        first[3][0] if first[3] else "",
    ]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def measure(page, name, views, duration, arguments):
    dice = random.Random(1)
    cards = Cards(page, views, dict(option.split("=", 1) for option in arguments.option))
    first = cards.request(duration // 2)
    row(name, first, [cards.request(int(duration * dice.random())) for _ in range(arguments.ticks)])
    return cards


def measure_gallery(page, duration):
    """Requests the images of the gallery, and prints the times of each group."""
    views = json.loads(page.request(query("views", filters="[]"))[0])
    for group in views["groups"]:
        names = [view["name"] for view in views["views"] if view["group"] == group]
        if names:
            row(f"gallery: {group}", Cards(page, names, {}, GALLERY_SIZE).request(duration // 2), [])


def wait_for_rows(page):
    """Waits for the index, and requests the rows of the diagram. Returns the duration of the trace."""
    duration = wait_for_index(page)
    page.request(query("rows", fill=800, filters="[]"))
    return duration


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", help="a run or Pajé file; its index is made if there is none")
    parser.add_argument("--ticks", type=int, default=20, help="number of requests at random times (%(default)s)")
    parser.add_argument("--option", action="append", default=[], help="an option of the views, such as states=Calls")
    parser.add_argument("--alone", action="store_true", help="starts `tumit view` again for each view, so that no view reads data for another one")
    parser.add_argument("--gallery", action="store_true", help="requests the images of the gallery first")
    parser.add_argument("--view", action="append", default=[], help="measures only these views")
    arguments = parser.parse_args()
    check_command()
    print("| view | first request, ms | its processor time, ms | median, ms | 95 %, ms | processor time, ms | median size | |\n|---|---|---|---|---|---|---|---|")
    if arguments.alone:
        for name in arguments.view or VIEWS:
            with viewer(arguments.trace) as page:
                measure(page, name, [name], wait_for_rows(page), arguments)
        return
    with viewer(arguments.trace) as page:
        duration = wait_for_rows(page)
        if arguments.gallery:
            measure_gallery(page, duration)
        for name in arguments.view or VIEWS:
            measure(page, name, [name], duration, arguments)
        cards = measure(page, "six views", arguments.view or SIX_VIEWS, duration, arguments)
        for value in range(3):
            answer = cards.request(duration // 2, json.dumps([[value, "idle"]]))
            print(f"| six views after a change of a category | {answer[0] * 1000:.0f} | {answer[1] * 1000:.0f} | | | | | |")
        print(f"\nPeak memory of the server: {page.peak_memory() / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
