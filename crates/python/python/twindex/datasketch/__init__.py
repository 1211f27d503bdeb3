"""The sketches and indexes of datasketch, faster, and in a file if wanted.

A program changes one line, `from datasketch import MinHash, MinHashLSH`:

>>> from twindex.datasketch import MinHash, MinHashLSH

Names, arguments, hash values, serialized bytes and pickles are those of datasketch 2.0.0.
`MinHashLSH` also takes `storage_config={"type": "twindex", "path": "lsh.twx"}`, a file that
outlives the process. `load` and `loads` read pickles that datasketch wrote.

Not offered are Redis, Cassandra, asyncio, HyperLogLog, HNSW, b-bit MinHash and Bloom filters: their
names raise NotImplementedError with advice. GPUs are not used.
"""

from typing import Final

try:
    import numpy as _numpy  # noqa: F401
except ImportError:
    raise ImportError("twindex.datasketch needs numpy: pip install 'twindex[datasketch]'") from None

from ._pickles import load, loads
from .hashfunc import sha1_hash32, sha1_hash64
from .lean_minhash import LeanMinHash
from .lsh import MinHashLSH
from .lshensemble import MinHashLSHEnsemble
from .lshforest import MinHashLSHForest
from .minhash import MinHash
from .unavailable import (
    HNSW,
    AsyncMinHashLSH,
    HyperLogLog,
    HyperLogLogPlusPlus,
    MinHashLSHBloom,
    bBitMinHash,
)
from .weighted_minhash import WeightedMinHash, WeightedMinHashGenerator

#: The version of datasketch whose interface this is.
__version__: Final = "2.0.0"

WeightedMinHashLSH = MinHashLSH
WeightedMinHashLSHForest = MinHashLSHForest

__all__ = [
    "HNSW",
    "AsyncMinHashLSH",
    "HyperLogLog",
    "HyperLogLogPlusPlus",
    "LeanMinHash",
    "MinHash",
    "MinHashLSH",
    "MinHashLSHBloom",
    "MinHashLSHEnsemble",
    "MinHashLSHForest",
    "WeightedMinHash",
    "WeightedMinHashGenerator",
    "WeightedMinHashLSH",
    "WeightedMinHashLSHForest",
    "bBitMinHash",
    "load",
    "loads",
    "sha1_hash32",
    "sha1_hash64",
]
