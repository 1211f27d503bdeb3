"""Documents with equal signatures, or equal texts where similarities are exact: only the first of
them goes further."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

import twindex
from twindex.kernel.columns import Docs, digests, rows_of
from twindex.kernel.planes import Numbers, pack, unpack_all
from twindex.kernel.sketching import SIZE_BYTES, are_empty

ENTRIES = pa.schema([("key", pa.int32()), ("blob", pa.binary())])
"""Packed entries. Those with one key are to be brought together."""

COPIES = pa.schema([("doc", pa.int64()), ("first", pa.int64())])
"""Documents that have copies, with the first of these; the first itself is among them."""


def copy_entries(
    docs: Docs, sketches: pa.Table, settings: twindex.Settings, ranges: int
) -> pa.RecordBatch:
    """Entries by which the copies of documents are found, with `ranges` different keys."""
    signatures = sketches.column("signature").combine_chunks()
    if settings.store_text:
        high, low = digests(sketches.column("text").combine_chunks())
    else:
        high, low = digests(signatures, without=SIZE_BYTES)
    full = ~are_empty(rows_of(signatures))
    high, low, numbers = high[full], low[full], docs[full].astype(np.uint64)
    order = np.argsort(high, kind="stable")
    return _by_range((high[order], low[order], numbers[order]), ranges, first=0)


def copies(blobs: Iterable[bytes]) -> pa.RecordBatch:
    """The documents with copies among the entries of one key."""
    high, low, docs = unpack_all(blobs, 3)
    order = np.lexsort((docs, low, high))
    high, low, docs = high[order], low[order], docs[order]
    begins = np.append(True, (high[1:] != high[:-1]) | (low[1:] != low[:-1]))[: len(docs)]
    group = np.cumsum(begins) - 1
    several = np.bincount(group)[group] > 1 if len(docs) else np.zeros(0, bool)
    firsts = docs[begins][group]
    columns = [pa.array(of[several].astype(np.int64)) for of in (docs, firsts)]
    return pa.record_batch(columns, COPIES)


def id_entries(ids: pa.Array, ranges: int) -> pa.RecordBatch:
    """Entries by which repeated ids are counted. Their keys are negative."""
    _, low = digests(ids.drop_null())
    return _by_range((np.sort(low),), ranges, first=-ranges)


def repeated_ids(blobs: Iterable[bytes]) -> int:
    """The number of rows of one key whose id another row before them has."""
    (hashes,) = unpack_all(blobs, 1)
    return len(hashes) - len(np.unique(hashes))


def _by_range(columns: tuple[Numbers, ...], ranges: int, first: int) -> pa.RecordBatch:
    """Entries, sorted by the first column, a row for each range of its values."""
    width = (1 << 64) // ranges
    bounds = np.array([key * width for key in range(1, ranges)], np.uint64)
    cuts = [0, *np.searchsorted(columns[0], bounds), len(columns[0])]
    keys, blobs = [], []
    for key in range(ranges):
        of_key = slice(cuts[key], cuts[key + 1])
        if cuts[key] < cuts[key + 1]:
            keys.append(first + key)
            blobs.append(pack(*(column[of_key] for column in columns)))
    return pa.record_batch([pa.array(keys, pa.int32()), pa.array(blobs, pa.binary())], ENTRIES)
