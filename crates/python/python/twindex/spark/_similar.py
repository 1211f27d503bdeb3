"""The similar pairs: bands, buckets, comparisons. One round, or as many as large buckets need."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import twindex
from twindex import kernel
from twindex.kernel.columns import Docs, are_among, numbers
from twindex.kernel.meetings import CROWD, PAIRS, SQUARE
from twindex.kernel.numbering import partition_of
from twindex.spark._batches import (
    Batches,
    Step,
    blobs_by_key,
    by_partition,
    gathered,
    grouped,
    one_thread,
)
from twindex.spark._files import Sketches, Slices
from twindex.spark._run import Run
from twindex.spark._sketches import ENTRIES, Sketched

_TOGETHER = 1 << 18
_MET = "kind tinyint, part bigint, blob binary, other binary"
_TRAVELLERS = "part bigint, doc bigint, signature binary, text string, others array<int>"
_SIMILAR = "a bigint, b bigint, similarity double, low double, high double"

_PAIRS = 1 << 20
"""The pairs that are compared at once, about."""

_NONE = np.zeros(0, np.int64)


class Round:
    """The pairs that one round compares, among all documents or some of them."""

    def __init__(
        self,
        run: Run,
        made: Sketched,
        name: str,
        taken: kernel.Round,
        *,
        among: Slices | None = None,
        removed: Slices | None = None,
    ) -> None:
        self._run, self._name = run, name
        settings, ranges = run.settings, made.ranges
        entries = _entries(settings, ranges, made.copies, among, removed)
        frame = made.frame.select("doc", "signature").mapInArrow(entries, ENTRIES)
        frame = run.by_key(frame, "key", made.size(9 * settings.bands), "first")
        self.met = run.store(f"met-{name}", frame.mapInArrow(_meet(taken), _MET))
        counts = self.met.groupBy("kind").agg(F.sum(F.length("blob")).alias("bytes")).collect()
        self._bytes = {row["kind"]: row["bytes"] for row in counts}
        self.similar = run.store(f"similar-{name}", self._compared(made))

    def _compared(self, made: Sketched) -> DataFrame:
        run, settings = self._run, self._run.settings
        pairs = self.met.where(F.col("kind") == PAIRS).select("part", "blob")
        size = self._bytes.get(PAIRS, 0)
        if SQUARE in self._bytes:
            squares = self.met.where(F.col("kind") == SQUARE).select("blob", "other")
            # Each expands to a million pairs.
            tasks = max(1, self._bytes[SQUARE] // (64 << 10))
            squares = run.by_key(
                squares.withColumn("key", F.xxhash64("blob", "other")), "key", tasks * (32 << 20)
            )
            pairs = pairs.unionByName(squares.mapInArrow(_expand, "part bigint, blob binary"))
            size += self._bytes[SQUARE] * 1024
        sent = run.by_key(pairs, "part", size).mapInArrow(_send(made.files), _TRAVELLERS)
        arrived = run.by_key(sent, "part", size * 32)
        return arrived.mapInArrow(_compare(made.files, settings), _SIMILAR)

    def has_crowds(self) -> bool:
        """Whether there were large buckets."""
        return CROWD in self._bytes

    def crowds(self) -> DataFrame:
        """The documents of large buckets, and which of them wait: `doc`, `waits`."""
        frame = self.met.where(F.col("kind") == CROWD).select("part", "blob")
        frame = self._run.by_key(frame, "part", self._bytes.get(CROWD, 0))
        found = frame.mapInArrow(_crowds, "doc bigint, waits boolean")
        return self._run.store(f"crowds-{self._name}", found)


def _entries(
    settings: twindex.Settings,
    ranges: int,
    copies: Slices,
    among: Slices | None,
    removed: Slices | None,
) -> Step:
    def known(partition: int) -> tuple[Docs, Docs, Docs]:
        of_copies = copies.of(partition)
        if of_copies is None:
            left_out = with_copies = _NONE
        else:
            docs, firsts = numbers(of_copies.column("doc")), numbers(of_copies.column("first"))
            left_out, with_copies = np.sort(docs[docs != firsts]), np.sort(docs[docs == firsts])
        return left_out, with_copies, _NONE if removed is None else removed.docs(partition)

    def step(batches: Batches) -> Batches:
        one_thread()
        for gathering in gathered(batches, _TOGETHER):
            for docs, table in by_partition(gathering):
                partition = int(partition_of(docs[0]))
                if among is not None:
                    wanted = are_among(docs, among.docs(partition))
                    docs, table = docs[wanted], table.filter(pa.array(wanted))
                marks = kernel.Marks(*known(partition))
                signatures = table.column("signature").combine_chunks()
                yield from kernel.band_entries(docs, signatures, marks, settings, ranges)

    return step


def _meet(taken: kernel.Round) -> Step:
    def step(batches: Batches) -> Batches:
        out = kernel.Meetings()
        for _, blobs in blobs_by_key(batches):
            yield from kernel.meet(blobs, taken, out)
        yield from out.take()

    return step


def _expand(batches: Batches) -> Batches:
    out = kernel.Meetings()
    for batch in batches:
        for blob, other in zip(*(column.to_pylist() for column in batch.columns[:2]), strict=True):
            kernel.expand(blob, other, out)
            if out.is_full():
                yield from (packed.select(["part", "blob"]) for packed in out.take())
    yield from (packed.select(["part", "blob"]) for packed in out.take())


def _send(files: Sketches) -> Step:
    def step(batches: Batches) -> Batches:
        for _, table, _ in grouped(batches, "part", most_bytes=64 << 20):
            yield from kernel.travellers(table.column("blob").to_pylist(), files.lookup)

    return step


def _compare(files: Sketches, settings: twindex.Settings) -> Step:
    def step(batches: Batches) -> Batches:
        one_thread()
        for _, table, _ in grouped(batches, "part", most_bytes=64 << 20):
            pairs = np.cumsum(numbers(pc.list_value_length(table.column("others"))))
            at = 0
            while at < len(table):
                before = pairs[at - 1] if at else 0
                end = max(at + 1, int(np.searchsorted(pairs, before + _PAIRS, "right")))
                yield from kernel.similar(table.slice(at, end - at), files.lookup, settings)
                at = end

    return step


def _crowds(batches: Batches) -> Batches:
    for _, table, _ in grouped(batches, "part", most_bytes=1 << 40):
        docs, waits = kernel.crowd(table.column("blob").to_pylist())
        yield pa.RecordBatch.from_arrays([pa.array(docs), pa.array(waits)], ["doc", "waits"])
