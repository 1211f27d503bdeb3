#!/usr/bin/env python3
"""Times deduplication by distributed-curator on this machine.

usage: beside_curator.py INPUT.parquet|INPUT.jsonl [--partitions 1000]

INPUT has the columns id and text; `beside_datatrove.py made.jsonl --make 100000` writes such rows.
benches/spark.py times twindex.spark on the same rows (`--input INPUT.parquet`). The program has its
defaults, but for the threshold, which is 0.8 in both. It needs a PySpark that it was made for:

    python -m venv curator
    curator/bin/pip install distributed-curator==0.1.6 pyspark==3.5.9 setuptools
    curator/bin/python benches/peers/beside_curator.py INPUT.jsonl

Spark has two executors of one core, as in benches/spark.py. Prints the rows, those that are kept,
and the seconds from the first stage to the written rows.
"""

import argparse
import os
import sys
import tempfile
import time

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

from distributed_curator import get_jar_path, partition_aware_deduplicate  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input", metavar="INPUT")
    parser.add_argument("--partitions", type=int, default=1000, help="default: %(default)s")
    wanted = parser.parse_args()
    spark = (
        SparkSession.builder.master("local-cluster[2,1,2048]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executor.memory", "2g")
        .config("spark.jars", get_jar_path())
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    read = spark.read.parquet if wanted.input.endswith(".parquet") else spark.read.json
    rows = read(wanted.input).withColumnRenamed("id", "doc_id")
    count = rows.count()
    with tempfile.TemporaryDirectory(prefix="beside-curator-") as folder:
        began = time.monotonic()
        judged = partition_aware_deduplicate(
            spark=spark,
            input_df=rows,
            text_column="text",
            similarity_threshold=0.8,
            num_partitions=wanted.partitions,
        )
        judged.filter("not is_duplicate").write.parquet(f"file://{folder}/kept")
        seconds = time.monotonic() - began
        kept = spark.read.parquet(f"file://{folder}/kept").count()
    spark.stop()
    print(f"{count} rows, {kept} kept, {seconds:.1f} s")


if __name__ == "__main__":
    main()
