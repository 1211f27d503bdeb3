"""Finds near duplicates with Daft: the steps of `twindex.kernel`, spread over Daft's workers."""

import random
import tempfile
from pathlib import Path
from typing import Any

import daft
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from daft import DataFrame, DataType, Expression, col
from daft.functions import to_struct

import twindex
from twindex import kernel
from twindex.kernel.columns import Docs, numbers
from twindex.kernel.meetings import PAIRS, SQUARE
from twindex.kernel.numbering import first_of, partition_of

SETTINGS = twindex.Settings(threshold=0.8)
RANGES, PARTITION = 4, 100


def documents(count: int) -> pa.Table:
    """Some texts, of which every third is a near copy of the one before it."""
    rng = random.Random(1)
    texts: list[str] = []
    for number in range(count):
        words = [f"word{rng.randrange(9999)}" for _ in range(40)]
        texts.append(texts[-1] + " and more" if number % 3 == 2 else " ".join(words))
    ids = [f"page-{number}" for number in range(count)]
    return pa.table({"row": range(count), "id": ids, "text": texts})


def rows_of(batches: list[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.to_pylist()]


def lists_of(schema: pa.Schema) -> DataType:
    """What a function returns for a row that becomes many rows of this schema."""
    return DataType.from_arrow_type(pa.list_(pa.struct(list(schema))))


def exploded(frame: DataFrame, lists: Expression, schema: pa.Schema) -> DataFrame:
    """The rows that a function has returned as lists."""
    rows = frame.select(lists.alias("row")).explode(col("row")).where(~col("row").is_null())
    return rows.select(*(col("row").get(name).alias(name) for name in schema.names))


class Steps:
    """The steps between which Daft brings rows together. Sketches are in a folder, a file for each
    partition; on a cluster, all workers must reach it."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.entries = daft.func(self._entries, return_dtype=lists_of(kernel.ENTRIES))
        self.met = daft.func(self._met, return_dtype=lists_of(kernel.MET))
        self.travellers = daft.func(self._travellers, return_dtype=lists_of(kernel.TRAVELLERS))
        self.similar = daft.func(self._similar, return_dtype=lists_of(kernel.SIMILAR))

    def lookup(self, docs: Docs) -> pa.Table:
        partition = int(partition_of(docs[0]))
        sketches = pq.read_table(Path(self.folder) / f"{partition}.parquet")
        return sketches.take(pa.array(docs - first_of(partition)))

    def _entries(self, partition: int, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Sketches a partition, and returns the entries of its documents in all bands."""
        in_order = sorted(rows, key=lambda row: int(row["row"]))
        batch = pa.RecordBatch.from_pylist(in_order)
        sketches = kernel.sketch(batch, SETTINGS, id="id", text="text")
        file = Path(self.folder) / f"{partition}.parquet"
        pq.write_table(pa.Table.from_batches([sketches]), file)
        docs = first_of(partition) + np.arange(len(rows), dtype=np.int64)
        none = np.zeros(0, np.int64)
        marks = kernel.Marks(none, none, none)
        signatures = sketches.column("signature")
        return rows_of(list(kernel.band_entries(docs, signatures, marks, SETTINGS, RANGES)))

    def _met(self, firsts: list[int], blobs: list[bytes]) -> list[dict[str, Any]]:
        """The pairs that meet in the buckets of one key, by the part of the first document."""
        out = kernel.Meetings()
        blobs = [blob for _, blob in sorted(zip(firsts, blobs, strict=True))]
        met = list(kernel.meet(blobs, kernel.Round("all"), out))
        rows = rows_of([*met, *out.take()])
        for row in rows:
            if row["kind"] == SQUARE:
                kernel.expand(row["blob"], row["other"], out)
        return [row for row in rows + rows_of(out.take()) if row["kind"] == PAIRS]

    def _travellers(self, blobs: list[bytes]) -> list[dict[str, Any]]:
        return rows_of(list(kernel.travellers(blobs, self.lookup)))

    def _similar(self, arrived: list[dict[str, Any]]) -> list[dict[str, Any]]:
        sketches = pa.Table.from_pylist(arrived, kernel.TRAVELLERS)
        return rows_of(list(kernel.similar(sketches, self.lookup, SETTINGS)))


def similar_pairs(rows: pa.Table, steps: Steps) -> pa.Table:
    """All pairs of similar documents, by their numbers."""
    partition = (col("row") // PARTITION).alias("partition")
    whole = to_struct(col("row"), col("id"), col("text")).alias("rows")
    partitions = daft.from_arrow(rows).select(partition, whole).groupby("partition")
    partitions = partitions.agg(col("rows").list_agg())
    made = steps.entries(col("partition"), col("rows"))
    keys = exploded(partitions, made, kernel.ENTRIES).groupby("key")
    keys = keys.agg(col("first").list_agg(), col("blob").list_agg())
    met = exploded(keys, steps.met(col("first"), col("blob")), kernel.MET)
    parts = met.groupby("part").agg(col("blob").list_agg())
    sent = exploded(parts, steps.travellers(col("blob")), kernel.TRAVELLERS)
    sketch = to_struct(*(col(name) for name in kernel.TRAVELLERS.names)).alias("sketch")
    arrived = sent.select(col("part"), sketch).groupby("part").agg(col("sketch").list_agg())
    return exploded(arrived, steps.similar(col("sketch")), kernel.SIMILAR).to_arrow()


def main() -> None:
    rows = documents(600)
    with tempfile.TemporaryDirectory() as folder:
        table = similar_pairs(rows, Steps(folder))
    pairs = [numbers(table.column(name)) for name in ("a", "b")]
    removed = kernel.removed(*pairs, np.zeros(0, np.int64))
    print(f"{table.num_rows} similar pairs, {rows.num_rows - len(removed)} of {rows.num_rows} kept")
    by_index = twindex.dedup(rows.drop_columns("row"), threshold=SETTINGS.threshold)
    print("as a single index:", sum(by_index["keep"]) == rows.num_rows - len(removed))


if __name__ == "__main__":
    main()
