"""Which documents are removed, by rounds over the similar pairs; and connected components.

The last few million pairs are decided in one task. Before, each round is a few joins.
"""

from functools import reduce

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from twindex import kernel
from twindex.kernel.columns import numbers
from twindex.spark._batches import Batches, one_thread
from twindex.spark._run import Run
from twindex.spark._similar import Round
from twindex.spark._sketches import Sketched

AT_ONCE = 4_000_000
"""The pairs that one task decides."""

_GROWTH = 64
"""How many times more pivots a round takes than the one before. Few documents of a large bucket are
left after the first."""

_SMALL, _SMALL_OF_FEW, _MANY = 8, 64, 1_000_000
"""Buckets of up to `_SMALL` documents give all their pairs. Of few rows, larger buckets do: pairs
cost less there than another round, unless texts are compared."""

_ROWS = "a bigint, b bigint"

_WAITS, _GONE = -1, -2
"""Stand in the place of the second document of a pair: the first one waits, or is removed."""


def all_similar(run: Run, made: Sketched) -> DataFrame:
    """All similar pairs, each once; of copies, those of the first."""
    found = Round(run, made, "all", kernel.Round("all"))
    return found.similar.dropDuplicates(["a", "b"])


class Decided:
    """The documents that are kept and removed, and the similar pairs that tell why."""

    def __init__(self, run: Run, made: Sketched) -> None:
        self._run = run
        self._removed: list[DataFrame] = []
        self._similar: list[DataFrame] = []
        self._open: DataFrame | None = None
        # Texts cost much more to compare than signatures.
        many = made.counts["rows"] > _MANY or run.settings.store_text
        small = _SMALL if many else _SMALL_OF_FEW
        first = Round(run, made, "0", kernel.Round("pivots", small=small))
        crowds = first.crowds() if first.has_crowds() else None
        waiting = self._decide(first.similar, crowds)
        if crowds is None or waiting is None or waiting.isEmpty():
            return
        pivots, number = 1, 1
        while waiting is not None and not waiting.isEmpty():
            pivots *= _GROWTH
            among = run.sliced(f"waiting-{number}", waiting)
            taken = kernel.Round("pivots", pivots, small)
            found = Round(run, made, str(number), taken, among=among)
            waiting = self._decide(found.similar, found.crowds() if found.has_crowds() else None)
            number += 1
        # Those that were removed early have not met all that are kept.
        in_crowds = crowds.select("doc")
        among = run.sliced("crowds", in_crowds)
        removed = run.sliced("removed", self.removed.join(in_crowds, "doc", "left_semi"))
        taken = kernel.Round("kept", small=small)
        self._similar.append(Round(run, made, "last", taken, among=among, removed=removed).similar)

    @property
    def removed(self) -> DataFrame:
        """The removed documents: `doc`."""
        return reduce(DataFrame.union, self._removed)

    @property
    def similar(self) -> DataFrame:
        """The similar pairs that were found; some more than once."""
        return reduce(DataFrame.union, self._similar)

    def _decide(self, similar: DataFrame, crowds: DataFrame | None) -> DataFrame | None:
        """Decides what can be decided. Returns the documents that wait for another round."""
        self._similar.append(similar)
        name = f"{len(self._similar)}"
        pairs = similar.select("a", "b")
        if self._open is not None:
            pairs = pairs.union(self._open)
        waiting = None if crowds is None else crowds.where("waits").select("doc")
        if self._removed:
            pairs, waiting = _without(pairs, waiting, self.removed)
        step = 0
        while True:
            pairs = self._run.store(f"open-{name}-{step}", pairs)
            if pairs.count() + (0 if waiting is None else waiting.count()) <= AT_ONCE:
                return self._decide_at_once(f"decided-{name}", pairs, waiting)
            gone = self._run.store(f"removed-{name}-{step}", _one_round(pairs, waiting))
            self._removed.append(gone)
            if gone.isEmpty():
                break
            (pairs, waiting), step = _without(pairs, waiting, gone), step + 1
        self._open = pairs
        return waiting

    def _decide_at_once(
        self, name: str, pairs: DataFrame, waiting: DataFrame | None
    ) -> DataFrame | None:
        """Decides what can be decided in one task."""
        rows = pairs
        if waiting is not None:
            rows = rows.union(waiting.select("doc", F.lit(_WAITS).cast("bigint")))
        done = self._run.store(name, rows.coalesce(1).mapInArrow(_greedy, _ROWS))
        self._removed.append(done.where(F.col("b") == _GONE).select(F.col("a").alias("doc")))
        self._open = done.where("b >= 0")
        left = done.where(F.col("b") == _WAITS).select(F.col("a").alias("doc"))
        return None if waiting is None else left


