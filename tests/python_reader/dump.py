#!/usr/bin/env python3
"""Prints the records of a run in order of date, one JSON object per line, as `tumit dump --json` does: dump.py RUN

A second reader, written from tracer-rt/format/FORMAT.md and from nothing else, with nothing but Python: it shows that the
page is enough to write one, and a test compares what the two readers say. It holds a whole run in memory, and does not bring
clocks together: each is shown in nanoseconds of its own, as `--clock none` does.

What is damaged or missing is told on the standard error, and the exit status is 1 then; 2 when there is no run to read.
"""

import json
import math
import os
import sys

from blocks import integer_of, text_of
from process import processes_of
from schema import Date


def open_run(path, complain):
    """The processes of a run folder, or of one file: those with ranks in their order."""
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
        for process in processes_of(path, lambda what, path=path: complain("%s: %s" % (path, what)))
    ]
    return sorted(processes, key=lambda process: (process.integer(5) is None, process.integer(5) or 0))


# Not of the format: how `tumit dump --json` writes values.


def bounded(nanos):
    return max(-(1 << 63), min(nanos, (1 << 63) - 1))


def shown(value, nanos):
    if isinstance(value, Date):
        return bounded(nanos(value))
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, list):
        return [shown(item, nanos) for item in value]
    return value


def rate_of(processes):
    """Ticks per second of the clock that these processes read."""
    told = [process.integer(8) for process in processes if process.integer(8)]
    anchors = [anchor for process in processes for anchor in process.anchors]
    if told or not anchors:
        return told[0] if told else 10**9
    (ticks, nanos), (last_ticks, last_nanos) = min(anchors), max(anchors)
    return (last_ticks - ticks) * 10**9 // (last_nanos - nanos) if last_nanos > nanos else 10**9


def unnamed(process):
    """By stream without a name: `main`, or `worker 1`, `worker 2` and so on in order of the streams' numbers."""
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
        known = threads.get(tid)
        if known is None or kind in known[1]:
            known = threads[tid] = (len(set(names.values()) - {"main"}) + 1, set())
        known[1].add(kind)
        names[stream] = "worker %d" % known[0]
    return names


def lines(processes):
    rates = {}
    names = {id(process): unnamed(process) for process in processes}
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
            "fields": {name: shown(value, lambda t: t * 10**9 // rate - start) for name, value in fields.items()},
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
    dropped = sum(process.lost() for process in processes)
    if dropped > 0:
        faults.append("%d records are lost" % dropped)
    for fault in faults:
        print("dump.py: %s" % fault, file=sys.stderr)
    raise SystemExit(1 if faults else 0)


if __name__ == "__main__":
    main()
