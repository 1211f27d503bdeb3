"""Finds near duplicates with Ray Data: the steps of `twindex.kernel`, spread over Ray's workers."""

import logging
import random
from typing import Any

import numpy as np
import pyarrow as pa
import ray

import twindex
from twindex import kernel
from twindex.kernel.columns import Docs, numbers
from twindex.kernel.meetings import PAIRS, SQUARE
from twindex.kernel.numbering import first_of, partition_of

SETTINGS = twindex.Settings(threshold=0.8)
RANGES = 4


def documents(count: int) -> pa.Table:
    """Some texts, of which every third is a near copy of the one before it."""
    rng = random.Random(1)
    texts: list[str] = []
    for number in range(count):
        words = [f"word{rng.randrange(9999)}" for _ in range(40)]
        texts.append(texts[-1] + " and more" if number % 3 == 2 else " ".join(words))
    return pa.table({"id": [f"page-{number}" for number in range(count)], "text": texts})


@ray.remote
def sketched(rows: pa.Table, partition: int) -> pa.Table:
    """The sketches of a partition, with the numbers of its documents."""
    batches = rows.combine_chunks().to_batches()
    made = [kernel.sketch(batch, SETTINGS, id="id", text="text") for batch in batches]
    docs = first_of(partition) + np.arange(rows.num_rows, dtype=np.int64)
    return pa.Table.from_batches(made).append_column("doc", pa.array(docs))


def entries(sketches: pa.Table) -> pa.Table:
    """The entries of documents in all bands. (Copies are documents like any other here.)"""
    none = np.zeros(0, np.int64)
    signatures = sketches.column("signature").combine_chunks()
    marks = kernel.Marks(none, none, none)
    made = kernel.band_entries(numbers(sketches.column("doc")), signatures, marks, SETTINGS, RANGES)
    return pa.Table.from_batches(made, kernel.ENTRIES)


def rows_of(batches: list[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.to_pylist()]


def met(of_key: pa.Table) -> pa.Table:
    """The pairs that meet in the buckets of one key, by the part of the first document."""
    out = kernel.Meetings()
    blobs = of_key.sort_by("first").column("blob").to_pylist()
    met = list(kernel.meet(blobs, kernel.Round("all"), out))
    rows = rows_of([*met, *out.take()])
    for row in rows:
        if row["kind"] == SQUARE:
            kernel.expand(row["blob"], row["other"], out)
    rows += rows_of(out.take())
    return pa.Table.from_pylist([row for row in rows if row["kind"] == PAIRS], kernel.MET)


class Compared:
    """Compares pairs. The sketches are in Ray's object store, a table for each partition."""

    def __init__(self, sketches: list[Any]) -> None:
        self.sketches = sketches

    def lookup(self, docs: Docs) -> pa.Table:
        partition = int(partition_of(docs[0]))
        return ray.get(self.sketches[partition]).take(pa.array(docs - first_of(partition)))

    def travellers(self, pairs: pa.Table) -> pa.Table:
        made = kernel.travellers(pairs.column("blob").to_pylist(), self.lookup)
        return pa.Table.from_batches(made, kernel.TRAVELLERS)

    def similar(self, arrived: pa.Table) -> pa.Table:
        found = kernel.similar(arrived, self.lookup, SETTINGS)
        return pa.Table.from_batches(found, kernel.SIMILAR)


def main() -> None:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    ray.data.DataContext.get_current().enable_progress_bars = False
    rows = documents(600)
    parts = [rows.slice(at, 100) for at in range(0, rows.num_rows, 100)]
    sketches = [sketched.remote(part, number) for number, part in enumerate(parts)]
    compared = Compared(sketches)
    found = (
        ray.data.from_arrow_refs(sketches)
        .map_batches(entries, batch_format="pyarrow", batch_size=None)
        .groupby("key", num_partitions=2)
        .map_groups(met, batch_format="pyarrow")
        .groupby("part", num_partitions=2)
        .map_groups(compared.travellers, batch_format="pyarrow")
        .groupby("part", num_partitions=2)
        .map_groups(compared.similar, batch_format="pyarrow")
    )
    table = pa.concat_tables(ray.get(found.to_arrow_refs()))
    pairs = [numbers(table.column(name)) for name in ("a", "b")]
    removed = kernel.removed(*pairs, np.zeros(0, np.int64))
    print(f"{table.num_rows} similar pairs, {rows.num_rows - len(removed)} of {rows.num_rows} kept")
    by_index = twindex.dedup(rows, threshold=SETTINGS.threshold)
    print("as a single index:", sum(by_index["keep"]) == rows.num_rows - len(removed))
    ray.shutdown()


if __name__ == "__main__":
    main()
