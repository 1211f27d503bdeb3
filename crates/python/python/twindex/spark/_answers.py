"""From decisions about numbers to answers about rows."""

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from twindex.kernel.columns import are_among, numbers
from twindex.kernel.numbering import ROW_BITS, first_of, partition_of
from twindex.kernel.sketching import as_ids, checks, problems, readable
from twindex.spark._batches import Batches, Step, one_thread
from twindex.spark._deciding import Decided
from twindex.spark._files import Slices
from twindex.spark._run import Run, map_batches
from twindex.spark._sketches import TALLY_SHIFT, Sketched, Tallies, copies_of


def duplicates(run: Run, decided: Decided, *, most_similar: bool) -> DataFrame:
    """The documents that are not kept: `doc`, and the kept one that stands for it, `of`, with the
    `similarity`. That is the most similar one, or else the first that is similar."""
    pairs, gone = decided.similar.select("a", "b", "similarity"), decided.removed
    a_gone = gone.withColumnRenamed("doc", "a")
    b_gone = gone.withColumnRenamed("doc", "b")
    before = pairs.join(a_gone, "a", "left_anti").toDF("of", "doc", "similarity")
    after = pairs.join(b_gone, "b", "left_anti").select(F.col("b"), F.col("a"), "similarity")
    after = after.toDF("of", "doc", "similarity")
    copies = copies_of(run).where("doc <> first")
    # Copies of a kept document are its duplicates. Those of another one choose as it does, also
    # among the kept documents between it and them.
    first_gone = gone.withColumnRenamed("doc", "first")
    of_kept = copies.join(first_gone, "first", "left_anti")
    of_kept = of_kept.select("doc", F.col("first").alias("of"), F.lit(1.0).alias("similarity"))
    either = before.union(after).withColumnRenamed("doc", "first")
    of_gone = copies.join(either, "first").where("of < doc").select("doc", "of", "similarity")
    found = before.select("doc", "of", "similarity").union(of_gone)
    best = F.struct(-F.col("similarity"), "of") if most_similar else F.struct("of", "similarity")
    found = found.groupBy("doc").agg(F.min_by(F.struct("of", "similarity"), best).alias("best"))
    return found.select("doc", "best.of", "best.similarity").union(of_kept)


def named(run: Run, made: Sketched, name: str, docs: DataFrame) -> DataFrame:
    """The names of documents: `doc`, `id`, `position`, `check`. Shuffles only what is asked for."""
    wanted = run.sliced(f"wanted-{name}", docs.distinct())
    columns = made.frame.select("doc", "id", "position", "check")

    def pick(batches: Batches) -> Batches:
        for batch in batches:
            of_batch = numbers(batch.column("doc"))
            asked = np.zeros(len(of_batch), bool)
            for partition in np.unique(partition_of(of_batch)):
                asked |= are_among(of_batch, wanted.docs(int(partition)))
            yield batch.filter(pa.array(asked))

    return run.store(f"named-{name}", columns.mapInArrow(pick, columns.schema))


def verdicts(run: Run, made: Sketched, found: DataFrame) -> Slices:
    """Duplicates by their place in the input, with the ids that they are duplicates of."""
    found = run.store("duplicates", found)
    docs = found.select("doc").union(found.select(F.col("of").alias("doc")))
    names = named(run, made, "duplicates", docs)
    kept = names.toDF("of", "duplicate_of", "kept_position", "kept_check")
    rows = found.join(names.drop("id"), "doc").join(kept, "of")
    near = F.shiftright("position", ROW_BITS) == F.shiftright("kept_position", ROW_BITS)
    same = near & (F.col("check") == F.col("kept_check"))
    rows = rows.select("position", "check", "duplicate_of", "similarity", same.alias("kept_here"))
    return run.sliced("verdicts", rows, "position")


ANNOTATIONS = {"duplicate_of": "string", "similarity": "double", "problem": "string"}
"""The columns that tell of a row, with their types."""


def judged(
    df: DataFrame, found: Slices, tallies: Tallies, id: str | None, text: str, *, annotate: bool
) -> DataFrame:
    """The rows that are kept; or all rows, with what they are duplicates of."""
    types = StructType(list(df.schema))
    if annotate:
        for name, kind in ANNOTATIONS.items():
            types.add(name, kind)
    # A task may have rows of several partitions, or a number of its own: a plan may go on with the
    # result in other partitions.
    # Of rows that are part of the plan, Spark tells while it plans that all are of partition 0,
    # unless they have to be exploded first.
    df = df.select("*", F.explode(F.array(F.lit(0)))).select("*", F.spark_partition_id())
    return map_batches(df, _judge(found, tallies, id, text, annotate), types)


