#!/usr/bin/env python3
"""Measures the answers of `tumit view` to requests of the page: bytes of images, times of tables.

    cargo build --release -p tumit-cli -p tests --bin tumit --bin make_trace
    target/release/make_trace big.tmt 10000000 64
    tests/benchmarks/request_costs.py big.tmt

Images: the bytes of an answer on the network, for random views: zoomed 1 to 30,000 times, four
positions of the rows. The views are the same in each run. The page waits for the first answer, which
has a limit. The final answer has each column of pixels.

Tables: `api/row_times` has the times of all values in each of 64 rows, `api/totals` the number, time
and size of all links. Times are from the request to the last byte. Processor time is that of the server;
other programs disturb it less.
"""

import argparse
import json
import random
import statistics
import time
import urllib.parse
import urllib.request

from viewer_process import check_command, viewer

SIZES = [
    ("1,600 × 850, a pixel per unit", 1600, 850, 1),
    ("1,600 × 850, two pixels per unit", 1600, 850, 2),
    ("1,600 × 1,700", 1600, 1700, 1),
]
MAX_ZOOM = 30_000
POSITIONS = 4
MAX_ROWS = 64  # of a request for `api/row_times`


def query(route, **parameters):
    return f"api/{route}?{urllib.parse.urlencode({'theme': 'light', **parameters})}"


def wait_for_index(page):
    """Waits until the whole trace is available. Returns its duration in nanoseconds."""
    while json.loads(page.request(query("ping"))[0])["availability"] is not None:
        time.sleep(0.05)
    return json.loads(page.request(query("summary"))[0])["duration"]


def measure_images(page, duration, views):
    """Prints the bytes of images of the whole trace, of a tenth, and of random views."""
    print("| bytes of an image | first answer, median | first answer, largest | final answer, largest |\n|---|---|---|---|")
    for name, width, height, resolution in SIZES:
        rows = json.loads(page.request(query("rows", fill=height))[0])
        hidden = max(0, rows["height"] - height)

        def sizes(begin, end, top):
            view = {"from": begin, "to": end, "width": width, "top": top, "bottom": min(rows["height"], top + height)}
            image = query("scene", fill=height, resolution=resolution, **view)
            return page.request(image)[1], page.request(image + "&whole=true")[1]

        def print_sizes(name, answers):
            first, final = [first for first, _ in answers], [final for _, final in answers]
            cells = [f"{size / 1024:.1f} KiB" for size in [statistics.median(first), max(first), max(final)]]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)

        dice = random.Random(1)
        answers = []
        for number in range(views):
            length = max(1, int(duration / MAX_ZOOM ** dice.random()))
            begin = int((duration - length) * dice.random())
            answers.append(sizes(begin, begin + length, hidden * (number % POSITIONS) // (POSITIONS - 1)))
        print_sizes(f"{name}, {views} views", answers)
        print_sizes(f"{name}, whole trace", [sizes(0, duration, 0)])
        print_sizes(f"{name}, a tenth of the trace", [sizes(duration * 45 // 100, duration * 55 // 100, 0)])


def print_times(name, seconds, processors, note):
    cpu = f"{min(processors):.2f} s" if processors else ""
    print(f"| {name} | {min(seconds):.2f} to {max(seconds):.2f} s | {cpu} | {note} |", flush=True)


def measure_row_times(page, duration, repetitions):
    rows = json.loads(page.request(query("rows"))[0])["rows"]
    deepest = max(row["depth"] for row in rows)
    rows = [row for row in rows if row["depth"] == deepest][:MAX_ROWS]
    seconds, processors = [], []
    for _ in range(repetitions):
        begin, before = time.monotonic(), page.processor_time()
        text, sent = page.request(query("row_times", **{"from": 0, "to": duration, "text": ",".join(f"c{row['id']}" for row in rows)}))
        seconds.append(time.monotonic() - begin)
        processors.append(page.processor_time() - before)
    values = sum(len(row["values"]) for ty in json.loads(text)["types"] for row in ty["rows"])
    print_times(f"`api/row_times`, {len(rows)} rows, {values:,} values", seconds, processors, f"{len(text) / 1e6:.2f} MB, {sent / 1e6:.2f} MB on the network")


def measure_totals(page, duration, repetitions):
    first, whole, processors, links = [], [], [], 0
    for _ in range(repetitions):
        begin, before = time.monotonic(), page.processor_time()
        with urllib.request.urlopen(page.url + query("totals", **{"from": 0, "to": duration})) as answer:
            last = answer.readline()
            first.append(time.monotonic() - begin)
            for line in answer:
                last = line
        whole.append(time.monotonic() - begin)
        processors.append(page.processor_time() - before)
        links = sum(row["count"] for row in json.loads(last)["rows"] if row["kind"] == "link")
    print_times("`api/totals`, first line", first, [], "")
    print_times("`api/totals`, whole answer", whole, processors, f"{links:,} links")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", help="a run or Pajé file; its index is made if there is none")
    parser.add_argument("--views", type=int, default=40, help="number of random views of each size (%(default)s)")
    parser.add_argument("--repetitions", type=int, default=5, help="number of requests for each table (%(default)s)")
    arguments = parser.parse_args()
    if arguments.views < 1 or arguments.repetitions < 1:
        parser.error("--views and --repetitions are at least 1")
    check_command()
    with viewer(arguments.trace) as page:
        duration = wait_for_index(page)
        measure_images(page, duration, arguments.views)
        print(f"\n| table | time of {arguments.repetitions} requests | least processor time | |\n|---|---|---|---|")
        measure_row_times(page, duration, arguments.repetitions)
        measure_totals(page, duration, arguments.repetitions)


if __name__ == "__main__":
    main()
