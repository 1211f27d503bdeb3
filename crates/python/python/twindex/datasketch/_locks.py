"""A lock that a fork does not take along."""

from __future__ import annotations

import os
import threading
import weakref


class ForkedFree:
    """A lock that a thread may take again, and that is free in a forked child.

    The thread that has it in the parent does not exist in the child, which would wait for ever. A
    change that this thread had half made is half made in the child.
    """

    def __init__(self) -> None:
        #: For `with`, which a signal does not end between taking the lock and leaving it.
        self.lock = threading.RLock()
        _locks.add(self)


_locks: weakref.WeakSet[ForkedFree] = weakref.WeakSet()


def _make_free() -> None:
    for lock in _locks:
        lock.lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_make_free)
