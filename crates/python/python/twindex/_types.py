"""The types of arguments, for type checkers."""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
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

Content: TypeAlias = str | Sequence[str] | Set[str] | dict[str, float]
"""A document: a text, tokens, or weights."""

Row: TypeAlias = Content | tuple[Id, Content] | Mapping[str, Any]
"""A document with or without its id."""

Rows: TypeAlias = ArrowStream | ArrowArray | Iterable[Row]
"""Documents: a table or a column, or an iterable of (id, text), of dicts, or of texts."""

SignatureRows: TypeAlias = (
    ArrowStream
    | ArrowArray
    | Iterable[tuple[Id, bytes | bytearray]]
    | Iterable[Mapping[str, Any]]
)
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
