"""Tables and columns in and out, with the real packages."""

from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest

import twindex

IDS = ["a", "b", "c"]
TEXTS = ["a text of some length", "something else altogether", "a text of some length"]


def tables() -> list[Any]:
    table = pyarrow.table({"id": IDS, "text": TEXTS, "more": [1, 2, 3]})
    return [
        table,
        table.to_batches()[0],
        pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=1)),
        polars.DataFrame({"id": IDS, "text": TEXTS}),
        pandas.DataFrame({"id": IDS, "text": TEXTS}),
        duckdb.sql("select unnest(['a', 'b', 'c']) as id, unnest(?) as text", params=[TEXTS]),
    ]


@pytest.mark.parametrize("place", range(6))
def test_tables_go_in(place: int, path: Path) -> None:
    with twindex.open(path, store_text=True) as index:
        assert index.insert_many(tables()[place]).added == 3
        assert list(index.ids()) == IDS
        assert [index.text(id) for id in IDS] == TEXTS
    assert twindex.dedup(tables()[place])["duplicate_of"] == [None, None, "a"]


def test_several_columns_of_one_name_are_refused(path: Path) -> None:
    for names in (["id", "text", "text"], ["id", "id", "text"], ["id", "text", "more"]):
        table = pyarrow.table([pyarrow.array(column) for column in (IDS, TEXTS, TEXTS)], names)
        with twindex.open(path) as index:
            if "more" in names:
                assert index.insert_many(table).added == 3
                continue
            with pytest.raises(twindex.InvalidInputError, match="several columns"):
                index.insert_many(table)


STRINGS = [
    pyarrow.string(),
    pyarrow.large_string(),
    pyarrow.string_view(),
    pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
    pyarrow.dictionary(pyarrow.int32(), pyarrow.large_string()),
]


@pytest.mark.parametrize("kind", STRINGS, ids=str)
def test_columns_of_every_type_of_string(kind: pyarrow.DataType, path: Path) -> None:
    column = pyarrow.chunked_array([TEXTS[:1], TEXTS[1:]]).cast(kind)
    table = pyarrow.table({"id": pyarrow.array(IDS).cast(kind), "text": column})
    with twindex.open(path, store_text=True) as index:
        index.insert_many(table.slice(1))
        assert list(index.ids()) == ["b", "c"] and index.text("c") == TEXTS[2]
    assert twindex.dedup(column)["duplicate_of"] == [None, None, "0"]
    assert twindex.dedup(column.chunk(1))["keep"] == [True, True]


def test_ids_may_be_numbers(index: twindex.Index) -> None:
    for at, kind in enumerate(
        (pyarrow.int8(), pyarrow.int64(), pyarrow.uint16(), pyarrow.uint64())
    ):
        ids = pyarrow.array([at * 2, at * 2 + 1]).cast(kind)
        assert index.insert_many(pyarrow.table({"id": ids, "text": ["x", "y"]})).added == 2
    assert list(index.ids()) == [str(id) for id in range(8)]


def test_what_cannot_be_read_is_named(index: twindex.Index) -> None:
    ids = pyarrow.array(["a", "b"])
    cases: list[tuple[Any, dict[str, str], str]] = [
        (pyarrow.table({"id": ids, "body": ids}), {}, "no column \"text\": there are id, body"),
        (pyarrow.table({"key": ids, "text": ids}), {}, "no column \"id\": there are key, text"),
        (pyarrow.table({"id": ids, "text": [1, 2]}), {}, "of type Int64: expected string"),
        (pyarrow.table({"id": [0.5, 1.5], "text": ids}), {}, "of type Float64"),
        (ids, {}, "a single column has no column \"id\""),
        (pyarrow.table({"id": ids, "text": ["x", None]}), {}, "row 1, counted from 0: the text"),
        (pyarrow.table({"id": ["y", None], "text": ids}), {}, "row 1, counted from 0: the id"),
    ]
    for table, names, message in cases:
        with pytest.raises(twindex.InvalidInputError, match=message):
            index.insert_many(table, **names)  # type: ignore[call-overload]
    assert list(index.ids()) == ["a", "y"]


