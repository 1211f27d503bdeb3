"""Pickles that datasketch wrote."""

from __future__ import annotations

import io
import pickle
from typing import IO, Any


class _Unpickler(pickle.Unpickler):
    """Takes the classes of this package for those of datasketch."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if module_name == "datasketch" or module_name.startswith("datasketch."):
            module_name = "twindex." + module_name
        return super().find_class(module_name, global_name)


def load(file: IO[bytes]) -> Any:
    """Read a pickle from an open file, with the classes of datasketch as those of twindex.

    As `pickle.load`, it runs code from the file: read only files that you trust.
    """
    return _Unpickler(file).load()


def loads(data: bytes) -> Any:
    """Read a pickle from bytes, with the classes of datasketch as those of twindex.

    As `pickle.loads`, it runs code from the bytes: read only bytes that you trust.

    >>> import pickle
    >>> from twindex.datasketch import MinHash
    >>> len(loads(pickle.dumps(MinHash(num_perm=64))))
    64
    """
    return load(io.BytesIO(data))
