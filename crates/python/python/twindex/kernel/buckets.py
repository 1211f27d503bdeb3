"""Buckets: the documents that share a word of a band.

A small bucket gives all its pairs. Of a larger one only the first documents, its pivots, are
compared with the others: a cluster of near copies has one document that is kept, and it is the
first. The others wait. Those that turn out to be removed are left out when the next round takes
more pivots.

A task holds two million entries of a key. If more come, those of words that very many have are met
at once. Entries come in the order of documents, so the first document of a bucket comes first.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from twindex.kernel.bands import unmarked
from twindex.kernel.entries import OutOfOrderError
from twindex.kernel.meetings import Meetings
from twindex.kernel.planes import Numbers, unpack

_HELD = 1 << 21
"""The entries of a key that are held before those of hot words are met: some 100 bytes each."""

_HOT = 1 << 16
"""A word is hot if more of the held entries have it."""

_NONE = np.zeros(0, np.uint64)

Flags: TypeAlias = NDArray[np.bool_]


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


def meet(blobs: Iterable[bytes], taken: Round, out: Meetings) -> Iterator[pa.RecordBatch]:
    """What the buckets among the entries of one key give. The blobs come in the order of their
    first documents. What `out` holds at the end is left there, for the next key to add to."""
    held, hot = _Held(), _HotWords(taken, out)
    for blob in blobs:
        held.add(*unpack(blob))
        if held.are_many() and taken.take != "all":
            held.keep(*hot.met(*held.sorted()))
        if out.is_full():
            yield from out.take()
    _meet(*hot.met(*held.sorted()), taken, out)


class _Held:
    """The entries of a key that are not met yet."""

    def __init__(self) -> None:
        self._pieces: list[tuple[Numbers, Numbers]] = []
        self._count, self._most = 0, _HELD

    def add(self, words: Numbers, marked: Numbers) -> None:
        self._pieces.append((words, marked))
        self._count += len(words)

    def are_many(self) -> bool:
        return self._count >= self._most

    def sorted(self) -> tuple[Numbers, Numbers]:
        """The entries by word, then by document. They are not held any more."""
        pieces, self._pieces, self._count = [(_NONE, _NONE), *self._pieces], [], 0
        words, marked = (np.concatenate(column) for column in zip(*pieces, strict=True))
        order = np.lexsort((marked, words))
        return words[order], marked[order]

    def keep(self, words: Numbers, marked: Numbers) -> None:
        """Takes entries back. As many again may come before there are many."""
        self.add(words, marked)
        self._most = max(_HELD, 2 * self._count)


class _HotWords:
    """The words of a key that very many entries have."""

    def __init__(self, taken: Round, out: Meetings) -> None:
        self._taken, self._out = taken, out
        self._buckets: dict[int, _Large] = {}
        self._least = max(_HOT, taken.small, taken.pivots + 1)

    def met(self, words: Numbers, marked: Numbers) -> tuple[Numbers, Numbers]:
        """Finds hot words among sorted entries, and meets the entries of these. Returns the
        others."""
        begins, sizes = _runs(words)
        known = np.fromiter(self._buckets, np.uint64, len(self._buckets))
        hot = np.isin(words[begins[sizes > 0]], known) | (sizes[sizes > 0] > self._least)
        if not np.any(hot):
            return words, marked
        others = np.ones(len(words), bool)
        docs, has_copies, removed = unmarked(marked)
        for begin, size in zip(begins[hot], sizes[hot], strict=True):
            of_word = slice(begin, begin + size)
            new = _Large(self._taken, self._out)
            bucket = self._buckets.setdefault(int(words[begin]), new)
            bucket.add(docs[of_word], has_copies[of_word], removed[of_word])
            others[of_word] = False
        return words[others], marked[others]


def _runs(words: Numbers) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each word begins among sorted ones, and how often it is there."""
    cuts = np.flatnonzero(words[1:] != words[:-1]) + 1
    begins = np.concatenate([[0], cuts]).astype(np.int64)[: len(words)]
    return begins, np.diff(np.append(begins, len(words)))


def _meet(words: Numbers, marked: Numbers, taken: Round, out: Meetings) -> None:
    """What the buckets of sorted entries give."""
    begins, sizes = _runs(words)
    docs, has_copies, removed = unmarked(marked)
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
        if taken.take == "all":
            out.product(docs[bucket], None)
        elif taken.take == "pivots" and size <= taken.pivots + 1:
            out.product(docs[bucket], None)
            out.crowd(docs[bucket], np.zeros(size, bool))
        else:
            _Large(taken, out).add(docs[bucket], has_copies[bucket], removed[bucket])


class _Large:
    """A large bucket, whose documents come in their order."""

    def __init__(self, taken: Round, out: Meetings) -> None:
        self._taken, self._out = taken, out
        self._last = -1
        self._pivots, self._kept, self._with_copies = _NONE, _NONE, _NONE

    def add(self, docs: Numbers, has_copies: Flags, removed: Flags) -> None:
        """Meets the next documents, at least one."""
        if int(docs[0]) <= self._last:
            raise OutOfOrderError
        if self._taken.take == "pivots":
            self._meet_pivots(docs)
        else:
            self._meet_kept(docs, has_copies, removed)
        self._last = int(docs[-1])

    def _meet_pivots(self, docs: Numbers) -> None:
        wanted = self._taken.pivots - len(self._pivots)
        pivots, others = docs[:wanted], docs[wanted:]
        self._out.product(pivots, None)
        self._out.product(self._pivots, pivots)
        self._pivots = np.concatenate([self._pivots, pivots])
        self._out.product(self._pivots, others)
        self._out.crowd(docs, np.arange(len(docs)) >= wanted)

    def _meet_kept(self, docs: Numbers, has_copies: Flags, removed: Flags) -> None:
        self._out.product(self._kept, docs[removed])
        kept = np.flatnonzero(~removed)
        if self._last < 0:
            # The first of the bucket was compared with all others before.
            kept = kept[kept > 0]
        if len(kept):
            # A document before a kept one matters if it stands for copies after that.
            others = removed & (has_copies | (np.arange(len(docs)) > kept[0]))
            self._out.product(docs[kept], docs[others])
            self._out.product(self._with_copies, docs[kept])
            self._kept = np.concatenate([self._kept, docs[kept]])
        with_copies = docs[removed & has_copies]
        self._with_copies = np.concatenate([self._with_copies, with_copies])
