"""Deduplication on a Spark cluster, with the answers of a single index.

>>> from pyspark.sql import SparkSession
>>> import twindex.spark
>>> spark = SparkSession.builder.getOrCreate()
>>> kept = twindex.spark.dedup(spark.read.parquet("pages"), work="s3a://bucket/work")
>>> kept.write.parquet("kept")

Each function gives what a single index would give for the same rows in the same order. It needs
PySpark 4 and this package on the driver and all executors (`pip install twindex[spark]`), and a
folder `work` that all of them can read and write. `docs/spark.md` tells how it works, how much it
shuffles, and how to size a cluster.
"""

import logging
import re
from typing import Any, Literal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

import twindex
from twindex._types import Path
from twindex.spark._answers import ANNOTATIONS, duplicates, judged, named, verdicts
from twindex.spark._deciding import Decided, all_similar, connected
from twindex.spark._files import Slices
from twindex.spark._incremental import against
from twindex.spark._run import Run, check_columns, quoted
from twindex.spark._shards import build
from twindex.spark._sketches import Sketched, copies_of, signatures, sketched

__all__ = ["against", "build", "clusters", "dedup", "pairs", "sketch"]

log = logging.getLogger("twindex.spark")


def dedup(
    df: DataFrame,
    *,
    id: str | None = "id",
    text: str = "text",
    threshold: float = 0.8,
    exact: bool = False,
    order: str | Column | None = None,
    annotate: bool = False,
    work: Path | None = None,
    report: dict[str, int] | None = None,
    **settings: Any,
) -> DataFrame:
    """Keeps the rows that are similar to no kept row before them.

    Returns the kept rows. With `annotate`, returns all rows with three more columns. For a row that
    is not kept, `duplicate_of` is the id of the most similar kept row before it, and `similarity`
    is that of the two. `problem` tells why a row is no document: its id is null, or its id or text
    is not valid UTF-8. Such a row is not kept. A null text is an empty one, which is
    similar to nothing. Rows with equal ids are documents of their own.

    The order is that of the rows, unless `order` names a column or gives an expression to sort by.
    With `exact`, texts are kept in `work` meanwhile, and similarities are exact. `settings` are
    those of `twindex.open`: `recall`, `lanes`, `shingle`, `normalize`, `multiset`, `seed`.

    The result reads `df` once more, and the files in `work`, when it is used: delete these after
    that. `report` is filled with the numbers of rows, of rows with problems, and others.
    """
    chosen = twindex.Settings(threshold=threshold, store_text=exact, **settings)
    check_columns(df, id, text, added=ANNOTATIONS if annotate else ())
    if annotate and id is None:
        raise ValueError("annotate=True names documents by their ids: name the column of ids")
    # Columns of types that Spark does not give to Python are told before the run.
    judged(df, Slices("", {}), {}, id, text, annotate=annotate)
    run, made = _begun(df, chosen, id, text, order, work)
    decided = Decided(run, made)
    found = verdicts(run, made, duplicates(run, decided, most_similar=True))
    _tell(made, report)
    return judged(df, found, made.tallies, id, text, annotate=annotate)


def pairs(
    df: DataFrame,
    *,
    id: str = "id",
    text: str = "text",
    threshold: float = 0.8,
    exact: bool = False,
    work: Path | None = None,
    report: dict[str, int] | None = None,
    **settings: Any,
) -> DataFrame:
    """All pairs of similar rows, each once: `a`, `b`, `similarity`, `low` and `high`.

    `a` is the lesser id. `low` and `high` are the interval of an estimated similarity; with `exact`
    they equal it. A cluster of n rows has n (n - 1) / 2 pairs. The other arguments are those of
    `dedup`.
    """
    chosen = twindex.Settings(threshold=threshold, store_text=exact, **settings)
    check_columns(df, id, text)
    run, made = _begun(df, chosen, id, text, None, work)
    found = _with_copies(run, all_similar(run, made))
    found = run.store("pairs", found)
    docs = found.select(F.col("a").alias("doc")).union(found.select("b"))
    names = named(run, made, "pairs", docs).select("doc", "id")
    found = found.join(names.toDF("a", "id_a"), "a").join(names.toDF("b", "id_b"), "b")
    _tell(made, report)
    return found.select(
        F.least("id_a", "id_b").alias("a"),
        F.greatest("id_a", "id_b").alias("b"),
        "similarity",
        "low",
        "high",
    )


