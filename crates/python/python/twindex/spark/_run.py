"""What the stages of one run share: where they are kept, and how many tasks they take."""

import atexit
import os
import re
import shutil
import tempfile
import uuid
from collections.abc import Iterable
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ByteType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

import twindex
from twindex._types import Path
from twindex.kernel.numbering import ROW_BITS
from twindex.spark._batches import Batches, Step
from twindex.spark._files import Slices

_TASK_BYTES = 32 << 20
"""The bytes that a task is given, about."""


class Run:
    """A run: the settings, and the folder in which each stage is kept until the run has ended."""

    def __init__(self, spark: SparkSession, settings: twindex.Settings, work: Path | None) -> None:
        self.spark = spark
        self.settings = settings
        self.folder = _folder(spark, None if work is None else os.fspath(work))
        # Spark divides the files of a table by the cores that there are, and would do so otherwise
        # when it reads them again.
        fixed = "spark.sql.files.minPartitionNum"
        if spark.conf.get(fixed, None) is None:
            spark.conf.set(fixed, str(self._cores()))

    def path(self, name: str) -> str:
        """The folder of a stage."""
        return f"{self.folder}/{name}"

    def store(self, name: str, frame: DataFrame, *, by: str | None = None) -> DataFrame:
        """Writes a stage, and gives it as it was written. With `by`, each value of that column has
        a folder of its own."""
        writer = frame.write.option("maxRecordsPerFile", 0).option("parquet.block.size", 16 << 20)
        if by is not None:
            writer = writer.partitionBy(by)
        before = self._describe(f"twindex {name}")
        try:
            writer.parquet(self.path(name))
        finally:
            self._describe(before)
        return self.stored(name, frame.schema)

    def stored(self, name: str, schema: str | StructType) -> DataFrame:
        """A stage as it was written."""
        # Spark takes the paths that it reads for patterns.
        path = re.sub(r"([][{}*?\\])", r"\\\1", self.path(name))
        return self.spark.read.schema(schema).parquet(path)

    def by_key(self, frame: DataFrame, key: str, size: int, *then: str) -> DataFrame:
        """Brings rows of `size` bytes together by their keys, in the order of these, and then of
        other columns."""
        tasks = min(max(self._cores(), size // _TASK_BYTES), 100_000)
        return frame.repartition(tasks, key).sortWithinPartitions(key, *then)

    def sliced(self, name: str, frame: DataFrame, doc: str = "doc") -> Slices:
        """Writes rows about documents so that workers read those of one partition."""
        frame = frame.withColumn("p", F.shiftright(F.col(doc), ROW_BITS))
        frame = frame.repartition(self._cores(), "p").sortWithinPartitions("p", doc)
        return Slices.written(self.path(name), self.store(name, frame, by="p"))

    def _describe(self, text: str | None) -> str | None:
        """Describes the next jobs on Spark's pages. Returns the description before."""
        try:
            context: Any = self.spark.sparkContext
        except Exception:  # Spark Connect has no context.
            return None
        before: str | None = context.getLocalProperty("spark.job.description")
        context.setLocalProperty("spark.job.description", text)
        return before

    def _cores(self) -> int:
        try:
            return int(self.spark.sparkContext.defaultParallelism)
        except Exception:  # Spark Connect has no context.
            return int(self.spark.conf.get("spark.sql.shuffle.partitions", "200") or 200)


def _folder(spark: SparkSession, work: str | None) -> str:
    local = (spark.conf.get("spark.master", "") or "").startswith("local")
    if work is not None and local and ":/" not in work:
        work = "file://" + os.path.abspath(work)
    if work is None and local:
        return f"file://{temporary_folder()}"
    if work is None or ":/" not in work:
        raise ValueError(
            f"work={work!r}: name a folder that the driver and all executors can read and write, "
            "with its file system, for instance 's3a://bucket/folder' or 'file:///shared/folder'"
        )
    return f"{work.rstrip('/')}/run-{uuid.uuid4().hex[:12]}"


def temporary_folder() -> str:
    """A folder of the driver that is deleted when Python ends."""
    made = tempfile.mkdtemp(prefix="twindex-spark-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def check_columns(df: DataFrame, id: str | None, text: str, *, added: Iterable[str] = ()) -> None:
    """Makes sure that a table has columns of ids and texts, and none of those that are added."""
    texts, ids = (StringType,), (StringType, ByteType, ShortType, IntegerType, LongType)
    for name, kinds, wanted in ((id, ids, "a string or a whole number"), (text, texts, "a string")):
        if name is None:
            continue
        if df.columns.count(name) != 1:
            found = "several columns" if name in df.columns else "no column"
            raise ValueError(f"{found} {name!r}: there are {', '.join(df.columns)}")
        kind = df.schema[name].dataType
        if not isinstance(kind, kinds):
            raise ValueError(
                f"column {name!r} is of type {kind.simpleString()}: expected {wanted}; cast it"
            )
    lower = [name.lower() for name in df.columns]
    for name in added:
        if name in lower:
            raise ValueError(f"annotate=True adds the column {name!r}, which is there already")


def quoted(name: str) -> str:
    """The name of a column as Spark reads it, which may hold dots."""
    return f"`{name.replace('`', '``')}`"


ORDER = "twindex_order"
"""The column of what rows are ordered by."""


def narrowed(df: DataFrame, id: str | None, text: str, order: Column | None = None) -> DataFrame:
    """The columns of ids and texts, as `id` and `text`, and that of the order. They are taken by
    their places, so their names may hold anything."""
    names = df.columns
    wanted = {"id": id, "text": text}
    places = {new: names.index(name) for new, name in wanted.items() if name is not None}
    if order is not None:
        df, places[ORDER] = df.select("*", order), len(names)
    return _by_places(df).select(*(F.col(f"c{place}").alias(new) for new, place in places.items()))


def map_batches(df: DataFrame, step: Step, types: StructType) -> DataFrame:
    """What `mapInArrow` does, for columns of any names, which may be equal."""
    names = df.columns
    places = _places(len(types))

    def with_names(batches: Batches) -> Batches:
        for batch in step(batch.rename_columns(names) for batch in batches):
            yield batch.rename_columns(places)

    by_places = StructType(
        [
            StructField(place, field.dataType, field.nullable, field.metadata)
            for place, field in zip(places, types, strict=True)
        ]
    )
    return _by_places(df).mapInArrow(with_names, by_places).toDF(*types.names)


def _by_places(df: DataFrame) -> DataFrame:
    return df.toDF(*_places(len(df.columns)))


def _places(count: int) -> list[str]:
    return [f"c{place}" for place in range(count)]
