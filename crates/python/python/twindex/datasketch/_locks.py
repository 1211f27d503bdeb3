"""A lock that a fork does not take along."""

from __future__ import annotations

import contextlib
import os
import threading
import weakref


class ForkedFree:
    """A lock that a thread may take again, and that is free in a forked child.

    The thread that has it in the parent does not exist in the child, which would wait for ever.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        _locks.add(self)

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        # If this thread has forked meanwhile, the child has a new lock that nobody has taken.
        with contextlib.suppress(RuntimeError):
            self._lock.release()


_locks: weakref.WeakSet[ForkedFree] = weakref.WeakSet()


def _make_free() -> None:
    for lock in _locks:
        lock._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_make_free)
