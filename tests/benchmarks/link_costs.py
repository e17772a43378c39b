#!/usr/bin/env python3
"""Measures `tumit index` of traces with many links that wait for their ends: time and peak memory.

    cargo build --release -p tumit-cli -p tests --bin tumit --bin make_links
    tests/benchmarks/link_costs.py

`make_links` makes each trace in a temporary folder: the starts of all links, then their ends in another
order, or no ends. It must be in the same folder as `tumit`. The largest trace takes 2 GB below TMPDIR.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from viewer_process import TUMIT, check_command, measure

TRACES = [
    ("Pajé file, {} starts without ends", "links.paje", 3_000_000, ["--no-ends"]),
    ("Pajé file, {} starts without ends", "links.paje", 20_000_000, ["--no-ends"]),
    ("Pajé file, {} links, all starts, then all ends in another order", "links.paje", 3_000_000, []),
    ("run, {} starts without ends", "links.tmt", 3_700_000, ["--no-ends"]),
    ("run, {} links, all starts, then all ends in another order", "links.tmt", 2_140_000, []),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--divide", type=int, default=1, metavar="N", help="divides all numbers of links by N (%(default)s)")
    arguments = parser.parse_args()
    if arguments.divide < 1:
        parser.error("--divide is at least 1")
    check_command()
    maker = Path(TUMIT).with_name("make_links")
    if not maker.is_file():
        sys.exit(f"{maker} is missing; `cargo build --release -p tests --bin make_links` builds it")
    print("| trace | time | processor time | peak memory |\n|---|---|---|---|")
    for name, file, links, options in TRACES:
        links //= arguments.divide
        with tempfile.TemporaryDirectory() as folder:
            trace = os.path.join(folder, file)
            subprocess.run([maker, *options, trace, str(links)], check=True, stdout=subprocess.DEVNULL)
            # It reports links without ends by its exit status.
            seconds, processors, memory, _ = measure([TUMIT, "index", trace])
            if not any(map(os.path.exists, [f"{trace}.tmtx", f"{trace}/index.tmtx"])):
                sys.exit(f"`{TUMIT} index` makes no index of {name.format(f'{links:,}')}")
        print(f"| {name.format(f'{links:,}')} | {seconds:.1f} s | {processors:.1f} s | {memory / 1e6:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
