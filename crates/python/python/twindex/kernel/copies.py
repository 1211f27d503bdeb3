"""Documents with equal signatures, or equal texts where similarities are exact: only the first of
them goes further."""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import twindex
from twindex.kernel.columns import Docs, digests, rows_of
from twindex.kernel.entries import OutOfOrderError, by_range
from twindex.kernel.planes import Numbers, unpack
from twindex.kernel.sketching import SIZE_BYTES, are_empty

COPIES = pa.schema([("doc", pa.int64()), ("first", pa.int64())])
"""Documents that have copies, with the first of these; the first itself is among them."""

_HELD = 1 << 21
"""The entries of a key that are held before those of copies are given: some 80 bytes each."""


def copy_entries(
    docs: Docs, sketches: pa.Table, settings: twindex.Settings, ranges: int
) -> pa.RecordBatch:
    """Entries by which the copies of documents are found, with `ranges` different keys, a power of
    two. The documents are of one partition, ascending."""
    signatures = sketches.column("signature").combine_chunks()
    if settings.store_text:
        high, low = digests(sketches.column("text").combine_chunks())
    else:
        high, low = digests(signatures, without=SIZE_BYTES)
    full = ~are_empty(rows_of(signatures))
    high, low, numbers = high[full], low[full], docs[full].astype(np.uint64)
    order = np.argsort(high, kind="stable")
    columns, first = (high[order], low[order], numbers[order]), int(docs[0]) if len(docs) else 0
    return by_range(columns, ranges, 64, key=0, first=first)


def copies(blobs: Iterable[bytes]) -> Iterator[pa.RecordBatch]:
    """The documents with copies among the entries of one key. The blobs come in the order of their
    first documents."""
    held = _Firsts()
    for blob in blobs:
        high, low, docs = unpack(blob)
        held.add(high, low, docs)
        if held.are_many():
            yield held.take()
    yield held.take()


class _Firsts:
    """The entries of a key. When there are many, only the first of each digest is kept."""

    def __init__(self) -> None:
        self._pieces: list[tuple[Numbers, Numbers, Numbers, NDArray[np.bool_]]] = []
        self._count, self._most = 0, _HELD

    def add(self, high: Numbers, low: Numbers, docs: Numbers) -> None:
        self._hold(high, low, docs, np.zeros(len(docs), bool))

    def _hold(self, high: Numbers, low: Numbers, docs: Numbers, given: NDArray[np.bool_]) -> None:
        self._pieces.append((high, low, docs, given))
        self._count += len(docs)

    def are_many(self) -> bool:
        return self._count >= self._most

    def take(self) -> pa.RecordBatch:
        """The documents with copies that were not given before."""
        none = np.zeros(0, np.uint64)
        pieces = [(none, none, none, np.zeros(0, bool)), *self._pieces]
        columns = zip(*pieces, strict=True)
        high, low, docs, given = (np.concatenate(column) for column in columns)
        order = np.lexsort((docs, low, high))
        high, low, docs, given = (column[order] for column in (high, low, docs, given))
        begins = np.append(True, (high[1:] != high[:-1]) | (low[1:] != low[:-1]))[: len(docs)]
        if np.any(given & ~begins):
            raise OutOfOrderError
        group = np.cumsum(begins) - 1
        several = np.bincount(group)[group] > 1 if len(docs) else np.zeros(0, bool)
        new = several & ~given
        firsts = docs[begins][group]
        found = [pa.array(of[new].astype(np.int64)) for of in (docs, firsts)]
        self._pieces, self._count = [], 0
        self._hold(high[begins], low[begins], docs[begins], (given | several)[begins])
        self._most = max(_HELD, 2 * self._count)
        return pa.record_batch(found, COPIES)


def id_entries(ids: pa.Array, ranges: int) -> pa.RecordBatch:
    """Entries by which repeated ids are counted. Their keys are negative."""
    _, low = digests(ids.drop_null())
    return by_range((np.sort(low),), ranges, 64, key=-ranges, first=0)


def repeated_ids(blobs: Iterable[bytes]) -> int:
    """The number of rows of one key whose id another row before them has."""
    rows, held, most = 0, 0, _HELD
    pieces = [np.zeros(0, np.uint64)]
    for blob in blobs:
        (hashes,) = unpack(blob)
        pieces.append(hashes)
        rows, held = rows + len(hashes), held + len(hashes)
        if held >= most:
            pieces = [np.unique(np.concatenate(pieces))]
            held = len(pieces[0])
            most = max(_HELD, 2 * held)
    return rows - len(np.unique(np.concatenate(pieces)))
