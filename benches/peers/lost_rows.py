#!/usr/bin/env python3
"""Counts the rows that a deduplication has removed although nothing that it kept is similar.

usage: lost_rows.py INPUT.jsonl KEPT... [--twindex target/release/twindex] [--threshold 0.8]

INPUT.jsonl holds {"id": "...", "text": "..."} a line, each id once. KEPT is a file of its rows that
were kept, or a folder with such files, as JSON Lines or Parquet with the columns "id" and "text".
All of KEPT are one deduplication. Rows of INPUT.jsonl that are in none of them were removed.

Similar is what `twindex query` finds in an index of the kept rows that stores their texts: the
exact similarity of Jaccard of the sets of shingles, by default of 9 characters of the text in lower
case, in NFC, and with one space for white space. The bands of the index answer first. What has no
match there is compared with all kept rows (`--scan`), which misses a similar one with a probability
below 10^-12. So the count does not depend on the recall of the index. An empty text is similar to
nothing. These rows are lost, and --lost FILE writes them. Some of them are similar to each other:
the last number counts those that `twindex dedup`, by exact similarities too, would keep of them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input", metavar="INPUT.jsonl", type=Path)
    parser.add_argument("kept", metavar="KEPT", nargs="+", type=Path)
    parser.add_argument("--twindex", default="target/release/twindex", help="the program")
    parser.add_argument("--threshold", default="0.8")
    parser.add_argument("--lost", type=Path, metavar="FILE", help="write the lost rows here")
    return parser.parse_args()


def files(path: Path) -> list[Path]:
    """A file, or the files of a folder that hold rows: Spark writes others beside them."""
    if not path.is_dir():
        return [path]
    return sorted(file for end in ("jsonl", "parquet") for file in path.rglob(f"*.{end}"))


def run(*command) -> bytes:
    """What a command prints. `query` ends with 1 if it finds nothing."""
    done = subprocess.run(list(map(str, command)), capture_output=True, check=False)
    if done.returncode > (command[1] == "query"):
        sys.exit(f"failed: {' '.join(map(str, command))}\n{done.stderr.decode()[-2000:]}")
    return done.stdout


def rows(path: Path) -> Iterator[tuple[str, bytes]]:
    """Ids and lines."""
    with open(path, "rb") as lines:
        for line in lines:
            yield json.loads(line)["id"], line


def write_others(source: Path, known: set[str], out: Path) -> int:
    """Writes the rows whose id is not among those given; their number."""
    others, ids = 0, set()
    with open(out, "wb") as left:
        for row, line in rows(source):
            if row in ids:
                sys.exit(f"{source}: the id {row} is there twice")
            ids.add(row)
            if row not in known:
                left.write(line)
                others += 1
    return others


def main() -> None:
    wanted = arguments()
    with tempfile.TemporaryDirectory(prefix="twindex-lost-") as folder:
        index, removed, lost = (Path(folder, name) for name in ("kept.twx", "removed", "lost"))
        kept = [file for path in wanted.kept for file in files(path)]
        settings = ["--store-text", "--threshold", wanted.threshold, "--no-progress"]
        run(wanted.twindex, "add", index, *settings, *kept)
        known = set(run(wanted.twindex, "list", index, "--print0").decode().split("\0")[:-1])
        total = write_others(wanted.input, known, removed)
        source, left = removed, total
        for more in ([], ["--scan"]):
            command = [wanted.twindex, "query", index, source, "--format", "jsonl", "--json"]
            command += ["--threshold", wanted.threshold, "--top", "1", "--no-progress", *more]
            found = (json.loads(line) for line in run(*command).splitlines())
            similar = {match["query"] for match in found if "query" in match}
            target = lost if more else Path(folder, "unmatched")
            left = write_others(source, similar, target)
            source = target
        other, apart = Path(folder, "lost.twx"), Path(folder, "apart")
        command = [wanted.twindex, "dedup", other, lost, "-o", apart, "--format", "jsonl"]
        run(*command, *settings)
        once = sum(1 for _ in rows(apart))
        if wanted.lost:
            wanted.lost.write_bytes(lost.read_bytes())
    print(f"{len(known)} kept, {total} removed, {left} of these similar to nothing that was kept,")
    print(f"{once} if those that are similar to each other count once")


if __name__ == "__main__":
    main()
