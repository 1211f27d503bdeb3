#!/usr/bin/env python3
"""Time the command on the same texts as JSON Lines and as Parquet, in turns.

usage: formats.py CORPUS.jsonl [--command TWINDEX] [--rounds N] [--threads N]

CORPUS.jsonl has an "id" and a "text" a line. Needs pyarrow. Prints the median seconds of `add` from
JSON Lines and from Parquet (zstd, one text column), and of `dedup` from JSON Lines to JSON Lines
and from Parquet to Parquet, each with its ratio to what it is held to: `add` from Parquet to `add`
from JSON Lines, and `dedup` to `add` from the same file.
"""

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import pyarrow
import pyarrow.parquet


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--command", default="target/release/twindex")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    command = [str(Path(args.command).resolve()), "-q", "--threads", str(args.threads)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lines = folder / "texts.jsonl"
        with args.corpus.open(encoding="utf-8") as corpus:
            rows = [json.loads(line) for line in corpus]
        with lines.open("w", encoding="utf-8") as out:
            for row in rows:
                out.write(json.dumps({"id": row["id"], "text": row["text"]}, ensure_ascii=False))
                out.write("\n")
        table = pyarrow.table({name: [row[name] for row in rows] for name in ("id", "text")})
        for groups, rows_of_group in (("one", table.num_rows), ("small", 1000)):
            file = folder / f"{groups}.parquet"
            pyarrow.parquet.write_table(
                table, file, compression="zstd", row_group_size=rows_of_group
            )
        tasks = {
            "add, JSON Lines": ["add", "i.twx", "texts.jsonl"],
            "add, Parquet, one row group": ["add", "i.twx", "one.parquet"],
            "add, Parquet, row groups of 1,000": ["add", "i.twx", "small.parquet"],
            "dedup, JSON Lines": ["dedup", "i.twx", "texts.jsonl", "-o", "o.jsonl"],
            "dedup, Parquet, one row group": ["dedup", "i.twx", "one.parquet", "-o", "o.parquet"],
            "dedup, Parquet, row groups of 1,000": [
                "dedup", "i.twx", "small.parquet", "-o", "o.parquet",
            ],
        }  # fmt: skip
        times: dict[str, list[float]] = {task: [] for task in tasks}
        for _ in range(args.rounds):
            for task, words in tasks.items():
                (folder / "i.twx").unlink(missing_ok=True)
                start = time.perf_counter()
                subprocess.run(command + words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
                times[task].append(time.perf_counter() - start)
        megabytes = sum(len(row["text"].encode()) for row in rows) / 1e6
    print(f"{len(rows):,} texts of {megabytes:.0f} MB, {args.threads} threads\n")
    print("| task | seconds | MB/s | | target |\n|---|---|---|---|---|")
    for task, seconds in times.items():
        middle = statistics.median(seconds)
        is_dedup = task.startswith("dedup")
        held_to = task.replace("dedup", "add") if is_dedup else "add, JSON Lines"
        ratios = [one / other for one, other in zip(seconds, times[held_to], strict=True)]
        ratio = f"{statistics.median(ratios):.2f} times {held_to}" if held_to != task else ""
        target = "" if "Parquet" not in task else "1.4" if is_dedup else "1"
        print(f"| {task} | {middle:.2f} | {megabytes / middle:.0f} | {ratio} | {target} |")


if __name__ == "__main__":
    main()
