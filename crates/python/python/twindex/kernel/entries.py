"""Entries: what is brought together by a key, packed and sorted."""

import numpy as np
import pyarrow as pa

from twindex.kernel.planes import Numbers, pack

ENTRIES = pa.schema([("key", pa.int32()), ("first", pa.int64()), ("blob", pa.binary())])
"""Packed entries of documents of one partition. Those with one key are to be brought together, in
the order of `first`, the first of the documents."""


def by_range(
    columns: tuple[Numbers, ...], ranges: int, bits: int, *, key: int, first: int
) -> pa.RecordBatch:
    """Entries that are sorted by their first column, which has so many bits: a row for each of
    `ranges` equal ranges of its values, a power of two. `key` is the key of the first range."""
    shift = np.uint64(bits - (ranges.bit_length() - 1))
    bounds = np.arange(1, ranges, dtype=np.uint64) << shift
    cuts = [0, *np.searchsorted(columns[0], bounds), len(columns[0])]
    keys, blobs = [], []
    for place in range(ranges):
        of_range = slice(cuts[place], cuts[place + 1])
        if cuts[place] < cuts[place + 1]:
            keys.append(key + place)
            blobs.append(pack(*(column[of_range] for column in columns)))
    arrays = [pa.array(keys, pa.int32()), pa.array([first] * len(keys), pa.int64())]
    return pa.record_batch([*arrays, pa.array(blobs, pa.binary())], ENTRIES)


class OutOfOrderError(ValueError):
    """Entries of a key that are not in the order of `first`."""

    def __init__(
        self,
        message: str = "the entries of a key are not in the order of `first`: sort them by it",
    ) -> None:
        super().__init__(message)
