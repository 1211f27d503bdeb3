"""Rows of every kind, with and without ids, and the batches that they are read in."""

import collections
import datetime
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import pandas
import polars
import pyarrow
import pytest

import twindex

TEXTS = ["a text of some length", "something else altogether", "and a third text"]


class Backwards(NamedTuple):
    """A row whose text comes before its id."""

    text: str
    id: str


class Body(NamedTuple):
    """A row without a text."""

    id: str
    body: str


def ids(index: twindex.Index) -> dict[str, str | None]:
    return {name: index.text(name) for name in index.ids()}


def test_rows_with_named_values_are_read_by_their_names(index: twindex.Index) -> None:
    rows = [Backwards(text, f"n{number}") for number, text in enumerate(TEXTS)]
    wanted = {row.id: row.text for row in rows}
    index.insert_many(rows)
    assert ids(index) == wanted
    frame = pandas.DataFrame({"id": [f"p{n}" for n in range(3)], "text": TEXTS})
    assert index.insert_many(frame.itertuples()).added == 3
    base = sqlite3.connect(":memory:")
    base.row_factory = sqlite3.Row
    found = base.execute("select 'a text of SQLite' as text, 1 as more, 7 as id")
    assert index.insert_many(found).added == 1
    assert index.text("7") == "a text of SQLite"
    pair = collections.namedtuple("pair", "content name")
    index.insert_many([pair("a text at the first place", "first")], id="name", text="content")
    assert index.text("first") == "a text at the first place"
    with pytest.raises(twindex.InvalidInputError, match='no field "text": there are id, body'):
        index.insert_many([Body("a", "b")])


@pytest.mark.parametrize("every", [1, 7, 10, 100])
def test_commits_come_after_so_many_documents(index: twindex.Index, every: int) -> None:
    seen: list[int] = []

    def rows() -> Iterator[tuple[int, str]]:
        for number in range(30):
            yield number, f"text number {number}"

    def progress(done: int, total: int | None) -> None:
        with twindex.open(index.path, "r") as other:
            seen.append(len(other))

    index.insert_many(rows(), commit_every=every, progress=progress)
    ends = [*range(every, 30, every), 30]
    assert seen == [end - end % every for end in ends]
    assert len(index) == 30


def test_an_abandoned_iterator_leaves_the_file_free(path: Path) -> None:
    for _ in range(20):
        with twindex.open(path) as index:
            index.insert_many(list(enumerate(f"text number {n}" for n in range(3_000))))
            for name in index.ids():
                assert name == "0"
                break
            for _pair in index.pairs(0.1):
                break
    twindex.open(path).close()


def test_weighted_sets_have_no_texts(path: Path) -> None:
    with twindex.open(path, weighted=True, store_text=True) as index:
        index.insert("a", {"x": 1.0})
        index.insert("b", {"x": 1.0, "y": 0.5})
        for ask in (lambda: index.text("a"), lambda: index.explain("a", "b")):
            with pytest.raises(twindex.MismatchError, match="have no texts"):
                ask()
        with pytest.raises(twindex.MismatchError, match="have no texts"):
            index.sketcher.explain("a", "b")
        one, zero = pyarrow.array(["a"]), pyarrow.array([0], pyarrow.uint64())
        with pytest.raises(twindex.MismatchError, match="have no texts"):
            index.sketcher.compare_texts(one, zero, one, zero)


def test_a_null_id_is_an_error_where_ids_are_needed(index: twindex.Index) -> None:
    table = pyarrow.table({"key": ["a", None], "text": TEXTS[:2]})
    for rows in (table, table.to_pylist()):
        with pytest.raises(twindex.InvalidInputError):
            index.insert_many(rows, id="key")
        with pytest.raises(twindex.InvalidInputError):
            twindex.dedup(rows, id="key")
        # The usual name need not be there, nor have a value.
    table = table.rename_columns(["id", "text"])
    for rows in (table, table.to_pylist()):
        assert list(twindex.dedup(rows)["id"]) == ["a", "1"]


def test_lists_are_tokens_and_maps_are_weights(tmp_path: Path) -> None:
    sets = pyarrow.table({"id": [1, 2], "text": [["a b", "c"], ["c", "a b"]]})
    for tables in (sets, polars.from_arrow(sets)):
        assert list(twindex.dedup(tables, shingle="token")["keep"]) == [True, False]
    kind = pyarrow.map_(pyarrow.string(), pyarrow.float64())
    weights = pyarrow.table({"text": pyarrow.array([[("a", 1.0)], [("a", 1.0)]], kind)})
    assert list(twindex.dedup(weights, weighted=True)["keep"]) == [True, False]
    for rows, shingle in ((sets, "char:9"), (weights, "token")):
        with pytest.raises(twindex.Error):
            twindex.dedup(rows, shingle=shingle)


def test_columns_of_signatures_and_ids_of_every_type(path: Path) -> None:
    kinds: list[Any] = [pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view()]
    with twindex.open(path) as index:
        signatures = [index.sketcher.signature(text) for text in TEXTS]
        width = pyarrow.binary(len(signatures[0]))
        for kind in [*kinds, width]:
            index.remove_many(list(index.ids()))
            columns = {
                "id": pyarrow.array([1, 2, 3]).dictionary_encode(),
                "signature": pyarrow.array(signatures, kind),
            }
            assert index.insert_signatures(pyarrow.table(columns)).added == 3
            assert list(index.ids()) == ["1", "2", "3"]


def test_a_lazy_table_is_named(index: twindex.Index) -> None:
    lazy = polars.LazyFrame({"id": [1], "text": ["a"]})
    with pytest.raises(TypeError, match=r"got LazyFrame.*collect\(\) it first"):
        index.insert_many(lazy)  # type: ignore[call-overload]


