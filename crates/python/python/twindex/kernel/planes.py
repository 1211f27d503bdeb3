"""Columns of whole numbers, packed into bytes.

Each column loses its least value, and takes as many bytes a number as the greatest then needs. The
bytes of one significance follow each other (planes). The leading planes of sorted numbers are runs,
which every compressor makes nothing of.
"""

import struct
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.uint64]

_ROWS = struct.Struct("<IB")
_COLUMN = struct.Struct("<QB")


def pack(*columns: Numbers) -> bytes:
    """Columns of equal length, at least one row, as bytes."""
    rows = len(columns[0])
    parts = [_ROWS.pack(rows, len(columns))]
    for column in columns:
        base = column.min()
        rest = column - base
        width = (int(rest.max()).bit_length() + 7) // 8
        planes = rest.astype(">u8").view(np.uint8).reshape(rows, 8)[:, 8 - width :]
        parts += [_COLUMN.pack(int(base), width), planes.T.tobytes()]
    return b"".join(parts)


def unpack(packed: bytes) -> list[Numbers]:
    """The columns that `pack` was given."""
    rows, count = _ROWS.unpack_from(packed)
    at, columns = _ROWS.size, []
    for _ in range(count):
        base, width = _COLUMN.unpack_from(packed, at)
        at += _COLUMN.size
        planes = np.frombuffer(packed, np.uint8, width * rows, at).reshape(width, rows)
        whole = np.zeros((rows, 8), np.uint8)
        whole[:, 8 - width :] = planes.T
        columns.append(whole.view(">u8").ravel().astype(np.uint64) + np.uint64(base))
        at += width * rows
    return columns


def unpack_all(packed: Iterable[bytes], count: int) -> list[Numbers]:
    """The columns of many packed pieces, joined. `count` is their number."""
    pieces = [unpack(piece) for piece in packed]
    if not pieces:
        return [np.zeros(0, np.uint64) for _ in range(count)]
    return [np.concatenate(columns) for columns in zip(*pieces, strict=True)]