def test_a_stream_that_fails_is_an_error_and_keeps_what_came_before(index: twindex.Index) -> None:
    def batches() -> Any:
        yield pyarrow.record_batch({"id": ["a"], "text": ["x"]})
        raise RuntimeError("the source broke")

    schema = pyarrow.schema({"id": pyarrow.string(), "text": pyarrow.string()})
    reader = pyarrow.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(twindex.InvalidInputError, match="the source broke"):
        index.insert_many(reader)
    assert list(index.ids()) == ["a"]


def test_no_text_is_copied_into_python(path: Path) -> None:
    texts = pyarrow.array([f"{number} " * 2000 for number in range(2000)])
    before = pyarrow.total_allocated_bytes()
    with twindex.open(path) as index:
        index.insert_many(pyarrow.table({"id": range(2000), "text": texts}))
    assert pyarrow.total_allocated_bytes() - before < 1 << 20


def test_results_come_out(index: twindex.Index) -> None:
    index.insert_many(zip(IDS, TEXTS, strict=True))
    pairs = pyarrow.table(index.pairs())
    assert pairs.to_pylist() == [
        {"a": "a", "b": "c", "similarity": 1.0, "low": 1.0, "high": 1.0, "exact": True}
    ]
    assert polars.DataFrame(index.pairs()).rows() == [("a", "c", 1.0, 1.0, 1.0, True)]
    clusters = pyarrow.table(index.clusters())
    assert clusters.to_pydict() == {
        "cluster": [0, 0],
        "id": ["a", "c"],
        "representative": ["a", "a"],
    }
    matches = index.query(TEXTS[0])
    frame = pandas.DataFrame.from_arrow(matches)
    assert list(frame["id"]) == ["a", "c"] and list(frame["exact"]) == [True, True]
    contained = pyarrow.table(index.query(TEXTS[0], containment=True))
    assert contained["containment"].to_pylist() == [1.0, 1.0]
    table = twindex.dedup(zip(IDS, TEXTS, strict=True))
    out = pyarrow.table(table)
    assert out.to_pylist() == table.to_pylist()
    kept = duckdb.sql("select id from out where keep order by id")
    assert kept is not None and kept.fetchall() == [("a",), ("b",)]
    taken = index.pairs()
    pyarrow.table(taken)
    assert list(taken) == []
    with pytest.raises(twindex.ClosedError):
        pyarrow.table(taken)
    empty = twindex.open(index.path.with_name("empty.twx"))
    assert pyarrow.table(empty.pairs()).num_rows == 0
    assert pyarrow.table(empty.clusters()).num_rows == 0
    assert pyarrow.table(empty.query("x")).num_rows == 0


def test_a_table_can_be_its_own_filter() -> None:
    table = pyarrow.table({"id": IDS, "text": TEXTS})
    keep = pyarrow.table(twindex.dedup(table))["keep"]
    assert table.filter(keep)["id"].to_pylist() == ["a", "b"]


def test_strings_that_are_no_utf_8_are_bad_rows(index: twindex.Index) -> None:
    wrong = pyarrow.array([b"fine", b"hello \xff\xfe world"], pyarrow.binary())
    for kind in (pyarrow.string(), pyarrow.large_string()):
        binary = pyarrow.large_binary() if kind == pyarrow.large_string() else pyarrow.binary()
        texts = wrong.cast(binary).view(kind)
        with pytest.raises(twindex.InvalidInputError, match="row 1.*not valid UTF-8"):
            index.insert_many(pyarrow.table({"id": ["a", "b"], "text": texts}))
        with pytest.raises(twindex.InvalidInputError, match="row 1.*not valid UTF-8"):
            index.insert_many(pyarrow.table({"id": texts, "text": ["a", "b"]}))
    assert list(index) == ["a", "fine"] and index.check()