def _without(
    pairs: DataFrame, waiting: DataFrame | None, gone: DataFrame
) -> tuple[DataFrame, DataFrame | None]:
    """The pairs of which neither document is gone, and the documents that still wait."""
    gone_a, gone_b = gone.withColumnRenamed("doc", "a"), gone.withColumnRenamed("doc", "b")
    pairs = pairs.join(gone_a, "a", "left_anti").join(gone_b, "b", "left_anti").select("a", "b")
    return pairs, None if waiting is None else waiting.join(gone, "doc", "left_anti")


def _one_round(pairs: DataFrame, waiting: DataFrame | None) -> DataFrame:
    """The documents after one that is certainly kept: nothing similar before it is left, and it
    waits for nothing."""
    kept = pairs.select("a").distinct()
    kept = kept.join(pairs.select(F.col("b").alias("a")), "a", "left_anti")
    if waiting is not None:
        kept = kept.join(waiting.select(F.col("doc").alias("a")), "a", "left_anti")
    return pairs.join(kept, "a", "left_semi").select(F.col("b").alias("doc")).distinct()


def _greedy(batches: Batches) -> Batches:
    """Decides all pairs. Gives the removed documents, the pairs that are open, and the documents
    that still wait."""
    one_thread()
    a, b = _two(batches)
    waiting = a[b == _WAITS]
    a, b = a[b >= 0], b[b >= 0]
    gone = kernel.removed(a, b, waiting)
    still = ~(np.isin(a, gone) | np.isin(b, gone))
    waiting = waiting[~np.isin(waiting, gone)]
    columns = (
        np.concatenate([gone, a[still], waiting]),
        np.concatenate([np.full(len(gone), _GONE), b[still], np.full(len(waiting), _WAITS)]),
    )
    yield pa.RecordBatch.from_arrays([pa.array(column) for column in columns], ["a", "b"])


def _two(batches: Batches) -> tuple[kernel.Docs, kernel.Docs]:
    none = [np.zeros(0, np.int64)] * 2
    pieces = [[numbers(column) for column in batch.columns] for batch in batches]
    a, b = (np.concatenate(column) for column in zip(none, *pieces, strict=True))
    return a, b


def connected(run: Run, pairs: DataFrame) -> DataFrame:
    """The connected components of documents: `doc`, and the first document of the component.

    Alternates large stars and small stars (R. Kiveris and others, *Connected components in
    MapReduce and beyond*, 2014) until few pairs are left or nothing changes.
    """
    pairs = run.store("stars-0", pairs.select("a", "b").distinct())
    step, before = 0, None
    while (now := _checksum(pairs))[0] > AT_ONCE and now != before:
        step, before = step + 1, now
        pairs = run.store(f"stars-{step}", _small_stars(_large_stars(pairs)))
    if now[0] > AT_ONCE:
        stars = pairs.select(F.col("b").alias("doc"), F.col("a").alias("first"))
        return stars.union(stars.select(F.col("first"), "first").distinct())
    return pairs.coalesce(1).mapInArrow(_components, "doc bigint, first bigint")


def _checksum(pairs: DataFrame) -> tuple[int, int]:
    row = pairs.agg(F.count("*"), F.sum(F.xxhash64("a", "b").cast("decimal(38,0)"))).collect()[0]
    return row[0], row[1]


def _large_stars(pairs: DataFrame) -> DataFrame:
    """Joins the later neighbours of each document to its first neighbour."""
    both = pairs.union(pairs.select("b", "a")).toDF("at", "to")
    least = both.groupBy("at").agg(F.min("to").alias("first"))
    joined = both.join(least, "at").where("to > at")
    return joined.select(F.least("first", "at").alias("a"), F.col("to").alias("b")).distinct()


def _small_stars(pairs: DataFrame) -> DataFrame:
    """Joins each document and its earlier neighbours to the first of these."""
    least = pairs.groupBy("b").agg(F.min("a").alias("first"))
    joined = pairs.join(least, "b")
    moved = joined.where("a <> first").select(F.col("first").alias("a"), F.col("a").alias("b"))
    return moved.union(least.select(F.col("first").alias("a"), "b")).distinct()


def _components(batches: Batches) -> Batches:
    one_thread()
    docs, firsts = kernel.components(*_two(batches))
    yield pa.RecordBatch.from_arrays([pa.array(docs), pa.array(firsts)], ["doc", "first"])
