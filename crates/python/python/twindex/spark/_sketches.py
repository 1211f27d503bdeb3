"""The first stages: sketches of all rows, in their order, and which of them are copies."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

import twindex
from twindex import kernel
from twindex.kernel.numbering import ROW_BITS, first_of
from twindex.spark._batches import (
    Batches,
    Step,
    blobs_by_key,
    by_partition,
    gathered,
    one_thread,
    this_partition,
)
from twindex.spark._files import Sketches, Slices
from twindex.spark._run import ORDER, Run, narrowed

_TOGETHER = 1 << 18
"""The documents whose entries are packed together, at most."""

_RANGE = 1 << 19
"""The documents of one key, about."""

_TYPES = (
    "doc bigint, position bigint, id string, signature binary, check bigint, empty boolean, "
    "problem string"
)

Tallies = dict[int, tuple[int, int]]
"""For each partition of the input, the number of its rows, and the sum of the leading bits of their
hashes: whether the rows are still the same when they are read again."""

TALLY_SHIFT = 31
"""The bits of a hash that are left out of a tally, so that sums fit into 64 bits."""

ENTRIES = "key int, first bigint, blob binary"
"""`kernel.ENTRIES` as Spark writes it."""


@dataclass
class Sketched:
    """The sketches of a run."""

    frame: DataFrame
    files: Sketches
    copies: Slices
    counts: dict[str, int]
    tallies: Tallies

    @property
    def ranges(self) -> int:
        """The number of keys that documents are divided into: a power of two."""
        return _ranges(self.counts["rows"])

    def size(self, bytes_a_document: int) -> int:
        """The bytes of all documents, if each has so many."""
        return self.counts["rows"] * bytes_a_document


def sketched(run: Run, df: DataFrame, id: str | None, text: str, order: Column | None) -> Sketched:
    """Sketches the rows, numbers the documents, and finds the copies among them."""
    types = _TYPES + (", text string" if run.settings.store_text else "")
    step = _sketch(run.settings, id is not None, order is not None)
    rows = narrowed(df, id, text, order)
    if order is None:
        frame = run.store("sketches", rows.mapInArrow(step, types))
    else:
        with_order = StructType.fromDDL(types).add(ORDER, rows.schema[ORDER].dataType)
        frame = run.store("unordered", rows.mapInArrow(step, with_order))
        frame = frame.orderBy(ORDER, "id", "check", "position").drop(ORDER, "doc")
        frame = run.store("sketches", frame.mapInArrow(_number, types))
    columns = ("signature", "text") if run.settings.store_text else ("signature",)
    files = Sketches.written(run.path("sketches"), frame, columns)
    counts, tallies = _counts(frame)
    copies, counts["repeated ids"] = _find_copies(run, frame, counts["rows"])
    return Sketched(frame, files, copies, counts, tallies)


def signatures(df: DataFrame, settings: twindex.Settings, id: str | None, text: str) -> DataFrame:
    """The signatures of rows, without a run."""

    name = None if id is None else "id"

    def step(batches: Batches) -> Batches:
        one_thread()
        for batch in batches:
            yield kernel.sketch(batch, settings, id=name, text="text").select(
                ["id", "signature", "problem"]
            )

    types = "id string, signature binary, problem string"
    return narrowed(df, id, text).mapInArrow(step, types)


def _sketch(settings: twindex.Settings, has_ids: bool, ordered: bool) -> Step:
    id = "id" if has_ids else None

    def step(batches: Batches) -> Batches:
        one_thread()
        row = first_of(this_partition())
        for batch in batches:
            made = kernel.sketch(batch, settings, id=id, text="text")
            docs = pa.array(np.arange(row, row + len(made), dtype=np.int64))
            row += len(made)
            names = ["id", "signature", "check", "empty", "problem"]
            names += ["text"] if settings.store_text else []
            columns = [docs, docs, *(made.column(name) for name in names)]
            names = ["doc", "position", *names]
            if ordered:
                columns.append(batch.column(ORDER))
                names.append(ORDER)
            yield pa.RecordBatch.from_arrays(columns, names)

    return step


def _number(batches: Batches) -> Batches:
    row = first_of(this_partition())
    for batch in batches:
        docs = pa.array(np.arange(row, row + len(batch), dtype=np.int64))
        row += len(batch)
        yield pa.RecordBatch.from_arrays([docs, *batch.columns], ["doc", *batch.schema.names])


def _counts(frame: DataFrame) -> tuple[dict[str, int], Tallies]:
    """The numbers of rows, of empty documents, and of rows with each problem; and the tallies of
    the partitions of the input."""
    found = frame.groupBy(F.shiftright("position", ROW_BITS).alias("p"), "problem").agg(
        F.count("*").alias("rows"),
        F.sum(F.col("empty").cast("long")).alias("empty"),
        F.sum(F.shiftright("check", TALLY_SHIFT)).alias("sum"),
    )
    counts, tallies = {"rows": 0, "empty": 0}, Tallies()
    for row in found.collect():
        rows, total = tallies.get(row["p"], (0, 0))
        tallies[row["p"]] = (rows + row["rows"], total + row["sum"])
        counts["rows"] += row["rows"]
        if row["problem"] is None:
            counts["empty"] += row["empty"]
        else:
            counts[row["problem"]] = counts.get(row["problem"], 0) + row["rows"]
    return counts, tallies


def _ranges(rows: int) -> int:
    return 1 << (rows // _RANGE).bit_length()


def _find_copies(run: Run, sketches: DataFrame, rows: int) -> tuple[Slices, int]:
    """The documents that have copies, and the number of repeated ids."""
    settings, ranges = run.settings, _ranges(rows)

    def entries(batches: Batches) -> Batches:
        one_thread()
        for table in gathered(batches, _TOGETHER):
            for docs, of_partition in by_partition(table):
                yield kernel.copy_entries(docs, of_partition, settings, ranges)
            yield kernel.id_entries(table.column("id").combine_chunks(), ranges)

    columns = ["doc", "id", "signature", *(["text"] if settings.store_text else [])]
    frame = sketches.select(columns).mapInArrow(entries, ENTRIES)
    frame = run.by_key(frame, "key", rows * 40, "first")
    slices = run.sliced("copies", frame.mapInArrow(_copies, "doc bigint, first bigint"))
    # Repeated ids are counted under the document -1.
    count = run.stored("copies", "first bigint, p bigint")
    repeated = count.where("p = -1").agg(F.sum("first")).collect()[0][0]
    return slices, repeated or 0


def _copies(batches: Batches) -> Batches:
    repeated = 0
    for key, blobs in blobs_by_key(batches):
        if key < 0:
            repeated += kernel.repeated_ids(blobs)
        else:
            yield from kernel.copies(blobs)
    counted = [pa.array([-1], pa.int64()), pa.array([repeated], pa.int64())]
    yield pa.record_batch(counted, kernel.COPIES)


def copies_of(run: Run) -> DataFrame:
    """The documents that have copies, with the first of these: `doc`, `first`."""
    return run.stored("copies", "doc bigint, first bigint, p bigint").where("p >= 0").drop("p")
