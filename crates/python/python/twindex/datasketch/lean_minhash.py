"""LeanMinHash: the sketch of a set that changes no more, in less memory."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, Final, Literal

from numpy.typing import ArrayLike

from . import _schemes
from ._schemes import Array
from .minhash import MinHash, _union_values

#: How `struct` writes one hash value.
_FORMATS: Final = {"legacy": "I", "affine32": "I", "affine64": "Q"}

#: The byte that stands for a scheme. The legacy scheme has none: its bytes are older.
_CODES: Final = {"affine32": 1, "affine64": 2}


class LeanMinHash(MinHash):
    """A MinHash without permutations and hash function: it can be compared, merged and stored, but
    not updated.

    >>> m = MinHash()
    >>> m.update(b"value")
    >>> lean = LeanMinHash(m)
    >>> lean.jaccard(m)
    1.0

    To go back, make a `MinHash` of its seed, hash values and scheme.

    Args:
        minhash: The MinHash to take everything from.
        seed: Without `minhash`: the seed that the hash values were made with.
        hashvalues: Without `minhash`: the hash values.
        scheme: Without `minhash`: the scheme of the hash values, "legacy" for those that datasketch
            made before its version 2.0. With `minhash`, it must be the same.
    """

    __slots__ = ("hashvalues", "scheme", "seed")

    seed: int
    scheme: Literal["affine32", "affine64", "legacy"]
    hashvalues: Array

    def __init__(
        self,
        minhash: MinHash | None = None,
        seed: int | None = None,
        hashvalues: ArrayLike | None = None,
        scheme: str | None = None,
    ) -> None:
        if minhash is not None:
            if scheme is not None and scheme != minhash.scheme:
                raise ValueError(
                    f"scheme {scheme!r} conflicts with {minhash.scheme!r}, that of the MinHash"
                )
            self._set(minhash.seed, minhash.hashvalues, minhash.scheme)
        elif hashvalues is not None and seed is not None:
            if scheme is None:
                raise ValueError(
                    "scheme must be given together with hashvalues, which do not tell it: that of "
                    "the MinHash they are from, or scheme='legacy' if datasketch made them before "
                    "its version 2.0"
                )
            self._set(seed, hashvalues, scheme)
        else:
            raise ValueError("give a MinHash, or both seed and hashvalues")

    def _set(self, seed: int, hashvalues: Any, scheme: Any) -> None:
        _schemes.check(scheme)
        self.seed = seed
        self.scheme = scheme
        self.hashvalues = self._parse_hashvalues(hashvalues)
        if scheme != "legacy" and len(self.hashvalues) == 0:
            # The sign of the length tells the schemes apart, and zero has none.
            raise ValueError("hashvalues must not be empty")

    @classmethod
    def _make(cls, seed: int, hashvalues: Any, scheme: str) -> LeanMinHash:
        lean = LeanMinHash.__new__(LeanMinHash)
        lean._set(seed, hashvalues, scheme)
        return lean

    def update(self, b: Any) -> None:
        """Raise TypeError: a LeanMinHash cannot be updated."""
        raise TypeError("Cannot update a LeanMinHash")

    def update_batch(self, b: Iterable[Any]) -> None:
        """Raise AttributeError if there is any value: a LeanMinHash has no hash function."""
        for _ in b:
            raise AttributeError("a LeanMinHash has no hashfunc and cannot be updated")

    def copy(self) -> LeanMinHash:
        """Return a copy."""
        return self._make(self.seed, self.hashvalues, self.scheme)

    def _format(self, byteorder: str) -> str:
        if self.scheme == "legacy":
            return f"{byteorder}qi{len(self)}I"
        return f"{byteorder}qiB{len(self)}{_FORMATS[self.scheme]}"

    def bytesize(self, byteorder: str = "@") -> int:
        """Return the number of bytes that `serialize` writes.

        Args:
            byteorder: The byte order, size and alignment, as in the module `struct`: "@" (this
                machine's), "=", "<", ">" or "!".
        """
        return struct.calcsize(self._format(byteorder))

    def serialize(self, buf: Any, byteorder: str = "@") -> None:
        """Write this sketch to the beginning of a buffer. The bytes are those of datasketch.

        They are the seed (8 bytes) and the number of hash values (4 bytes); then, unless the scheme
        is "legacy", the number is negative and a byte follows that is 1 for "affine32" and 2 for
        "affine64"; then the hash values, 8 bytes each for "affine64" and 4 bytes otherwise.

        >>> lean = LeanMinHash(MinHash(num_perm=4))
        >>> buf = bytearray(lean.bytesize())
        >>> lean.serialize(buf)
        >>> LeanMinHash.deserialize(buf) == lean
        True

        Args:
            buf: A buffer that can be written, such as a `bytearray`.
            byteorder: As for `bytesize`.

        Raises:
            ValueError: The buffer is too small.
        """
        if len(buf) < self.bytesize(byteorder):
            raise ValueError("The buffer does not have enough space for this MinHash")
        self._write(buf, byteorder)

    def _write(self, buf: Any, byteorder: str) -> None:
        values = self.hashvalues.tolist()
        if self.scheme == "legacy":
            head = [self.seed, len(values)]
        else:
            head = [self.seed, -len(values), _CODES[self.scheme]]
        struct.pack_into(self._format(byteorder), buf, 0, *head, *values)

    @classmethod
    def deserialize(cls, buf: Any, byteorder: str = "@") -> LeanMinHash:
        """Return the sketch that lies at the beginning of a buffer.

        Args:
            buf: The buffer, such as `bytes`. Bytes that datasketch wrote are fine, those from
                before its version 2.0 too, whose scheme is "legacy".
            byteorder: That with which it was serialized.

        Raises:
            ValueError: The scheme is unknown.
            struct.error: The buffer is too short.
        """
        return cls._make(*_read(buf, byteorder))

    def __getstate__(self) -> bytearray:
        buf = bytearray(self.bytesize())
        self._write(buf, "@")
        return buf

    def __setstate__(self, state: Any) -> None:
        self._set(*_read(state, "@"))

    def __hash__(self) -> int:  # type: ignore[override]
        return hash((self.scheme, self.seed, tuple(self.hashvalues.tolist())))

    @classmethod
    def union(cls, *lmhs: MinHash) -> LeanMinHash:
        """Return the sketch of the union of the sets of two or more sketches.

        Raises:
            ValueError: There are fewer than two, or they differ in scheme, seed or length.
        """
        hashvalues = _union_values(lmhs)
        return cls._make(lmhs[0].seed, hashvalues, lmhs[0].scheme)


def _read(buf: Any, byteorder: str) -> tuple[int, tuple[int, ...], str]:
    """The seed, the hash values and the scheme of serialized bytes."""
    view = memoryview(buf)
    seed, length = struct.unpack_from(f"{byteorder}qi", view)
    scheme, head = "legacy", f"{byteorder}qi"
    if length < 0:
        length = -length
        (code,) = struct.unpack_from(f"{byteorder}B", view, struct.calcsize(head))
        known = [name for name in _CODES if _CODES[name] == code]
        if not known:
            raise ValueError(f"Unknown permutation scheme code: {code}")
        scheme = known[0]
        # No value, but the gap before it in this machine's own alignment.
        head = f"{byteorder}qiB0{_FORMATS[scheme]}"
    values = f"{byteorder}{length}{_FORMATS[scheme]}"
    return seed, struct.unpack_from(values, view, struct.calcsize(head)), scheme
