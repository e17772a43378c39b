#!/usr/bin/env python3
"""Time and peak memory to a picture of one Pajé file: `tumit view` beside `pj_dump -q` and ViTE.

    cargo build --release -p tumit-cli -p tests --bin tumit --bin make_trace
    target/release/make_trace big.tmt 1000000 64 && target/release/tumit convert big.tmt -o big.paje
    tests/benchmarks/pictures.py big.paje                    # Debian: pajeng, vite
    tests/benchmarks/pictures.py --again big.tmt             # only: a trace with an index, until its first picture is on the page

`pj_dump -q` reads and simulates the file and writes nothing; no picture of pajeng's can be made without more work than that. ViTE exports
an SVG, without a screen. Both do all anew each time; `tumit` keeps an index. Processor time is given, as others may use the machine.
"""

import gzip
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
    """Until the page of a trace that has no index yet has a picture of its beginning, and until it has all: seconds and bytes at most, of each."""
    begin = time.monotonic()
    process = subprocess.Popen([TUMIT, "view", "--no-open", trace], stderr=subprocess.PIPE, text=True)
    url = next(line.strip() for line in process.stderr if line.strip().startswith("http://"))
    peak = lambda: int(re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1]) * 1024
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
                first = time.monotonic() - begin, peak()
            if said["standing"] is None:
                return first, (time.monotonic() - begin, peak())
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()


def asked(url):
    """Asks as the page does, which takes what is compressed; the answer, and its bytes on the wire."""
    with urllib.request.urlopen(urllib.request.Request(url, headers={"Accept-Encoding": "gzip"})) as answer:
        sent = answer.read()
        return (gzip.decompress(sent) if answer.headers.get("Content-Encoding") == "gzip" else sent), len(sent)


def again(trace, cold):
    """From the start of `tumit view` to the answer of the page's first question for a picture: seconds of each step, and of processors.

    A window of 1,600 x 900 has less room for rows than what is asked for here: all of it but the column of names. Below it the page asks for a
    quarter of a screen more.
    """
    if cold:
        for file in [*Path(trace).iterdir()] if os.path.isdir(trace) else [Path(trace), Path(f"{trace}.tmtx")]:
            with open(file, "rb") as opened:
                os.fsync(opened.fileno())
                os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    times = [time.monotonic()]
    process = subprocess.Popen([TUMIT, "view", "--no-open", trace], stderr=subprocess.PIPE, text=True)
    try:
        url = next(line.strip() for line in process.stderr if line.strip().startswith("http://"))
        times.append(time.monotonic())
        summary = json.loads(asked(url + "api/summary")[0])
        looks = "fill=900&theme=light"
        rows = json.loads(asked(f"{url}api/rows?{looks}")[0])
        times.append(time.monotonic())
        part = f"from=0&to={summary['duration']}&width=1384&top=0&bottom={min(rows['height'], 900 + 225)}&resolution=1"
        size = asked(f"{url}api/scene?{part}&{looks}")[1]
        times.append(time.monotonic())
        ticks = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return [late - early for early, late in zip(times, times[1:])], sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), size
    finally:
        process.kill()
        process.wait()


def reopened(trace):
    print("| | listens | rows | picture | together | of processors | bytes of it |\n|---|---|---|---|---|---|---|")
    for name, cold in [("cold", True), ("warm", False)]:
        # The least of some, as others may use the machine.
        steps, work, size = min((again(trace, cold) for _ in range(3 if cold else 9)), key=lambda one: sum(one[0]))
        cells = [f"{1e3 * step:.0f} ms" for step in [*steps, sum(steps), work]]
        print(f"| {name} | {' | '.join(cells)} | {size / 1e3:.0f} KB |")


def line(what, seconds, processors, memory, note=""):
    cpu = "" if processors is None else f"{processors:.2f} s"
    print(f"| {what} | {seconds:.2f} s | {cpu} | {memory / 1e6:.0f} MB | {note}")


def main():
    if sys.argv[1] == "--again":
        return reopened(sys.argv[2])
    trace = sys.argv[1]
    size = os.path.getsize(trace)
    print(f"{trace}: {size / 1e6:.0f} MB\n\n| | time | of processors | memory at most | |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        index, picture = f"{folder}/trace.tmtx", f"{folder}/picture.svg"
        view = [TUMIT, "view", trace, "--index", index, "-o"]
        others = {
            "`pj_dump -q`": (["pj_dump", "-q", trace], {}),
            "ViTE, SVG": (["vite", "-e", f"{folder}/vite.svg", trace], {"QT_QPA_PLATFORM": "offscreen"}),
        }
        for name, (command, environment) in others.items():
            seconds, processors, memory, good = measure(command, environment)
            line(name, seconds, processors, memory, "" if good else "failed, or took too long |")
        seconds, processors, memory, _ = measure([*view, picture])
        line("`tumit view -o`, SVG, with making the index", seconds, processors, memory)
        seconds, processors, memory, _ = measure([*view, picture])
        line("the same, with the index", seconds, processors, memory)
        seconds, processors, memory, _ = measure([TUMIT, "view", trace, "--index", "none", "-o", picture])
        line("the same in memory, without an index", seconds, processors, memory)
        beside = Path(f"{trace}.tmtx")
        beside.unlink(missing_ok=True)
        (first, memory), (whole, most) = first_on_page(trace)
        line("`tumit view`, first picture on the page (of the beginning)", first, None, memory)
        line("… until it is of the whole trace", whole, None, most)
        (first, memory), _ = first_on_page(trace)
        line("`tumit view` again, picture on the page", first, None, memory)
        beside.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
