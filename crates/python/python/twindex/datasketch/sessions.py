"""Sessions: many insertions or removals, which a file takes at once."""

from __future__ import annotations

from collections.abc import Hashable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from .lsh import MinHashLSH


class _Session:
    """A context manager around the changes of one thread to an index."""

    lsh: MinHashLSH

    def __init__(self, lsh: MinHashLSH, buffer_size: int) -> None:
        self.lsh = lsh
        self.lsh.buffer_size = buffer_size

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        if exc_type is not None and self.lsh._store is not None:
            self.lsh._store.abandon(self)
        self.close()

    def close(self) -> None:
        """Commit what was not committed yet. An index in memory has nothing to commit."""
        if self.lsh._store is not None:
            try:
                self.lsh._store.commit()
            except BaseException:
                # What failed must not be committed with later changes.
                self.lsh._store.abandon(self)
                raise


class MinHashLSHInsertionSession(_Session):
    """Inserts many keys. `MinHashLSH.insertion_session` makes it.

    Args:
        lsh: The index to insert into.
        buffer_size: After how many insertions to commit.
    """

    def insert(self, key: Hashable, minhash: Any, check_duplication: bool = True) -> None:
        """Insert a key with its MinHash, as `MinHashLSH.insert`."""
        self.lsh._insert(key, minhash, check_duplication=check_duplication, session=self)


class MinHashLSHDeletionSession(_Session):
    """Removes many keys. `MinHashLSH.deletion_session` makes it.

    Args:
        lsh: The index to remove from.
        buffer_size: After how many removals to commit.
    """

    def remove(self, key: Hashable) -> None:
        """Remove a key, as `MinHashLSH.remove`."""
        self.lsh._remove(key, session=self)
