"""Pairs of documents that share a bucket are compared: the sketch of the first travels, once, to
each part that has some of the others."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import twindex
from twindex import _twindex
from twindex.kernel.columns import Docs, binary, column, lists, numbers, rows_of, unsigned
from twindex.kernel.numbering import first_of_part, part_of
from twindex.kernel.planes import unpack_all

Lookup: TypeAlias = Callable[[Docs], pa.Table]
"""Gives the sketches of documents, whose numbers ascend, in that order: a table with a row for
each, and the column `signature`, and `text` if the settings store texts."""

TRAVELLERS = pa.schema(
    [
        ("part", pa.int64()),
        ("doc", pa.int64()),
        ("signature", pa.binary()),
        ("text", pa.large_string()),
        ("others", pa.list_(pa.int32())),
    ]
)
"""Sketches on their way to a part, with the places there of the documents to compare with."""

_TRAVELLERS, _OTHERS = 10_000, 4096
"""The travellers of a batch, and the documents that one is compared with, at most."""

_TEXT_BYTES = 64 << 20
"""The bytes of the texts of a batch, unless a single text has more."""

_FIRST_TEXTS, _TEXTS = 16, 100
"""How many texts are looked up at first, and at once: how long they are is known only then."""

SIMILAR = pa.schema(
    [
        ("a", pa.int64()),
        ("b", pa.int64()),
        ("similarity", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
    ]
)
"""Pairs of similar documents, the first before the second, with the interval of the similarity."""


class _Sketches:
    """Looks sketches up: of all documents that are asked for, or of as many as have about
    `_TEXT_BYTES` of texts."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup, self._at_once = lookup, _FIRST_TEXTS

    def first_of(self, docs: Docs, times: NDArray[np.int64]) -> pa.Table:
        """The sketches of the first of some documents, whose texts are sent so many times."""
        found: list[pa.Table] = []
        at, size = 0, 0
        while at < len(docs) and size < _TEXT_BYTES:
            asked = docs[at : at + self._at_once]
            table = self._lookup(asked)
            if len(table) != len(asked):
                raise ValueError(
                    f"lookup gave {len(table)} sketches for {len(asked)} documents: it must give "
                    "one for each, in their order"
                )
            found.append(table)
            at += len(table)
            if "text" not in table.column_names:
                self._at_once = len(docs)
                continue
            lengths = numbers(pc.binary_length(table.column("text")))
            size += int((lengths * times[at - len(table) : at]).sum())
            # As many as fit if they are as long as those before: here, or into the next batch.
            room = _TEXT_BYTES - size if size < _TEXT_BYTES else _TEXT_BYTES
            self._at_once = min(_TEXTS, max(1, room * at // max(1, size)))
        return pa.concat_tables(found)


def travellers(blobs: Iterable[bytes], lookup: Lookup) -> Iterator[pa.RecordBatch]:
    """The sketches of the documents of one part that are compared with others, on their way."""
    a, b = unpack_all(blobs, 2)
    order = np.lexsort((b, a))
    a, b = a[order].astype(np.int64), b[order].astype(np.int64)
    new = np.append(True, (a[1:] != a[:-1]) | (b[1:] != b[:-1]))[: len(a)]
    a, b = a[new], b[new]
    parts = part_of(b)
    begins = np.append(True, (a[1:] != a[:-1]) | (parts[1:] != parts[:-1]))[: len(a)]
    starts = np.flatnonzero(begins)
    # Long lists are cut, so that batches of them stay small.
    since = np.arange(len(a)) - starts[np.cumsum(begins) - 1]
    starts = np.flatnonzero(since % _OTHERS == 0)
    ends = np.append(starts[1:], len(a))
    places = (b - first_of_part(parts)).astype(np.int32)
    sketches, at = _Sketches(lookup), 0
    while at < len(starts):
        firsts = starts[at : at + _TRAVELLERS]
        docs, of_docs, times = np.unique(a[firsts], return_inverse=True, return_counts=True)
        found = sketches.first_of(docs, times)
        firsts = firsts[: np.searchsorted(of_docs, len(found))]
        of_docs = of_docs[: len(firsts)]
        signatures = rows_of(found.column("signature").combine_chunks())
        texts = pa.nulls(len(firsts), pa.large_string())
        if "text" in found.column_names:
            given = found.column("text").cast(pa.large_string()).combine_chunks()
            sizes = np.cumsum(numbers(pc.binary_length(given))[of_docs])
            fit = max(1, int(np.searchsorted(sizes, _TEXT_BYTES, "right")))
            firsts, of_docs = firsts[:fit], of_docs[:fit]
            texts = given.take(pa.array(of_docs))
        last = int(ends[at + len(firsts) - 1])
        at += len(firsts)
        columns = [
            pa.array(parts[firsts]),
            pa.array(a[firsts]),
            binary(signatures[of_docs]),
            texts,
            lists(firsts - firsts[0], places[firsts[0] : last]),
        ]
        yield pa.record_batch(columns, TRAVELLERS)


def similar(
    arrived: pa.Table, lookup: Lookup, settings: twindex.Settings, confidence: float = 0.95
) -> Iterator[pa.RecordBatch]:
    """The similar pairs among sketches that have arrived at a part and the documents there."""
    others = arrived.column("others").combine_chunks()
    part = first_of_part(numbers(arrived.column("part")))
    a_places = np.repeat(np.arange(len(others)), numbers(others.value_lengths()))
    b = part[a_places] + numbers(others.flatten())
    docs, b_places = np.unique(b, return_inverse=True)
    sketches, once, at = _Sketches(lookup), np.ones_like(docs), 0
    while at < len(docs):
        here = sketches.first_of(docs[at:], once[at:])
        places = b_places - at
        with_these = (0 <= places) & (places < len(here))
        pairs = (a_places[with_these], places[with_these])
        yield _similar_pairs(arrived, here, docs[at:], pairs, settings, confidence)
        at += len(here)


def _similar_pairs(
    arrived: pa.Table,
    here: pa.Table,
    docs: Docs,
    pairs: tuple[Docs, Docs],
    settings: twindex.Settings,
    confidence: float,
) -> pa.RecordBatch:
    """The similar pairs among sketches that have arrived and those that are `here`, of `docs`.
    `pairs` are the places of their sketches in the two tables."""
    a_places, b_places = pairs
    least = settings.compared_lanes if settings.store_text else settings.similar_lanes
    found = _twindex.compare_signatures(
        arrived.column("signature").combine_chunks(),
        unsigned(a_places),
        here.column("signature").combine_chunks(),
        unsigned(b_places),
        least=least,
        confidence=confidence,
    )
    pair = column(found, "pair")
    if settings.store_text:
        compared = twindex.Sketcher.of(settings).compare_texts(
            arrived.column("text").cast(pa.large_string()).combine_chunks(),
            unsigned(a_places[pair]),
            here.column("text").cast(pa.large_string()).combine_chunks(),
            unsigned(b_places[pair]),
        )
        exact = column(compared, "similarity")
        reached = exact >= settings.threshold
        pair = pair[reached]
        estimates = [pa.array(exact[reached])] * 3
    else:
        estimates = [pa.array(column(found, name)) for name in ("similarity", "low", "high")]
    a, b = numbers(arrived.column("doc"))[a_places[pair]], docs[b_places[pair]]
    return pa.record_batch([pa.array(a), pa.array(b), *estimates], SIMILAR)
