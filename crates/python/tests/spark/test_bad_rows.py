"""Rows that are no documents are counted and shown, and never lost."""

import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from cases import crowded, long, open_index  # noqa: E402
from pyspark.sql import DataFrame  # noqa: E402

import twindex  # noqa: E402
import twindex.spark  # noqa: E402

NULL_ID, INVALID_ID = "the id is null", "the id is not valid UTF-8"
INVALID_TEXT = "the text is not valid UTF-8"
LONGEST = "i" * 4096

BytesRows = list[tuple[bytes | None, bytes | None]]


def of_bytes(table: Any, rows: BytesRows, partitions: int) -> DataFrame:
    """A table of strings that need not be valid."""
    df: DataFrame = table(rows, partitions, "id binary, text binary")
    return df.selectExpr("cast(id as string) id", "cast(text as string) text")


def test_bad_rows_are_counted_and_shown(table: Any, caplog: pytest.LogCaptureFixture) -> None:
    rows: BytesRows = [
        (b"a", b"a text of some length, said once"), (None, b"a text without an id"),
        (b"n", None), (b"a", b"another text of the same id"), (b"e", b""),
        (b"c", b"a text of some length,  said once"), (b"i", b"a\xffb"),
        (b"\xff", b"a text of an invalid id"),
    ]  # fmt: skip
    df = of_bytes(table, rows, 3)
    report: dict[str, int] = {}
    kept = twindex.spark.dedup(df, report=report).collect()
    assert [row.id for row in kept] == ["a", "n", "a", "e"]
    expected = {
        "rows": 8, "empty": 2, "repeated ids": 1, NULL_ID: 1, INVALID_TEXT: 1, INVALID_ID: 1,
    }  # fmt: skip
    assert report == expected
    for problem in (NULL_ID, INVALID_TEXT, INVALID_ID, "repeated ids"):
        assert f"1 rows: {problem}" in caplog.messages
    annotated = twindex.spark.dedup(df.where("id is null or hex(id) <> 'FF'"), annotate=True)
    found = annotated.select("id", "duplicate_of", "problem").collect()
    assert [(row.id, row.duplicate_of, row.problem) for row in found] == [
        ("a", None, None), (None, None, NULL_ID), ("n", None, None), ("a", None, None),
        ("e", None, None), ("c", "a", None), ("i", None, INVALID_TEXT),
    ]  # fmt: skip


def mixed_rows(seed: int) -> BytesRows:
    """Documents, of which some share an id, among rows that are none."""
    rng = random.Random(seed)
    rows: BytesRows = []
    for row, (id, text) in enumerate(crowded(seed)[:160]):
        name: bytes | None = id.encode()
        if rng.random() < 0.2:
            name = f"d{rng.randrange(row + 1)}".encode()
        if rng.random() < 0.1:
            name = None
        rows.append((name, text.encode() + b"\xff" * (rng.random() < 0.1)))
    return rows


def test_documents_among_bad_rows_get_the_answers_of_an_index(table: Any) -> None:
    rows = mixed_rows(11)
    valid = [
        (id.decode(), text.decode())
        for id, text in rows
        if id is not None and text is not None and b"\xff" not in text
    ]
    expected = twindex.dedup(valid).to_pylist()
    report: dict[str, int] = {}
    df = of_bytes(table, rows, 4)
    found = twindex.spark.dedup(df, annotate=True, report=report).collect()
    assert len(found) == len(rows)
    # Rows of one id are told apart by their order.
    assert [
        (row.id, row.duplicate_of, row.similarity) for row in found if row.problem is None
    ] == [(row["id"], row["duplicate_of"], row["similarity"]) for row in expected]
    assert 20 < sum(row["keep"] for row in expected) < len(valid) - 20
    assert report[NULL_ID] == sum(id is None for id, _ in rows) > 5
    bad = report[NULL_ID] + report[INVALID_TEXT]
    assert report["rows"] - bad == len(valid) and report[INVALID_TEXT] > 5
    names = [id for id, _ in rows if id is not None]
    assert report["repeated ids"] == len(names) - len(set(names)) > 5


