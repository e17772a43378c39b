"""Starts `tumit view`, sends it requests, and measures the costs of commands."""

import contextlib
import gzip
import os
import re
import subprocess
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TUMIT = os.environ.get("TUMIT", str(ROOT / "target/release/tumit"))
TIME_LIMIT = 900  # seconds


def measure(command, environment=None):
    """Runs a command to its end.

    Returns seconds, seconds of processor time, peak memory in bytes, and whether it succeeded.
    """
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        if time.monotonic() - begin > TIME_LIMIT:
            process.kill()
        time.sleep(0.002)
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, status == 0


class ViewerProcess:
    """A running `tumit view`. `url` ends with a slash."""

    def __init__(self, process, url):
        self.process = process
        self.url = url

    def peak_memory(self):
        """Returns the peak memory so far in bytes."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmHWM:\s*(\d+)", status)[1]) * 1024

    def processor_time(self):
        """Returns the processor time so far in seconds."""
        ticks = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")

    def request(self, query):
        """Sends a request that accepts compression, like those of the page.

        Returns the answer and its number of bytes as sent.
        """
        with urllib.request.urlopen(urllib.request.Request(self.url + query, headers={"Accept-Encoding": "gzip"})) as answer:
            sent = answer.read()
            return (gzip.decompress(sent) if answer.headers.get("Content-Encoding") == "gzip" else sent), len(sent)


@contextlib.contextmanager
def viewer(trace):
    """A `tumit view` of the trace, which listens. It ends with the block."""
    process = subprocess.Popen([TUMIT, "view", "--no-open", trace], stderr=subprocess.PIPE, text=True)
    try:
        lines = []
        for line in process.stderr:
            if line.strip().startswith("http://"):
                break
            lines.append(line)
        else:
            raise SystemExit(f"`{TUMIT} view {trace}` ends: {''.join(lines).strip()}")
        yield ViewerProcess(process, line.strip())
    finally:
        process.kill()
        process.wait()


def check_command():
    """Ends the program with a message if there is no `tumit`."""
    if not os.access(TUMIT, os.X_OK):
        raise SystemExit(f"{TUMIT} is missing; `cargo build --release -p tumit-cli -p tests` builds it, or set TUMIT")
