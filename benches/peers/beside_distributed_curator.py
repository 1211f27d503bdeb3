#!/usr/bin/env python3
"""Compares deduplication by twindex with that of distributed-curator on Spark, on one input.

usage: beside_distributed_curator.py INPUT --twindex target/release/twindex [--rounds 3]

INPUT is a file of JSON Lines, or of Parquet, with the columns "id" and "text", each id once. Run it
on Linux, with Java 8, 11 or 17, by the Python that has distributed-curator; Python 3.12 also needs
setuptools, for PySpark 3.5 imports distutils:

    python3.11 -m venv curator
    curator/bin/pip install distributed-curator==0.1.6 pyspark==3.5.9 'pandas<3' pyarrow
    curator/bin/python benches/peers/beside_distributed_curator.py INPUT \\
        --twindex target/release/twindex

Every run is a process of its own, timed from its start to its end. Its processor seconds (user and
system) are those of all processes that it starts: the JVM, the executors and their Python workers.
Executors are two processes of one core and 2 GiB each. `partition_aware_deduplicate` has its
defaults and is called as its page shows. Shuffles have 200 partitions, the default of Spark. This
is set, because the package makes 90,000 tasks in one stage if it is not.

distributed-curator reads a Parquet table; JSON Lines are written to one of 16 files first, which is
not timed. twindex reads INPUT itself. Prints a Markdown table of medians: wall seconds, those from
the call until the kept rows are written, without the start and the end of Spark ("dedup s", what
benches/spark.py prints for twindex.spark), processor seconds and rows kept.
"""

import argparse
import ctypes
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILES = 16
PR_SET_CHILD_SUBREAPER = 36


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input", metavar="INPUT", type=Path)
    parser.add_argument("--twindex", default="target/release/twindex", help="the program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--master", default="local-cluster[2,1,2048]")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the kept rows here")
    parser.add_argument("--table", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def write_table(source: Path, folder: Path) -> None:
    """The rows of JSON Lines in Parquet files, in their order."""
    import pyarrow as pa
    from pyarrow import json, parquet

    columns = pa.schema([("id", pa.string()), ("text", pa.string())])
    # A line must fit in a block.
    read = json.ReadOptions(block_size=64 << 20)
    parse = json.ParseOptions(explicit_schema=columns, unexpected_field_behavior="ignore")
    rows = json.read_json(source, read, parse)
    folder.mkdir()
    for part in range(FILES):
        first, end = (rows.num_rows * at // FILES for at in (part, part + 1))
        parquet.write_table(rows.slice(first, end - first), folder / f"{part:05}.parquet")


def curator(table: Path, out: Path, master: str) -> None:
    """The run itself: reads a table, writes the rows that are kept, and how long that took."""
    scratch = out / "spark"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from distributed_curator import get_jar_path, partition_aware_deduplicate
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master(master)
        .config("spark.jars", get_jar_path())
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.executor.memory", "2g")
        .config("spark.local.dir", str(scratch))
        .config("spark.sql.shuffle.partitions", "200")
        .getOrCreate()
    )
    # Otherwise they go to folders under /tmp, and stay there.
    context, to = spark.sparkContext, scratch.absolute().as_uri()
    context.setCheckpointDir = lambda _: SparkContext.setCheckpointDir(context, to)
    rows = spark.read.parquet(table.absolute().as_uri()).withColumnRenamed("id", "doc_id")
    began = time.monotonic()
    result = partition_aware_deduplicate(
        spark=spark,
        input_df=rows,
        text_column="text",
        similarity_threshold=0.8,
        num_partitions=1000,
    )
    unique = result.filter(~result.is_duplicate)
    unique = unique.select(unique.doc_id.alias("id"), "text")
    unique.write.parquet((out / "kept").absolute().as_uri())
    (out / "seconds").write_text(str(time.monotonic() - began))
    spark.stop()
    shutil.rmtree(scratch, ignore_errors=True)


def count(rows: Path) -> int:
    """The rows of JSON Lines, of a Parquet file, or of a folder of these."""
    if rows.is_dir() or rows.suffix == ".parquet":
        from pyarrow import parquet

        return parquet.read_table(rows, columns=["id"]).num_rows
    with open(rows, "rb") as lines:
        return sum(1 for _ in lines)


def processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command: list, log: Path) -> tuple[float, float]:
    """Wall and processor seconds of a command, and of all that it leaves running."""
    before = processor()
    with open(log, "wb") as out:
        began = time.monotonic()
        status = subprocess.run(command, check=False, stdout=out, stderr=out).returncode
        seconds = time.monotonic() - began
    if status != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{log.read_text()[-2000:]}")
    # Processes whose parents have ended are children of this one now.
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return seconds, processor() - before


def main() -> None:
    wanted = arguments()
    if wanted.table:
        return curator(wanted.table, wanted.keep, wanted.master)
    # Without it, the JVM and what it starts would pass to process 1 when the run ends, and their
    # processor time with them.
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        sys.exit("cannot become the parent of processes whose own parent has ended")
    found: dict[str, list[tuple]] = {}
    with tempfile.TemporaryDirectory(prefix="twindex-peers-") as folder:
        base = wanted.keep or Path(folder)
        table = wanted.input
        if table.suffix != ".parquet":
            table = Path(folder, "table")
            write_table(wanted.input, table)
        for turn in range(wanted.rounds):
            for name in ["twindex dedup", "distributed-curator"]:
                out = base / f"{turn}-{name.split()[0]}"
                out.mkdir(parents=True)
                if name == "twindex dedup":
                    kept = (out / "kept").with_suffix(wanted.input.suffix)
                    command = [wanted.twindex, "dedup", out / "x.twx", wanted.input, "-o", kept]
                    command += ["--removed", out / "removed.jsonl", "--no-progress"]
                else:
                    kept = out / "kept"
                    command = [sys.executable, __file__, wanted.input, "--table", table]
                    command += ["--keep", out, "--master", wanted.master]
                wall, cpu = timed(command, out / "log")
                own = out / "seconds"
                dedup = float(own.read_text()) if own.exists() else wall
                found.setdefault(name, []).append((wall, dedup, cpu, count(kept)))
                if not wanted.keep:
                    shutil.rmtree(out)
                print(f"{name}: {wall:.1f} s, {cpu:.1f} s", file=sys.stderr, flush=True)
    print(f"{count(wanted.input)} rows, medians of {wanted.rounds} rounds\n")
    print("| run | wall s | dedup s | processor s | kept |\n|---|---|---|---|---|")
    for name, results in found.items():
        wall, dedup, cpu = (statistics.median(result[at] for result in results) for at in range(3))
        print(f"| {name} | {wall:.1f} | {dedup:.1f} | {cpu:.1f} | {results[-1][3]} |")


if __name__ == "__main__":
    main()
