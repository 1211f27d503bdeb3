"""The bands of documents: an entry for each document in each band."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import twindex
from twindex.kernel.columns import Docs, are_among, rows_of
from twindex.kernel.entries import by_range
from twindex.kernel.planes import Numbers
from twindex.kernel.sketching import are_empty


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
    """The entries of documents in all bands. The documents are of one partition, ascending.
    `ranges` is a power of two: the number of keys that the words of a band are divided into."""
    lanes = rows_of(signatures)
    full = ~are_empty(lanes) & ~are_among(docs, marks.left_out)
    lanes, docs = lanes[full], docs[full]
    if len(docs) == 0:
        return
    marked = marked_docs(docs, are_among(docs, marks.with_copies), are_among(docs, marks.removed))
    for band in range(settings.bands):
        words = _words(lanes, band, settings.depth)
        order = np.argsort(words, kind="stable")
        columns, first = (words[order], marked[order]), int(docs[0])
        yield by_range(columns, ranges, 8 * settings.depth, key=band * ranges, first=first)


def marked_docs(
    docs: Docs, with_copies: NDArray[np.bool_], removed: NDArray[np.bool_]
) -> Numbers:
    """Numbers of documents, with what is known of each in the last two bits."""
    flags = with_copies.astype(np.uint64) + np.uint64(2) * removed.astype(np.uint64)
    return (docs.astype(np.uint64) << np.uint64(2)) + flags


def unmarked(marked: Numbers) -> tuple[Numbers, NDArray[np.bool_], NDArray[np.bool_]]:
    """What `marked_docs` was given."""
    with_copies, removed = (marked & np.uint64(flag) for flag in (1, 2))
    return marked >> np.uint64(2), with_copies.astype(bool), removed.astype(bool)


def _words(lanes: NDArray[np.uint8], band: int, depth: int) -> Numbers:
    """The words of documents in a band: its first lanes as a big-endian number."""
    whole = np.zeros((len(lanes), 8), np.uint8)
    whole[:, 8 - depth :] = lanes[:, 8 * band : 8 * band + depth]
    return whole.view(">u8").ravel().astype(np.uint64)
