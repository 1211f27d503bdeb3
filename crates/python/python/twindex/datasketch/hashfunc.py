"""The default hash functions of MinHash: the first bytes of SHA-1, little-endian.

A MinHash with one of these hashes its values in compiled code. Any other function is called once
for each value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Buffer

_DIGITS = {"sha1_hash32": 32, "sha1_hash64": 64}


def sha1_hash32(data: Buffer) -> int:
    """Return the first 32 bits of the SHA-1 of `data`.

    >>> sha1_hash32(b"hello")
    499578026
    """
    return int.from_bytes(hashlib.sha1(data).digest()[:4], "little")


def sha1_hash64(data: Buffer) -> int:
    """Return the first 64 bits of the SHA-1 of `data`.

    >>> sha1_hash64(b"hello")
    11738849977924252842
    """
    return int.from_bytes(hashlib.sha1(data).digest()[:8], "little")


def compiled_bits(hashfunc: Callable[..., Any]) -> int:
    """How many bits of SHA-1 the function takes: 32 or 64, and 0 for any other function.

    datasketch's own functions count too: a MinHash that datasketch made has them.
    """
    if hashfunc is sha1_hash32:
        return 32
    if hashfunc is sha1_hash64:
        return 64
    if getattr(hashfunc, "__module__", None) == "datasketch.hashfunc":
        return _DIGITS.get(getattr(hashfunc, "__qualname__", ""), 0)
    return 0
