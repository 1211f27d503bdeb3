"""What datasketch has and twindex does not: making one raises NotImplementedError with advice."""

from __future__ import annotations

from typing import Any, ClassVar


class _Unavailable:
    """Not offered by twindex."""

    _advice: ClassVar[str]

    def __new__(cls, *args: Any, **kwargs: Any) -> _Unavailable:
        name = cls.__name__
        raise NotImplementedError(
            f"twindex.datasketch has no {name}: {cls._advice}, or import {name} from datasketch"
        )


class AsyncMinHashLSH(_Unavailable):
    """Not offered by twindex: use `MinHashLSH`."""

    _advice = "use MinHashLSH, from `asyncio.to_thread` if it must not block"


class HNSW(_Unavailable):
    """Not offered by twindex: use `MinHashLSHForest`."""

    _advice = "use MinHashLSHForest for the most similar sets"


class HyperLogLog(_Unavailable):
    """Not offered by twindex: use `MinHash.count`."""

    _advice = "use MinHash.count to estimate the size of a set"


class HyperLogLogPlusPlus(_Unavailable):
    """Not offered by twindex: use `MinHash.count`."""

    _advice = "use MinHash.count to estimate the size of a set"


class MinHashLSHBloom(_Unavailable):
    """Not offered by twindex: use `MinHashLSH`."""

    _advice = 'use MinHashLSH with storage_config={"type": "twindex", "path": "lsh.twx"}'


class bBitMinHash(_Unavailable):  # noqa: N801
    """Not offered by twindex: use `LeanMinHash`."""

    _advice = "use LeanMinHash, or MinHashLSH in a file, which takes one byte for a hash value"
