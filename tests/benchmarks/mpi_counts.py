#!/usr/bin/env python3
"""Compares the recorded MPI calls, messages and bytes of a program with an independent count.

    cargo build --release -p tumit-cli
    tests/benchmarks/mpi_counts.py --mpi mpich -- ./xhpcg 20 20 20

The library `c/mpi_counts.cpp` counts the calls of the same run, before they reach the recorder. Its
own inquiries reach the recorder, too, so it counts them as well. The program must receive all its
messages. The messages of persistent requests are not counted.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

BENCHMARKS = pathlib.Path(__file__).resolve().parent
# Procedures that cannot be passed on as words, inquiries that are possible before the library is
# initialised, and procedures that are not recorded (`tracer-rt/preload/mpi/procedures.py`).
EXCLUDED = (
    r"\w+_(f2c|c2f|fn|function|toint|fromint|c2f08|f082c|f2f08|f082f|attr)|\w*(keyval|errhandler)\w*"
    r"|MPI_(T|Status|Abi|Attr|Op|Keyval|Info|Errhandler)_\w+|MPI_(Register_datarep|Grequest_start|Pcontrol)(_c)?"
    r"|MPI_(Initialized|Finalized|Get_version|Get_library_version)"
)
# The procedures of events that do not name theirs.
PROCEDURES = {"fence": "MPI_Win_fence", "window_lock": "MPI_Win_lock", "window_unlock": "MPI_Win_unlock"}


def command_of(folder, name, mpi):
    """A compiler or launcher in the folder of an MPI library, or with Debian's suffix."""
    return str(folder / "bin" / name) if folder.is_dir() else f"{name}.{mpi}"


def build_library(compiler, folder):
    """Compiles the library that counts."""
    source = subprocess.run(
        [compiler, "-E", "-x", "c", "-"], input="#include <mpi.h>\n", check=True, capture_output=True, text=True
    ).stdout
    names = sorted(set(re.findall(r"\bint\s+(MPI_[A-Z]\w+)\s*\(", source)))
    names = [name for name in names if not re.fullmatch(EXCLUDED, name)]
    lines = [f"PROCEDURE({name}, {name.lower()})\n" for name in names]
    (folder / "procedures.inc").write_text("".join(lines))
    library = folder / "libmpi_counts.so"
    options = ["-std=c++17", "-fPIC", "-shared", "-w", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"]
    subprocess.run(
        [compiler, *options, "-I", folder, BENCHMARKS / "c/mpi_counts.cpp", "-o", library, "-ldl"], check=True
    )
    return library


def run_program(arguments, launcher, library, folder):
    """Runs the program with the recorder and the library. Returns the run folder."""
    run, counts = folder / "run.tmt", folder / "counts"
    counts.mkdir()
    settings = [arguments.tumit, "record", "--print-env", "--with", "mpi", "--levels", "MPI_ENV=on", "-o", run]
    text = subprocess.run(settings, check=True, capture_output=True, text=True).stdout
    variables = dict(re.findall(r"^export (\w+)=(.*)$", text, re.MULTILINE))
    variables["LD_PRELOAD"] = f"{library} {variables['LD_PRELOAD']}"
    variables |= {"MPI_COUNTS": counts, "TUMIT_POLICY": "all=block"}
    program = ["env", *(f"{name}={value}" for name, value in variables.items()), *arguments.command]
    environment = os.environ | {"OMPI_MCA_mpi_yield_when_idle": "1"}
    subprocess.run([*launcher, "-n", str(arguments.ranks), *program], check=True, env=environment, stdout=2)
    return run, counts


def independent_counts(folder):
    """Calls, messages and bytes of each procedure."""
    counts = collections.defaultdict(lambda: [0, 0, 0])
    for path in folder.iterdir():
        for line in path.read_text().splitlines():
            name, *numbers = line.split()
            counts[name] = [sum(pair) for pair in zip(counts[name], map(int, numbers))]
    return counts


def recorded_counts(tumit, run):
    """Calls, messages and bytes of each procedure, and the received messages and bytes."""
    counts = collections.defaultdict(lambda: [0, 0, 0])
    received = [0, 0]
    open_calls = {}
    dump = subprocess.Popen([tumit, "dump", "--json", run], stdout=subprocess.PIPE, text=True)
    for record in map(json.loads, dump.stdout):
        event, fields = record["event"], record.get("fields", {})
        thread = record["rank"], record["tid"]
        if event.endswith(".begin"):
            procedure = fields.get("procedure") or PROCEDURES[event.removesuffix(".begin")]
            open_calls[thread] = procedure
            counts[procedure][0] += 1
            counts[procedure][2] += fields.get("bytes", 0)
        elif event == "successful_test":
            counts[fields["procedure"]][0] += 1
            counts["unsuccessful"][0] += fields["failures"]
        elif event == "send":
            counts[open_calls[thread]][1] += 1
            counts[open_calls[thread]][2] += fields["bytes"]
        elif event in ("receive", "late_receive"):
            received = [received[0] + 1, received[1] + fields["bytes"]]
    if dump.wait() != 0:
        raise SystemExit("the run cannot be read")
    return counts, received


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="openmpi", help="openmpi, mpich, or the folder of a library")
    parser.add_argument("--compiler", default="mpicxx", help="name of its compiler of C++")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--tumit", default=BENCHMARKS.parents[1] / "target/release/tumit", help="the command")
    parser.add_argument("--all", action="store_true", help="prints all procedures, not only differences")
    parser.add_argument("command", nargs="+", help="the program and its arguments")
    arguments = parser.parse_args()
    mpi = pathlib.Path(arguments.mpi)
    launcher = [command_of(mpi, "mpirun", arguments.mpi)]
    if arguments.mpi == "openmpi" or shutil.which(mpi / "bin/ompi_info"):
        launcher += ["--allow-run-as-root", "--oversubscribe"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        library = build_library(command_of(mpi, arguments.compiler, arguments.mpi), folder)
        run, counts = run_program(arguments, launcher, library, folder)
        expected = independent_counts(counts)
        recorded, received = recorded_counts(arguments.tumit, run)
    print("| procedure | calls, messages, bytes: independent count | recorded |\n|---|---|---|")
    differences = 0
    for procedure in sorted(expected.keys() | recorded.keys()):
        pair = expected[procedure], recorded[procedure]
        differences += pair[0] != pair[1]
        if pair[0] != pair[1] or arguments.all:
            print(f"| {procedure} |", " | ".join(", ".join(f"{number:,}" for number in row) for row in pair), "|")
    totals = [[sum(row[column] for row in counts.values()) for column in range(3)] for counts in (expected, recorded)]
    sent = [sum(row[column] for row in expected.values() if row[1] > 0) for column in (1, 2)]
    for title, row in ("sum", totals), ("received messages and bytes", [sent, received]):
        print(f"| {title} |", " | ".join(", ".join(f"{number:,}" for number in numbers) for numbers in row), "|")
    differences += sent != received
    print(f"{len(expected)} procedures, {differences} differences")
    raise SystemExit(differences > 0)


if __name__ == "__main__":
    main()
