"""Weighted MinHash: a sketch of a set whose elements have weights."""

from __future__ import annotations

import copy
import sys
from collections.abc import Sized
from typing import Any, Final

import numpy as np

from ._schemes import Array

#: The most numbers of an intermediate array: 16 MiB of them.
_MOST_NUMBERS: Final = 1 << 22


class WeightedMinHash:
    """A sketch of a weighted set. A `WeightedMinHashGenerator` makes them.

    Args:
        seed: The seed of the generator.
        hashvalues: The samples: an array of rows, each the number of a dimension and an integer.
    """

    seed: int
    hashvalues: Array

    def __init__(self, seed: int, hashvalues: Array) -> None:
        self.seed = seed
        self.hashvalues = hashvalues

    def jaccard(self, other: WeightedMinHash) -> float:
        """Estimate the weighted Jaccard similarity of the two sets, 0.0 to 1.0: the sum of the
        lesser weights by the sum of the greater ones.

        Raises:
            ValueError: The sketches have different seeds or lengths.
        """
        if other.seed != self.seed:
            raise ValueError("Cannot compute Jaccard given WeightedMinHash with different seeds")
        if len(self) != len(other):
            raise ValueError(
                "Cannot compute Jaccard given WeightedMinHash with different numbers of hash values"
            )
        equal = np.asarray(self.hashvalues) == np.asarray(other.hashvalues)
        if equal.ndim > 1:
            equal = equal.all(axis=tuple(range(1, equal.ndim)))
        return float(np.count_nonzero(equal)) / float(len(self))

    def digest(self) -> Array:
        """Return a copy of the hash values."""
        return copy.copy(self.hashvalues)

    def copy(self) -> WeightedMinHash:
        """Return a copy."""
        return WeightedMinHash(self.seed, self.digest())

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.hashvalues)

    def __eq__(self, other: object) -> bool:
        """Return whether type, seed and hash values are equal."""
        return (
            type(self) is type(other)
            and isinstance(other, WeightedMinHash)
            and self.seed == other.seed
            and np.array_equal(self.hashvalues, other.hashvalues)
        )

    __hash__ = None  # type: ignore[assignment]


class WeightedMinHashGenerator:
    """Makes sketches of weighted sets by consistent weighted sampling (Ioffe 2010).

    >>> generator = WeightedMinHashGenerator(dim=3, sample_size=256)
    >>> one, other = generator.minhash([1, 3, 4]), generator.minhash([1, 3, 2])
    >>> 0.6 < one.jaccard(other) < 0.9
    True

    Args:
        dim: The number of dimensions of the vectors of weights.
        sample_size: The number of samples in a sketch.
        seed: The seed of the samples. Only sketches with the same seed can be compared.
    """

    dim: int
    sample_size: int
    seed: int
    rs: Array
    ln_cs: Array
    betas: Array

    def __init__(self, dim: int, sample_size: int = 128, seed: int = 1) -> None:
        self.dim = dim
        self.sample_size = sample_size
        self.seed = seed
        generator = np.random.RandomState(seed=seed)
        shape = (sample_size, dim)
        self.rs = generator.gamma(2, 1, shape).astype(np.float32)
        self.ln_cs = np.log(generator.gamma(2, 1, shape)).astype(np.float32)
        self.betas = generator.uniform(0, 1, shape).astype(np.float32)

    def minhash(self, v: Any) -> WeightedMinHash:
        """Return the sketch of a vector of weights, one for each dimension.

        Raises:
            TypeError: The vector has no length.
            ValueError: It has another length than `dim`, or no weight but zeros.
        """
        if not isinstance(v, Sized):
            raise TypeError("the vector must have a length")
        if len(v) != self.dim:
            raise ValueError(f"the vector must have {self.dim} dimensions, as the generator has")
        weights = np.array(v, dtype=np.float32)
        present = np.flatnonzero(weights != 0)
        if not len(present):
            raise ValueError("all weights are zero")
        logs = np.log(weights[present])
        hashvalues = np.zeros((self.sample_size, 2), dtype=int)
        step = max(1, _MOST_NUMBERS // len(present))
        for begin in range(0, self.sample_size, step):
            part = slice(begin, begin + step)
            rs, ln_cs, betas = (self._columns(a[part], present) for a in self._samples())
            t = np.floor(logs / rs + betas)
            ln_a = ln_cs - (t - betas) * rs - rs
            least = np.nanargmin(ln_a, axis=1)
            hashvalues[part, 0] = present[least]
            chosen = t[np.arange(len(least)), least]
            # Through Python's integers, which tell when a number is too great.
            hashvalues[part, 1] = [int(number) for number in chosen.tolist()]
        return WeightedMinHash(self.seed, hashvalues)

    def minhash_many(self, X: Any) -> list[WeightedMinHash | None]:
        """Return the sketches of the rows of a matrix, and None for rows of zeros.

        The sketches differ from those of `minhash`: compare sketches of one method only.

        Args:
            X: A numpy array of two dimensions or a sparse matrix of SciPy, a row for each set.

        Raises:
            TypeError: It is neither.
            ValueError: It does not have two dimensions, or another number of columns than `dim`.
        """
        sparse = sys.modules.get("scipy.sparse")
        is_sparse = sparse is not None and isinstance(X, sparse.spmatrix)
        if not is_sparse and not isinstance(X, np.ndarray):
            raise TypeError("X must be a sparse matrix of SciPy or a numpy array")
        if X.ndim != 2:
            raise ValueError("X must have two dimensions")
        if X.shape[1] != self.dim:
            raise ValueError(f"X must have {self.dim} columns, as the generator has dimensions")
        rows: Any = X.tocsr().astype(np.float32) if is_sparse else np.asarray(X)
        if is_sparse:
            rows.sum_duplicates()
            rows.eliminate_zeros()
        return [self._minhash_row(*_present(rows, row, is_sparse)) for row in range(X.shape[0])]

    def _minhash_row(self, present: Array, weights: Array) -> WeightedMinHash | None:
        if not len(present):
            return None
        logs = np.log(weights)
        hashvalues = np.zeros((self.sample_size, 2), dtype=int)
        step = max(1, _MOST_NUMBERS // len(present))
        for begin in range(0, self.sample_size, step):
            part = slice(begin, begin + step)
            rs, ln_cs, betas = (self._columns(a[part], present) for a in self._samples())
            t = np.floor(logs / rs + betas)
            ln_a = ln_cs - (t - betas + 1) * rs
            least = np.argmin(ln_a, axis=1)
            hashvalues[part, 0] = present[least]
            hashvalues[part, 1] = t[np.arange(len(least)), least]
        return WeightedMinHash(self.seed, hashvalues)

    def _samples(self) -> tuple[Array, Array, Array]:
        return self.rs, self.ln_cs, self.betas

    def _columns(self, samples: Array, present: Array) -> Array:
        return samples if len(present) == self.dim else samples[:, present]


def _present(rows: Any, row: int, is_sparse: bool) -> tuple[Array, Array]:
    """The dimensions of a row that have a weight, and their weights."""
    if is_sparse:
        part = slice(rows.indptr[row], rows.indptr[row + 1])
        return rows.indices[part], rows.data[part]
    weights = rows[row].astype(np.float32)
    present = np.flatnonzero(weights)
    return present, weights[present]
