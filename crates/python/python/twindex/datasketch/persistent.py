"""The storage type "twindex": MinHashes in a file that is an index of twindex.

A MinHash becomes a signature of one byte a lane. The seed of the index tells the scheme, the length
and the seed of the MinHashes, so that a file takes no others.
"""

from __future__ import annotations

import ast
import base64
import math
import operator
import os
import pickle
from collections.abc import Callable, Hashable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NoReturn

import numpy as np

import twindex

from . import _schemes
from ._locks import ForkedFree

#: The lengths of signatures.
_LANES: Final = (64, 128, 256, 512)

#: The first byte of the seed of an index that was made here, and of those with an older order.
_MARK: Final = 0xDB
_OLD_MARK: Final = 0xDA

#: The bit of the seed that says that keys are pickled.
_PICKLES: Final = 1 << 55

#: How often two lanes are equal by chance. An index takes this out of the share of equal lanes.
_CHANCE: Final = 1 / 256

#: The most bytes of an id.
_LONGEST: Final = 4096

_KINDS: Final = ("", "affine32", "affine64", "legacy", "weighted")

_LITERAL: Final = "\x1epy:"
_PICKLED: Final = "\x1epk:"

_OPTIONS: Final = {"type", "path", "recall", "wait", "mode", "basename"}

#: The size of a set is stored as the zeros of a bit map of 2**16 to 2**24 bits.
_LEAST_BITS: Final = 16
_MOST_BITS: Final = 24


