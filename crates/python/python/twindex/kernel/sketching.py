"""Rows become sketches."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import twindex
from twindex.kernel.columns import digests, rows_of

SIZE_BYTES = 4
"""The bytes of a signature after its lanes."""

_EMPTY_SIZE = 1 << 16
"""The stored form of the size of an empty set."""


def readable(column: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
    """A column of strings whose invalid values are null, and where these are."""
    bad = np.zeros(len(column), bool)
    if isinstance(column.type, pa.DictionaryType):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        column = column.cast(pa.large_string())
    try:
        column.validate(full=True)
        return column, bad
    except pa.ArrowInvalid:
        values: list[str | None] = []
        large = pa.types.is_large_string(column.type)
        for row, value in enumerate(column.view(pa.large_binary() if large else pa.binary())):
            try:
                values.append(None if value.as_py() is None else value.as_py().decode())
            except UnicodeDecodeError:
                bad[row] = True
                values.append(None)
        return pa.array(values, column.type), bad


def problems(ids: pa.Array | None, invalid: NDArray[np.bool_]) -> pa.Array:
    """Why rows are no documents; null for those that are. `invalid` texts are not UTF-8."""
    why = np.full(len(invalid), None, object)
    why[invalid] = "the text is not valid UTF-8"
    if ids is not None:
        named, bad = readable(as_ids(ids))
        why[np.asarray(pc.is_null(named))] = "the id is null"
        why[bad] = "the id is not valid UTF-8"
    return pa.array(why, pa.string())


def checks(ids: pa.Array | None, texts: pa.Array) -> NDArray[np.int64]:
    """A hash of the id and the text of each row, to know it again."""
    _, check = digests(texts)
    if ids is not None:
        check = check * np.uint64(3) + digests(ids)[1]
    return check.view(np.int64)


def sketch(
    batch: pa.RecordBatch, settings: twindex.Settings, *, id: str | None, text: str
) -> pa.RecordBatch:
    """The sketches of rows, in their order.

    Columns: `id`; `signature`, with a byte for each lane and four for the size of the set; `check`,
    a hash of id and text; `empty`; `problem`; and `text` if the settings store texts. A null text
    is an empty document, and so is a row with a problem: they are similar to nothing. Ids are
    strings or whole numbers; `ValueError` for others.
    """
    given, invalid = readable(batch.column(text))
    texts = pc.fill_null(given, "")
    ids = None if id is None else readable(as_ids(batch.column(id)))[0]
    why = problems(None if id is None else batch.column(id), invalid)
    if why.null_count < len(why):
        texts = pc.if_else(pc.is_null(why), texts, "")
    made: Any = twindex.Sketcher.of(settings).sketch(texts)
    signatures = pa.array(made).cast(pa.binary())
    columns = {
        "id": (pa.nulls(len(texts)) if ids is None else ids).cast(pa.string()),
        "signature": signatures,
        "check": pa.array(checks(ids, texts)),
        "empty": pa.array(are_empty(rows_of(signatures))),
        "problem": why,
    }
    if settings.store_text:
        columns["text"] = texts
    return pa.RecordBatch.from_pydict(columns)


def as_ids(ids: pa.Array) -> pa.Array:
    """Ids as strings: whole numbers become their decimal digits."""
    kind = ids.type.value_type if pa.types.is_dictionary(ids.type) else ids.type
    if pa.types.is_integer(kind):
        return ids.cast(kind).cast(pa.string())
    strings = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    if pa.types.is_null(kind) or any(is_of(kind) for is_of in strings):
        return ids
    raise ValueError(f"ids of type {ids.type}: expected strings or whole numbers; cast them")


def are_empty(signatures: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Which of the signatures, given as rows of bytes, are of empty documents."""
    if len(signatures) == 0:
        return np.zeros(0, bool)
    sizes = np.ascontiguousarray(signatures[:, -SIZE_BYTES:]).view("<u4").ravel()
    return np.asarray(sizes == _EMPTY_SIZE)
