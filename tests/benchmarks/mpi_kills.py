#!/usr/bin/env python3
"""Kills recorded MPI jobs at random times, and checks that no record is missing.

    cargo build --release -p tumit-cli
    tests/benchmarks/mpi_kills.py 300

The two ranks count their finished calls in files that survive them. SIGKILL goes to one rank, to
both ranks, or to the launcher, in turn. Then the number of records must be that of the finished
calls, or greater by one: the call during which the rank was killed.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = {
    "Open MPI": ("mpicc.openmpi", ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe"]),
    "MPICH": ("mpicc.mpich", ["mpirun.mpich"]),
}
TARGETS = ["one rank", "both ranks", "the launcher"]
RANKS = 2
MAX_DELAY = 0.05  # seconds from the first message to the kill
TIMEOUT = 60
COUNTERS = ["sends", "receives", "reductions"]
# Records, and the counters of the calls that write one each.
EVENTS = {
    "send": ["sends"],
    "receive": ["receives"],
    "MPI_Send": ["sends"],
    "MPI_Recv": ["receives"],
    "MPI_Allreduce": ["reductions"],
    "point_to_point.end": ["sends", "receives"],
    "collective.end": ["reductions"],
}


class Progress:
    """The counters of a rank."""

    def __init__(self, path):
        words = path.read_bytes() if path.exists() else b""
        self.pid, *counts = struct.unpack("=4Q", words) if len(words) == 32 else (0, 0, 0, 0)
        self.counts = dict(zip(COUNTERS, counts))


def wait_for(condition, name):
    end = time.monotonic() + TIMEOUT
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"{name} did not happen within {TIMEOUT} s")
        time.sleep(0.001)


def is_running(pid):
    """Whether a process exists and is no zombie."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def launcher_of(pid):
    """The process id of the launcher that `tumit record`, the process `pid`, has started."""
    return int(pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])


def record_and_kill(tumit, library, program, folder, target, delay):
    """Returns the counters of both ranks after the kill."""
    progress = folder / "progress"
    progress.mkdir()
    variables = os.environ | {"TUMIT_POLICY": "MPI_P2P=block,MPI_COLL=block", "OMPI_MCA_mpi_yield_when_idle": "1"}
    command = [tumit, "record", "-q", "--with", "mpi", "-o", folder / "run.tmt", "--", *LIBRARIES[library][1]]
    command += ["-n", str(RANKS), program, progress]
    null = subprocess.DEVNULL
    job = subprocess.Popen(command, env=variables, stdin=null, stdout=null, stderr=null)
    paths = [progress / str(rank) for rank in range(RANKS)]
    wait_for(lambda: all(Progress(path).pid for path in paths), "the start of both ranks")
    time.sleep(delay)
    pids = [Progress(path).pid for path in paths]
    if target == "the launcher":
        killed = [launcher_of(job.pid)]
    else:
        killed = random.sample(pids, 1 if target == "one rank" else RANKS)
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    job.wait(TIMEOUT)
    # Some launchers leave ranks behind if they are killed.
    for pid in filter(is_running, pids):
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not any(map(is_running, pids)), "the end of both ranks")
    return [Progress(path).counts for path in paths]


def recorded_events(tumit, run):
    """The number of records of each rank, by event, and that of calls, by procedure."""
    counts = [collections.Counter() for _ in range(RANKS)]
    dump = subprocess.run([tumit, "dump", "--json", run], capture_output=True, text=True)
    # A killed process is the only finding.
    if not all("did not end in order" in line for line in dump.stderr.splitlines()):
        raise SystemExit(dump.stderr)
    for record in map(json.loads, dump.stdout.splitlines()):
        event = record["event"]
        counts[record["rank"]][event] += 1
        if event.endswith(".begin"):
            counts[record["rank"]][record["fields"]["procedure"]] += 1
    return counts


def missing_records(progress, recorded):
    """A line for each event with a wrong number of records."""
    lines = []
    for rank in range(RANKS):
        for event, counters in EVENTS.items():
            finished = sum(progress[rank][counter] for counter in counters)
            if recorded[rank][event] not in (finished, finished + 1):
                lines.append(f"rank {rank}: {finished} calls, {recorded[rank][event]} records of {event}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kills", type=int, help="number of jobs")
    parser.add_argument("--tumit", default=ROOT / "target/release/tumit", help="the command")
    parser.add_argument("--seed", type=int, default=1, help="of the random times")
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    summary = collections.Counter()
    with tempfile.TemporaryDirectory() as name:
        top = pathlib.Path(name)
        programs = {library: top / f"mpi_kills.{compiler}" for library, (compiler, _) in LIBRARIES.items()}
        for library, (compiler, _) in LIBRARIES.items():
            source = ROOT / "tests/benchmarks/c/mpi_kills.c"
            subprocess.run([compiler, "-O1", source, "-o", programs[library]], check=True)
        for kill in range(arguments.kills):
            library = list(LIBRARIES)[kill % len(LIBRARIES)]
            target = TARGETS[kill // len(LIBRARIES) % len(TARGETS)]
            folder = top / "job"
            folder.mkdir()
            delay = random.uniform(0, MAX_DELAY)
            progress = record_and_kill(arguments.tumit, library, programs[library], folder, target, delay)
            lines = missing_records(progress, recorded_events(arguments.tumit, folder / "run.tmt"))
            if lines:
                raise SystemExit(f"kill {kill} ({library}, {target}, after {delay:.4f} s):\n" + "\n".join(lines))
            summary[library, target] += 1
            summary["calls"] += sum(sum(counts.values()) for counts in progress)
            shutil.rmtree(folder)
    calls = summary.pop("calls")
    for (library, target), kills in summary.items():
        print(f"{library}, {target}: {kills} kills")
    print(f"{arguments.kills} kills, {calls} finished calls, no record is missing")


if __name__ == "__main__":
    main()
