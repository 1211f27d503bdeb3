"""MinHashLSHEnsemble: an index that finds the sets that contain most of a set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Hashable, Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from .. import _twindex
from ._partitions import best_partitions
from ._schemes import Array
from .lsh import MinHashLSH
from .storage import check_config

_optimal = lru_cache(maxsize=1024)(_twindex.minhash_optimal_containment)


class MinHashLSHEnsemble:
    """An index of MinHashes that answers which sets contain much of the set that is asked about.

    The sets are divided by their sizes, and each part has indexes of several shapes, of which a
    query takes the one that suits its own size (Zhu, Nargesian, Pu, Miller 2016).

    >>> from twindex.datasketch import MinHash
    >>> few, many = [b"a", b"b", b"c"], [b"a", b"b", b"c", b"d", b"e"]
    >>> one, other = MinHash.bulk([few, many])
    >>> ensemble = MinHashLSHEnsemble(threshold=0.8, num_perm=128, num_part=2)
    >>> ensemble.index([("few", one, 3), ("many", other, 5)])
    >>> "many" in ensemble.query(one, 3)
    True

    The index lies in memory only. For containment in a file, use `twindex.open` and
    `Index.query(..., containment=True)`.

    Args:
        threshold: The containment from which on sets are to be found, 0.0 to 1.0.
        num_perm: The length of the MinHashes.
        num_part: The number of parts.
        m: The most rows of a band: more take more memory and are more accurate.
        weights: How bad a false positive is, and how bad a false negative. Their sum must be 1.0.
        storage_config: `{"type": "dict"}`, or nothing.
        prepickle: Whether keys are pickled before they are stored.
    """

    threshold: float
    h: int
    m: int
    xqs: Array
    params: Array
    indexes: list[dict[Any, MinHashLSH]]
    lowers: list[Any]
    uppers: list[Any]

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        num_part: int = 16,
        m: int = 8,
        weights: tuple[float, float] = (0.5, 0.5),
        storage_config: dict[str, Any] | None = None,
        prepickle: bool | None = None,
    ) -> None:
        if threshold > 1.0 or threshold < 0.0:
            raise ValueError("threshold must be in [0.0, 1.0]")
        if num_perm < 2:
            raise ValueError("Too few permutation functions")
        if num_part < 1:
            raise ValueError("num_part must be at least 1")
        if m < 2 or m > num_perm:
            raise ValueError("m must be in the range of [2, num_perm]")
        if any(w < 0.0 or w > 1.0 for w in weights):
            raise ValueError("Weight must be in [0.0, 1.0]")
        if sum(weights) != 1.0:
            raise ValueError("Weights must sum to 1.0")
        if storage_config and check_config(storage_config) != "dict":
            raise ValueError(
                "a MinHashLSHEnsemble lies in memory only: MinHashLSH has the storage type "
                "'twindex', and an index of twindex answers questions of containment"
            )
        self.threshold = threshold
        self.h = num_perm
        self.m = m
        self.xqs = np.exp(np.linspace(-5, 5, 10))
        arguments = (float(threshold), int(num_perm), int(m))
        chosen = [_optimal(*arguments, float(xq), *map(float, weights)) for xq in self.xqs]
        self.params = np.array(chosen, dtype=int)
        rows = {r for _, r in self.params}
        self.indexes = [
            {
                r: MinHashLSH(num_perm=num_perm, params=(int(num_perm / r), r), prepickle=prepickle)
                for r in rows
            }
            for _ in range(num_part)
        ]
        self.lowers = [None for _ in self.indexes]
        self.uppers = [None for _ in self.indexes]

    def index(self, entries: Iterable[tuple[Hashable, Any, int]]) -> None:
        """Index sets, once and for all.

        Args:
            entries: An iterable of the key, the MinHash and the number of elements of each set.

        Raises:
            ValueError: There is an index already, there are no entries, or a size is not positive.
        """
        if not self.is_empty():
            raise ValueError("Cannot call index again on a non-empty index")
        if not isinstance(entries, list):
            taken = []
            for key, minhash, size in entries:
                if size <= 0:
                    raise ValueError("Set size must be positive")
                taken.append((key, minhash, size))
            entries = taken
        if not entries:
            raise ValueError("entries is empty")
        counted = sorted(Counter(entry[2] for entry in entries).items())
        sizes, counts = np.array(counted).T
        for part, (lower, upper) in enumerate(best_partitions(sizes, counts, len(self.indexes))):
            self.lowers[part], self.uppers[part] = lower, upper
        # The caller's own list is sorted too, as datasketch does.
        entries.sort(key=lambda entry: entry[2])
        part = 0
        for key, minhash, size in entries:
            if size > self.uppers[part]:
                part += 1
            for lsh in self.indexes[part].values():
                lsh.insert(key, minhash)

    def query(self, minhash: Any, size: int) -> Generator[Any, None, None]:
        """Yield the keys of the sets that are likely to contain enough of a set.

        Args:
            minhash: The MinHash of the set.
            size: The number of its elements.
        """
        for upper, index in zip(self.uppers, self.indexes, strict=False):
            if upper is not None:
                b, r = self._shape(upper, size)
                yield from index[r]._query_b(minhash, b)

    def _shape(self, upper: Any, size: int) -> Any:
        """The bands and rows for sets of up to this size, for a query of that size."""
        place = np.searchsorted(self.xqs, float(upper) / float(size), side="left")
        return self.params[min(int(place), len(self.params) - 1)]

    def __contains__(self, key: Hashable) -> bool:
        """Return whether the key is in the index."""
        return any(key in lsh for index in self.indexes for lsh in index.values())

    def is_empty(self) -> bool:
        """Return whether nothing was indexed."""
        return all(lsh.is_empty() for index in self.indexes for lsh in index.values())
