"""MinHash: a sketch of a set, from which Jaccard similarities are estimated."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Generator, Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from .. import _twindex
from . import _schemes
from ._schemes import Array
from .hashfunc import compiled_bits, sha1_hash32, sha1_hash64


class MinHash:
    """A sketch of a set: the minimum of its hashes under each of `num_perm` permutations.

    The share of equal hash values of two sketches estimates the Jaccard similarity of their sets.

    >>> one, other = MinHash(), MinHash()
    >>> one.update_batch([b"near", b"duplicate", b"documents"])
    >>> other.update_batch([b"near", b"duplicate", b"texts"])
    >>> 0.3 < one.jaccard(other) < 0.7
    True

    Args:
        num_perm: The number of permutations. The standard error of an estimate is about
            `(s * (1 - s) / num_perm) ** 0.5`. Not used if `hashvalues` are given.
        seed: The seed of the permutations, 0 to 2**32 - 1. Only sketches with the same seed can be
            compared.
        gpu_mode: Kept for compatibility. Everything is computed on the processor; with "always",
            `update_batch` raises RuntimeError.
        hashfunc: A function from a value to an integer of 32 bits, or of 64 for the scheme
            "affine64". The default is the beginning of SHA-1, which takes values of bytes and is
            computed without calling Python.
        hashobj: Deprecated and without effect.
        hashvalues: The state to begin with, from another MinHash. `scheme` must be given too.
        permutations: The parameters of the permutations, from another MinHash. `scheme` must be
            given too.
        scheme: "affine32" (the default), "affine64" for sets of 100 million elements and more, or
            "legacy" for sketches that datasketch made before its version 2.0. Only sketches of the
            same scheme can be compared.
    """

    scheme: Literal["affine32", "affine64", "legacy"]
    seed: int
    num_perm: int
    hashfunc: Callable[..., Any]
    hashvalues: Array
    permutations: Any
    _gpu_mode: Literal["disable", "detect", "always"]
    _a_gpu: None
    _b_gpu: None

    def __init__(
        self,
        num_perm: int = 128,
        seed: int = 1,
        gpu_mode: Literal["disable", "detect", "always"] = "disable",
        hashfunc: Callable[..., Any] | None = None,
        hashobj: object | None = None,
        hashvalues: ArrayLike | None = None,
        permutations: tuple[ArrayLike, ArrayLike] | ArrayLike | None = None,
        scheme: Literal["affine32", "affine64", "legacy"] | None = None,
    ) -> None:
        if scheme is None:
            if hashvalues is not None or permutations is not None:
                raise ValueError(
                    "scheme must be given together with hashvalues or permutations, which do not "
                    "tell it: that of the MinHash they are from, or scheme='legacy' if datasketch "
                    "made them before its version 2.0"
                )
            scheme = "affine32"
        _schemes.check(scheme)
        self.scheme = scheme
        if hashvalues is not None:
            num_perm = len(hashvalues)  # type: ignore[arg-type]
        if num_perm < 1:
            raise ValueError("num_perm must be positive")
        if num_perm > 1 << 32:
            raise ValueError(f"num_perm must be at most {1 << 32}")
        self.seed = seed
        self.num_perm = num_perm
        if hashfunc is None:
            hashfunc = sha1_hash64 if scheme == "affine64" else sha1_hash32
        if not callable(hashfunc):
            raise ValueError("hashfunc must be callable")
        self.hashfunc = hashfunc
        if hashobj is not None:
            warnings.warn("hashobj is deprecated: use hashfunc", DeprecationWarning, stacklevel=2)
        if hashvalues is not None:
            self.hashvalues = self._parse_hashvalues(hashvalues)
        else:
            self.hashvalues = _schemes.empty_values(scheme, num_perm)
        if permutations is not None:
            self.permutations = self._parse_permutations(permutations)
        else:
            self.permutations = _schemes.permutations(seed, num_perm, scheme)
        if len(self) != len(self.permutations[0]):
            raise ValueError("hashvalues and permutations must have the same length")
        self._gpu_mode = gpu_mode
        self._a_gpu = None
        self._b_gpu = None

    def _parse_hashvalues(self, hashvalues: Any) -> Array:
        if self.scheme == "legacy":
            return np.array(hashvalues, dtype=np.uint64)
        return _schemes.to_array(hashvalues, self.scheme, "hash values")

    def _parse_permutations(self, permutations: Any) -> Any:
        if self.scheme == "legacy":
            return permutations
        dtype = _schemes.DTYPES[self.scheme]
        shared = (
            isinstance(permutations, np.ndarray)
            and permutations.dtype == dtype
            and permutations.ndim == 2
            and permutations.shape[0] == 2
        )
        if not shared:
            what = "permutation parameters"
            a, b = (_schemes.to_array(permutations[i], self.scheme, what) for i in (0, 1))
            permutations = np.array([a, b])
        if np.any(permutations[0] & dtype(1) == 0):
            # An even factor would map different hashes to the same one.
            raise ValueError(f"all permutation parameters a must be odd in scheme {self.scheme!r}")
        return permutations

    def _compiled(self) -> tuple[Array, Array, str, int] | None:
        """The arguments of the compiled functions, or None if they do not know the hash function
        or the arrays.

        The first one is a copy of the hash values: the functions write into it, and arrays that
        were handed out never change.
        """
        bits = compiled_bits(self.hashfunc)
        values, permutations, scheme = self.hashvalues, self.permutations, self.scheme
        if bits and not (bits == 64 and scheme == "affine32") and self._arrays_are_usual():
            return values.copy(), permutations, scheme, bits
        return None

    def _arrays_are_usual(self) -> bool:
        values, permutations = self.hashvalues, self.permutations
        dtype = _schemes.DTYPES[self.scheme]
        return (
            isinstance(values, np.ndarray)
            and isinstance(permutations, np.ndarray)
            and values.dtype == dtype
            and permutations.dtype == dtype
            and permutations.shape == (2, *values.shape)
            and values.ndim == 1
        )

    def update(self, b: Any) -> None:
        """Add a value to the set.

        >>> m = MinHash()
        >>> m.update("new value".encode())
        >>> m.is_empty()
        False

        Args:
            b: What the hash function takes: bytes, for the default one.
        """
        arguments = self._compiled()
        if arguments is not None:
            _twindex.minhash_update((b,), *arguments)
            self.hashvalues = arguments[0]
            return
        hashed = self.hashfunc(b)
        if self.scheme == "legacy":
            a, b = self.permutations
            permuted = (a * hashed + b) % np.uint64(_schemes.PRIME)
            permuted = np.bitwise_and(permuted, np.uint64(_schemes.GREATEST["legacy"]))
            self.hashvalues = np.minimum(permuted, self.hashvalues)
            return
        hashes = self._hash_input_array([hashed])
        if hashes.ndim > 1:
            raise ValueError("hashfunc must return one integer for a value")
        self._lower(hashes)

    def update_batch(self, b: Iterable[Any]) -> None:
        """Add values to the set, much faster than one by one.

        >>> m = MinHash()
        >>> m.update_batch(word.encode() for word in "many values at once".split())

        Args:
            b: An iterable of what the hash function takes: bytes, for the default one. If one of
                the values is refused, none is added.
        """
        arguments = self._compiled() if self._gpu_mode != "always" else None
        if arguments is not None:
            batch = arguments[0]
            batch.fill(_schemes.GREATEST[self.scheme])
            if _twindex.minhash_update(b, *arguments):
                # The iterable, or another thread, may have updated this sketch meanwhile.
                self.hashvalues = np.minimum(self.hashvalues, batch)
            return
        hashes = [self.hashfunc(value) for value in b]
        if not hashes:
            return
        if self._gpu_mode == "always":
            raise RuntimeError("gpu_mode 'always' is not available: twindex computes without a GPU")
        if self.scheme == "legacy":
            self._lower(np.array(hashes, dtype=np.uint64))
        else:
            self._lower(self._hash_input_array(hashes))

    def _hash_input_array(self, hashes: list[Any]) -> Array:
        try:
            return np.array(hashes, dtype=_schemes.DTYPES[self.scheme])
        except OverflowError as error:
            raise ValueError(
                f"hashfunc returned a value out of range for scheme {self.scheme!r}: {error}. Use "
                "a hash function of 32 bits, or scheme='affine64' for one of 64 bits"
            ) from error

    def _lower(self, hashes: Array) -> None:
        """Lower the hash values by hashes in the scheme's type."""
        hashes = hashes.reshape(-1)
        if self._arrays_are_usual():
            values = self.hashvalues.copy()
            _twindex.minhash_update_hashes(hashes, values, self.permutations, self.scheme)
            self.hashvalues = values
        elif self.scheme == "legacy":
            a, b = self.permutations
            permuted = (hashes.reshape(-1, 1) * a + b) % np.uint64(_schemes.PRIME)
            permuted = np.bitwise_and(permuted, np.uint64(_schemes.GREATEST["legacy"]))
            self.hashvalues = np.minimum(self.hashvalues, permuted.min(axis=0))
        else:
            a, b = self.permutations
            permuted = _schemes.mix(hashes).reshape(-1, 1) * a + b
            self.hashvalues = np.minimum(self.hashvalues, permuted.min(axis=0))

    def _check_comparable(self, other: MinHash, verb: str) -> None:
        if getattr(other, "scheme", None) != self.scheme:
            raise ValueError(f"Cannot {verb} MinHash with different permutation schemes")
        if other.seed != self.seed:
            raise ValueError(f"Cannot {verb} MinHash with different seeds")
        if len(self) != len(other):
            raise ValueError(f"Cannot {verb} MinHash with different numbers of permutations")

    def jaccard(self, other: MinHash) -> float:
        """Estimate the Jaccard similarity of the two sets, 0.0 to 1.0.

        Raises:
            ValueError: The sketches differ in scheme, seed or number of permutations.
        """
        self._check_comparable(other, "compute Jaccard given")
        return float(np.count_nonzero(self.hashvalues == other.hashvalues)) / float(len(self))

    def count(self) -> float:
        """Estimate the number of elements of the set."""
        shares = self.hashvalues / float(_schemes.GREATEST[self.scheme])
        return float(len(self)) / np.sum(shares) - 1.0

    def merge(self, other: MinHash) -> None:
        """Make this the sketch of the union of both sets.

        Raises:
            ValueError: The sketches differ in scheme, seed or number of permutations.
        """
        self._check_comparable(other, "merge")
        self.hashvalues = np.minimum(other.hashvalues, self.hashvalues)

    def digest(self) -> Array:
        """Return a copy of the hash values."""
        return copy.copy(self.hashvalues)

    def is_empty(self) -> bool:
        """Return whether nothing was added yet."""
        return not np.any(self.hashvalues != _schemes.GREATEST[self.scheme])

    def clear(self) -> None:
        """Make this the sketch of the empty set again."""
        self.hashvalues = _schemes.empty_values(self.scheme, len(self))

    def copy(self) -> MinHash:
        """Return a copy that changes independently."""
        return MinHash(
            seed=self.seed,
            hashfunc=self.hashfunc,
            hashvalues=self.digest(),
            permutations=self.permutations,
            gpu_mode=self._gpu_mode,
            scheme=self.scheme,
        )

    def __len__(self) -> int:
        """Return the number of hash values."""
        return len(self.hashvalues)

    def __eq__(self, other: object) -> bool:
        """Return whether type, scheme, seed and hash values are equal."""
        return (
            type(self) is type(other)
            and isinstance(other, MinHash)
            and self.scheme == other.scheme
            and self.seed == other.seed
            and np.array_equal(self.hashvalues, other.hashvalues)
        )

    __hash__ = None  # type: ignore[assignment]

    @classmethod
    def union(cls, *mhs: MinHash) -> MinHash:
        """Return the sketch of the union of the sets of two or more sketches.

        >>> one, other = MinHash(), MinHash()
        >>> one.update(b"a")
        >>> other.update(b"b")
        >>> both = MinHash.union(one, other)
        >>> 0.3 < both.jaccard(one) < 0.7
        True

        Raises:
            ValueError: There are fewer than two, or they differ in scheme, seed or length.
        """
        hashvalues = _union_values(mhs)
        first = mhs[0]
        return cls(
            num_perm=len(first),
            seed=first.seed,
            hashfunc=first.hashfunc,
            hashvalues=hashvalues,
            permutations=first.permutations,
            gpu_mode=first._gpu_mode,
            scheme=first.scheme,
        )

    @classmethod
    def bulk(cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any) -> list[MinHash]:
        """Return the sketches of many sets, computed together.

        >>> data = [[b"token1", b"token2"], [b"token2", b"token3"]]
        >>> [len(m) for m in MinHash.bulk(data, num_perm=64)]
        [64, 64]

        Args:
            b: An iterable of sets, each an iterable of values.
            minhash_kwargs: The arguments of `MinHash`.
        """
        first = cls(**minhash_kwargs)
        arguments = first._compiled() if type(first) is MinHash else None
        if arguments is None or first._gpu_mode == "always":
            return list(_generate(first, b))
        documents = iter(b)
        made: list[MinHash] = []
        state = first.__dict__
        new = MinHash.__new__
        while rows := _twindex.minhash_bulk(documents, *arguments):
            values = np.frombuffer(rows, dtype=arguments[0].dtype).reshape(-1, len(first))
            for row in values:
                m = new(MinHash)
                attributes = m.__dict__
                attributes.update(state)
                # Its own memory: one sketch should not keep all of them.
                attributes["hashvalues"] = row.copy()
                made.append(m)
        return made

    @classmethod
    def generator(
        cls, b: Iterable[Iterable[Any]], **minhash_kwargs: Any
    ) -> Generator[MinHash, None, None]:
        """Yield the sketches of many sets, one after the other. `bulk` is faster.

        >>> [m.is_empty() for m in MinHash.generator([[b"token"], []])]
        [False, True]

        Args:
            b: An iterable of sets, each an iterable of values.
            minhash_kwargs: The arguments of `MinHash`.
        """
        yield from _generate(cls(**minhash_kwargs), b)

    def __getstate__(self) -> Any:
        return self.__dict__.copy()

    def __setstate__(self, state: Any) -> None:
        # Sketches from before the schemes are all of the legacy one.
        self.__dict__.update({"scheme": "legacy", "_gpu_mode": "disable", **state})


def _generate(first: MinHash, sets: Iterable[Iterable[Any]]) -> Generator[MinHash, None, None]:
    for values in sets:
        m = first.copy()
        m.update_batch(values)
        yield m


def _union_values(minhashes: tuple[Any, ...]) -> Array:
    if len(minhashes) < 2:
        raise ValueError("Cannot union less than 2 MinHash")
    kinds = {(m.seed, len(m), m.scheme) for m in minhashes}
    if len(kinds) != 1:
        raise ValueError(
            "Cannot union MinHash with different seeds, numbers of permutations or schemes"
        )
    values: Array = np.minimum.reduce([m.hashvalues for m in minhashes])
    return values
