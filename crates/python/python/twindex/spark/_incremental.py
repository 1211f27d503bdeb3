"""Rows against an index that is there: each executor has a copy of it."""

import os
import uuid
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import SparkFiles
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

import twindex
from twindex.kernel.sketching import problems, readable
from twindex.spark._answers import ANNOTATIONS
from twindex.spark._batches import Batches, Step, one_thread
from twindex.spark._run import check_columns, map_batches, temporary_folder


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
    name = f"twindex-{uuid.uuid4().hex[:12]}.twx"
    # Executors fetch it when they need it.
    copy = os.path.join(temporary_folder(), name)
    if isinstance(index, twindex.Reader):
        index.backup(copy)
    else:
        with twindex.open(index, "r") as opened:
            opened.backup(copy)
    df.sparkSession.sparkContext.addFile(copy)
    types = StructType(list(df.schema))
    if annotate:
        for added, kind in ANNOTATIONS.items():
            types.add(added, kind)
    return map_batches(df, _against(name, id, text, threshold, annotate), types)


@lru_cache(maxsize=4)
def _opened(path: str) -> twindex.Reader:
    """The copy of this process, open as long as the process lives."""
    return twindex.open(path, "r")


def _best(index: twindex.Reader, text: str | None, threshold: float | None) -> twindex.Match | None:
    """The most similar document of the index; `None` for no text, which is similar to nothing."""
    found = index.query(text, threshold=threshold, limit=1) if text else None
    return found[0] if found else None


def _against(name: str, id: str | None, text: str, threshold: float | None, annotate: bool) -> Step:
    def step(batches: Batches) -> Batches:
        one_thread()
        index = _opened(SparkFiles.get(name))
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
