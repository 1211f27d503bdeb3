"""An index of all rows: a shard for each partition, joined to one file."""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from pyarrow import fs
from pyspark import TaskContext
from pyspark.sql import DataFrame

import twindex
from twindex.kernel.sketching import as_ids, problems, readable
from twindex.spark._batches import Batches, Step, one_thread, this_partition
from twindex.spark._files import storage
from twindex.spark._run import Run, check_columns, columns


def build(
    df: DataFrame,
    path: "str | os.PathLike[str]",
    *,
    id: str = "id",
    text: str = "text",
    on_conflict: Literal["replace", "skip"] = "replace",
    work: str | None = None,
    report: dict[str, int] | None = None,
    **settings: Any,
) -> None:
    """Builds an index of all rows at a path on the driver, where nothing may be yet.

    Every partition becomes an index of its own in `work`. The driver then joins them, in the order
    of the partitions, by `Index.merge(attach=True)`. Of rows with equal ids, the last one counts;
    with `on_conflict="skip"`, the first one. A row whose id is null, or whose text is not valid
    UTF-8, is left out and counted in `report`. `settings` are those of `twindex.open`.
    """
    check_columns(df, id, text)
    chosen = twindex.Settings(**settings)
    if os.path.exists(path):
        raise twindex.ExistsError(f"{os.fspath(path)} exists already")
    run = Run(df.sparkSession, chosen, work)
    where, folder = storage(run.path("shards"))
    where.create_dir(folder)
    step = _shard(run.path("shards"), chosen, id, text, on_conflict)
    types = "partition int, shard string, rows bigint, problems bigint"
    shards = sorted(df.select(*columns(id, text)).mapInArrow(step, types).collect())
    partial = f"{os.fspath(path)}.part"
    # What a run that was killed has left.
    Path(partial).unlink(missing_ok=True)
    try:
        with twindex.open(partial, "x", **chosen.to_dict()) as index:
            for shard in shards:
                with tempfile.TemporaryDirectory(prefix="twindex-spark-") as near:
                    copy = os.path.join(near, "shard.twx")
                    _copy(where, f"{folder}/{shard.shard}", fs.LocalFileSystem(), copy)
                    index.merge(copy, on_conflict=on_conflict, attach=True)
        os.rename(partial, path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise
    where.delete_dir(folder)
    if report is not None:
        report["rows"] = sum(shard.rows for shard in shards)
        report["problems"] = sum(shard.problems for shard in shards)


def _shard(folder: str, settings: twindex.Settings, id: str, text: str, on_conflict: Any) -> Step:
    def step(batches: Batches) -> Batches:
        one_thread()
        context = TaskContext.get()
        assert context is not None, "a task has a context"
        partition, rows, bad = this_partition(), 0, 0
        # An attempt that was given up may still be writing.
        name = f"{partition}-{context.taskAttemptId()}.twx"
        with tempfile.TemporaryDirectory(prefix="twindex-spark-") as near:
            path = os.path.join(near, "shard.twx")
            with twindex.open(path, **settings.to_dict()) as index:
                for batch in batches:
                    texts, invalid = readable(batch.column(text))
                    why = problems(batch.column(id), invalid)
                    ids = readable(as_ids(batch.column(id)))[0]
                    table = pa.table({"id": ids, "text": texts.fill_null("")})
                    table = table.filter(why.is_null())
                    index.insert_many(table, on_conflict=on_conflict, commit_every=100_000)
                    rows, bad = rows + len(batch), bad + len(batch) - len(table)
            where, to = storage(folder)
            _copy(fs.LocalFileSystem(), path, where, f"{to}/{name}")
        yield pa.RecordBatch.from_arrays(
            [
                pa.array([partition], pa.int32()),
                pa.array([name]),
                pa.array([rows], pa.int64()),
                pa.array([bad], pa.int64()),
            ],
            ["partition", "shard", "rows", "problems"],
        )

    return step


def _copy(from_where: fs.FileSystem, source: str, to_where: fs.FileSystem, target: str) -> None:
    with from_where.open_input_stream(source) as read, to_where.open_output_stream(target) as out:
        shutil.copyfileobj(read, out, 16 << 20)
