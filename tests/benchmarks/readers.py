#!/usr/bin/env python3
"""Gives Pajé files to the other programs that read them, and tells what each says: pj_dump, ViTE, and the original Paje.app.

usage: tests/benchmarks/readers.py FILE.paje...      # Debian: pajeng, vite, paje.app, xvfb, x11-utils

pj_dump must end well and say nothing. ViTE writes what it finds wrong into `log.txt`. Paje.app is a program of windows, so it gets a display of its own:
once it has read a file, the diagram's window has the file's name; what it cannot read it tells in a panel, whose window has a blank for a
name. Ends with 1 if one of them complained of any file.
"""

import os
import subprocess
import sys
import tempfile
import time

DISPLAY = ":97"
PATIENCE = 120  # seconds


def pj_dump(path):
    """What is wrong, after pj_dump; None if nothing is."""
    done = subprocess.run(["pj_dump", "-l", "9", "-e", "1e300", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return done.stderr.strip() or (f"it ends with {done.returncode}" if done.returncode else None)


def vite(path):
    """What is wrong, after ViTE; None if nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
        subprocess.run(["vite", "-e", "out.svg", os.path.abspath(path)], cwd=folder, env=environment, capture_output=True, timeout=PATIENCE)
        log = os.path.join(folder, "log.txt")
        if os.path.exists(log):
            with open(log, encoding="utf-8", errors="replace") as text:
                return " ".join(text.read().split())
        return None if os.path.exists(os.path.join(folder, "out.svg")) else "it draws nothing"


def windows():
    """Names of all windows."""
    tree = subprocess.run(["xwininfo", "-root", "-tree"], capture_output=True, text=True, env=os.environ)
    return [line.split('"')[1] for line in tree.stdout.splitlines() if '"Paje"' in line and line.count('"') >= 2]


def paje_app(path):
    """What is wrong, after Paje.app; None if nothing is."""
    paje = subprocess.Popen(["Paje", os.path.abspath(path)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            names = windows()
            if " " in names:
                return "it complains in a panel"
            if any(name.startswith(os.path.basename(path) + " ") for name in names):
                # A complaint about the end of the file would come now.
                time.sleep(2)
                return "it complains in a panel" if " " in windows() else None
            if paje.poll() is not None:
                return f"it ends with {paje.returncode}"
            time.sleep(0.3)
        return f"not read within {PATIENCE} s"
    finally:
        paje.kill()
        paje.communicate()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    os.environ["DISPLAY"] = DISPLAY
    screen = subprocess.Popen(["Xvfb", DISPLAY, "-screen", "0", "1280x1024x24"], stderr=subprocess.DEVNULL)
    try:
        time.sleep(2)
        readers = [pj_dump, vite, paje_app]
        verdicts = [(path, reader.__name__, reader(path)) for path in sys.argv[1:] for reader in readers]
    finally:
        screen.kill()
        screen.wait()
    for path, reader, said in verdicts:
        print(f"{path}: {reader}: {said or 'read without a word'}")
    sys.exit(1 if any(said for *_, said in verdicts) else 0)


if __name__ == "__main__":
    main()
