"""What the types allow is taken, and what they refuse is not: mypy checks this file too, and finds
an `ignore` that nothing needs.
"""

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import twindex


class Page(NamedTuple):
    id: int
    text: str
    words: int


class Plain(NamedTuple):
    text: str
    words: int


@pytest.fixture
def tags(tmp_path: Path) -> twindex.Index:
    return twindex.open(tmp_path / "tags.twx", shingle="token")


def test_weights_may_be_counted(tmp_path: Path) -> None:
    index = twindex.open(tmp_path / "weighted.twx", weighted=True)
    counts: dict[str, int] = {"sea": 2, "ship": 1}
    index.insert("counts", counts)
    index.insert("counter", Counter(["sea", "sea", "ship"]))
    rows: list[tuple[str, dict[str, int]]] = [("row", counts)]
    index.insert_many(rows)
    assert len(index.query(counts)) == 3


def test_ids_may_be_numbers_of_numpy(index: twindex.Index) -> None:
    index.insert(np.int64(5), "a text")
    assert index.remove(np.uint8(5))


def test_named_tuples_have_any_number_of_values(index: twindex.Index) -> None:
    pages = [Page(1, "a text about pages", 4)]
    index.insert_many(pages)
    index.insert_many([Plain("a text without an id", 5)], id=None)
    with index.write() as txn:
        txn.insert_many(pages)
    assert list(index.ids()) == ["1", "#1"]
    assert index.dedup(pages).num_rows == twindex.dedup(pages).num_rows == 1


def test_a_tuple_has_an_id_and_a_document(index: twindex.Index) -> None:
    rows = [("a", "a text", "2026")]
    with pytest.raises(twindex.InvalidInputError):
        index.insert_many(rows)  # type: ignore[arg-type]
    with pytest.raises(twindex.InvalidInputError):
        index.dedup(rows)  # type: ignore[arg-type]
    with pytest.raises(twindex.InvalidInputError):
        twindex.dedup(rows)  # type: ignore[arg-type]
    with index.write() as txn:
        with pytest.raises(twindex.InvalidInputError):
            txn.insert_many(rows)  # type: ignore[arg-type]
        with pytest.raises(twindex.InvalidInputError):
            txn.dedup(rows)  # type: ignore[arg-type]


def test_without_ids_a_tuple_is_a_set_of_tokens(tags: twindex.Index) -> None:
    rows = [("sea", "ship", "sky"), ("sea", "sky")]
    tags.insert_many(rows, id=None)
    with tags.write() as txn:
        txn.insert_many(rows, id=None)
        assert txn.dedup(rows, id=None).num_rows == 2
    assert tags.dedup(rows, id=None).num_rows == 2
    assert twindex.dedup(rows, id=None, shingle="token").num_rows == 2


def test_an_index_wants_ids_and_dedup_does_not(index: twindex.Index) -> None:
    texts = ["a text", "another text"]
    with pytest.raises(twindex.InvalidInputError):
        index.insert_many(texts)  # type: ignore[arg-type]
    some: list[tuple[str | None, str]] = [("a", "a text"), (None, "another text")]
    with pytest.raises(twindex.InvalidInputError):
        index.insert_many(some)  # type: ignore[arg-type]
    assert twindex.dedup(texts)["id"] == ["0", "1"]
    assert twindex.dedup(some)["id"] == ["a", "1"]
    index.insert_many(texts, id=None)


def test_the_column_of_ids_may_be_decided_later(index: twindex.Index) -> None:
    rows = [{"id": "a", "text": "a text"}]
    columns: list[str | None] = ["id", None]
    for column in columns:
        index.insert_many(rows, id=column)
    assert len(index) == 2
