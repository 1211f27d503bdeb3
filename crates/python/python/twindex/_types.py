"""The types of arguments, for type checkers."""

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable


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

Id: TypeAlias = str | int
"""The id of a document. A number becomes its decimal digits."""

Content: TypeAlias = (
    str | list[str] | tuple[str, ...] | set[str] | frozenset[str] | dict[str, float]
)
"""A document: a text, tokens, or weights."""

Row: TypeAlias = Content | tuple[Id, Content] | Mapping[str, Any]
"""A document with or without its id."""

Rows: TypeAlias = ArrowStream | ArrowArray | Iterable[Row]
"""Documents: a table or a column, or an iterable of (id, text), of dicts, or of texts."""

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
