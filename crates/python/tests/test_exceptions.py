"""Exceptions: what they are, what they keep when they are copied, and that none is lost."""

import copy
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import twindex

TOO_LARGE = 10**400


def raised_by(call: Callable[[], object]) -> twindex.Error:
    with pytest.raises(twindex.Error) as raised:
        call()
    return raised.value


def test_copies_of_an_exception_keep_its_file(path: Path) -> None:
    missing = raised_by(lambda: twindex.open(path, "r"))
    path.write_text("not an index")
    there = raised_by(lambda: twindex.open(path, "x"))
    for error, errno in ((missing, 2), (there, 17)):
        error.add_note("a note")
        for same in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
            assert type(same) is type(error) and str(same) == str(error)
            assert isinstance(same, OSError)
            assert (same.filename, same.errno) == (str(path), errno)
            assert same.__notes__ == ["a note"]


def test_numbers_that_are_no_ids_are_told(index: twindex.Index) -> None:
    with pytest.raises(TypeError, match="an id is a str or an int; got ndarray"):
        index.insert(np.array([5]), "a text")
    with pytest.raises(twindex.InvalidInputError, match="an id has at most 4096 bytes"):
        index.insert(10**5000, "a text")
    assert index.insert(np.array(5), "a text") == "added"


@pytest.mark.parametrize("wrong", [-1, 2**64, TOO_LARGE], ids=["-1", "2**64", "10**400"])
def test_numbers_out_of_range_are_invalid_input(index: twindex.Index, wrong: int) -> None:
    index.insert("a", "a text")
    calls: list[Callable[[], object]] = [
        lambda: index.query("a text", top=wrong),
        lambda: index.query("a text", limit=wrong),
        lambda: index.query("a text", max_candidates=wrong),
        lambda: index.pairs(max_per_document=wrong),
        lambda: index.cluster_changes(wrong),
        lambda: index.forget_cluster_changes(wrong),
        lambda: index.insert_many([("b", "text")], commit_every=wrong),
        lambda: index.dedup([("b", "text")], max_candidates=wrong),
        lambda: twindex.open(index.path.with_suffix(".new"), cache_bytes=wrong),
        lambda: twindex.dedup(["a text"], lanes=wrong),
        lambda: twindex.Sketcher(lanes=wrong),
        lambda: twindex.Settings(lanes=wrong),
        lambda: twindex.rebuild(index.path, lanes=wrong),
    ]
    for call in calls:
        error = raised_by(call)
        assert isinstance(error, twindex.InvalidInputError)
        assert str(wrong) in str(error) and "out of range" in str(error)
    assert "top" in raised_by(calls[0]).__notes__[0]


def test_numbers_that_no_float_holds_are_invalid_input(path: Path) -> None:
    calls: list[Callable[[], object]] = [
        lambda: twindex.open(path, threshold=TOO_LARGE),
        lambda: twindex.open(path, wait=TOO_LARGE),
        lambda: twindex.dedup(["a text"], threshold=TOO_LARGE),
        lambda: twindex.dedup([{"token": TOO_LARGE}], weighted=True, shingle="token"),
        lambda: twindex.Sketcher.similarity(b"", b"", confidence=TOO_LARGE),
    ]
    for call in calls:
        assert isinstance(raised_by(call), twindex.InvalidInputError)
    with pytest.raises(TypeError):
        twindex.open(path, threshold="high")  # type: ignore[arg-type]


def test_an_exception_of_rows_is_kept_where_the_commit_fails(path: Path) -> None:
    index = twindex.open(path)

    def rows() -> Iterator[tuple[str, str]]:
        yield "a", "a text"
        path.rename(path.with_suffix(".moved"))
        raise LookupError("of the rows")

    error = raised_by(lambda: index.insert_many(rows()))
    assert isinstance(error, twindex.MovedError)
    assert isinstance(error.__context__, LookupError)


def test_the_documents_of_a_failed_commit_are_not_called_committed(path: Path) -> None:
    index = twindex.open(path)
    moved = path.with_suffix(".moved")

    def rows() -> Iterator[tuple[str, str]]:
        for number in range(20_000):
            if number == 10_000:
                path.rename(moved)
            yield str(number), f"text number {number}"

    error = raised_by(lambda: index.insert_many(rows(), commit_every=1))
    with twindex.open(moved, "r") as kept:
        assert 0 < len(kept) < 20_000
        assert error.__notes__ == [f"the documents before it are committed: {len(kept)}"]


def test_an_error_of_long_work_is_kept_where_its_progress_function_raises(path: Path) -> None:
    index = twindex.open(path)
    index.insert_many((str(number), f"text number {number}") for number in range(20))
    # The work tells once what it begins, and then fails before it asks whether to stop.
    path.rename(path.with_suffix(".moved"))

    def progress(done: int, total: int | None) -> None:
        raise LookupError("of the progress function")

    with pytest.raises(LookupError) as raised:
        index.compact(progress=progress)
    assert isinstance(raised.value.__context__, twindex.MovedError)
