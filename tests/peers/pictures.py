#!/usr/bin/env python3
"""Time and peak memory to a picture of one Pajé file: `tumit view` beside `pj_dump -q` and ViTE.

    cargo build --release -p tumit-cli -p tests --bin tumit --bin make_trace
    target/release/make_trace big.tmt 1000000 64 && target/release/tumit convert big.tmt -o big.paje
    tests/peers/pictures.py big.paje                    # Debian: pajeng, vite

`pj_dump -q` reads and simulates the file and writes nothing; no picture of pajeng's can be made without more work than that. ViTE exports
an SVG, without a screen. Both do all anew each time; `tumit` keeps an index. Processor time is given, as others may use the machine.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TUMIT = os.environ.get("TUMIT", str(ROOT / "target/release/tumit"))
LONGEST = 900


def measure(command, environment=None):
    """Runs a command to its end: seconds, seconds of processors, bytes at most, and whether it went well."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() - begin > LONGEST:
            process.kill()
        time.sleep(0.002)
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, status == 0


def first_on_page(trace):
    """Until the page of a trace that has no index yet has a picture of its beginning, and until it has all."""
    begin = time.monotonic()
    process = subprocess.Popen([TUMIT, "view", "--no-open", trace], stderr=subprocess.PIPE, text=True)
    url = next(line.strip() for line in process.stderr if line.strip().startswith("http://"))
    first = None
    try:
        while True:
            with urllib.request.urlopen(url + "api/ping") as answer:
                said = json.load(answer)
            if first is None and (said["generation"] > 1 or said["standing"] is None):
                with urllib.request.urlopen(url + "api/summary") as answer:
                    summary = json.load(answer)
                ask = f"api/scene?from=0&to={summary['duration']}&width=1600&bottom=900&resolution=1"
                with urllib.request.urlopen(url + ask) as answer:
                    answer.read()
                first = time.monotonic() - begin
            if said["standing"] is None:
                peak = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{process.pid}/status").read_text())
                return first, time.monotonic() - begin, int(peak[1]) * 1024
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()


def line(what, seconds, processors, memory, note=""):
    cpu = "" if processors is None else f"{processors:.2f} s"
    print(f"| {what} | {seconds:.2f} s | {cpu} | {memory / 1e6:.0f} MB | {note}")


def main():
    trace = sys.argv[1]
    size = os.path.getsize(trace)
    print(f"{trace}: {size / 1e6:.0f} MB\n\n| | time | of processors | memory at most | |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        index, picture = f"{folder}/trace.tmtx", f"{folder}/picture.svg"
        view = [TUMIT, "view", trace, "--index", index, "--export"]
        others = {
            "`pj_dump -q`": (["pj_dump", "-q", trace], {}),
            "ViTE, SVG": (["vite", "-e", f"{folder}/vite.svg", trace], {"QT_QPA_PLATFORM": "offscreen"}),
        }
        for name, (command, environment) in others.items():
            seconds, processors, memory, good = measure(command, environment)
            line(name, seconds, processors, memory, "" if good else "failed, or took too long |")
        seconds, processors, memory, _ = measure([*view, picture])
        line("`tumit view --export`, SVG, with making the index", seconds, processors, memory)
        seconds, processors, memory, _ = measure([*view, picture])
        line("the same, with the index", seconds, processors, memory)
        seconds, processors, memory, _ = measure([TUMIT, "view", trace, "--index", "none", "--export", picture])
        line("the same in memory, without an index", seconds, processors, memory)
        beside = Path(f"{trace}.tmtx")
        beside.unlink(missing_ok=True)
        first, whole, memory = first_on_page(trace)
        line("`tumit view`, first picture on the page (of the beginning)", first, None, memory)
        line("… until it is of the whole trace", whole, None, memory)
        first, _, memory = first_on_page(trace)
        line("`tumit view` again, picture on the page", first, None, memory)
        beside.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