def test_odd_columns(index: twindex.Index) -> None:
    places = pyarrow.array([None, None], pyarrow.int8())
    empty = pyarrow.DictionaryArray.from_arrays(places, pyarrow.array([], pyarrow.string()))
    nothing = pyarrow.table({"id": ["a", "b"], "text": empty})
    with pytest.raises(twindex.InvalidInputError, match="row 0.*null"):
        index.insert_many(nothing)
    masked = pyarrow.StructArray.from_arrays(
        [pyarrow.array(["a", "b"]), pyarrow.array(["x", "y"])],
        names=["id", "text"],
        mask=pyarrow.array([False, True]),
    )
    with pytest.raises(twindex.InvalidInputError, match="row 1, counted from 0: the row is null"):
        index.insert_many(masked)
    sliced = pyarrow.table({"id": range(10), "text": [f"text {n}" for n in range(10)]}).slice(7)
    index.insert_many(sliced)
    assert list(index) == ["a", "7", "8", "9"]
    assert index.insert_many(sliced.slice(3)) == index.insert_many([])
    many = [pyarrow.table({"id": [n], "text": [f"chunk {n}"]}) for n in range(20, 25)]
    assert index.insert_many(pyarrow.concat_tables(many)).added == 5
    numbers = pandas.DataFrame({"id": pandas.array([1, 2]), "text": ["number", "numbers"]})
    assert index.insert_many(numbers).added == 2
    assert twindex.dedup(pyarrow.table({"id": ["x", None], "text": ["t", "t"]}))["id"] == ["x", "1"]


def test_ctrl_c_in_a_producer_is_a_keyboard_interrupt(index: twindex.Index) -> None:
    def batches() -> Any:
        yield pyarrow.record_batch({"id": ["a"], "text": ["x"]})
        raise KeyboardInterrupt

    schema = pyarrow.schema({"id": pyarrow.string(), "text": pyarrow.string()})
    with pytest.raises(KeyboardInterrupt):
        index.insert_many(pyarrow.RecordBatchReader.from_batches(schema, batches()))
    assert list(index) == ["a"]

    def source() -> Any:
        yield pyarrow.record_batch({"id": ["a"], "text": ["x"]})
        raise ValueError("bad line: except KeyboardInterrupt: pass")

    with pytest.raises(twindex.InvalidInputError, match="except KeyboardInterrupt: pass"):
        twindex.dedup(pyarrow.RecordBatchReader.from_batches(schema, source()))


def test_a_column_that_is_named_must_be_there(index: twindex.Index) -> None:
    table = pyarrow.table({"page": [101, 102], "text": ["one text", "another one"]})
    assert twindex.dedup(table, id="page")["id"] == ["101", "102"]
    assert twindex.dedup(table)["id"] == ["0", "1"]
    with pytest.raises(twindex.InvalidInputError, match="paeg"):
        twindex.dedup(table, id="paeg")
    with pytest.raises(twindex.InvalidInputError):
        twindex.dedup([{"page": "x", "text": "one text"}], id="paeg")
    with pytest.raises(TypeError, match="several ids, not one"):
        index.remove_many("12")


def test_hugging_face_datasets_are_read_as_arrow(index: twindex.Index) -> None:
    datasets = pytest.importorskip("datasets")
    dataset = datasets.Dataset.from_dict({"id": IDS, "text": TEXTS})
    assert index.insert_many(dataset.shuffle(seed=1).select([0, 1, 2])).added == 3
    pages = datasets.Dataset.from_dict({"id": ["a", "b"], "text": ["one text", "two texts"]})
    assert twindex.dedup(pages)["keep"] == [True, True]

    def alike(rows: Any) -> Any:
        return {"id": rows["id"], "text": ["a text of words"] * len(rows["id"])}

    assert twindex.dedup(pages.with_transform(alike))["keep"] == [True, False]
    assert sorted(index) == IDS
    assert twindex.dedup(dataset.filter(lambda row: row["id"] != "b"))["keep"] == [True, False]
    stream = dataset.to_iterable_dataset()
    assert twindex.dedup(stream)["duplicate_of"] == [None, None, "a"]
