"""Deduplicates a Parquet table on Spark:

    spark-submit spark_dedup.py INPUT OUTPUT [WORK]

INPUT has the columns `id` and `text`. OUTPUT gets the rows that are kept. WORK is a folder that all
executors can read and write; it may be left out on one machine.
"""

import sys

from pyspark.sql import SparkSession

import twindex.spark


def main() -> None:
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    source, target, *work = sys.argv[1:]
    spark = SparkSession.builder.appName("twindex").getOrCreate()
    report: dict[str, int] = {}
    rows = spark.read.parquet(source)
    kept = twindex.spark.dedup(rows, work=work[0] if work else None, report=report)
    kept.write.parquet(target)
    left = spark.read.parquet(target).count()
    print(f"{report['rows']} rows, {left} kept")
    for name, count in report.items():
        if name != "rows" and count:
            print(f"  {name}: {count}")
    spark.stop()


if __name__ == "__main__":
    main()