def clusters(
    df: DataFrame,
    *,
    id: str = "id",
    text: str = "text",
    threshold: float = 0.8,
    exact: bool = False,
    linkage: Literal["representative", "connected"] = "representative",
    order: str | Column | None = None,
    work: Path | None = None,
    report: dict[str, int] | None = None,
    **settings: Any,
) -> DataFrame:
    """Groups of at least two similar rows: `id`, `representative`.

    With the linkage `representative`, every row of a group is similar to its representative, the
    first kept row that is similar. With `connected`, a group is all that is reached by way of
    similar rows, which may be very unlike each other, and its first row represents it. The other
    arguments are those of `dedup`.
    """
    chosen = twindex.Settings(threshold=threshold, store_text=exact, **settings)
    if linkage not in ("representative", "connected"):
        raise ValueError(f"linkage={linkage!r}: expected 'representative' or 'connected'")
    check_columns(df, id, text)
    run, made = _begun(df, chosen, id, text, order, work)
    if linkage == "connected":
        links = copies_of(run).where("doc <> first").select("first", "doc").toDF("a", "b")
        found = connected(run, all_similar(run, made).select("a", "b").union(links))
    else:
        of = duplicates(run, Decided(run, made), most_similar=False).select("doc", "of")
        found = of.toDF("doc", "first").union(of.select("of", "of").distinct())
    found = run.store("clusters", found)
    docs = found.select("doc").union(found.select("first"))
    names = named(run, made, "clusters", docs).select("doc", "id")
    _tell(made, report)
    found = found.join(names, "doc").join(names.toDF("first", "representative"), "first")
    return found.select("id", "representative")


def sketch(
    df: DataFrame, *, id: str | None = "id", text: str = "text", **settings: Any
) -> DataFrame:
    """The signature of each row: `id`, `signature`, `problem`.

    `twindex.Index.insert_signatures` takes signatures. `settings` are those of `twindex.open`. A
    row whose id is null, or whose text is not valid UTF-8, has a `problem` and the signature of an
    empty document.
    """
    check_columns(df, id, text)
    return signatures(df, twindex.Settings(**settings), id, text)


def _begun(
    df: DataFrame,
    settings: twindex.Settings,
    id: str | None,
    text: str,
    order: str | Column | None,
    work: Path | None,
) -> tuple[Run, Sketched]:
    """A run whose rows are sketched."""
    by = F.col(quoted(order)) if isinstance(order, str) else order
    if by is not None and re.search(r" (ASC|DESC) NULLS (FIRST|LAST)'>$", str(by)):
        raise ValueError(
            "order: expected a column or an expression, not a sort direction: to turn the order of "
            "numbers round, pass -F.col('n')"
        )
    run = Run(df.sparkSession, settings, work)
    return run, sketched(run, df, id, text, by)


def _with_copies(run: Run, found: DataFrame) -> DataFrame:
    """The pairs of documents and their copies."""
    copies = run.store("copies-of", copies_of(run))
    values = ["similarity", "low", "high"]
    for side in ("a", "b"):
        group = copies.select(F.col("first").alias(side), F.col("doc").alias("copy"))
        found = found.join(group, side, "left")
        found = found.withColumn(side, F.coalesce("copy", side)).drop("copy")
    one, other = copies.toDF("a", "first"), copies.toDF("b", "first")
    same = one.join(other, "first").where("a < b").select("a", "b")
    for name, value in zip(values, _of_equals(run.settings), strict=True):
        same = same.withColumn(name, F.lit(value))
    return found.select("a", "b", *values).union(same)


def _of_equals(settings: twindex.Settings) -> tuple[float, float, float]:
    """The similarity of copies, with its interval."""
    sketcher = twindex.Sketcher.of(settings)
    # A text that is not empty has shingles of most kinds, and one of bases the others.
    for text in ("any text that is not empty", "ACGT" * 64):
        signature = sketcher.signature(text)
        estimate = twindex.Sketcher.similarity(signature, signature)
        if estimate is not None and not settings.store_text:
            return estimate
    return (1.0, 1.0, 1.0)


def _tell(made: Sketched, report: dict[str, int] | None) -> None:
    """Reports what was counted, and warns of rows that are no documents."""
    if report is not None:
        report.update(made.counts)
    for name, count in made.counts.items():
        if name not in ("rows", "empty") and count:
            log.warning("%d rows: %s", count, name)
