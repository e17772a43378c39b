#!/usr/bin/env python3
"""Counts the instructions per record of each thread of a conversion to entities, by callgrind.

    cargo build --release -p tests --bin make_trace --bin measure_conversion
    target/release/make_trace few.tmt 100000 64
    tests/benchmarks/thread_costs.py few.tmt                    # Debian: valgrind

The conversion runs twice: in one pass, and in two passes. callgrind counts the instructions of each
function together with those that it calls. A thread is recognised by a function that it runs.
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

READER, MERGE = r"AheadReader::read$", r"MergedStreams.*::take_window$"
RULES, SIMULATION = r"paje_pass::emitter$", r"BatchReceiver::run$"
SURVEY = r"::survey$"
LINKS, SEND = r"second_pass::links::.*Emitter.*>::link$", r"EventSender as .*PajeSink>::(plain_)?event$"


def functions_of(path):
    """Returns the functions of a thread with their instructions, and the instructions of the thread."""
    command = ["callgrind_annotate", "--inclusive=yes", "--threshold=100", path]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = re.findall(r"^ *([\d,]+) \([ \d.]+%\)  (.*)$", text, re.MULTILINE)
    counts = [(re.sub(r" \[[^]]*\]$", "", name), int(count.replace(",", ""))) for count, name in lines]
    return counts[1:], counts[0][1]


def count(functions, pattern):
    return sum(count for name, count in functions if re.search(pattern, name))


def run(path, trace, folder):
    """Runs a path under callgrind. Returns its number of records, and its threads by order of start."""
    out = os.path.join(folder, path)
    command = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={out}"]
    done = subprocess.run([*command, MEASURE, "--path", path, trace, os.path.join(folder, "out")], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{path}: {done.stderr.strip()}")
    files = sorted(Path(folder).glob(f"{path}-[0-9]*"), key=lambda file: int(file.name.rpartition("-")[2]))
    return int(done.stdout.split()[0]), [functions_of(file) for file in files]


def print_rows(path, records, threads):
    """Prints the instructions per record of each thread."""

    def print_row(part, thread, instructions):
        print(f"| {path}: {part} | {thread} | {instructions / records:.0f} |")

    main, total_of_main = threads[0]
    # The threads of the first pass start before the rules thread of the second pass.
    is_rules = [count(functions, RULES) > 0 for functions, _ in threads]
    if True not in is_rules:
        sys.exit("the run is too small: the conversion has no threads")
    rules_thread = is_rules.index(True)
    for name, some in [("first pass", threads[1:rules_thread]), ("last pass", threads[rules_thread + 1 :])]:
        for part, thread, pattern in [("decode and evaluate columns", "two readers", READER), ("merge", "merge", MERGE)]:
            counts = [total for functions, total in some if count(functions, pattern) and (pattern == READER or not count(functions, READER))]
            if counts:
                print_row(f"{name}, {part}", thread, sum(counts))
    survey, simulation = count(main, SURVEY), count(main, SIMULATION)
    if rules_thread > 1:
        print_row("first pass, pair links and note them", "main", survey)
    functions, total = threads[rules_thread]
    links, send = count(functions, LINKS), count(functions, SEND)
    print_row("last pass, operations on states, variables and events", "rules", total - links - send)
    print_row("last pass, links", "rules", links)
    print_row("last pass, send operations", "rules", send)
    print_row("last pass, receive operations and simulate", "main", simulation)
    print_row("open the run, check its blocks, the rest", "main", total_of_main - simulation - (survey if rules_thread > 1 else 0))
    print_row("all", "all", sum(total for _, total in threads))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", help="a run of at least 65,536 records; smaller ones have fewer threads")
    arguments = parser.parse_args()
    if not os.access(MEASURE, os.X_OK):
        sys.exit(f"{MEASURE} is missing; `cargo build --release -p tests` builds it, or set MEASURE_CONVERSION")
    print("| path: part | thread | instructions per record |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for path in ["run-entities", "run-entities-two-passes"]:
            print_rows(path, *run(path, arguments.trace, folder))


if __name__ == "__main__":
    main()
