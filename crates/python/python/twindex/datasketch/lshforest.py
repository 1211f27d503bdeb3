"""MinHashLSHForest: an index that finds the most similar sets."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from . import _schemes
from ._schemes import Array


class MinHashLSHForest:
    """An index of MinHashes, or weighted ones, that answers which keys are the most similar.

    Each of `l` trees sorts the keys by a prefix of `k` hash values. A query takes the keys that
    share the longest prefixes.

    >>> from twindex.datasketch import MinHash
    >>> one, other = MinHash.bulk([[b"near", b"duplicate"], [b"something", b"else"]])
    >>> forest = MinHashLSHForest(num_perm=128)
    >>> forest.add("one", one)
    >>> forest.add("other", other)
    >>> forest.index()
    >>> forest.query(one, 1)
    ['one']

    Args:
        num_perm: The length of the MinHashes, or the sample size of weighted ones.
        l: The number of trees.
    """

    l: int  # noqa: E741
    k: int
    hashtables: list[dict[bytes, list[Any]]]
    hashranges: list[tuple[int, int]]
    keys: dict[Any, list[bytes]]
    sorted_hashtables: list[list[bytes]]

    def __init__(self, num_perm: int = 128, l: int = 8) -> None:  # noqa: E741
        if l <= 0 or num_perm <= 0:
            raise ValueError("num_perm and l must be positive")
        if l > num_perm:
            raise ValueError("l cannot be greater than num_perm")
        self.l = l
        self.k = int(num_perm / l)
        self.hashtables = [defaultdict(list) for _ in range(l)]
        self.hashranges = [(i * self.k, (i + 1) * self.k) for i in range(l)]
        self.keys = {}
        self.sorted_hashtables = [[] for _ in range(l)]
        self._minhash_scheme: str | None = None

    def add(self, key: Hashable, minhash: Any) -> None:
        """Add a key with the MinHash of its set. Queries find it after the next `index`.

        Raises:
            ValueError: The key was added before, or the MinHash is too short or of another scheme.
        """
        self._check_length(minhash)
        self._minhash_scheme = _schemes.agree(getattr(self, "_minhash_scheme", None), minhash)
        if key in self.keys:
            raise ValueError("The given key has already been added")
        raw, width = _swapped(minhash)
        prefixes = [raw[start * width : end * width] for start, end in self.hashranges]
        self.keys[key] = prefixes
        for prefix, table in zip(prefixes, self.hashtables, strict=False):
            table[prefix].append(key)

    def index(self) -> None:
        """Make all the keys that were added findable."""
        self.sorted_hashtables[:] = [sorted(table) for table in self.hashtables]

    def query(self, minhash: Any, k: int) -> list[Any]:
        """Return up to `k` keys, about those of the most similar sets, in no order.

        To be surer, ask for more and compare them.

        Raises:
            ValueError: `k` is not positive, or the MinHash is too short or of another scheme.
        """
        if k <= 0:
            raise ValueError("k must be positive")
        self._check_length(minhash)
        _schemes.agree(getattr(self, "_minhash_scheme", None), minhash)
        raw, width = _swapped(minhash)
        found: set[Any] = set()
        for depth in range(self.k, 0, -1):
            for key in self._matches(raw, width, depth):
                found.add(key)
                if len(found) >= k:
                    return list(found)
        return list(found)

    def _matches(self, raw: bytes, width: int, depth: int) -> Iterator[Any]:
        """The keys that share `depth` hash values in some tree, tree after tree."""
        trees = zip(self.hashranges, self.sorted_hashtables, self.hashtables, strict=False)
        for (start, _), ordered, table in trees:
            prefix = raw[start * width : (start + depth) * width]
            for place in range(bisect_left(ordered, prefix), len(ordered)):
                if not ordered[place].startswith(prefix):
                    break
                yield from table[ordered[place]]

    def get_minhash_hashvalues(self, key: Hashable) -> Array:
        """Return the hash values that were added with a key, as many as the trees have.

        Raises:
            KeyError: The key was not added.
            ValueError: What is stored is damaged.
        """
        prefixes = self.keys.get(key)
        if prefixes is None:
            raise KeyError(f"The key is not in the LSHForest: {key}")
        size = len(prefixes[0])
        width, rest = divmod(size, self.k)
        if rest or width not in (4, 8):
            raise ValueError(f"{size} bytes are not {self.k} hash values of 4 or 8 bytes")
        if any(len(prefix) != size for prefix in prefixes):
            raise ValueError("the stored hash values of the trees have different sizes")
        stored = np.frombuffer(b"".join(prefixes), dtype=np.uint32 if width == 4 else np.uint64)
        return stored.byteswap()

    def is_empty(self) -> bool:
        """Return whether queries find nothing, because nothing was added before `index`."""
        return any(not ordered for ordered in self.sorted_hashtables)

    def __contains__(self, key: Hashable) -> bool:
        """Return whether the key was added."""
        return key in self.keys

    def _check_length(self, minhash: Any) -> None:
        if len(minhash) < self.k * self.l:
            raise ValueError("The num_perm of MinHash out of range")


def _swapped(minhash: Any) -> tuple[bytes, int]:
    """The hash values as big-endian bytes, and the size of one of them."""
    values = minhash.hashvalues
    raw = values.byteswap().tobytes()
    return raw, len(raw) // len(values)
