"""Arrow columns as numpy arrays, and back."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import twindex
from twindex import _twindex
from twindex.kernel.planes import Numbers

Docs = NDArray[np.int64]
"""Numbers of documents."""


def numbers(array: Any) -> Any:
    """An array of numbers without nulls as numpy's."""
    whole = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return whole.to_numpy(zero_copy_only=False)


def are_among(values: NDArray[np.int64], known: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which values are among the known ones, which ascend."""
    if len(known) == 0:
        return np.zeros(len(values), bool)
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.asarray(known[places] == values)


def column(table: twindex.Table, name: str) -> Any:
    """A column of a result."""
    return numbers(pa.table(table).column(name))


def unsigned(docs: Docs) -> pa.Array:
    """Numbers as the compiled functions take them."""
    return pa.array(docs.astype(np.uint64, copy=False))


def digests(values: pa.Array, without: int = 0) -> tuple[Numbers, Numbers]:
    """The high and the low half of the digest of each value, less its last bytes."""
    made = _twindex.digests(values, without=without)
    return column(made, "high"), column(made, "low")


def binary(rows: NDArray[np.uint8]) -> pa.Array:
    """Rows of bytes as a column."""
    count, width = rows.shape
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(width)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(rows))]
    return pa.Array.from_buffers(pa.binary(), count, buffers)


def rows_of(values: pa.Array) -> NDArray[np.uint8]:
    """The bytes of values of one width, a row for each."""
    if len(values) == 0:
        return np.zeros((0, 0), np.uint8)
    if pa.types.is_fixed_size_binary(values.type):
        values = values.cast(pa.binary())
    wide = np.int64 if pa.types.is_large_binary(values.type) else np.int32
    _, offsets, data = values.buffers()
    at = np.frombuffer(offsets, wide, len(values) + 1, values.offset * wide().itemsize)
    width = (int(at[-1]) - int(at[0])) // len(values)
    return np.frombuffer(data, np.uint8, width * len(values), int(at[0])).reshape(-1, width)


def lists(starts: NDArray[np.int64], values: NDArray[np.int32]) -> pa.Array:
    """Lists of values, of which each begins at a start and ends at the next."""
    offsets = np.append(starts, len(values)).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values))