class PersistentTable:
    """The keys and signatures of an index in a file."""

    def __init__(
        self, config: Mapping[str, Any], threshold: float, num_perm: int, prepickle: bool
    ) -> None:
        unknown = sorted(set(config) - _OPTIONS)
        if unknown:
            raise ValueError(
                f"storage_config has no {unknown[0]!r}: it has 'path', 'recall', 'wait' and 'mode'"
            )
        if "path" not in config:
            raise ValueError("storage_config of the type 'twindex' needs a 'path', that of a file")
        if not threshold > 0.0:
            raise ValueError("threshold must be above 0.0 for the storage type 'twindex'")
        if num_perm < _LANES[0]:
            raise ValueError(
                f"num_perm must be at least {_LANES[0]} for the storage type 'twindex', got "
                f"{num_perm}"
            )
        self._path = Path(os.fspath(config["path"])).absolute()
        self._recall = config.get("recall")
        self._wait = float(config.get("wait", 0.0))
        self._mode = config.get("mode", "c")
        if self._mode not in ("c", "r"):
            raise ValueError("the 'mode' of storage_config is 'c', or 'r' to read only")
        self._threshold = float(threshold)
        self._num_perm = num_perm
        self._used = max(lanes for lanes in _LANES if lanes <= num_perm)
        self._prepickle = prepickle
        self._lock = ForkedFree()
        #: What no commit has taken yet: signatures, None for keys to remove, and the sessions.
        self._pending: dict[str, tuple[bytes | None, object]] = {}
        self._index: twindex.Index | None = None
        #: Which hash value each lane has.
        self._order: _schemes.Array = np.arange(0)
        self._closed = False
        if self._existing() is None and self._mode == "r":
            raise FileNotFoundError(f"there is no index {self._path} to read")
        if self._index is None and not self._path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self._path.parent}")

    def _existing(self) -> twindex.Index | None:
        """The open index, or None as long as there is no file."""
        if self._closed:
            raise ValueError("the index is closed")
        if self._index is None and self._path.exists():
            self._open(None)
        return self._index

    def _open(self, seed: int | None) -> None:
        """Open the file, or create it for MinHashes that this seed describes."""
        if seed is None:
            index = self._open_with(None, None)
        else:
            index = self._create(seed)
        seed, lanes = index.settings.seed, index.settings.lanes
        reason = None
        if seed >> 56 == _OLD_MARK:
            reason = "was made with another order of hash values: make it again"
        elif seed >> 56 != _MARK:
            reason = "is an index of documents, and not of MinHashes"
        elif seed >> 32 & 0xFFFFF != self._num_perm or lanes % self._used:
            reason = f"has MinHashes of {_describe(seed)}, and not of num_perm {self._num_perm}"
        elif bool(seed & _PICKLES) != self._prepickle:
            reason = f"was made with prepickle={not self._prepickle}"
        elif abs(index.settings.threshold - _as_stored(self._threshold)) > 1e-9:
            made = index.settings.threshold * (1 - _CHANCE) + _CHANCE
            reason = f"was made with threshold {made:.6g}, and not {self._threshold:.6g}"
        elif self._recall is not None and index.settings.recall != self._recall:
            reason = f"was made with recall {index.settings.recall}, and not {self._recall}"
        if reason is not None:
            index.close()
            raise ValueError(f"{self._path} {reason}")
        self._index = index
        self._order = _order(self._used, lanes)

    def _create(self, seed: int) -> twindex.Index:
        """Create the file, with as few lanes as give the recall."""
        for lanes in _LANES:
            if self._used <= lanes < _LANES[-1]:
                try:
                    return self._open_with(seed, lanes)
                except twindex.InvalidInputError:
                    pass
        return self._open_with(seed, _LANES[-1])

    def _open_with(self, seed: int | None, lanes: int | None) -> twindex.Index:
        if seed is None:
            mode: Literal["r", "w"] = "r" if self._mode == "r" else "w"
            return twindex.open(self._path, mode, wait=self._wait)
        return twindex.open(
            self._path,
            threshold=_as_stored(self._threshold),
            recall=self._recall,
            lanes=lanes,
            shingle="token",
            seed=seed,
            wait=self._wait,
        )

    def _index_for(self, minhash: Any, create: bool) -> twindex.Index | None:
        """The index, if it is for such MinHashes. Without a file, create it, or return None."""
        index = self._existing()
        kind = getattr(minhash, "scheme", "weighted")
        seed = operator.index(minhash.seed)
        if not 0 <= seed < 1 << 32 or len(minhash) >= 1 << 20:
            raise ValueError("seed and num_perm must fit into 32 and 20 bits to be stored")
        identity = _MARK << 56 | _KINDS.index(kind) << 52 | len(minhash) << 32 | seed
        identity |= _PICKLES if self._prepickle else 0
        if index is None and create:
            self._open(identity)
            index = self._index
        if index is None:
            return None
        known = index.settings.seed
        if known != identity:
            raise ValueError(
                f"{self._path} has MinHashes of {_describe(known)}, and this one is of "
                f"{_describe(identity)}"
            )
        return index

    def insert(
        self, key: Hashable, minhash: Any, replace: bool, session: object = None, most: int = 1
    ) -> None:
        """Insert a key, and commit if `most` changes wait for it."""
        name = self._name(key)
        with self._lock.lock:
            self._index_for(minhash, create=True)
            if not replace and self._has(name):
                raise ValueError("The given key already exists")
            self._change(name, self._signature(minhash), session, most)

    def remove(self, key: Hashable, session: object = None, most: int = 1) -> None:
        """Remove a key, and commit if `most` changes wait for it."""
        name = self._name(key)
        with self._lock.lock:
            if not self._has(name):
                raise ValueError("The given key does not exist")
            self._change(name, None, session, most)

    def _change(self, name: str, signature: bytes | None, session: object, most: int) -> None:
        before = self._pending.pop(name, None)
        if before is not None and before[1] is not session:
            # Each session can be abandoned without what another has changed.
            self._pending[name] = before
            self.commit()
            before = None
        self._pending[name] = signature, session
        if len(self._pending) >= most:
            try:
                self.commit()
            except BaseException:
                # What failed must not be committed with the next change.
                del self._pending[name]
                if before is not None:
                    self._pending[name] = before
                raise

    def query(self, minhash: Any) -> list[Any]:
        """The keys whose estimated similarity reaches the threshold, most similar first."""
        with self._lock.lock:
            index = self._index_for(minhash, create=False)
            if index is None:
                return []
            self.commit()
        found = index.query(signature=self._signature(minhash))
        return [self._key(match.id) for match in found]

    def commit(self) -> None:
        """Make what is pending durable, all or nothing."""
        with self._lock.lock:
            if not self._pending or self._index is None:
                return
            with self._index.write() as transaction:
                for name, (signature, _) in self._pending.items():
                    if signature is None:
                        transaction.remove(name)
                    else:
                        transaction.insert_signature(name, signature)
            self._pending.clear()

    def abandon(self, session: object) -> None:
        """Forget what is pending of a session."""
        with self._lock.lock:
            kept = {n: change for n, change in self._pending.items() if change[1] is not session}
            self._pending = kept

    def close(self) -> None:
        """Commit and close the file."""
        with self._lock.lock:
            try:
                if not self._closed:
                    self.commit()
            finally:
                index, self._index, self._closed = self._index, None, True
                if index is not None:
                    index.close()

    def keys(self) -> PersistentKeys:
        """A view of the keys."""
        return PersistentKeys(self)

    def __contains__(self, key: Hashable) -> bool:
        name = self._name(key)
        with self._lock.lock:
            return self._has(name)

    def __len__(self) -> int:
        with self._lock.lock:
            index = self._existing()
            self.commit()
            return 0 if index is None else len(index)

    def __iter__(self) -> Iterator[Any]:
        with self._lock.lock:
            index = self._existing()
            self.commit()
            names = [] if index is None else list(index.ids())
        return map(self._key, names)

    def _has(self, name: str) -> bool:
        index = self._existing()
        if name in self._pending:
            return self._pending[name][0] is not None
        return index is not None and name in index

    def _signature(self, minhash: Any) -> bytes:
        """A byte of the mixed hash value for each lane, and the size of the set."""
        values = np.asarray(minhash.hashvalues)[: self._used]
        if values.ndim > 1:
            # The two integers of a weighted sample become one.
            first, second = values.astype(np.int64).view(np.uint64).T
            values = _schemes.mix(first) ^ second
        mixed = _schemes.mix(values.astype(np.uint64))
        each = (mixed >> np.uint64(56)).astype(np.uint8)
        return each[self._order].tobytes() + _size(_elements(minhash))

    def _name(self, key: Any) -> str:
        """The id of a key, if it can be one."""
        if not self._prepickle:
            hash(key)
        name = self._id(key)
        if len(name.encode()) > _LONGEST:
            raise ValueError(f"a key of an index in a file has at most {_LONGEST} bytes")
        return name

    def _id(self, key: Any) -> str:
        if self._prepickle:
            return _PICKLED + base64.b64encode(pickle.dumps(key)).decode()
        if isinstance(key, str):
            # A subclass, such as an enumeration, may print itself in other words.
            name = str.__str__(key)
            return name if _is_id(name) else _LITERAL + repr(name)
        if isinstance(key, np.generic):
            key = key.item()
        text = repr(key)
        try:
            same = ast.literal_eval(text) == key
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            same = False
        if not same:
            raise TypeError(
                f"a key of the type {type(key).__name__} cannot be stored as it is: use a string, "
                "an integer, bytes or a tuple of them, or prepickle=True"
            )
        return _LITERAL + text

    def _key(self, name: str) -> Any:
        """The key of an id."""
        if name.startswith(_LITERAL):
            return ast.literal_eval(name[len(_LITERAL) :])
        if name.startswith(_PICKLED) and self._prepickle:
            return pickle.loads(base64.b64decode(name[len(_PICKLED) :]))
        return name


