"""What a run leaves behind: nothing outside of the folders that Spark deletes, or of `work`."""

import os
import tempfile
import time
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

pytest.importorskip("pyspark")

from cases import crowded, open_index  # noqa: E402
from pyspark import SparkFiles  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

import twindex  # noqa: E402
import twindex.spark  # noqa: E402


def sent(spark: SparkSession) -> set[str]:
    """The copies of indexes that the driver has sent to the executors."""
    return {os.path.basename(file) for file in spark.sparkContext.listFiles if "twindex-" in file}


def test_executors_have_copies_of_an_index_where_spark_deletes_them(
    spark: SparkSession, table: Any
) -> None:
    def found(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        local = os.environ["SPARK_LOCAL_DIRS"].split(",")
        for _ in batches:
            names = [name for at in local for name in os.listdir(at) if name.endswith(".twx")]
            stays = [name in os.listdir() for name in names]
            columns = [pa.array(names, pa.string()), pa.array(stays, pa.bool_())]
            yield pa.RecordBatch.from_arrays(columns, ["name", "stays"])

    rows = crowded(20)[:40]
    before = sent(spark)
    with open_index(rows) as index:
        assert twindex.spark.against(table(rows, 4), index).count() == 0
    (name,) = sent(spark) - before
    seen = table(rows, 4).mapInArrow(found, "name string, stays boolean").where(f"name = '{name}'")
    assert {row.stays for row in seen.collect()} == {False}


def test_the_driver_keeps_one_copy_of_each_state_of_an_index(
    spark: SparkSession, table: Any, tmp_path: Path
) -> None:
    df, path = table(crowded(21)[:20], 1), tmp_path / "i.twx"
    root = Path(SparkFiles.getRootDirectory())
    folders = set(glob(f"{tempfile.gettempdir()}/twindex-spark-*"))
    before = sent(spark)
    with twindex.open(path) as index:
        index.insert("a", "a text")
        twindex.spark.against(df, index)
        twindex.spark.against(df, index)
    assert len(sent(spark) - before) == 1
    with twindex.open(path) as index:
        index.insert_many(crowded(21)[:20])
    assert twindex.spark.against(df, path).count() == 0
    assert len(sent(spark) - before) == 2
    assert set(glob(f"{tempfile.gettempdir()}/twindex-spark-*")) == folders
    assert {file.name for file in root.glob("twindex-*")} == sent(spark)


def test_a_copy_of_an_index_that_is_not_sent_is_deleted(
    spark: SparkSession, table: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    def copies() -> set[str]:
        folders = (SparkFiles.getRootDirectory(), f"{tempfile.gettempdir()}/twindex-spark-*")
        return {file for folder in folders for file in glob(f"{folder}/twindex-*.twx")}

    before = copies()
    monkeypatch.setattr(spark.sparkContext, "addFile", interrupted)
    with open_index(crowded(22)[:20]) as index, pytest.raises(KeyboardInterrupt):
        twindex.spark.against(table(crowded(22)[:20], 1), index)
    assert copies() == before


def test_tasks_build_shards_where_spark_deletes_them(table: Any, tmp_path: Path) -> None:
    seen = tmp_path / "seen"

    def waiting(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        local = os.environ["SPARK_LOCAL_DIRS"].split(",")
        for batch in batches:
            yield batch
            # The worker after this one has begun its shard.
            for _ in range(600):
                found = [glob(f"{at}/twindex-spark-*/shard.twx") for at in local]
                if any(found):
                    seen.touch()
                    break
                time.sleep(0.1)

    df = table(crowded(23)[:20], 1).mapInArrow(waiting, "id string, text string")
    twindex.spark.build(df, tmp_path / "built.twx", work=f"file://{tmp_path}")
    assert seen.exists()
