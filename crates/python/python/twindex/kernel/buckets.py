"""Bands, buckets, and the pairs of documents that share one.

A small bucket gives all its pairs. Of a larger one only the first documents,
its pivots, are compared with the others: a cluster of near copies has one document that is kept,
and it is the first. The others wait. Those that turn out to be removed are left out when the
next round takes more pivots. Large products of documents travel as squares, which any worker can
expand.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import twindex
from twindex.kernel.columns import Docs, rows_of
from twindex.kernel.copies import ENTRIES
from twindex.kernel.numbering import part_of
from twindex.kernel.planes import Numbers, pack, unpack, unpack_all
from twindex.kernel.sketching import are_empty

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


@dataclass(frozen=True)
class Round:
    """Which pairs are taken from buckets."""

    take: Literal["pivots", "all", "kept"]
    """From large buckets. `pivots`: the first documents with all others. `all`: all pairs. `kept`:
    those that are not removed, except for the first, with those that are."""

    pivots: int = 1
    """The number of pivots."""

    small: int = 8
    """In a bucket of so many documents at most, all are compared with each other. It changes the
    work, not the answers."""


@dataclass(frozen=True)
class Marks:
    """What is known of some documents: sorted numbers."""

    left_out: Docs
    """Documents that do not take part."""

    with_copies: Docs
    """Documents that stand for others."""

    removed: Docs
    """Documents that are removed."""


def band_entries(
    docs: Docs, signatures: pa.Array, marks: Marks, settings: twindex.Settings, ranges: int
) -> Iterator[pa.RecordBatch]:
    """The entries of documents in all bands. `ranges` is a power of two: the number of keys that
    the words of a band are divided into."""
    lanes = rows_of(signatures)
    full = ~are_empty(lanes) & ~_among(docs, marks.left_out)
    lanes, docs = lanes[full], docs[full]
    flags = _among(docs, marks.with_copies) + np.uint64(2) * _among(docs, marks.removed)
    marked = (docs.astype(np.uint64) << np.uint64(2)) + flags
    if len(docs) == 0:
        return
    shift = np.uint64(8 * settings.depth - (ranges.bit_length() - 1))
    for band in range(settings.bands):
        words = _words(lanes, band, settings.depth)
        order = np.argsort(words, kind="stable")
        words, of_band = words[order], marked[order]
        bounds = np.arange(1, ranges, dtype=np.uint64) << shift
        cuts = [0, *np.searchsorted(words, bounds), len(words)]
        keys, blobs = [], []
        for place in range(ranges):
            if cuts[place] < cuts[place + 1]:
                of_range = slice(cuts[place], cuts[place + 1])
                keys.append(band * ranges + place)
                blobs.append(pack(words[of_range], of_band[of_range]))
        yield pa.record_batch([pa.array(keys, pa.int32()), pa.array(blobs, pa.binary())], ENTRIES)


def _words(lanes: NDArray[np.uint8], band: int, depth: int) -> Numbers:
    """The words of documents in a band: its first lanes as a big-endian number."""
    whole = np.zeros((len(lanes), 8), np.uint8)
    whole[:, 8 - depth :] = lanes[:, 8 * band : 8 * band + depth]
    return whole.view(">u8").ravel().astype(np.uint64)


def _among(docs: Docs, marked: Docs) -> NDArray[np.bool_]:
    """Which documents are among the marked ones, which are sorted."""
    if len(marked) == 0:
        return np.zeros(len(docs), bool)
    places = np.minimum(np.searchsorted(marked, docs), len(marked) - 1)
    return np.asarray(marked[places] == docs)


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


def meet(blobs: Iterable[bytes], taken: Round, out: Meetings) -> None:
    """What the buckets among the entries of one key give."""
    words, marked = unpack_all(blobs, 2)
    order = np.lexsort((marked, words))
    words, marked = words[order], marked[order]
    cuts = np.flatnonzero(words[1:] != words[:-1]) + 1
    begins = np.concatenate([[0], cuts]).astype(np.int64)
    sizes = np.diff(np.append(begins, len(words)))
    docs, has_copies = marked >> np.uint64(2), (marked & np.uint64(1)).astype(bool)
    removed = (marked & np.uint64(2)).astype(bool)
    if taken.take != "kept":
        for size in range(2, taken.small + 1):
            at = begins[sizes == size]
            for left in range(size):
                for right in range(left + 1, size):
                    if len(at):
                        out.pairs(docs[at + left], docs[at + right])
    large = sizes > taken.small
    for begin, size in zip(begins[large], sizes[large], strict=True):
        bucket = slice(begin, begin + size)
        _large(docs[bucket], removed[bucket], has_copies[bucket], taken, out)


def _large(
    docs: Numbers,
    removed: NDArray[np.bool_],
    has_copies: NDArray[np.bool_],
    taken: Round,
    out: Meetings,
) -> None:
    """What a large bucket gives."""
    if taken.take == "all":
        out.product(docs, None)
        return
    if taken.take == "pivots":
        pivots = taken.pivots if len(docs) > taken.pivots + 1 else len(docs)
        out.product(docs[:pivots], None)
        out.product(docs[:pivots], docs[pivots:])
        out.crowd(docs, np.arange(len(docs)) >= pivots)
        return
    # The first was compared with all others before.
    kept = np.flatnonzero(~removed)
    kept = kept[kept > 0]
    if len(kept):
        # A document before a kept one matters if it stands for copies after that.
        others = removed & (has_copies | (np.arange(len(docs)) > kept[0]))
        out.product(docs[kept], docs[others])


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