def test_passages_can_be_added_by_a_rebuild(path: Path) -> None:
    text = " ".join(f"w{number}" for number in range(80))
    with twindex.open(path, store_text=True) as index:
        index.insert("a", text)
        with pytest.raises(twindex.Error, match="rebuild it with them"):
            index.passages(text)
    twindex.rebuild(path, passages=True)
    with twindex.open(path) as index:
        assert [found.id for found in index.passages(text)] == ["a"]


def test_times_before_1970(index: twindex.Index) -> None:
    index.insert("a", "a text")
    old = datetime.datetime(1960, 1, 1, tzinfo=datetime.timezone.utc)
    assert index.remove_inserted_before(old) == 0
    with pytest.raises(twindex.InvalidInputError, match="with a time zone"):
        index.remove_inserted_before(datetime.datetime(2020, 1, 1))
    assert index.remove_inserted_before(datetime.datetime.now(datetime.timezone.utc)) <= 1


def test_rows_whose_names_do_not_fit_are_not_read_by_position(index: twindex.Index) -> None:
    class Page(NamedTuple):
        body: str
        slug: str

    with pytest.raises(twindex.InvalidInputError, match='no field "text": there are body, slug'):
        index.insert_many([Page("a sentence of the text", "its-name")])
    for rows in ([{"id": 1, "body": "a text"}], [{"body": "a text"}]):
        with pytest.raises(twindex.InvalidInputError, match='no key "text"'):
            twindex.dedup(rows)
    assert len(index) == 0


def test_rows_that_are_asked_by_name(index: twindex.Index) -> None:
    frame = pandas.DataFrame({"id": ["a", "b"], "text": ["one text", "and another"], "n": [1, 2]})
    index.insert_many(row for _, row in frame.iterrows())
    kinds = [("text", "U20"), ("id", "U5")]
    index.insert_many(numpy.array([("a third text", "c")], dtype=kinds))
    assert list(index.ids()) == ["a", "b", "c"]


def test_a_token_of_weights_may_have_the_name_of_the_column(tmp_path: Path) -> None:
    bags = [{"sea": 1.0, "ship": 2.0}, {"sea": 1.0, "text": 2}]
    assert pyarrow.table(twindex.dedup(bags, weighted=True))["keep"].to_pylist() == [True, True]
    rows = [{"text": {"sea": 1.0, "text": 2.0}}] * 2
    assert pyarrow.table(twindex.dedup(rows, weighted=True))["keep"].to_pylist() == [True, False]


def test_columns_that_are_not_asked_for_may_be_of_any_type() -> None:
    frame = polars.DataFrame({"id": [1, 2, 3], "text": TEXTS, "note": [None] * 3})
    assert pyarrow.table(twindex.dedup(frame))["keep"].to_pylist() == [True] * 3


def test_elements_of_the_wrong_type_are_type_errors(index: twindex.Index) -> None:
    with pytest.raises(TypeError, match="tokens: expected"):
        index.insert("a", ["a", 1])  # type: ignore[list-item]
    with pytest.raises(twindex.InvalidInputError, match="lone surrogate"):
        index.insert("a", ["a", "\ud800"])
    with pytest.raises(TypeError, match="several ids, not one"):
        index.remove_many(b"12")


def test_a_name_that_dedup_gives_is_that_of_no_other_row() -> None:
    texts = ["a text of some length", "another one of some length", "A text of  some length"]
    given = pyarrow.table({"id": ["1", None, None], "text": texts})
    for rows in (given, given.to_pylist()):
        table = twindex.dedup(rows)
        assert table["id"] == ["1", "#1", "2"]
        assert table["duplicate_of"] == [None, None, "1"]
    rows = [(1, texts[0]), texts[1], texts[1], ("#1", "something else altogether")]
    table = twindex.dedup(rows)
    assert table["id"] == ["1", "##1", "2", "#1"]
    assert table["duplicate_of"] == [None, None, "##1", None]


def test_tuples_are_pairs_and_no_sets_of_tokens(index: twindex.Index) -> None:
    sets = [("sea", "ship", "sky"), ("sea", "ship")]
    with pytest.raises(twindex.InvalidInputError, match="a tuple of 3 values: expected") as raised:
        twindex.dedup(sets, shingle="token")  # type: ignore[arg-type]
    assert raised.value.__notes__ == ["in row 0, counted from 0"]
    with pytest.raises(twindex.InvalidInputError, match="a tuple of 3 values: expected"):
        index.insert_many(sets)  # type: ignore[arg-type]
    assert twindex.dedup(sets, id=None, shingle="token")["id"] == ["0", "1"]
    assert twindex.dedup([list(tokens) for tokens in sets], shingle="token")["id"] == ["0", "1"]


def test_tokens_are_no_other_collection_than_the_types_say(index: twindex.Index) -> None:
    with pytest.raises(TypeError, match="got deque"):
        index.insert("a", collections.deque(["sea"]))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="got dict_keys"):
        index.insert("a", {"sea": 1.0}.keys())  # type: ignore[arg-type]


def test_ctrl_c_in_the_values_of_a_row_is_raised(index: twindex.Index) -> None:
    class Row:
        def keys(self) -> list[str]:
            return ["id", "text"]

        def __getitem__(self, name: str | int) -> str:
            if name == "text":
                raise KeyboardInterrupt
            return "a"

    with pytest.raises(KeyboardInterrupt):
        index.insert_many([Row()])  # type: ignore[list-item]
    assert len(index) == 0