def _judge(found: Slices, tallies: Tallies, id: str | None, text: str, annotate: bool) -> Step:
    def step(batches: Batches) -> Batches:
        one_thread()
        verdicts: Verdicts | None = None
        for partition, batch in _of_partitions(batches):
            if verdicts is None or verdicts.partition != partition:
                if verdicts is not None:
                    verdicts.end()
                tally = tallies.get(partition, (0, 0))
                verdicts = Verdicts(found.of(partition), partition, tally)
            texts, invalid = readable(batch.column(text))
            why = problems(None if id is None else batch.column(id), invalid)
            ids = None if id is None else readable(as_ids(batch.column(id)))[0]
            texts = texts.fill_null("")
            if why.null_count < len(why):
                # As they were sketched.
                texts = pc.if_else(why.is_null(), texts, "")
            verdict = verdicts.of_next(checks(ids, texts))
            if annotate:
                more = [*verdicts.told(verdict), why]
                names = [*batch.schema.names, *ANNOTATIONS]
                yield pa.RecordBatch.from_arrays([*batch.columns, *more], names)
            else:
                yield batch.filter(pa.array((verdict < 0) & numbers(why.is_null())))
        if verdicts is not None:
            verdicts.end()

    return step


def _of_partitions(batches: Batches) -> Iterator[tuple[int, pa.RecordBatch]]:
    """The rows of each partition in turn, with its number, and without the columns that `judged`
    adds."""
    for batch in batches:
        partitions = numbers(batch.columns[-1])
        batch = batch.select(range(batch.num_columns - 2))
        cuts = (np.flatnonzero(np.diff(partitions)) + 1).tolist()
        for first, last in zip([0, *cuts], [*cuts, len(partitions)], strict=True):
            if first < last:
                yield int(partitions[first]), batch.slice(first, last - first)


class Verdicts:
    """The rows of a partition that are not kept, as they are found again.

    A row is known by its place and by the hash of its id and text. Spark may give the rows of a
    partition in another order when they are read again; then the hash alone counts. Rows with equal
    ids and texts stand for each other.
    """

    def __init__(self, table: pa.Table | None, partition: int, tally: tuple[int, int]) -> None:
        self.partition = partition
        self._tally, self._sum = tally, 0
        if table is None:
            empty = {"position": pa.int64(), "check": pa.int64(), "duplicate_of": pa.string(),
                     "similarity": pa.float64(), "kept_here": pa.bool_()}  # fmt: skip
            table = pa.schema(list(empty.items())).empty_table()
        table = table.sort_by("position").combine_chunks()
        self._places = numbers(table.column("position")) - first_of(partition)
        self._checks = numbers(table.column("check"))
        self._kept_here = numbers(table.column("kept_here")).astype(bool)
        self._known = np.unique(self._checks)
        self._table = table
        self._met = np.zeros(len(table), bool)
        self._row = 0
        self._by_check: dict[int, list[int]] | None = None
        self._keep: set[int] = set()

    def of_next(self, of_rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The verdicts of the next rows, by their places in the table; -1 for a row that is kept.
        `of_rows` are the hashes of the rows."""
        first, last = np.searchsorted(self._places, [self._row, self._row + len(of_rows)])
        at = self._places[first:last] - self._row
        self._row += len(of_rows)
        self._sum += int((of_rows >> TALLY_SHIFT).sum())
        found = np.full(len(of_rows), -1)
        known = are_among(of_rows, self._known)
        expected = of_rows[at] == self._checks[first:last]
        if self._by_check is None and expected.all() and known.sum() == len(at):
            found[at] = np.arange(first, last)
            self._met[first:last] = True
            return found
        exact = dict(zip(at[expected].tolist(), (np.flatnonzero(expected) + first).tolist(),
                         strict=True))  # fmt: skip
        for row in np.flatnonzero(known).tolist():
            found[row] = self._of_row(int(of_rows[row]), exact.get(row))
        return found

    def _of_row(self, check: int, exact: int | None) -> int:
        """The verdict of a row that has the hash of one that is not kept."""
        if self._by_check is None:
            self._by_check = {}
            for verdict in np.flatnonzero(~self._met)[::-1].tolist():
                self._by_check.setdefault(int(self._checks[verdict]), []).append(verdict)
            self._keep = set(self._checks[self._kept_here].tolist())
        if exact is not None and not self._met[exact]:
            self._met[exact] = True
            return exact
        if check in self._keep:
            self._keep.remove(check)
            return -1
        left = self._by_check.get(check, [])
        while left:
            verdict = left.pop()
            if not self._met[verdict]:
                self._met[verdict] = True
                return verdict
        raise RuntimeError(_CHANGED)

    def told(self, verdict: NDArray[np.int64]) -> list[pa.Array]:
        """The columns `duplicate_of` and `similarity` of rows."""
        places = pa.array(verdict, mask=verdict < 0)
        names = ("duplicate_of", "similarity")
        return [self._table.column(name).take(places).combine_chunks() for name in names]

    def end(self) -> None:
        """Makes sure that the rows are those that were judged."""
        if not self._met.all() or (self._row, self._sum) != self._tally:
            raise RuntimeError(_CHANGED)


_CHANGED = (
    "the rows are others than those that were judged, or moved to other partitions, when they were "
    "read again: write them to a table first, and deduplicate that. (Adaptive execution may divide "
    "joined, grouped and sorted rows otherwise each time. Spark also divides files otherwise when "
    "cores come or go, unless spark.sql.files.minPartitionNum is set.)"
)
