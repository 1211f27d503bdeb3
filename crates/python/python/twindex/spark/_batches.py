"""Batches of one task, put together as the steps want them."""

import os
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from pyspark import TaskContext

from twindex.kernel.columns import Docs, numbers

Batches: TypeAlias = Iterator[pa.RecordBatch]
Step: TypeAlias = Callable[[Batches], Batches]
"""What `mapInArrow` takes."""


def one_thread() -> None:
    """Leaves the sharing out of work to Spark, which has a task for each core."""
    os.environ.setdefault("RAYON_NUM_THREADS", "1")


def this_partition() -> int:
    """The partition of this task."""
    context = TaskContext.get()
    assert context is not None, "a task has a context"
    return int(context.partitionId())


def local_folder() -> str | None:
    """A folder of this executor that Spark deletes when the executor ends, however a task ends."""
    return os.environ.get("SPARK_LOCAL_DIRS", "").partition(",")[0] or None


def gathered(batches: Batches, rows: int, most_bytes: int = 64 << 20) -> Iterator[pa.Table]:
    """Batches joined to tables of about so many rows."""
    held: list[pa.RecordBatch] = []
    count = size = 0
    for batch in batches:
        if batch.num_rows == 0:
            continue
        held.append(batch)
        count, size = count + batch.num_rows, size + batch.nbytes
        if count >= rows or size >= most_bytes:
            yield pa.Table.from_batches(held)
            held, count, size = [], 0, 0
    if held:
        yield pa.Table.from_batches(held)


def by_partition(table: pa.Table) -> Iterator[tuple[Docs, pa.Table]]:
    """The rows of each partition, and their documents, which follow each other. A task may read
    parts of several partitions, in any order."""
    docs = numbers(table.column("doc"))
    cuts = np.flatnonzero(np.diff(docs) != 1) + 1
    for first, last in zip([0, *cuts], [*cuts, len(docs)], strict=True):
        yield docs[first:last], table.slice(first, last - first)


def blobs_by_key(batches: Batches) -> Iterator[tuple[int, Iterator[bytes]]]:
    """The blobs of each key, from batches sorted by it. They are read as they are asked for."""
    rows = (
        (key, blob.as_py())
        for batch in batches
        for key, blob in zip(numbers(batch.column("key")), batch.column("blob"), strict=True)
    )
    for key, of_key in groupby(rows, key=itemgetter(0)):
        yield int(key), map(itemgetter(1), of_key)


def grouped(
    batches: Batches, key: str, most_bytes: int = 256 << 20
) -> Iterator[tuple[int, pa.Table, bool]]:
    """The rows of each key, from batches sorted by it: the key, the rows, and whether they are the
    last of the key. The rows of a key come in pieces if they have more than `most_bytes`."""
    held: list[pa.RecordBatch] = []
    current, size = 0, 0
    for batch in batches:
        at = 0
        keys = batch.column(key).to_numpy()
        while at < len(keys):
            if held and keys[at] != current:
                yield current, pa.Table.from_batches(held), True
                held, size = [], 0
            current = int(keys[at])
            end = at + int((keys[at:] != current).argmax()) if keys[-1] != current else len(keys)
            if held and size >= most_bytes:
                yield current, pa.Table.from_batches(held), False
                held, size = [], 0
            piece = batch.slice(at, end - at)
            held.append(piece)
            size += piece.nbytes
            at = end
    if held:
        yield current, pa.Table.from_batches(held), True
