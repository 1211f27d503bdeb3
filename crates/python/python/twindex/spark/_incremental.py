"""Rows against an index that is there: each executor has a copy of it."""

import os
import shutil
import uuid
from contextlib import ExitStack
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import SparkFiles
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

import twindex
from twindex.kernel.sketching import problems, readable
from twindex.spark._answers import ANNOTATIONS
from twindex.spark._batches import Batches, Step, local_folder, one_thread
from twindex.spark._run import check_columns, map_batches


def against(
    df: DataFrame,
    index: "str | os.PathLike[str] | twindex.Reader",
    *,
    id: str | None = "id",
    text: str = "text",
    threshold: float | None = None,
    annotate: bool = False,
) -> DataFrame:
    """Keeps the rows that are similar to no document of an index.

    The index is copied to every executor, as it is now. It may be open, or be given by the path of
    its file on the driver. With `annotate`, returns all rows, with the columns `duplicate_of`, the
    id of the most similar document of the index, `similarity`, and `problem`, as `dedup` does.
    Without a `threshold`, that of the index counts. If the index stores texts, similarities are
    exact.

    A row whose id is null, or whose id or text is not valid UTF-8, is no document, so it is similar
    to none: it is kept, with its `problem`. Nothing counts such rows here. `dedup` does.

    An incremental run is `dedup(against(new, index))`: what is new, and not twice. It reports the
    rows that are no documents, and leaves them out.
    """
    check_columns(df, id, text, added=ANNOTATIONS if annotate else ())
    with ExitStack() as stack:
        if not isinstance(index, twindex.Reader):
            index = stack.enter_context(twindex.open(index, "r"))
        name = _sent(df.sparkSession.sparkContext, index)
    types = StructType(list(df.schema))
    if annotate:
        for added, kind in ANNOTATIONS.items():
            types.add(added, kind)
    return map_batches(df, _against(name, id, text, threshold, annotate), types)


_copies: dict[tuple[Any, ...], str] = {}
"""The names of the copies that were made, by the state of the index."""


def _sent(context: Any, index: twindex.Reader) -> str:
    """The name of a copy of an index, which executors fetch when they need it. Calls with the same
    state of an index share one."""
    file = os.stat(index.path)
    state = (context.applicationId, file.st_dev, file.st_ino, file.st_size, file.st_mtime_ns,
             index.commit_number)  # fmt: skip
    if state in _copies:
        return _copies[state]
    name = f"twindex-{uuid.uuid4().hex[:12]}.twx"
    # Spark deletes this folder when the session ends.
    copy = Path(SparkFiles.getRootDirectory(), name)
    try:
        index.backup(copy)
        context.addFile(str(copy))
    except BaseException:
        # Once Spark has a file in its list, no task runs without it.
        if not any(file.endswith(name) for file in context.listFiles):
            copy.unlink(missing_ok=True)
        raise
    return _copies.setdefault(state, name)


@lru_cache(maxsize=4)
def _opened(name: str) -> twindex.Reader:
    """The copy of this executor, open as long as this process lives."""
    return twindex.open(_moved(os.path.abspath(SparkFiles.get(name))), "r")


def _moved(fetched: str) -> str:
    """What an executor has fetched to its working folder goes to one that is deleted when it ends.
    A standalone cluster keeps working folders."""
    folder = local_folder()
    if folder is None or os.path.dirname(fetched) != os.getcwd():
        return fetched
    # Windows lacks it, and must import this module nevertheless.
    import fcntl

    copy = os.path.join(folder, os.path.basename(fetched))
    with open(f"{copy}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(copy):
            try:
                os.rename(fetched, copy)
            except OSError:
                # It is on another file system.
                shutil.copyfile(fetched, f"{copy}.part")
                os.rename(f"{copy}.part", copy)
                os.remove(fetched)
    return copy


def _best(index: twindex.Reader, text: str | None, threshold: float | None) -> twindex.Match | None:
    """The most similar document of the index; `None` for no text, which is similar to nothing."""
    found = index.query(text, threshold=threshold, limit=1) if text else None
    return found[0] if found else None


def _against(name: str, id: str | None, text: str, threshold: float | None, annotate: bool) -> Step:
    def step(batches: Batches) -> Batches:
        one_thread()
        index = _opened(name)
        for batch in batches:
            texts, invalid = readable(batch.column(text))
            why = problems(None if id is None else batch.column(id), invalid)
            texts = pc.if_else(why.is_null(), texts, pa.scalar(None, texts.type))
            best = [_best(index, value, threshold) for value in texts.to_pylist()]
            if not annotate:
                yield batch.filter(pa.array([match is None for match in best], pa.bool_()))
                continue
            more = [
                pa.array([match and match.id for match in best], pa.string()),
                pa.array([match and match.similarity for match in best], pa.float64()),
                why,
            ]
            names = [*batch.schema.names, *ANNOTATIONS]
            yield pa.RecordBatch.from_arrays([*batch.columns, *more], names)

    return step
