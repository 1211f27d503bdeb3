"""The permutation schemes: their types, their parameters, and which can be compared."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

SCHEMES: Final = ("affine32", "affine64", "legacy")

#: The type of one hash value.
DTYPES: Final[dict[str, type[np.unsignedinteger[Any]]]] = {
    "affine32": np.uint32,
    "affine64": np.uint64,
    "legacy": np.uint64,
}

#: The greatest hash value, which is that of the empty set.
GREATEST: Final[dict[str, int]] = {
    "affine32": (1 << 32) - 1,
    "affine64": (1 << 64) - 1,
    "legacy": (1 << 32) - 1,
}

#: The Mersenne prime of the legacy scheme.
PRIME: Final = (1 << 61) - 1

#: What remains in memory of the permutations that were made, the last used last.
_made: dict[tuple[Any, ...], Array] = {}
_MOST_MADE: Final = 64


def check(scheme: str) -> None:
    """Raise ValueError if there is no such scheme."""
    if scheme not in SCHEMES:
        raise ValueError(f"scheme must be one of {', '.join(SCHEMES)}, got {scheme!r}")


def empty_values(scheme: str, num_perm: int) -> Array:
    """The hash values of the empty set."""
    return np.full(num_perm, GREATEST[scheme], dtype=DTYPES[scheme])


def permutations(seed: Any, num_perm: int, scheme: str) -> Array:
    """The parameters of the permutations for a seed: a row of `a` and a row of `b`.

    Making them takes numpy's generator a while, so they are kept and shared, and read-only.
    """
    if isinstance(seed, int | np.integer):
        key = (type(seed), seed, num_perm, scheme)
        made = _made.pop(key, None)
        if made is None:
            made = _make_permutations(seed, num_perm, scheme)
            made.flags.writeable = False
        _made[key] = made
        if len(_made) > _MOST_MADE:
            _made.pop(next(iter(_made)), None)
        return made
    # Without a seed they differ each time; other seeds, such as arrays, are no keys.
    return _make_permutations(seed, num_perm, scheme)


def _make_permutations(seed: Any, num_perm: int, scheme: str) -> Array:
    generator = np.random.RandomState(seed)
    if scheme == "legacy":
        # One number after the other, the two of a permutation together.
        pairs = [
            (
                generator.randint(1, PRIME, dtype=np.uint64),
                generator.randint(0, PRIME, dtype=np.uint64),
            )
            for _ in range(num_perm)
        ]
        return np.ascontiguousarray(np.array(pairs, dtype=np.uint64).T)
    dtype = DTYPES[scheme]
    bits = 8 * np.dtype(dtype).itemsize
    a = generator.randint(0, 1 << (bits - 1), num_perm, dtype=dtype) * dtype(2) + dtype(1)
    b = generator.randint(0, 1 << bits, num_perm, dtype=dtype)
    return np.array([a, b])


def mix(hashes: Array) -> Array:
    """MurmurHash3's finalizer, of 32 or of 64 bits as the array has them."""
    if hashes.dtype.itemsize == 4:
        shifts, factors = (16, 13, 16), (0x85EBCA6B, 0xC2B2AE35)
    else:
        shifts, factors = (33, 33, 33), (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)
    word = hashes.dtype.type
    for shift, factor in zip(shifts, factors, strict=False):
        hashes = (hashes ^ (hashes >> word(shift))) * word(factor)
    mixed: Array = hashes ^ (hashes >> word(shifts[2]))
    return mixed


def to_array(values: Any, scheme: str, what: str) -> Array:
    """The values in the scheme's type. ValueError if one of them does not fit.

    A sequence of Python's integers is converted directly: numpy's own choice of a type would make
    floating-point numbers of those above 2**63.
    """
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "iu" and values.size:
            if int(values.max()) > GREATEST[scheme] or int(values.min()) < 0:
                raise ValueError(f"{what} out of range for scheme {scheme!r}")
        return values.astype(DTYPES[scheme])
    try:
        return np.array(values, dtype=DTYPES[scheme])
    except OverflowError as error:
        raise ValueError(f"{what} out of range for scheme {scheme!r}: {error}") from error


def agree(known: str | None, minhash: Any) -> str | None:
    """Return the scheme that an index remembers after it has met this MinHash.

    Hash values do not tell their scheme, so an index that mixed schemes would answer wrongly
    without a word. A weighted MinHash has no scheme, and any index takes it.
    """
    scheme = getattr(minhash, "scheme", None)
    if scheme is None or scheme == known:
        return known
    if known is None:
        return str(scheme)
    raise ValueError(
        f"MinHash scheme {scheme!r} does not match scheme {known!r} of what is in this index"
    )
