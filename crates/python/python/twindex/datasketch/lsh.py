"""MinHashLSH: an index that finds the sets that are similar to a set."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Hashable, Iterable
from functools import lru_cache
from typing import Any

from .. import _twindex
from . import _schemes
from ._locks import ForkedFree
from .persistent import PersistentKeys, PersistentTable
from .sessions import MinHashLSHDeletionSession, MinHashLSHInsertionSession
from .storage import DictListStorage, DictSetStorage, check_config

_optimal = lru_cache(maxsize=256)(_twindex.minhash_optimal)


class MinHashLSH:
    """An index of MinHashes that answers which keys are similar to one of them.

    In memory, it is that of datasketch: the hash values are cut into `b` bands of `r` values, and
    the keys that share a band with what is asked about are the answer, similar or not.

    >>> from twindex.datasketch import MinHash
    >>> one, other = MinHash(), MinHash()
    >>> one.update_batch([b"near", b"duplicate", b"documents"])
    >>> other.update_batch([b"something", b"else"])
    >>> lsh = MinHashLSH(threshold=0.8, num_perm=128)
    >>> lsh.insert("one", one)
    >>> lsh.insert("other", other)
    >>> lsh.query(one)
    ['one']

    With `storage_config={"type": "twindex", "path": "lsh.twx"}`, it is a file that outlives the
    process. Every `insert`, `update` and `remove` is on disk when it returns; sessions are faster,
    because they commit many at once. Such an index differs from one in memory:

    - A query returns the keys whose *estimated* similarity is at least the threshold, the most
      similar first. It finds each of them with a probability of at least
      `storage_config["recall"]`, 0.99 unless given. So it returns fewer keys that are not similar
      than bands do, and misses fewer that are.
    - `weights` are not used, and `params` cannot be given: the threshold decides. The least one is
      0.27, or 0.2 with a recall of 0.9, whatever `num_perm` is.
    - Keys are strings, or any other value that `ast.literal_eval` reads back from its `repr`, such
      as integers, bytes and tuples of them. With `prepickle=True`, they are anything that can be
      pickled.
    - `num_perm` is at least 64. Of others than 64, 128, 256 and 512, as many of the first hash
      values are used. A key takes a byte for each, or more where the recall needs it.
    - A file keeps to the scheme, `num_perm` and seed of its first MinHash; WeightedMinHashes must
      be alone in it too.
    - One `MinHashLSH` writes to a file at a time, of all processes. With `"mode": "r"` in
      `storage_config`, others read what was there when they asked.
    - Keys that are equal but not of one type, such as 1, 1.0 and True, are different keys.
    - There are no `hashtables`, `get_counts` and `get_subset_counts`, and no `merge`.

    Args:
        threshold: The similarity from which on sets are to be found, 0.0 to 1.0.
        num_perm: The length of the MinHashes, or the sample size of weighted ones.
        weights: How bad a false positive is, and how bad a false negative: they choose `b` and `r`.
            Their sum must be 1.0.
        params: `b` and `r`, instead of `threshold` and `weights`.
        storage_config: `{"type": "dict"}`, which is the default, or a file: see above.
        prepickle: Whether keys are pickled before they are stored.
        hashfunc: A function from bytes to bytes that shortens the names of buckets in memory.
    """

    h: int
    b: int
    r: int
    hashranges: list[tuple[int, int]]
    prepickle: bool
    hashfunc: Callable[[bytes], bytes] | None

    def __init__(
        self,
        threshold: float = 0.9,
        num_perm: int = 128,
        weights: tuple[float, float] = (0.5, 0.5),
        params: tuple[int, int] | None = None,
        storage_config: dict[str, Any] | None = None,
        prepickle: bool | None = None,
        hashfunc: Callable[[bytes], bytes] | None = None,
    ) -> None:
        config = storage_config if storage_config else {"type": "dict"}
        self._buffer_size = 50000
        if threshold > 1.0 or threshold < 0.0:
            raise ValueError("threshold must be in [0.0, 1.0]")
        if num_perm < 2:
            raise ValueError("Too few permutation functions")
        if any(w < 0.0 or w > 1.0 for w in weights):
            raise ValueError("Weight must be in [0.0, 1.0]")
        if sum(weights) != 1.0:
            raise ValueError("Weights must sum to 1.0")
        if len(weights) != 2:
            raise ValueError("weights are two: of false positives and of false negatives")
        self.h = num_perm
        if params is not None:
            self.b, self.r = params
            if self.b * self.r > num_perm:
                raise ValueError(
                    f"params are {self.b} bands of {self.r} rows, {self.b * self.r} hash values: "
                    f"more than num_perm, {num_perm}. Is num_perm missing?"
                )
        else:
            self.b, self.r = _optimal(float(threshold), int(num_perm), *map(float, weights))
        kind = check_config(config)
        if self.b < 2 and kind == "dict":
            raise ValueError("The number of bands is too small (b < 2)")
        self.prepickle = bool(prepickle)
        self._require_bytes_keys = False
        self.hashfunc = hashfunc
        self.hashranges = [(i * self.r, (i + 1) * self.r) for i in range(self.b)]
        self._minhash_scheme: str | None = None
        self._tables: list[dict[bytes, set[Any]]] = []
        self._buckets: dict[Any, list[bytes]] = {}
        self._asked: list[list[set[Any]]] = []
        #: Taken by whoever changes the tables. Queries need no lock.
        self._changing = ForkedFree()
        self._store: PersistentTable | None = None
        if kind == "twindex":
            if params is not None:
                raise ValueError(
                    "params are not used by the storage type 'twindex', which chooses by the "
                    "threshold: give threshold instead of params"
                )
            self._store = PersistentTable(config, threshold, num_perm, self.prepickle)
        else:
            self._tables = [{} for _ in range(self.b)]

    @property
    def hashtables(self) -> list[DictSetStorage]:
        """Read-only views of the bands: the keys in each bucket."""
        self._check_in_memory("hashtables")
        return [DictSetStorage(table) for table in self._tables]

    @property
    def keys(self) -> DictListStorage | PersistentKeys:
        """A read-only view of the keys: in memory, the buckets of each of them."""
        return DictListStorage(self._buckets) if self._store is None else self._store.keys()

    @property
    def buffer_size(self) -> int:
        """How many changes a session makes before it commits them to a file."""
        return self._buffer_size

    @buffer_size.setter
    def buffer_size(self, value: int) -> None:
        self._buffer_size = value

    def insert(self, key: Hashable, minhash: Any, check_duplication: bool = True) -> None:
        """Insert a key with the MinHash, or weighted MinHash, of its set.

        Args:
            key: The name of the set.
            minhash: Its sketch.
            check_duplication: Whether to refuse a key that is in the index. Without, an index in a
                file replaces what it has; one in memory should not be given the key again.

        Raises:
            ValueError: The key is in the index, or the MinHash has another length or scheme.
        """
        self._insert(key, minhash, check_duplication=check_duplication)

    def update(self, key: Hashable, minhash: Any) -> None:
        """Give a key another MinHash, or insert it if it is not in the index.

        datasketch does not have this method.

        Raises:
            ValueError: The MinHash has another length or scheme.
        """
        self._minhash_scheme = self._check_minhash(minhash)
        if self._store is not None:
            self._store.insert(key, minhash, replace=True)
            return
        # What can fail comes before the key is removed.
        pickled, buckets = self._pickled(key), self._cut(minhash)
        with self._changing.lock:
            if key in self:
                self.remove(key)
            self._put(pickled, buckets)

    def merge(self, other: MinHashLSH, check_overlap: bool = False) -> None:
        """Insert everything that another index of the same `num_perm`, `b` and `r` has.

        Args:
            other: The other index. It does not change.
            check_overlap: Whether to refuse an index with a key that this one has.

        Raises:
            ValueError: The indexes do not fit, or have a key in common.
        """
        if type(self) is not type(other):
            raise ValueError(f"Cannot merge type MinHashLSH and type {type(other).__name__}.")
        self._check_in_memory("merge")
        other._check_in_memory("merge")
        if (self.h, self.b, self.r) != (other.h, other.b, other.r):
            raise ValueError("Cannot merge MinHashLSH with different initialization parameters.")
        known, others = self._minhash_scheme, other._minhash_scheme
        if known is not None and others is not None and known != others:
            raise ValueError(
                f"Cannot merge MinHashLSH of scheme {others!r} into one of scheme {known!r}"
            )
        if check_overlap and not self._buckets.keys().isdisjoint(other._buckets):
            raise ValueError("The keys are overlapping, duplicate key exists.")
        if known is None:
            self._minhash_scheme = others
        for key, buckets in list(other._buckets.items()):
            self._put(key, buckets)

    def insertion_session(self, buffer_size: int = 50000) -> MinHashLSHInsertionSession:
        """Return a context manager that inserts many keys into a file at once.

        The keys are committed at its end, each time there are `buffer_size` of them, with any
        other change of the index, and before a query, so that it finds them. If an exception ends
        the session, those that were not committed are not inserted. In memory, a session does the
        same as `insert`.
        """
        return MinHashLSHInsertionSession(self, buffer_size=buffer_size)

    def deletion_session(self, buffer_size: int = 50000) -> MinHashLSHDeletionSession:
        """Return a context manager that removes many keys from a file at once."""
        return MinHashLSHDeletionSession(self, buffer_size=buffer_size)

    def query(self, minhash: Any) -> list[Any]:
        """Return the keys of the sets that are likely to be similar.

        Raises:
            ValueError: The MinHash has another length or scheme than those of the index.
        """
        self._check_minhash(minhash)
        if self._store is not None:
            return self._store.query(minhash)
        found: set[Any] = set()
        for bucket, table in zip(self._cut(minhash), self._tables, strict=False):
            keys = table.get(bucket)
            if keys:
                found.update(keys)
        return self._unpickled(found)

    def add_to_query_buffer(self, minhash: Any) -> None:
        """Remember a query for `collect_query_buffer`."""
        self._check_minhash(minhash)
        if self._store is not None:
            self._asked.append([set(self._store.query(minhash))])
            return
        buckets = zip(self._cut(minhash), self._tables, strict=False)
        self._asked.append([table.get(bucket, set()) for bucket, table in buckets])

    def collect_query_buffer(self) -> list[Any]:
        """Return the keys that all remembered queries find, and forget the queries."""
        asked, self._asked = self._asked, []
        if not asked:
            return []
        answers = [set[Any]().union(*sets) for sets in asked]
        found = set.intersection(*answers)
        return list(found) if self._store is not None else self._unpickled(found)

    def __contains__(self, key: Hashable) -> bool:
        """Return whether the key is in the index."""
        if self._store is not None:
            return key in self._store
        return self._pickled(key) in self._buckets

    def remove(self, key: Hashable) -> None:
        """Remove a key.

        Raises:
            ValueError: The key is not in the index.
        """
        self._remove(key)

    def is_empty(self) -> bool:
        """Return whether there is no key in the index."""
        if self._store is not None:
            return len(self._store) == 0
        return any(not table for table in self._tables)

    def get_counts(self) -> list[dict[Hashable, int]]:
        """Return the number of keys in each bucket, a dictionary for each band."""
        self._check_in_memory("get_counts")
        return [{bucket: len(keys) for bucket, keys in table.items()} for table in self._tables]

    def get_subset_counts(self, *keys: Hashable) -> list[dict[Hashable, int]]:
        """Return how many of the given keys are in each bucket, a dictionary for each band."""
        self._check_in_memory("get_subset_counts")
        tables: list[dict[Hashable, set[Any]]] = [{} for _ in range(self.b)]
        for key in map(self._pickled, set(keys)):
            buckets = self._buckets.get(key, ())
            for bucket, table in zip(buckets, tables, strict=False):
                table.setdefault(bucket, set()).add(key)
        return [{bucket: len(found) for bucket, found in table.items()} for table in tables]

    def close(self) -> None:
        """Close the file of an index that has one. datasketch does not have this method."""
        if self._store is not None:
            self._store.close()

    def __enter__(self) -> MinHashLSH:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _check_minhash(self, minhash: Any) -> str | None:
        """Return the scheme of the index once it has this MinHash, or fail if it cannot."""
        if len(minhash) != self.h:
            raise ValueError(f"Expecting minhash with length {self.h}, got {len(minhash)}")
        if self._store is not None:
            # The file knows its scheme.
            return None
        return _schemes.agree(self._minhash_scheme, minhash)

    def _check_in_memory(self, name: str) -> None:
        if self._store is not None:
            raise AttributeError(
                f"{name} is of an index in memory: one with the storage type 'twindex' has no "
                "tables of buckets"
            )

    def _pickled(self, key: Any) -> Any:
        return pickle.dumps(key) if self.prepickle else key

    def _unpickled(self, keys: Iterable[Any]) -> list[Any]:
        return [pickle.loads(key) for key in keys] if self.prepickle else list(keys)

    def _insert(
        self, key: Any, minhash: Any, check_duplication: bool = True, session: object = None
    ) -> None:
        self._minhash_scheme = self._check_minhash(minhash)
        if self._store is not None:
            most = 1 if session is None else self._buffer_size
            self._store.insert(key, minhash, not check_duplication, session, most)
            return
        key, buckets = self._pickled(key), self._cut(minhash)
        with self._changing.lock:
            if check_duplication and key in self._buckets:
                raise ValueError("The given key already exists")
            self._put(key, buckets)

    def _put(self, key: Any, buckets: list[bytes]) -> None:
        with self._changing.lock:
            self._buckets.setdefault(key, []).extend(buckets)
            for bucket, table in zip(buckets, self._tables, strict=False):
                keys = table.get(bucket)
                if keys is None:
                    table[bucket] = {key}
                else:
                    keys.add(key)

    def _remove(self, key: Any, session: object = None) -> None:
        if self._store is not None:
            self._store.remove(key, session, 1 if session is None else self._buffer_size)
            return
        key = self._pickled(key)
        with self._changing.lock:
            if key not in self._buckets:
                raise ValueError("The given key does not exist")
            for bucket, table in zip(self._buckets[key], self._tables, strict=False):
                keys = table[bucket]
                keys.remove(key)
                if not keys:
                    del table[bucket]
            del self._buckets[key]

    def _cut(self, minhash: Any) -> list[bytes]:
        """The buckets of a MinHash: its hash values, big-endian, band after band."""
        values = minhash.hashvalues
        swapped = values.byteswap().tobytes()
        width = len(swapped) // len(values)
        buckets = [swapped[start * width : end * width] for start, end in self.hashranges]
        return buckets if self.hashfunc is None else [self.hashfunc(b) for b in buckets]

    def _query_b(self, minhash: Any, b: int) -> set[Any]:
        """What the first `b` bands find."""
        self._check_minhash(minhash)
        if b > len(self._tables):
            raise ValueError("b must be less or equal to the number of hash tables")
        found: set[Any] = set()
        for bucket, table in zip(self._cut(minhash)[:b], self._tables, strict=False):
            found.update(table.get(bucket, ()))
        return set(self._unpickled(found))

    # Pickles of datasketch have its bound method in them.
    def _byteswap(self, values: Any) -> bytes:
        return bytes(values.byteswap().data)

    def _hashed_byteswap(self, values: Any) -> bytes:
        if self.hashfunc is None:
            raise RuntimeError("there is no hash function")
        return self.hashfunc(self._byteswap(values))

    def __getstate__(self) -> dict[str, Any]:
        if self._store is not None:
            raise TypeError(
                "an index in a file is not pickled: open its path where it is needed instead"
            )
        state = self.__dict__.copy()
        for name in ("_tables", "_buckets", "_asked", "_store", "_changing"):
            del state[name]
        # The names and the order of datasketch, whose states are taken too.
        state["hashtables"] = self.hashtables
        state["keys"] = self.keys
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = {"_minhash_scheme": None, "_require_bytes_keys": False, **state}
        state.pop("_H", None)
        # Copies: `copy.copy` gives the state of the index that it copies.
        tables = [table._dict.items() for table in state.pop("hashtables")]
        self._tables = [{bucket: set(keys) for bucket, keys in table} for table in tables]
        self._buckets = {key: list(cut) for key, cut in state.pop("keys")._dict.items()}
        self._asked, self._store, self._changing = [], None, ForkedFree()
        self.__dict__.update(state)
