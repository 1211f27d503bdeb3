#!/usr/bin/env python3
"""Counts the instructions of hot paths and compares them with those stored.

usage: benches/instructions.py [--store] [PATH...]

Needs valgrind. Builds the bench program `instructions` with optimisations, runs each PATH (all
without any) with and without its measured step under callgrind on one thread, and prints the
difference beside the count in benches/instructions.tsv. Exits with 1 if one is more than 3 % above
the stored count: ids are hashed with a key that is random in each file, so counts vary a little.
`--store` writes the counts instead of judging them. Counts depend on compiler and processor: store
anew before a change and compare after it, on one machine.
"""
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
STORED = ROOT / "benches" / "instructions.tsv"
PATHS = ["sketch-ascii", "sketch-unicode", "insert", "dedup", "query", "pairs", "exact-pairs"]
PATHS += ["exact-limited-pairs", "exact-clusters", "exact-dedup", "clusters", "remove", "compact"]
PATHS += ["open", "containment"]
TOLERANCE = 0.03


def build():
    command = ["cargo", "bench", "--no-run", "--bench", "instructions"]
    command.append("--message-format=json-render-diagnostics")
    built = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        sys.exit("instructions.py: the bench program does not build")
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("executable") and message["target"]["name"] == "instructions":
            return message["executable"]
    sys.exit("instructions.py: cargo built no program `instructions`")


def collected(program, path, step, folder):
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/callgrind.out"]
    run = subprocess.run(
        [*command, program, path, step, folder],
        env={**os.environ, "RAYON_NUM_THREADS": "1"},
        stderr=subprocess.PIPE,
        text=True,
    )
    count = re.search(r"Collected *: *(\d+)", run.stderr)
    if run.returncode != 0 or count is None:
        sys.exit(f"instructions.py: {path} {step} failed:\n{run.stderr}")
    return int(count[1])


def load():
    if not STORED.exists():
        return {}
    rows = (line.split("\t") for line in STORED.read_text().splitlines()[1:])
    return {path: int(count) for path, count in rows}


def compare(program, path, stored, folder):
    """Prints the line of a path; returns its count."""
    count = collected(program, path, "1", folder) - collected(program, path, "0", folder)
    ratio = f"{count / stored:.4f}" if stored else "-"
    print(f"{path}\t{count}\t{stored or '-'}\t{ratio}", flush=True)
    return count


def main():
    asked = [arg for arg in sys.argv[1:] if arg != "--store"]
    if any(path not in PATHS for path in asked):
        sys.exit(__doc__)
    stored, program = load(), build()
    print("path\tnow\tstored\tratio")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([program, "fill", folder], check=True)
        counts = {path: compare(program, path, stored.get(path), folder) for path in asked or PATHS}
    grown = [path for path in counts if counts[path] > stored.get(path, math.inf) * (1 + TOLERANCE)]
    if "--store" in sys.argv:
        stored.update(counts)
        rows = [f"{path}\t{stored[path]}\n" for path in PATHS if path in stored]
        STORED.write_text("path\tinstructions\n" + "".join(rows))
    elif grown:
        paths = ", ".join(grown)
        sys.exit(f"instructions.py: more than {TOLERANCE:.0%} above the stored count: {paths}")


main()