def _order(used: int, lanes: int) -> _schemes.Array:
    """Which of the hash values that are used each lane has.

    A signature repeats them if they are too few for the recall, each time in another order: by
    steps of 1, 9, 17 and so on, which are odd, so that an order has all values. A band reads the
    first of 8 lanes, two or more. The places where the orders begin are such that the bands read
    all values equally often: those from 0, 2, 4 and 6 on read each value once if they read two.
    """
    numbers = np.arange(used)
    repeats = range(lanes // used)
    orders = [((8 * n + 1) * numbers + (2 * n + n // 4) % 8) % used for n in repeats]
    return np.concatenate(orders)


def _as_stored(threshold: float) -> float:
    """The threshold of the index: what it estimates of sketches that agree in just this share of
    hash values. It takes out of the share what agrees by chance, as lanes are single bytes.
    """
    return max((threshold - _CHANCE) / (1 - _CHANCE) - 1e-9, 1e-6)


class PersistentKeys:
    """A read-only view of the keys of an index in a file."""

    def __init__(self, table: PersistentTable) -> None:
        self._table = table

    def keys(self) -> PersistentKeys:
        """Return this view."""
        return self

    def has_key(self, key: Hashable) -> bool:
        """Return whether there is such a key."""
        return key in self._table

    def size(self) -> int:
        """Return the number of keys."""
        return len(self._table)

    def status(self) -> dict[str, int]:
        """Return the number of keys, under the name "keyspace_size"."""
        return {"keyspace_size": len(self)}

    def __len__(self) -> int:
        return len(self._table)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._table)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._table

    def get(self, *keys: Hashable) -> NoReturn:
        """Raise AttributeError: there are no buckets of a key."""
        raise AttributeError("an index in a file has no buckets of its keys")

    getmany = itemcounts = __getitem__ = get

    def insert(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise TypeError: the view is read-only."""
        raise TypeError("this is a read-only view: use the methods of the index")

    remove = remove_val = __setitem__ = __delitem__ = insert


def _describe(identity: int) -> str:
    kind = identity >> 52 & 0xF
    name = _KINDS[kind] if 0 < kind < len(_KINDS) else "an unknown scheme"
    return f"{name}, num_perm {identity >> 32 & 0xFFFFF} and seed {identity & 0xFFFFFFFF}"


def _is_id(name: str) -> bool:
    """Whether a string is stored as it is: an id is not empty, is UTF-8, and is not one of ours."""
    try:
        return bool(name.encode()) and not name.startswith("\x1e")
    except UnicodeEncodeError:
        return False


def _elements(minhash: Any) -> float:
    """About how many elements the set has, at least 1: the empty set is found too."""
    count: Callable[[], float] | None = getattr(minhash, "count", None)
    if count is None:
        return 1.0
    with np.errstate(divide="ignore"):
        return max(float(count()), 1.0)


def _size(elements: float) -> bytes:
    """The size of a set as a signature has it, packed."""
    bits = _LEAST_BITS
    while bits < _MOST_BITS and elements > 1 << bits:
        bits += 1
    zeros = round((1 << bits) * math.exp(-elements / (1 << bits)))
    return (min(zeros, (1 << bits) - 1) | (bits - _LEAST_BITS) << 26).to_bytes(4, "little")
