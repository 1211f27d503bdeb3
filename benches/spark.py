#!/usr/bin/env python3
"""Deduplication on Spark: time, and bytes shuffled for each document, by stage.

    python benches/spark.py --rows 1000000                     one pair a document
    python benches/spark.py --rows 1000000 --shape cluster     a tenth of all in one cluster
    python benches/spark.py --rows 1000000 --shape thousands   clusters of a thousand
    python benches/spark.py --input pages.parquet              a table with columns id and text
    python benches/spark.py --rows 16000000 --hot word         memory of a task, without Spark

Needs the package with PySpark (`pip install 'crates/python[spark]'`). Starts executors as processes
of their own on this machine. The input is written to a Parquet table first, which is not timed.
With --hot, so many documents come together in one key: all with one word of a band, with words of
their own, or as copies of one text.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
import urllib.request
from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

from pyspark.sql import DataFrame, SparkSession  # noqa: E402

import twindex.spark  # noqa: E402
from twindex import kernel  # noqa: E402
from twindex.kernel.planes import pack  # noqa: E402

WORDS = 60
LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
VOCABULARY = np.random.default_rng(1).choice(LETTERS, (1 << 15, 7))
VOCABULARY[:, 6] = ord(" ")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000, help="rows to generate")
    parser.add_argument("--shape", choices=["pairs", "cluster", "thousands"], default="pairs")
    parser.add_argument("--input", help="a table with the columns id and text instead")
    parser.add_argument("--hot", choices=["word", "words", "copies"], help="measure a key's memory")
    parser.add_argument("--partitions", type=int, default=16)
    parser.add_argument("--master", default="local-cluster[2,1,2048]")
    parser.add_argument("--exact", action="store_true", help="compare texts")
    parser.add_argument("--threshold", type=float, default=0.8)
    return parser.parse_args()


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Numbers that look random (the finaliser of SplitMix64)."""
    numbers = numbers * np.uint64(0x9E3779B97F4A7C15)
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> np.uint64(31))


def generated(spark: SparkSession, rows: int, shape: str, partitions: int) -> DataFrame:
    """Documents of 60 words. Those of one group differ in a word each, and lie far apart."""
    groups = {"pairs": rows // 3, "cluster": rows, "thousands": max(1, rows // 1000)}[shape]

    def texts(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            numbers = batch.column("id").to_numpy().astype(np.uint64)
            group = numbers % np.uint64(groups)
            if shape == "cluster":
                group[numbers % np.uint64(10) == 0] = 0
            places = np.arange(WORDS, dtype=np.uint64)
            words = mixed(group[:, None] * np.uint64(WORDS) + places) % np.uint64(len(VOCABULARY))
            change = mixed(numbers + np.uint64(1 << 50))
            at = (change % np.uint64(WORDS)).astype(int)
            words[np.arange(len(words)), at] = (change >> np.uint64(20)) % np.uint64(
                len(VOCABULARY)
            )
            width = WORDS * VOCABULARY.shape[1]
            offsets = np.arange(len(words) + 1, dtype=np.int32) * width
            letters = np.ascontiguousarray(VOCABULARY[words])
            buffers = [None, pa.py_buffer(offsets), pa.py_buffer(letters)]
            text = pa.Array.from_buffers(pa.string(), len(words), buffers)
            ids = pa.array(numbers).cast(pa.string())
            yield pa.RecordBatch.from_arrays([ids, text], ["id", "text"])

    return spark.range(0, rows, 1, partitions).mapInArrow(texts, "id string, text string")


def shuffled(spark: SparkSession) -> dict[str, list[float]]:
    """Bytes written to shuffles and seconds of tasks, by the description of the job."""
    context = spark.sparkContext
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages?status=complete"
    with urllib.request.urlopen(url) as answer:
        stages = json.load(answer)
    found: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for stage in stages:
        of = found[stage.get("description") or stage["name"]]
        of[0] += stage["shuffleWriteBytes"]
        of[1] += stage["executorRunTime"] / 1000
    return found


def blobs_of_a_key(rows: int, what: str) -> Iterator[bytes]:
    """The packed entries of one key, in pieces as tasks make them."""
    rng = np.random.default_rng(1)
    for start in range(0, rows, 1 << 18):
        docs = np.arange(start, min(rows, start + (1 << 18)), dtype=np.uint64)
        same = np.full(len(docs), 0x1234_5678_9ABC, np.uint64)
        words = np.sort(rng.integers(0, 1 << 48, len(docs)).astype(np.uint64))
        if what == "copies":
            yield pack(same, same, docs)
        else:
            yield pack(same if what == "word" else words, docs << np.uint64(2))


def memory(rows: int, what: str) -> None:
    """Prints the memory that a task takes for one key, beside its packed entries."""
    packed = pa.array(blobs_of_a_key(rows, what), pa.large_binary())
    blobs = (blob.as_py() for blob in packed)
    with open("/proc/self/statm") as told:
        before = int(told.read().split()[1]) * resource.getpagesize()
    if what == "copies":
        for _ in kernel.copies(blobs):
            pass
    else:
        met = kernel.Meetings()
        for _ in kernel.meet(blobs, kernel.Round("pivots"), met):
            pass
        met.take()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(f"{rows} entries of {packed.nbytes / rows:.1f} bytes: {peak / 1e6:.0f} MB,", end=" ")
    print(f"{(peak - before) / rows:.1f} bytes an entry beside these")


def main() -> None:
    wanted = parse()
    if wanted.hot:
        return memory(wanted.rows, wanted.hot)
    spark = (
        SparkSession.builder.master(wanted.master)
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.ui.retainedStages", "10000")
        .config("spark.executor.memory", "2g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    with tempfile.TemporaryDirectory(prefix="twindex-bench-") as folder:
        source = wanted.input
        if source is None:
            source = f"file://{folder}/input"
            made = generated(spark, wanted.rows, wanted.shape, wanted.partitions)
            made.write.option("compression", "zstd").parquet(source)
        rows = spark.read.parquet(source)
        count = rows.count()
        before = shuffled(spark)
        began = time.monotonic()
        kept = twindex.spark.dedup(
            rows, threshold=wanted.threshold, exact=wanted.exact, work=f"{folder}/work"
        )
        spark.sparkContext.setJobDescription("twindex kept rows")
        kept.write.parquet(f"file://{folder}/kept")
        seconds = time.monotonic() - began
        similar = spark.read.parquet(f"file://{folder}/work/*/similar-*").count()
        left = spark.read.parquet(f"file://{folder}/kept").count()
        total = 0.0
        print(f"{count} rows, {similar} pairs, {left} kept, {seconds:.1f} s", end=", ")
        print(f"{count / seconds:.0f} rows a second")
        print(f"{'stage':24} {'bytes a row':>12} {'task seconds':>13}")
        for name, (size, spent) in sorted(shuffled(spark).items()):
            size, spent = size - before.get(name, [0, 0])[0], spent - before.get(name, [0, 0])[1]
            if name.startswith("twindex"):
                total += size
                print(f"{name:24} {size / count:12.1f} {spent:13.1f}")
        print(f"{'all':24} {total / count:12.1f}")
    spark.stop()


if __name__ == "__main__":
    main()
