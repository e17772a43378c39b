#!/usr/bin/env python3
"""Measures time and peak memory to an image of one Pajé file: `tumit view`, `pj_dump -q` and ViTE.

    cargo build --release -p tumit-cli -p tests --bin tumit --bin make_trace
    target/release/make_trace big.tmt 1000000 64 && target/release/tumit convert big.tmt -o big.paje
    tests/benchmarks/image_costs.py big.paje                    # Debian: pajeng, vite
    tests/benchmarks/image_costs.py --again big.tmt             # only the first image of a trace with an index

`pj_dump -q` reads and simulates the file and writes nothing. PajeNG has no command that makes an image.
ViTE exports an SVG without a screen. Both read the file again each time; `tumit` keeps an index.
Processor time is printed, too, because other programs may use the machine at the same time.
"""

import argparse
import json
import os
import shutil
import tempfile
import time
from pathlib import Path

from viewer_process import TUMIT, check_command, measure, viewer


def measure_page(trace):
    """Opens a trace on the page.

    Returns (seconds, peak memory in bytes), first for the first image, then for the image of the whole
    trace.
    """
    begin = time.monotonic()
    first = None
    with viewer(trace) as page:
        while True:
            ping = json.loads(page.request("api/ping")[0])
            if first is None and (ping["generation"] > 1 or ping["availability"] is None):
                summary = json.loads(page.request("api/summary")[0])
                page.request(f"api/scene?from=0&to={summary['duration']}&width=1600&bottom=900&resolution=1")
                first = time.monotonic() - begin, page.peak_memory()
            if ping["availability"] is None:
                return first, (time.monotonic() - begin, page.peak_memory())
            time.sleep(0.01)


def measure_open(trace, cold):
    """Measures from the start of `tumit view` to the first image.

    Returns the seconds of each step, the seconds of processor time, and the bytes of the image.

    The image is as large as in a window of 1,600 x 900 without the column of names, plus a quarter of a
    screen below it, which the page requests in advance.
    """
    if cold:
        for path in [*Path(trace).iterdir()] if os.path.isdir(trace) else [Path(trace), Path(f"{trace}.tmtx")]:
            with open(path, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    times = [time.monotonic()]
    with viewer(trace) as page:
        times.append(time.monotonic())
        summary = json.loads(page.request("api/summary")[0])
        style = "fill=900&theme=light"
        rows = json.loads(page.request(f"api/rows?{style}")[0])
        times.append(time.monotonic())
        area = f"from=0&to={summary['duration']}&width=1384&top=0&bottom={min(rows['height'], 900 + 225)}&resolution=1"
        size = page.request(f"api/scene?{area}&{style}")[1]
        times.append(time.monotonic())
        return [late - early for early, late in zip(times, times[1:])], page.processor_time(), size


def print_open(trace):
    """Prints the times to open a trace that has an index."""
    print("| | server listens | rows | image | total | processor time | size |\n|---|---|---|---|---|---|---|")
    for name, cold in [("cold", True), ("warm", False)]:
        # The minimum, because other programs may use the machine.
        steps, work, size = min((measure_open(trace, cold) for _ in range(3 if cold else 9)), key=lambda result: sum(result[0]))
        cells = [f"{1e3 * step:.0f} ms" for step in [*steps, sum(steps), work]]
        print(f"| {name} | {' | '.join(cells)} | {size / 1e3:.0f} KB |")


def print_line(name, seconds, processors, memory, note=""):
    cpu = "" if processors is None else f"{processors:.2f} s"
    print(f"| {name} | {seconds:.2f} s | {cpu} | {memory / 1e6:.0f} MB | {note}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", help="a Pajé file; with --again, any trace with an index")
    parser.add_argument("--again", action="store_true", help="measure only the first image of a trace that has an index")
    arguments = parser.parse_args()
    check_command()
    trace = arguments.trace
    if arguments.again:
        print_open(trace)
        return
    size = os.path.getsize(trace)
    print(f"{trace}: {size / 1e6:.0f} MB\n\n| | time | processor time | peak memory | |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        index, image = f"{folder}/trace.tmtx", f"{folder}/image.svg"
        view = [TUMIT, "view", trace, "--index", index, "-o"]
        others = {
            "`pj_dump -q`": (["pj_dump", "-q", trace], {}),
            "ViTE, SVG": (["vite", "-e", f"{folder}/vite.svg", trace], {"QT_QPA_PLATFORM": "offscreen"}),
        }
        for name, (command, environment) in others.items():
            if shutil.which(command[0]) is None:
                print(f"| {name} | `{command[0]}` is not installed | | |")
                continue
            seconds, processors, memory, succeeded = measure(command, environment)
            print_line(name, seconds, processors, memory, "" if succeeded else "failed, or took too long |")
        seconds, processors, memory, _ = measure([*view, image])
        print_line("`tumit view -o`, SVG, makes the index", seconds, processors, memory)
        seconds, processors, memory, _ = measure([*view, image])
        print_line("the same, with the index", seconds, processors, memory)
        seconds, processors, memory, _ = measure([TUMIT, "view", trace, "--index", "none", "-o", image])
        print_line("the same in memory, without an index", seconds, processors, memory)
        default_index = Path(f"{trace}.tmtx")
        default_index.unlink(missing_ok=True)
        (first, memory), (whole, peak) = measure_page(trace)
        print_line("`tumit view`, first image on the page (of the beginning)", first, None, memory)
        print_line("`tumit view`, image of the whole trace on the page", whole, None, peak)
        (first, memory), _ = measure_page(trace)
        print_line("`tumit view` with the index, image on the page", first, None, memory)
        default_index.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
