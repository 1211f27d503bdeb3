"""The exceptions of twindex. `Error` is the base of all of them."""

from typing import Any


class Error(Exception):
    """Any error of twindex. The message says what is wrong, where, and what to do."""


class _Plain(Error):
    """An error whose text is its message alone, whatever else it is."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class _OfSystem(_Plain, OSError):
    """An error with the `filename` and the `errno` of an OSError, which copies keep."""

    def __reduce__(self) -> tuple[Any, ...]:
        state = {**self.__dict__, "filename": self.filename, "errno": self.errno}
        return type(self), self.args, state


class NotFoundError(_OfSystem, FileNotFoundError):
    """There is no index at the path."""


class ExistsError(_OfSystem, FileExistsError):
    """There already is a file at the path."""


class InvalidInputError(Error, ValueError):
    """An argument, a setting or a document is not valid."""


class MismatchError(Error, ValueError):
    """The call needs an index with other settings, or another input."""


class BusyError(Error):
    """Another process, transaction or snapshot is in use. Try again when it has ended."""


class MovedError(_OfSystem):
    """The file of the index was moved, deleted or replaced while it was open."""


class DamagedError(Error):
    """The file is damaged, or must be opened for writing once. The message says which."""


class UnsupportedError(Error):
    """The file is not an index, or a newer version wrote it."""


class FullError(Error):
    """A limit of the index or of memory is reached."""


class StorageError(_OfSystem):
    """The operating system or the storage library failed."""


class ForkError(Error, RuntimeError):
    """The object was made before `fork`. Open the index in the child process."""


class ClosedError(Error, ValueError):
    """The index, snapshot or transaction is closed."""


class UnknownIdError(_Plain, KeyError):
    """No document has this id."""


for _kind in list(globals().values()):
    if isinstance(_kind, type) and issubclass(_kind, Error):
        # Tracebacks name them as programs do.
        _kind.__module__ = "twindex"
del _kind