@pytest.mark.parametrize("on_conflict", ["replace", pytest.param("skip", marks=long)])
def test_an_index_counts_bad_rows(
    table: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, on_conflict: Any
) -> None:
    rows = mixed_rows(12)
    valid = [
        (id.decode(), text.decode())
        for id, text in rows
        if id is not None and text is not None and b"\xff" not in text
    ]
    report: dict[str, int] = {}
    path = tmp_path / "built.twx"
    df = of_bytes(table, rows, 4)
    twindex.spark.build(df, path, on_conflict=on_conflict, report=report)
    with open_index([]) as one, twindex.open(path, "r") as built:
        done = one.insert_many(valid, on_conflict=on_conflict)
        assert sorted(built.ids()) == sorted(one.ids())
        assert {(p.a, p.b, p.similarity) for p in built.pairs()} == {
            (p.a, p.b, p.similarity) for p in one.pairs()
        }
        again = report["replaced"] + report["unchanged"] + report["skipped"]
        assert again == done.replaced + done.unchanged + done.skipped > 5
        assert report["rows"] == len(rows) == len(built) + again + report["problems"]
    assert report["problems"] == report[NULL_ID] + report[INVALID_TEXT]
    assert f"{report[NULL_ID]} rows: {NULL_ID}" in caplog.messages
    told = {"replace": "replaced an earlier row of the same id",
            "skip": "left out, an earlier row has the same id"}[on_conflict]  # fmt: skip
    assert any(message.endswith(told) for message in caplog.messages)


def test_ids_that_an_index_refuses(table: Any, tmp_path: Path) -> None:
    rows: BytesRows = [
        (b"", b"the text of an empty id"), (LONGEST.encode(), b"the text of the longest id"),
        (LONGEST.encode() + b"i", b"an id that is a byte longer"), (b"\xff", b"an invalid id"),
        (b"a", b"the text of an  empty id"),
    ]  # fmt: skip
    # Nothing needs the ids of `dedup` to be stored, so it takes all that are strings.
    valid = [(id.decode(), text.decode()) for id, text in rows if id and id != b"\xff" and text]
    valid.insert(0, ("", "the text of an empty id"))
    expected = [row["id"] for row in twindex.dedup(valid).to_pylist() if row["keep"]]
    df = of_bytes(table, rows, 2)
    report: dict[str, int] = {}
    assert [row.id for row in twindex.spark.dedup(df, report=report).collect()] == expected
    assert expected == ["", LONGEST, LONGEST + "i"] and report[INVALID_ID] == 1
    twindex.spark.build(df, tmp_path / "built.twx", report=report)
    with twindex.open(tmp_path / "built.twx", "r") as built:
        assert sorted(built.ids()) == ["a", LONGEST]
    assert report["problems"] == 3
    assert report["the id is empty"] == report["the id is longer than 4,096 bytes"] == 1


def test_an_incremental_run_counts_bad_rows(table: Any, tmp_path: Path) -> None:
    old = "a text of some length, said once"
    rows: BytesRows = [
        (b"k", old.encode()), (None, old.encode()), (b"i", b"a\xffb"), (b"n", None), (b"e", b""),
        (b"new", b"something else that is new"), (None, b"something else without an id"),
    ]  # fmt: skip
    df = of_bytes(table, rows, 2)
    with open_index([("old", old)]) as index:
        left = twindex.spark.against(df, index)
        annotated = twindex.spark.against(df, index, annotate=True).collect()
    assert [row.id for row in left.collect()] == [None, "i", "n", "e", "new", None]
    assert [(row.duplicate_of, row.problem) for row in annotated] == [
        ("old", None), (None, NULL_ID), (None, INVALID_TEXT), (None, None), (None, None),
        (None, None), (None, NULL_ID),
    ]  # fmt: skip
    report: dict[str, int] = {}
    kept = twindex.spark.dedup(left, report=report).collect()
    assert [row.id for row in kept] == ["n", "e", "new"]
    assert report == {"rows": 6, "empty": 2, "repeated ids": 0, NULL_ID: 2, INVALID_TEXT: 1}


@long
def test_ids_may_be_numbers(table: Any) -> None:
    rows = [(7, "a text of some length, said once"), (8, "a text of some length,  said once")]
    df = table(rows, 1, "n long, text string")
    annotated = twindex.spark.dedup(df, id="n", annotate=True).collect()
    assert [row.duplicate_of for row in annotated] == [None, "7"]
