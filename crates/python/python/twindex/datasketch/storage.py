"""Read-only views of what an index in memory holds, and the types of storage."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any, Generic, NoReturn, TypeVar

V = TypeVar("V", bound=Collection[Any])

#: The values of `storage_config["type"]`.
TYPES = ("dict", "twindex")


def check_config(config: Mapping[str, Any]) -> str:
    """Return the type of a storage configuration. ValueError if there is no such type."""
    kind = config["type"]
    if kind not in TYPES:
        raise ValueError(
            f"Unknown storage type: {kind!r}. There are 'dict', in memory, and 'twindex', in a "
            'file: storage_config={"type": "twindex", "path": "lsh.twx"}'
        )
    return str(kind)


class View(Generic[V]):
    """A table of an index in memory, to read. The index alone changes it.

    >>> from twindex.datasketch import MinHash, MinHashLSH
    >>> lsh = MinHashLSH(num_perm=128)
    >>> lsh.insert("a", MinHash())
    >>> list(lsh.keys), "b" in lsh.keys
    (['a'], False)
    """

    _dict: dict[Any, V]

    def __init__(self, table: dict[Any, V]) -> None:
        self._dict = table

    def keys(self) -> Any:
        """Return the keys of the table, as those of a `dict`."""
        return self._dict.keys()

    def get(self, key: Hashable) -> V:
        """Return a copy of the values of a key, without values if there is no such key."""
        raise NotImplementedError

    def getmany(self, *keys: Hashable) -> list[V]:
        """Return the values of each of the keys."""
        return [self.get(key) for key in keys]

    def has_key(self, key: Hashable) -> bool:
        """Return whether there is such a key."""
        return key in self._dict

    def size(self) -> int:
        """Return the number of keys."""
        return len(self._dict)

    def itemcounts(self, **kwargs: Any) -> dict[Any, int]:
        """Return the number of values of each key."""
        return {key: len(values) for key, values in self._dict.items()}

    def status(self) -> dict[str, int]:
        """Return the number of keys, under the name "keyspace_size"."""
        return {"keyspace_size": len(self)}

    def __getitem__(self, key: Hashable) -> V:
        return self.get(key)

    def __len__(self) -> int:
        return len(self._dict)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._dict)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._dict

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {len(self)} keys, read-only>"

    def insert(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise TypeError: the view is read-only."""
        raise TypeError("this is a read-only view: use the methods of the index")

    remove = remove_val = __setitem__ = __delitem__ = insert


class DictListStorage(View[list[Any]]):
    """A view of lists: the bucket of each key, band after band."""

    def get(self, key: Hashable) -> list[Any]:
        return list(self._dict.get(key, ()))


class DictSetStorage(View[set[Any]]):
    """A view of sets: the keys in each bucket of a band."""

    def get(self, key: Hashable) -> set[Any]:
        return set(self._dict.get(key, ()))
