"""What buckets give: pairs of documents, squares of them, and crowds.

Pairs are packed by the part of their first document. Large products of documents travel as squares,
which any worker can expand.
"""

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from twindex.kernel.columns import Docs
from twindex.kernel.numbering import part_of
from twindex.kernel.planes import Numbers, pack, unpack, unpack_all

SQUARE_PAIRS = 1 << 20
"""The pairs of a square, at most."""

_SIDE = 1 << 10
_LONGEST = 1 << 16

MET = pa.schema(
    [("kind", pa.int8()), ("part", pa.int64()), ("blob", pa.binary()), ("other", pa.binary())]
)
"""What buckets give. Of kind `PAIRS`: packed pairs of which the first documents are of a part. Of
kind `SQUARE`: two lists of documents, or one, to be paired. Of kind `CROWD`: documents of large
buckets, of one part, and which of them wait."""

PAIRS, SQUARE, CROWD = 0, 1, 2


class Meetings:
    """Collects what buckets give, and packs it when there is much."""

    _ENOUGH = 1 << 21

    def __init__(self) -> None:
        self._pairs: list[tuple[Numbers, Numbers]] = []
        self._crowd: list[tuple[Numbers, Numbers]] = []
        self._squares: list[tuple[bytes, bytes | None]] = []
        self._held = 0
        self._packed: list[pa.RecordBatch] = []

    def is_full(self) -> bool:
        """Whether there is enough to be taken."""
        return bool(self._packed)

    def pairs(self, x: Numbers, y: Numbers) -> None:
        """Pairs of documents, in any order."""
        if len(x):
            self._pairs.append((np.minimum(x, y), np.maximum(x, y)))
            self._hold(len(x))

    def crowd(self, docs: Numbers, waits: NDArray[np.bool_]) -> None:
        """The documents of a large bucket, and which of them wait."""
        self._crowd.append((docs, waits.astype(np.uint64)))
        self._hold(len(docs))

    def _hold(self, count: int) -> None:
        self._held += count
        if self._held >= self._ENOUGH:
            self._packed.append(self._pack())

    def product(self, left: Numbers, right: Numbers | None) -> None:
        """All pairs of two lists, or of one with itself."""
        if len(left) < 2 if right is None else 0 in (len(left), len(right)):
            return
        for first in range(0, len(left), _SIDE):
            side = left[first : first + _SIDE]
            if right is None:
                self._square(side, None)
                others = left[first + _SIDE :]
            else:
                others = right
            step = min(_LONGEST, max(_SIDE, SQUARE_PAIRS // len(side)))
            for at in range(0, len(others), step):
                self._square(side, others[at : at + step])

    def _square(self, left: Numbers, right: Numbers | None) -> None:
        if len(left) * len(left if right is None else right) < _LONGEST:
            for x, y in _expanded(left, right):
                self.pairs(x, y)
            return
        self._squares.append((pack(left), None if right is None else pack(right)))
        self._hold(len(left) + (0 if right is None else len(right)))

    def take(self) -> list[pa.RecordBatch]:
        """What was collected since the last time."""
        taken, self._packed = [*self._packed, self._pack()], []
        return taken

    def _pack(self) -> pa.RecordBatch:
        kinds: list[int] = []
        parts: list[int] = []
        blobs: list[bytes] = []
        others: list[bytes | None] = []
        for kind, held in ((PAIRS, self._pairs), (CROWD, self._crowd)):
            if not held:
                continue
            x, y = (np.concatenate(column) for column in zip(*held, strict=True))
            order = np.lexsort((y, x))
            x, y = x[order], y[order]
            new = np.append(True, (x[1:] != x[:-1]) | (y[1:] != y[:-1]))
            x, y = x[new], y[new]
            of_part = part_of(x.astype(np.int64))
            cuts = np.flatnonzero(np.diff(of_part)) + 1
            for first, last in zip([0, *cuts], [*cuts, len(x)], strict=True):
                kinds.append(kind)
                parts.append(int(of_part[first]))
                blobs.append(pack(x[first:last], y[first:last]))
                others.append(None)
        for left, right in self._squares:
            kinds.append(SQUARE)
            parts.append(0)
            blobs.append(left)
            others.append(right)
        self._pairs, self._crowd, self._squares, self._held = [], [], [], 0
        return pa.record_batch(
            [
                pa.array(kinds, pa.int8()),
                pa.array(parts, pa.int64()),
                pa.array(blobs, pa.binary()),
                pa.array(others, pa.binary()),
            ],
            MET,
        )


def expand(blob: bytes, other: bytes | None, out: Meetings) -> None:
    """The pairs of a square."""
    (left,) = unpack(blob)
    right = None if other is None else unpack(other)[0]
    for x, y in _expanded(left, right):
        out.pairs(x, y)


def _expanded(left: Numbers, right: Numbers | None) -> Iterator[tuple[Numbers, Numbers]]:
    if right is not None:
        yield np.repeat(left, len(right)), np.tile(right, len(left))
        return
    rows, columns = np.triu_indices(len(left), 1)
    yield left[rows], left[columns]


def crowd(blobs: Iterable[bytes]) -> tuple[Docs, NDArray[np.bool_]]:
    """The documents of large buckets of one part, ascending, and which of them wait."""
    docs, waits = unpack_all(blobs, 2)
    found, places = np.unique(docs, return_inverse=True)
    waiting = np.zeros(len(found), bool)
    waiting[places[waits > 0]] = True
    return found.astype(np.int64), waiting
