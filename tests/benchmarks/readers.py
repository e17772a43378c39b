#!/usr/bin/env python3
"""Gives Pajé files to other programs that read them: pj_dump, ViTE, and the original Paje.app.

usage: tests/benchmarks/readers.py FILE.paje...      # Debian: pajeng, vite, paje.app, xvfb, x11-utils

Prints the complaints of each program. pj_dump complains on its standard error or by its exit status,
ViTE in a file `log.txt`. Paje.app has windows, so it gets its own display: after reading a file, it
opens a window with the name of the file; complaints are in a panel whose window has the name " ".
Exit status: 1 if a program complained about a file.
"""

import os
import subprocess
import sys
import tempfile
import time

DISPLAY = ":97"
TIME_LIMIT = 120  # seconds


def pj_dump(path):
    """Returns the complaint of pj_dump, or None."""
    done = subprocess.run(["pj_dump", "-l", "9", "-e", "1e300", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return done.stderr.strip() or (f"it ends with {done.returncode}" if done.returncode else None)


def vite(path):
    """Returns the complaint of ViTE, or None."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        subprocess.run(["vite", "-e", "out.svg", os.path.abspath(path)], cwd=folder, env=environment, capture_output=True, timeout=TIME_LIMIT)
        log = os.path.join(folder, "log.txt")
        if os.path.exists(log):
            with open(log, encoding="utf-8", errors="replace") as text:
                return " ".join(text.read().split())
        return None if os.path.exists(os.path.join(folder, "out.svg")) else "it draws nothing"


def window_names():
    """Returns the names of all windows."""
    tree = subprocess.run(["xwininfo", "-root", "-tree"], capture_output=True, text=True, env=os.environ)
    return [line.split('"')[1] for line in tree.stdout.splitlines() if '"Paje"' in line and line.count('"') >= 2]


def paje_app(path):
    """Returns the complaint of Paje.app, or None."""
    paje = subprocess.Popen(["Paje", os.path.abspath(path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        end = time.monotonic() + TIME_LIMIT
        while time.monotonic() < end:
            names = window_names()
            if " " in names:
                return "it complains in a panel"
            if any(name.startswith(os.path.basename(path) + " ") for name in names):
                # A complaint about the end of the file comes a little later.
                time.sleep(2)
                return "it complains in a panel" if " " in window_names() else None
            if paje.poll() is not None:
                return f"it ends with {paje.returncode}"
            time.sleep(0.3)
        return f"not read within {TIME_LIMIT} s"
    finally:
        paje.kill()
        paje.communicate()


def main():
    if "--help" in sys.argv or "-h" in sys.argv:
        print(__doc__.strip())
        return
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    os.environ["DISPLAY"] = DISPLAY
    screen = subprocess.Popen(["Xvfb", DISPLAY, "-screen", "0", "1280x1024x24"], stderr=subprocess.DEVNULL)
    try:
        time.sleep(2)
        readers = [pj_dump, vite, paje_app]
        results = [(path, reader.__name__, reader(path)) for path in sys.argv[1:] for reader in readers]
    finally:
        screen.kill()
        screen.wait()
    for path, reader, complaint in results:
        print(f"{path}: {reader}: {complaint or 'read without complaints'}")
    sys.exit(1 if any(complaint for *_, complaint in results) else 0)


if __name__ == "__main__":
    main()
