#!/usr/bin/env python3
"""Counts the instructions per record of each thread of a conversion to entities, by callgrind.

    cargo build --release -p tests --bin make_trace --bin measure_conversion
    target/release/make_trace few.tmt 100000 64
    tests/benchmarks/thread_costs.py few.tmt                    # Debian: valgrind

The conversion runs twice: in one pass, and in two passes. callgrind counts the instructions of the
function that does each part, with those of all functions that it calls.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MEASURE = os.environ.get("MEASURE_CONVERSION", str(ROOT / "target/release/measure_conversion"))

# The parts of a conversion: name, thread, and the functions that do it.
PARTS = [
    ("decode columns, compute timestamps, make operations", "two readers", r"AheadReader::read$"),
    ("merge", "merge", r"MergedStreams.*::take_window$"),
    ("first pass: pair links and note them", "main", r"ConversionJob.*::survey$"),
    ("apply rules", "rules", r"paje_pass::emitter$"),
    ("simulation", "main", r"BatchReceiver.*::run$"),
]
# Parts of "apply rules".
PARTS_OF_RULES = [
    ("of which: links", "rules", r"links::.*Emitter.*>::link$"),
    ("of which: sending operations to the simulation", "rules", r"EventSender as .*PajeSink>::(plain_)?event$"),
]
PATHS = ["run-entities", "run-entities-two-passes"]


def instructions_by_function(path):
    """Returns the instructions of a thread, and a dictionary of those of each function."""
    command = ["callgrind_annotate", "--inclusive=yes", "--auto=no", "--threshold=100", path]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = re.findall(r"^ *([\d,]+) \([ \d.]+%\)  (.*)$", text, re.MULTILINE)
    counts = {}
    for number, name in lines[1:]:
        # A function has a line for itself, and lines for the functions of other files that are
        # inlined in it. The first has the largest number.
        name = re.sub(r"^\S+?\.\w+:|^\?\?\?:", "", re.sub(r" \[[^]]*\]$", "", name))
        counts[name] = max(counts.get(name, 0), int(number.replace(",", "")))
    return int(lines[0][0].replace(",", "")), counts


def run(path, trace, folder):
    """Runs a path under callgrind.

    Returns the instructions per record of the whole path, and a function that returns those of the
    functions that match a pattern.
    """
    out = os.path.join(folder, path)
    command = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={out}"]
    done = subprocess.run([*command, MEASURE, "--path", path, trace, os.path.join(folder, "out")], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{path}: {done.stderr.strip()}")
    threads = [instructions_by_function(file) for file in Path(folder).glob(f"{path}-[0-9]*")]
    records = int(done.stdout.split()[0])

    def count(pattern):
        return sum(number for _, counts in threads for name, number in counts.items() if re.search(pattern, name)) / records

    return sum(total for total, _ in threads) / records, count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", help="a run; if it has less than 65,536 records, the merge thread reads it")
    arguments = parser.parse_args()
    if not os.access(MEASURE, os.X_OK):
        sys.exit(f"{MEASURE} is missing; `cargo build --release -p tests` builds it, or set MEASURE_CONVERSION")
    with tempfile.TemporaryDirectory() as folder:
        runs = [run(path, arguments.trace, folder) for path in PATHS]
    if any(count(PARTS[0][2]) == 0 for _, count in runs):
        sys.exit(f"{arguments.trace} has no records that a reader thread decodes")

    def print_row(part, thread, numbers):
        print(f"| {part} | {thread} | {'; '.join(f'{number:.0f}' for number in numbers)} |")

    print("| part | thread | instructions per record in one pass; in two |\n|---|---|---|")
    for part, thread, pattern in PARTS:
        print_row(part, thread, [count(pattern) for _, count in runs])
        if thread == "rules":
            for name, thread, pattern in PARTS_OF_RULES:
                print_row(name, thread, [count(pattern) for _, count in runs])
    print_row("open the run, check its blocks, the rest", "", [total - sum(count(pattern) for _, _, pattern in PARTS) for total, count in runs])
    print_row("all", "", [total for total, _ in runs])


if __name__ == "__main__":
    main()
