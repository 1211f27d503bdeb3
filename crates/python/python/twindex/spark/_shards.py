"""An index of all rows: a shard for each partition, joined to one file."""

import logging
import os
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyarrow import fs
from pyspark import TaskContext
from pyspark.sql import DataFrame

import twindex
from twindex.kernel.sketching import as_ids, problems, readable
from twindex.spark._batches import Batches, Step, local_folder, one_thread, this_partition
from twindex.spark._files import storage
from twindex.spark._run import Run, check_columns, narrowed

log = logging.getLogger("twindex.spark")

_LONGEST_ID = 4096
"""The bytes of an id in an index, at most."""

_CONFLICTS = {
    "replaced": "replaced an earlier row of the same id",
    "unchanged": "the same as an earlier row",
    "skipped": "left out, an earlier row has the same id",
}
"""What became of rows whose id a row before them has, and how it is told."""

_SHARDS = "partition int, shard string, rows bigint, counts map<string, bigint>"


def build(
    df: DataFrame,
    path: "str | os.PathLike[str]",
    *,
    id: str = "id",
    text: str = "text",
    on_conflict: Literal["replace", "skip"] = "replace",
    work: "str | os.PathLike[str] | None" = None,
    report: dict[str, int] | None = None,
    **settings: Any,
) -> None:
    """Builds an index of all rows at a path on the driver, where nothing may be yet.

    Every partition becomes an index of its own in `work`. The driver then joins them, in the order
    of the partitions, by `Index.merge(attach=True)`. Of rows with equal ids, the last one counts;
    with `on_conflict="skip"`, the first one. A row is left out if its id is null, empty, or longer
    than 4,096 bytes, or if its id or text is not valid UTF-8. `settings` are those of
    `twindex.open`.

    `report` is filled with the numbers of `rows`, of rows with `problems`, and of rows with each
    problem; and with those of rows whose id a row before them has: `replaced` is how many took the
    place of that row, `unchanged` how many have its text, and `skipped` how many were left out. The
    index has a document for each of the other rows. All but `rows` are warned of.
    """
    check_columns(df, id, text)
    chosen = twindex.Settings(**settings)
    if os.path.exists(path):
        raise twindex.ExistsError(f"{os.fspath(path)} exists already")
    folder = os.path.dirname(os.path.abspath(path))
    if "://" in os.fspath(path) or not os.path.isdir(folder):
        raise ValueError(f"path={os.fspath(path)!r}: expected a file in a folder of the driver")
    run = Run(df.sparkSession, chosen, work)
    where, folder = storage(run.path("shards"))
    where.create_dir(folder)
    step = _shard(run.path("shards"), chosen, "id", "text", on_conflict)
    frame = narrowed(df, id, text).mapInArrow(step, _SHARDS)
    shards = sorted(frame.collect(), key=lambda shard: shard.partition)
    counts = Counter(dict.fromkeys(["rows", "problems", *_CONFLICTS], 0))
    for shard in shards:
        counts.update(shard.counts, rows=shard.rows)
    partial = f"{os.fspath(path)}.part"
    # What a run that was killed has left.
    Path(partial).unlink(missing_ok=True)
    try:
        with twindex.open(partial, "x", **chosen.to_dict()) as index:
            for shard in shards:
                with tempfile.TemporaryDirectory(prefix="twindex-spark-") as near:
                    copy = os.path.join(near, "shard.twx")
                    _copy(where, f"{folder}/{shard.shard}", fs.LocalFileSystem(), copy)
                    merged = index.merge(copy, on_conflict=on_conflict, attach=True)
                    counts.update(_conflicts(merged))
        os.rename(partial, path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    where.delete_dir(folder)
    for name, count in counts.items():
        if name not in ("rows", "problems") and count:
            log.warning("%d rows: %s", count, _CONFLICTS.get(name, name))
    if report is not None:
        report.update(counts)


def _shard(folder: str, settings: twindex.Settings, id: str, text: str, on_conflict: Any) -> Step:
    def step(batches: Batches) -> Batches:
        one_thread()
        context = TaskContext.get()
        assert context is not None, "a task has a context"
        partition, rows, counts = this_partition(), 0, Counter[str]()
        # An attempt that was given up may still be writing.
        name = f"{partition}-{context.taskAttemptId()}.twx"
        with tempfile.TemporaryDirectory(prefix="twindex-spark-", dir=local_folder()) as near:
            path = os.path.join(near, "shard.twx")
            with twindex.open(path, **settings.to_dict()) as index:
                for batch in batches:
                    texts, invalid = readable(batch.column(text))
                    ids = readable(as_ids(batch.column(id)))[0]
                    why = _problems(batch.column(id), ids, invalid)
                    table = pa.table({"id": ids, "text": texts.fill_null("")})
                    table = table.filter(why.is_null())
                    done = index.insert_many(table, on_conflict=on_conflict, commit_every=100_000)
                    rows += len(batch)
                    counts.update(_conflicts(done), problems=len(batch) - len(table))
                    counts.update(why.drop_null().to_pylist())
            where, to = storage(folder)
            _copy(fs.LocalFileSystem(), path, where, f"{to}/{name}")
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([partition], pa.int32()),
                pa.array([name]),
                pa.array([rows], pa.int64()),
                pa.array([list(counts.items())], pa.map_(pa.string(), pa.int64())),
            ],
            ["partition", "shard", "rows", "counts"],
        )

    return step


def _problems(given: pa.Array, ids: pa.Array, invalid: NDArray[np.bool_]) -> pa.Array:
    """Why rows are no documents of an index, which refuses some ids that `dedup` takes. `ids` are
    the given ones as strings, null where they are not valid."""
    why = problems(given, invalid)
    sizes = pc.binary_length(ids)
    why = pc.if_else(pc.equal(sizes, 0).fill_null(False), "the id is empty", why)
    too_long = pc.greater(sizes, _LONGEST_ID).fill_null(False)
    return pc.if_else(too_long, f"the id is longer than {_LONGEST_ID:,} bytes", why)


def _conflicts(done: twindex.Inserted) -> dict[str, int]:
    """How many rows had an id that was there."""
    return {name: getattr(done, name) for name in _CONFLICTS}


def _copy(from_where: fs.FileSystem, source: str, to_where: fs.FileSystem, target: str) -> None:
    with from_where.open_input_stream(source) as read, to_where.open_output_stream(target) as out:
        shutil.copyfileobj(read, out, 16 << 20)
