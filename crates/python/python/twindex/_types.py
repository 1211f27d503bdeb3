"""The types of arguments, for type checkers."""

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, runtime_checkable


@runtime_checkable
class ArrowStream(Protocol):
    """A table or column that speaks Arrow, such as those of pyarrow, polars, pandas and DuckDB."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


@runtime_checkable
class ArrowArray(Protocol):
    """An array or batch that speaks Arrow."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


Path: TypeAlias = str | PathLike[str]
"""A path of the file system."""

Id: TypeAlias = str | SupportsIndex
"""The id of a document. A whole number, of numpy too, becomes its decimal digits."""

Tokens: TypeAlias = list[str] | set[str] | frozenset[str]
"""A set of tokens. Where it cannot be taken for a pair, it may be a tuple."""

Weights: TypeAlias = dict[str, float] | dict[str, int]
"""A weighted set: a weight for each token."""

Content: TypeAlias = str | Tokens | tuple[str, ...] | Weights
"""A document: a text, tokens, or weights."""


class NamedRow(Protocol):
    """A tuple whose values have names, such as a `NamedTuple`."""

    @property
    def _fields(self) -> tuple[str, ...]: ...


Rows: TypeAlias = (
    ArrowStream | ArrowArray | Iterable[tuple[Id, Content] | NamedRow | Mapping[str, Any]]
)
"""Documents with ids: a table, or an iterable of (id, text) or of rows with names."""

Contents: TypeAlias = ArrowStream | ArrowArray | Iterable[Content | NamedRow | Mapping[str, Any]]
"""Documents without ids, for `id=None`: a table or a column, or an iterable."""

MixedRows: TypeAlias = (
    ArrowStream
    | ArrowArray
    | Iterable[str | Tokens | tuple[Id | None, Content] | NamedRow | Mapping[str, Any]]
)
"""Documents with or without ids."""

Signature: TypeAlias = bytes | bytearray
"""The signature of a document in a row."""

SignatureRow: TypeAlias = Signature | tuple[Id, Signature] | Mapping[str, Any]
"""A signature with or without the id of its document."""

SignatureRows: TypeAlias = ArrowStream | ArrowArray | Iterable[SignatureRow]
"""Documents that are given by their signatures."""

Progress: TypeAlias = Callable[[int, int | None], object]
"""Called with what is done and the total, as far as that is known."""

Conflict: TypeAlias = Literal["replace", "skip"]
"""What to do with a document whose id the index has with another text."""

Mode: TypeAlias = Literal["c", "x", "w", "r"]
"""How an index is opened."""

Outcome: TypeAlias = Literal["added", "replaced", "unchanged", "skipped"]
"""What an insertion did."""

Linkage: TypeAlias = Literal["representative", "connected"]
"""What holds a cluster together."""

Keep: TypeAlias = Literal["first", "longest", "id"]
"""Which document represents a cluster."""
