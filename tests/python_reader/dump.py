#!/usr/bin/env python3
"""Prints the records of a run in order of their timestamps, one JSON object per line: dump.py RUN

This is a second reader of runs, based on tracer-rt/format/FORMAT.md alone, in Python without further
packages. It proves that the document is enough to write a reader: a test compares its output with that
of `tumit dump --json`. It holds a whole run in memory and does not correct clocks: timestamps are
nanoseconds of each clock, as with `--clock none`.

Damaged and missing data are reported on the standard error. Exit status: 0 if there are none, 1 if
there are some, 2 if there is no run.
"""

import json
import math
import os
import sys

from blocks import integer_of, text_of
from process import processes_of
from schema import Timestamp


def open_run(path, warn):
    """Reads the processes of a run folder or of one file, in the order of their ranks."""
    if os.path.isdir(path):
        names = {name.rsplit(".", 1)[0] for name in os.listdir(path) if name.endswith((".tmt", ".live"))}
        paths = [os.path.join(path, name + ".tmt") for name in sorted(names)]
    else:
        paths = [path]
    if not paths or not any(os.path.exists(path) or os.path.exists(path[:-4] + ".live") for path in paths):
        print("%s: no run" % path, file=sys.stderr)
        raise SystemExit(2)
    processes = [
        process
        for path in paths
        for process in processes_of(path, lambda message, path=path: warn("%s: %s" % (path, message)))
    ]
    return sorted(processes, key=lambda process: (process.integer(5) is None, process.integer(5) or 0))


# The format does not specify the code below: it writes values as `tumit dump --json` does.


def clamp(nanos):
    return max(-(1 << 63), min(nanos, (1 << 63) - 1))


def json_value(value, nanos):
    if isinstance(value, Timestamp):
        return clamp(nanos(value))
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, list):
        return [json_value(item, nanos) for item in value]
    return value


def rate_of(processes):
    """Ticks per second of the clock of these processes."""
    rates = [process.integer(8) for process in processes if process.integer(8)]
    anchors = [anchor for process in processes for anchor in process.anchors]
    if rates or not anchors:
        return rates[0] if rates else 10**9
    points = sorted((nanos, ticks) for ticks, nanos in anchors)
    steps = [(after[0] - before[0], after[1] - before[1]) for before, after in zip(points, points[1:])]
    steps = [(nanos, ticks) for nanos, ticks in steps if nanos > 10**7 and ticks > 0]
    step_rates = sorted(ticks * 10**9 // nanos for nanos, ticks in steps)
    if len(step_rates) > 2:
        # Pairs with an unusual rate are ignored: the machine slept, or the clock was set.
        median = step_rates[len(step_rates) // 2]
        steps = [step for step in steps if abs(step[1] * 10**9 // step[0] - median) <= median // 200]
        nanos, ticks = (sum(parts) for parts in zip(*steps))
    else:
        nanos, ticks = points[-1][0] - points[0][0], points[-1][1] - points[0][1]
    return ticks * 10**9 // nanos if nanos > 0 and ticks > 0 else 10**9


def generated_names(process):
    """Names of the streams without a name: `main`, or `worker 1`, `worker 2` in stream order."""
    names, threads = {}, {}
    for stream, tags in sorted(process.streams.items()):
        if tags.get(21):
            continue
        if 20 not in tags:
            continue
        tid = integer_of(tags[20])
        if tid == process.integer(4):
            names[stream] = "main"
            continue
        # The ordinary stream of a thread and its streams for signal handlers and for overwritten
        # records have the same name.
        kind = (22 in tags, 23 in tags)
        worker, kinds = threads.get(tid, (None, None))
        if worker is None or kind in kinds:
            worker, kinds = threads[tid] = (len(set(names.values()) - {"main"}) + 1, set())
        kinds.add(kind)
        names[stream] = "worker %d" % worker
    return names


def lines(processes):
    rates = {}
    names = {id(process): generated_names(process) for process in processes}
    for process in processes:
        if process.clock() not in rates:
            rates[process.clock()] = rate_of([other for other in processes if other.clock() == process.clock()])
    records, start = [], None
    for process in processes:
        rate = rates[process.clock()]
        for stream, ticks, name, level, source, fields, truncated in process.records():
            nanos = ticks * 10**9 // rate
            start = nanos if start is None else min(start, nanos)
            records.append((nanos, process, rate, stream, name, level, source, fields, truncated))
    records.sort(key=lambda record: record[0])
    for nanos, process, rate, stream, name, level, source, fields, truncated in records:
        tags = process.streams.get(stream, {})
        tid = integer_of(tags[20]) if 20 in tags else stream
        line = {
            "time_ns": clamp(nanos - start),
            "pid": process.integer(4),
            "tid": tid,
            "host": text_of(process.tags.get(3, b"")),
            "thread": text_of(tags.get(21, b"")) or names[id(process)].get(stream, "thread %d" % tid),
            "level": level,
            "event": name,
            "fields": {name: json_value(value, lambda t: t * 10**9 // rate - start) for name, value in fields.items()},
        }
        if process.integer(5) is not None:
            line["rank"] = process.integer(5)
        if tags.get(25):
            line["label"] = text_of(tags[25])
        if truncated:
            line["truncated"] = True
        if source is not None:
            line["file"], line["line"] = source
        yield line


def main():
    if len(sys.argv) != 2:
        print("usage: dump.py RUN", file=sys.stderr)
        raise SystemExit(2)
    warnings = []
    processes = open_run(sys.argv[1], warnings.append)
    for line in lines(processes):
        print(json.dumps(line, sort_keys=True, ensure_ascii=False))
    ranks = max((process.integer(6) or 0 for process in processes), default=0)
    missing = set(range(ranks)) - {process.integer(5) for process in processes}
    if missing:
        warnings.append("%d of %d ranks left no file" % (len(missing), ranks))
    dropped = sum(process.dropped() for process in processes)
    if dropped > 0:
        warnings.append("%d records were dropped" % dropped)
    for warning in warnings:
        print("dump.py: %s" % warning, file=sys.stderr)
    raise SystemExit(1 if warnings else 0)


if __name__ == "__main__":
    main()
