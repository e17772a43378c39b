#!/usr/bin/env python3
"""Prints the records of a run ordered by timestamp, one JSON object per line, as `tumit dump --json` does: dump.py RUN

This independent reader is written from tracer-rt/format/FORMAT.md alone, in plain Python. It shows that the document is
sufficient to write a reader, and a test compares the output of both readers. It keeps the whole run in memory, and does
not correct clocks: the timestamps of each clock are its own nanoseconds, as with `--clock none`.

Damaged and missing data are reported on standard error, and the exit status is then 1. It is 2 without a run to read.
"""

import json
import math
import os
import sys

from blocks import integer_of, text_of
from process import processes_of
from schema import Date


def open_run(path, complain):
    """The processes of a run folder or of one file, ordered by rank."""
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
        for process in processes_of(path, lambda message, path=path: complain("%s: %s" % (path, message)))
    ]
    return sorted(processes, key=lambda process: (process.integer(5) is None, process.integer(5) or 0))


# The output of `tumit dump --json`, which is no part of the format.


def bounded(nanos):
    return max(-(1 << 63), min(nanos, (1 << 63) - 1))


def json_value(value, nanos):
    if isinstance(value, Date):
        return bounded(nanos(value))
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, list):
        return [json_value(item, nanos) for item in value]
    return value


def rate_of(processes):
    """Ticks per second of the clock that these processes read."""
    rates = [process.integer(8) for process in processes if process.integer(8)]
    anchors = [anchor for process in processes for anchor in process.anchors]
    if rates or not anchors:
        return rates[0] if rates else 10**9
    (ticks, nanos), (last_ticks, last_nanos) = min(anchors), max(anchors)
    return (last_ticks - ticks) * 10**9 // (last_nanos - nanos) if last_nanos > nanos else 10**9


def default_names(process):
    """Names for streams without one: `main`, and `worker 1`, `worker 2` and so on, ordered by stream number."""
    names, threads = {}, {}
    for stream, about in sorted(process.streams.items()):
        if about.get(21):
            continue
        if 20 not in about:
            continue
        tid = integer_of(about[20])
        if tid == process.integer(4):
            names[stream] = "main"
            continue
        # The streams of one thread, for signal handlers and overwritten records, have one name.
        kind = (22 in about, 23 in about)
        thread = threads.get(tid)
        if thread is None or kind in thread[1]:
            thread = threads[tid] = (len(set(names.values()) - {"main"}) + 1, set())
        thread[1].add(kind)
        names[stream] = "worker %d" % thread[0]
    return names


def lines(processes):
    rates = {}
    names = {id(process): default_names(process) for process in processes}
    for process in processes:
        if process.clock() not in rates:
            rates[process.clock()] = rate_of([other for other in processes if other.clock() == process.clock()])
    found, start = [], None
    for process in processes:
        rate = rates[process.clock()]
        for stream, ticks, name, level, source, fields, truncated in process.records():
            nanos = ticks * 10**9 // rate
            start = nanos if start is None else min(start, nanos)
            found.append((nanos, process, rate, stream, name, level, source, fields, truncated))
    found.sort(key=lambda record: record[0])
    for nanos, process, rate, stream, name, level, source, fields, truncated in found:
        about = process.streams.get(stream, {})
        tid = integer_of(about[20]) if 20 in about else stream
        line = {
            "time_ns": bounded(nanos - start),
            "pid": process.integer(4),
            "tid": tid,
            "host": text_of(process.tags.get(3, b"")),
            "thread": text_of(about.get(21, b"")) or names[id(process)].get(stream, "thread %d" % tid),
            "level": level,
            "event": name,
            "fields": {name: json_value(value, lambda t: t * 10**9 // rate - start) for name, value in fields.items()},
        }
        if process.integer(5) is not None:
            line["rank"] = process.integer(5)
        if about.get(25):
            line["label"] = text_of(about[25])
        if truncated:
            line["truncated"] = True
        if source is not None:
            line["file"], line["line"] = source
        yield line


def main():
    if len(sys.argv) != 2:
        print("usage: dump.py RUN", file=sys.stderr)
        raise SystemExit(2)
    faults = []
    processes = open_run(sys.argv[1], faults.append)
    for line in lines(processes):
        print(json.dumps(line, sort_keys=True, ensure_ascii=False))
    ranks = max((process.integer(6) or 0 for process in processes), default=0)
    missing = set(range(ranks)) - {process.integer(5) for process in processes}
    if missing:
        faults.append("%d of %d ranks left no file" % (len(missing), ranks))
    dropped = sum(process.dropped() for process in processes)
    if dropped > 0:
        faults.append("%d records are lost" % dropped)
    for fault in faults:
        print("dump.py: %s" % fault, file=sys.stderr)
    raise SystemExit(1 if faults else 0)


if __name__ == "__main__":
    main()
