"""Results in any plan, and columns of any names."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

import twindex  # noqa: E402
import twindex.spark  # noqa: E402
from twindex.spark._run import Run  # noqa: E402

BASE = "the quick brown fox jumps over the lazy dog and runs away from the wolf in the deep forest "
OTHER = "something else entirely, a sentence about ferries and boats on a lake"
ROWS = [("a", BASE + "1"), ("b", BASE + "2"), ("c", BASE + "3"), ("d", OTHER)]


@contextmanager
def settings(spark: SparkSession, values: dict[str, str]) -> Iterator[None]:
    """Settings of Spark for a while."""
    for name, value in values.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name in values:
            spark.conf.unset(name)


def ids(df: Any) -> list[str]:
    return [row.id for row in df.collect()]


def test_a_result_goes_on_in_other_partitions(table: Any) -> None:
    before = table([("x", "completely different: " + "q" * 60), ("y", OTHER + " and more" * 20)], 2)
    kept = twindex.spark.dedup(table(ROWS, 2))
    assert ids(kept) == ["a", "d"]
    assert ids(before.union(kept)) == ["x", "y", "a", "d"]
    assert ids(twindex.spark.dedup(before).union(kept)) == ["x", "y", "a", "d"]
    mixed = [ROWS[0], ROWS[3], ROWS[1], ROWS[2]]
    for partitions in (2, 4):
        assert ids(twindex.spark.dedup(table(mixed, partitions)).coalesce(1)) == ["a", "d"]
    told = twindex.spark.dedup(table(ROWS, 2), annotate=True)
    told = before.select("*", *(F.lit(None).alias(name) for name in told.columns[2:])).union(told)
    found = {row.id: row.duplicate_of for row in told.collect()}
    assert found == {"x": None, "y": None, "a": None, "b": "a", "c": "a", "d": None}


def test_columns_have_any_names(table: Any, tmp_path: Path) -> None:
    wide = table(ROWS, 2).withColumns({"m": F.lit("en"), "n": F.lit(1), "o": F.lit("")})
    wide = wide.withColumns({"p": F.lit(1), "q": F.lit(2)})
    df = wide.toDF("i`d", "te.xt", "meta.lang", "ID", "TE.XT", "twindex_partition", "twindex_order")
    names = {"id": "i`d", "text": "te.xt"}
    kept = twindex.spark.dedup(df, **names)
    assert kept.columns == df.columns
    assert [(row[0], *row[5:]) for row in kept.collect()] == [("a", 1, 2), ("d", 1, 2)]
    assert twindex.spark.pairs(df, **names).count() == 3
    assert twindex.spark.clusters(df, **names).count() == 3
    assert twindex.spark.sketch(df, **names).count() == 4
    path = tmp_path / "i.twx"
    twindex.spark.build(df, path, **names)
    assert len(twindex.open(path, "r")) == 4
    assert twindex.spark.against(df, path, **names).count() == 0
    with pytest.raises(ValueError, match="a file in a folder of the driver"):
        twindex.spark.build(df, tmp_path / "none" / "i.twx", **names)


def test_rows_may_be_part_of_the_plan(spark: SparkSession) -> None:
    values = ", ".join(f"('{id}', '{text}')" for id, text in ROWS)
    df = spark.sql(f"select col1 as id, col2 as text from values {values}")
    assert ids(twindex.spark.dedup(df)) == ["a", "d"]


def test_rows_that_are_divided_otherwise_fail_the_job(spark: SparkSession, table: Any) -> None:
    rows = [(f"{at}", f"{text} {at % 3}") for at, (_, text) in enumerate(ROWS * 10)]
    grouped = table(rows, 2).groupBy("id").agg(F.first("text").alias("text"))
    setting = "spark.sql.adaptive.coalescePartitions.enabled"
    with settings(spark, {setting: "false"}):
        kept = twindex.spark.dedup(grouped)
        assert kept.count() == 2
    with settings(spark, {setting: "true"}):
        with pytest.raises(Exception, match="moved to other partitions"):
            kept.collect()


def test_stages_are_read_from_a_folder_of_any_name(
    spark: SparkSession, table: Any, tmp_path: Path
) -> None:
    df = table(ROWS, 2)
    for name in ("a[b]", "{c,d}", "e*", "f?", "g\\h", "i=1"):
        run = Run(spark, twindex.Settings(), tmp_path / name)
        assert sorted(ids(run.store("rows", df))) == ["a", "b", "c", "d"]


def test_copies_have_the_interval_of_an_index(table: Any, tmp_path: Path) -> None:
    dna = "ACGTTGCAAC" * 40
    rows = [("a", dna), ("b", dna)]
    with twindex.open(tmp_path / "i.twx", shingle="kmer:21") as index:
        index.insert_many(rows)
        (pair,) = index.pairs()
    (found,) = twindex.spark.pairs(table(rows, 2), shingle="kmer:21").collect()
    assert (found.similarity, found.low, found.high) == (pair.similarity, pair.low, pair.high)
