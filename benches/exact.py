#!/usr/bin/env python3
"""Times exact answers beside estimates, in turns.

usage: exact.py CORPUS.jsonl [--copies N] [--rounds 3] [--cache 64M] [--twindex PATH]

Makes an index with stored texts of CORPUS.jsonl, a line {"id": ..., "text": ...} for each text, and
one of each half, which has every other text. In every round each command runs twice: by texts, and
with --estimate (for `dedup`: into an index without texts). `merge` puts the halves into a new
index. Prints a Markdown table of medians, with the least and the most. With --copies, the first N
texts are taken, each with a copy in which every fortieth line is changed.
"""

import argparse
import itertools
import json
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMANDS = ["pairs", "clusters", "clusters --linkage connected"]
DEDUP, MERGE = "dedup into a new index", "merge --dedup of two halves"


def with_copies(corpus, count, target):
    """Writes texts, and after each a copy of it with some other lines."""
    with corpus.open() as lines, target.open("w") as out:
        for row, line in enumerate(itertools.islice(lines, count)):
            text = json.loads(line)["text"]
            changed = text.split("\n")
            for at in range(row % 40, len(changed), 40):
                changed[at] = f"line {at} of text {row} is another one"
            for id, version in ((f"{row}", text), (f"{row}-copy", "\n".join(changed))):
                out.write(json.dumps({"id": id, "text": version}, ensure_ascii=False) + "\n")


def halves(corpus, folder):
    """Writes every other line, and the rest."""
    for first in (0, 1):
        target = folder / f"half-{first}.jsonl"
        with corpus.open("rb") as lines, target.open("wb") as out:
            out.writelines(itertools.islice(lines, first, None, 2))
        yield target


def seconds(command):
    """The time that a command takes, and that of all processors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    took = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1):
        raise SystemExit(f"exact.py: {' '.join(map(str, command))}\n{done.stderr}")
    worked = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, worked


def told(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus", metavar="CORPUS.jsonl", type=Path)
    parser.add_argument("--copies", type=int, metavar="N", help="N texts, each with a near copy")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cache", default="64M")
    parser.add_argument("--twindex", type=Path, default=ROOT / "target" / "release" / "twindex")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        corpus, index = args.corpus.resolve(), folder / "stored.twx"
        if args.copies:
            corpus = folder / "copies.jsonl"
            with_copies(args.corpus, args.copies, corpus)
        quiet = ["--no-progress", "--cache", args.cache]
        seconds([args.twindex, "add", index, "--store-text", corpus, *quiet])
        parts = [half.with_suffix(".twx") for half in halves(corpus, folder)]
        for part in parts:
            lines = part.with_suffix(".jsonl")
            seconds([args.twindex, "add", part, "--store-text", lines, *quiet])
        times = {}
        for round in range(args.rounds):
            for name in COMMANDS:
                for kind, more in (("exact", []), ("estimate", ["--estimate"])):
                    command = [args.twindex, *name.split(), index, *more, *quiet]
                    times.setdefault((name, kind), []).append(seconds(command))
            for kind, more in (("exact", ["--store-text"]), ("estimate", [])):
                new = folder / f"{kind}-{round}.twx"
                out = ["-o", folder / f"{kind}-{round}.jsonl"]
                command = [args.twindex, "dedup", new, corpus, *out, *more, *quiet]
                times.setdefault((DEDUP, kind), []).append(seconds(command))
            for kind, more in (("exact", []), ("estimate", ["--estimate"])):
                new = folder / f"merged-{kind}-{round}.twx"
                command = [args.twindex, "merge", new, *parts, "--dedup", *more, *quiet]
                times.setdefault((MERGE, kind), []).append(seconds(command))
    print("| command | exact, s | estimate, s | times | processor time, times |")
    print("|---|---|---|---|---|")
    for name in [*COMMANDS, DEDUP, MERGE]:
        exact, estimate = (list(zip(*times[name, kind])) for kind in ("exact", "estimate"))
        ratios = [
            [x / y for x, y in zip(ours, theirs)] for ours, theirs in zip(exact, estimate)
        ]
        print(f"| `{name}` | {told(exact[0])} | {told(estimate[0])}", end=" | ")
        print(f"{told(ratios[0])} | {statistics.median(ratios[1]):.2f} |")


if __name__ == "__main__":
    main()
