"""Which documents are kept, and what holds together."""

import numpy as np

from twindex import _twindex
from twindex.kernel.columns import Docs, column, unsigned


def removed(a: Docs, b: Docs, waiting: Docs) -> Docs:
    """The documents that are removed if each is kept unless a similar one before it is kept.

    `a` and `b` are similar, `a` before `b`. `waiting` are documents that must not count as kept
    yet, because not all documents before them were compared with them. Takes about 100 bytes of
    memory a pair.
    """
    made = _twindex.greedy(unsigned(a), unsigned(b), unsigned(waiting))
    return np.asarray(column(made, "doc"), np.int64)


def components(a: Docs, b: Docs) -> tuple[Docs, Docs]:
    """The documents that have similar ones, and the first document of the component of each: what
    can be reached by way of similar documents. Takes about 50 bytes of memory a pair."""
    made = _twindex.components(unsigned(a), unsigned(b))
    docs, firsts = (np.asarray(column(made, name), np.int64) for name in ("doc", "first"))
    return docs, firsts
