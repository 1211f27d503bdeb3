"""Opening, inserting, removing, transactions, care, errors."""

import datetime
import random
from pathlib import Path

import pytest

import twindex

TEXT = "a text that is going to be copied with a small change in it"


def test_open_modes(path: Path) -> None:
    for mode in ("r", "w"):
        with pytest.raises(twindex.NotFoundError) as missing:
            twindex.open(path, mode)
        assert isinstance(missing.value, FileNotFoundError)
        assert missing.value.filename == str(path)
        assert "create it first" in str(missing.value)
    with twindex.open(path, "x", threshold=0.7, shingle="word:2", lanes=128, seed=5) as index:
        assert index.settings.threshold == 0.7
        assert (index.settings.shingle, index.settings.lanes) == ("word:2", 128)
        assert index.settings.seed == 5
        assert index.path == path
    with pytest.raises(twindex.ExistsError) as there:
        twindex.open(path, "x")
    assert isinstance(there.value, FileExistsError)
    with twindex.open(str(path), "r") as index:
        with pytest.raises(twindex.MismatchError, match="reading only"):
            index.insert("a", TEXT)
        with twindex.open(path) as writer:
            writer.insert("a", TEXT)
        assert len(index) == 1
    with pytest.raises(twindex.InvalidInputError, match="mode="):
        twindex.open(path, "q")  # type: ignore[arg-type]


def test_settings_are_checked(path: Path) -> None:
    for wrong in ({"threshold": 2.0}, {"lanes": 100}, {"shingle": "char:0"}, {"seed": -1}):
        with pytest.raises(twindex.InvalidInputError):
            twindex.open(path, **wrong)
    with pytest.raises(TypeError, match="seed"):
        twindex.open(path, seed=1.5)  # type: ignore[arg-type]
    assert not path.exists()
    twindex.open(path, threshold=0.7).close()
    with pytest.raises(twindex.MismatchError, match=r"created with threshold 0\.7"):
        twindex.open(path, threshold=0.8)
    with pytest.raises(twindex.UnsupportedError, match="not a twindex index"):
        twindex.open(__file__)


def test_documents_of_every_kind(tmp_path: Path) -> None:
    with twindex.open(tmp_path / "t", shingle="token", store_text=True) as tokens:
        assert tokens.insert("list", ["a", "b", "c d"]) == "added"
        assert tokens.insert("set", {"a", "b", "c d"}) == "added"
        assert [match.similarity for match in tokens.query(["a", "b", "c d"])] == [1.0, 1.0]
    with twindex.open(tmp_path / "w", shingle="token", weighted=True, store_text=True) as weighted:
        weighted.insert("w", {"a": 1.5, "b": 2.0})
        assert weighted.weights("w") == {"a": 1.5, "b": 2.0}
        with pytest.raises(twindex.InvalidInputError, match="not a weighted set"):
            weighted.insert("x", "a text")
        with pytest.raises(twindex.InvalidInputError, match="weight"):
            weighted.insert("x", {"a": float("nan")})
        with pytest.raises(TypeError, match="dict of a number"):
            weighted.insert("x", {"a": "b"})  # type: ignore[arg-type]
    with twindex.open(tmp_path / "p") as plain:
        for wrong in (b"bytes", 5, None):
            with pytest.raises(TypeError):
                plain.insert("x", wrong)  # type: ignore[arg-type]
        with pytest.raises(twindex.InvalidInputError, match="lone surrogate"):
            plain.insert("x", "\ud800")
        with pytest.raises(twindex.InvalidInputError, match="id of 0 bytes"):
            plain.insert("", TEXT)
        with pytest.raises(TypeError, match="an id is a str or an int"):
            plain.insert(1.5, TEXT)  # type: ignore[arg-type]
        with pytest.raises(twindex.MismatchError, match="stores no texts"):
            plain.text("x")
        assert len(plain) == 0


def test_insert_and_remove(index: twindex.Index) -> None:
    assert index.insert("a", TEXT) == "added"
    assert index.insert("a", TEXT) == "unchanged"
    assert index.insert("a", TEXT + "!", on_conflict="skip") == "skipped"
    assert index.insert("a", TEXT + "!") == "replaced"
    assert index.insert(7, "seven") == "added"
    assert "7" in index and 7 in index and "8" not in index
    duplicate = index.insert_unless_similar("b", TEXT)
    assert duplicate is not None and duplicate.id == "a" and duplicate.exact
    assert index.insert_unless_similar("c", "nothing like it at all") is None
    assert list(index.ids()) == list(index) == ["a", "7", "c"]
    assert index.remove("a") and not index.remove("a")
    assert index.remove_many(["7", "c", "d"]) == 2
    assert len(index) == 0 and bool(index)


def test_transactions_commit_or_abort(index: twindex.Index) -> None:
    with index.write() as txn:
        txn.insert("a", TEXT)
        assert "a" in txn and len(txn) == 1
        assert "a" not in index
    assert "a" in index
    with pytest.raises(ZeroDivisionError), index.write() as txn:
        txn.insert("b", "b")
        txn.remove("a")
        raise ZeroDivisionError
    assert list(index.ids()) == ["a"]
    with index.write() as txn:
        txn.insert("c", "c")
        txn.abort()
    assert "c" not in index
    txn = index.write()
    with pytest.raises(twindex.BusyError, match="this thread has a write transaction"):
        index.insert("d", "d")
    txn.insert("e", "e")
    txn.commit()
    with pytest.raises(twindex.ClosedError):
        txn.insert("f", "f")
    with pytest.raises(twindex.ClosedError):
        txn.commit()
    assert "e" in index and "ended" in repr(txn)


def test_a_transaction_that_is_dropped_is_undone(index: twindex.Index) -> None:
    txn = index.write()
    txn.insert("a", TEXT)
    del txn
    assert index.insert("b", "another") == "added"
    assert list(index.ids()) == ["b"]


def test_rows_of_every_kind(index: twindex.Index) -> None:
    assert index.insert_many([("a", "one"), ("b", "two")]).added == 2
    counts = index.insert_many([{"id": "c", "text": "three", "more": 1}, ("a", "one")])
    assert (counts.added, counts.unchanged) == (1, 1)
    assert index.insert_many([{"key": 4, "body": "four"}], id="key", text="body").added == 1
    assert index.insert_many(["five", "six"], id=None).added == 2
    assert list(index.ids()) == ["a", "b", "c", "4", "#1", "#2"]
    assert index.text("#2") == "six"
    assert index.insert_many(iter(())) == index.insert_many([])
    for wrong in ("a string", {"a": "dict"}):
        with pytest.raises(TypeError, match="iterable of rows"):
            index.insert_many(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        index.insert_many(5)  # type: ignore[call-overload]


def test_a_bad_row_is_named_and_the_rows_before_it_are_kept(index: twindex.Index) -> None:
    def rows(bad: object) -> list[object]:
        return [(f"r{number}", f"text {number}") for number in range(5000)] + [bad]

    for bad, error in (
        (("x", 5), TypeError),
        ("without an id", twindex.InvalidInputError),
        ({"id": "x"}, twindex.InvalidInputError),
        (("x" * 5000, "long id"), twindex.InvalidInputError),
    ):
        with pytest.raises(error) as raised:
            index.insert_many(rows(bad))  # type: ignore[arg-type]
        notes = " ".join(raised.value.__notes__)
        assert "row 5000" in notes + str(raised.value)
        assert "the documents before it are committed: 5000" in notes
    assert len(index) == 5000
    with pytest.raises(TypeError), index.write() as txn:
        txn.insert_many([("new", "text"), ("x", 5)])  # type: ignore[list-item]
    assert "new" not in index


def test_what_feeds_a_transaction_cannot_use_it(index: twindex.Index) -> None:
    with index.write() as txn:

        def rows() -> object:
            yield ("a", "text")
            txn.insert("b", "text")

        with pytest.raises(twindex.BusyError, match="in use"):
            txn.insert_many(rows())  # type: ignore[call-overload]
        txn.insert("c", "text")
    assert "c" in index


def test_snapshots_do_not_change(index: twindex.Index) -> None:
    index.insert("a", TEXT)
    with index.snapshot() as snapshot:
        number = snapshot.commit_number
        index.insert("b", TEXT)
        assert len(snapshot) == 1 and len(index) == 2
        assert repr(snapshot) == f"<twindex.Snapshot {index.path}: 1 documents>"
        assert [match.id for match in snapshot.query(TEXT)] == ["a"]
        assert index.commit_number > number == snapshot.commit_number
        with pytest.raises(twindex.BusyError, match="snapshots"):
            index.compact()
    with pytest.raises(twindex.ClosedError):
        len(snapshot)
    assert repr(snapshot) == "<twindex.Snapshot: closed>"
    index.compact()


def test_care(index: twindex.Index, path: Path, tmp_path: Path) -> None:
    index.insert_many((f"d{number}", f"text number {number}") for number in range(300))
    index.remove_many(f"d{number}" for number in range(100))
    seen: list[tuple[int, int | None]] = []
    index.compact(progress=lambda done, total: seen.append((done, total)))
    assert seen and all(total is not None and done <= total for done, total in seen)
    assert seen[-1][0] == seen[-1][1]
    report = index.check()
    assert report and report.clean and report.documents == 200 and not report.violations
    stats = index.stats()
    assert stats.documents == 200 and stats.dead == 0 and stats.file_bytes == path.stat().st_size
    copy = tmp_path / "copy.twx"
    index.backup(copy)
    with pytest.raises(twindex.ExistsError):
        index.backup(copy)
    index.remove("d299")
    with twindex.open(copy, "r") as other:
        assert len(other) == 200
        merged = index.merge(other)
        assert (merged.added, merged.unchanged) == (1, 199)
    assert index.merge(copy, on_conflict="skip").unchanged == 200
    with twindex.open(tmp_path / "attached.twx", store_text=True) as attached:
        told: list[tuple[int, int | None]] = []
        done = attached.merge(index, attach=True, progress=lambda *at: told.append(at))
        assert done.added == 200 and told[-1] == (200, 200)
        assert list(attached.ids()) == list(index.ids()) and attached.check().clean
        assert attached.merge(copy, attach=True).unchanged == 200
    tomorrow = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)
    with pytest.raises(twindex.InvalidInputError, match="time zone"):
        index.remove_inserted_before(datetime.datetime(2000, 1, 1))
    assert index.remove_inserted_before(datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)) == 0
    assert index.remove_inserted_before(tomorrow) == 200
    index.flush()
    index.close()
    index.close()
    assert index.closed and "closed" in repr(index)
    with pytest.raises(twindex.ClosedError):
        index.query("text")
    assert twindex.repair(path).cause is None
    assert twindex.rebuild(copy, shingle="word:1", threshold=0.6) == 200
    with twindex.open(copy) as rebuilt:
        assert rebuilt.settings.shingle == "word:1"


def test_parts_become_one_without_near_duplicates(index: twindex.Index, tmp_path: Path) -> None:
    def words(seed: int) -> str:
        numbers = random.Random(seed)
        return " ".join(str(numbers.randrange(10**6)) for _ in range(40))

    def rows(part: int) -> list[tuple[str, str]]:
        own = [(f"{part}-{number}", words(100 * part + number)) for number in range(100)]
        return [*own, ("in both", words(1000)), (f"copy {part}", words(2000))]

    with twindex.open(tmp_path / "part.twx", store_text=True) as part:
        index.dedup(rows(1))
        part.dedup(rows(2))
        told: list[tuple[int, int | None]] = []
        table = index.merge_unless_similar(part, progress=lambda *at: told.append(at))
        assert table["id"] == list(part) and told[-1] == (102, 102)
        left_out = {
            id: (table["duplicate_of"][row], table["similarity"][row])
            for row, id in enumerate(table["id"])
            if not table["keep"][row]
        }
        assert left_out == {"copy 2": ("copy 1", 1.0)} and len(index) == 202
        again = index.merge_unless_similar(tmp_path / "part.twx", threshold=0.8)
        assert again["keep"] == table["keep"] and len(index) == 202
        with pytest.raises(twindex.InvalidInputError, match="threshold"):
            index.merge_unless_similar(part, threshold=2.0)
    with (
        twindex.open(tmp_path / "other.twx", threshold=0.5) as other,
        pytest.raises(twindex.MismatchError),
    ):
        index.merge_unless_similar(other)


def test_damage_is_an_error_and_is_repaired(path: Path) -> None:
    with twindex.open(path, store_text=True) as index:
        index.insert_many((f"d{number}", f"text number {number} " * 20) for number in range(2000))
    whole = path.read_bytes()

    def damage(step: int) -> bytes:
        data = bytearray(whole)
        for at in range(100_000, len(data) - 4096, step):
            data[at : at + 64] = bytes(64)
        path.write_bytes(data)
        return bytes(data)

    damaged_everywhere = damage(50_000)
    with pytest.raises(twindex.DamagedError), twindex.open(path, "r") as damaged:
        if not damaged.check():
            raise twindex.DamagedError
        for id in damaged.ids():
            damaged.text(id)
    # No document can be read whole.
    with pytest.raises(twindex.DamagedError):
        twindex.repair(path)
    assert path.read_bytes() == damaged_everywhere
    damage(200_000)
    repair = twindex.repair(path)
    assert repair.cause and repair.lost and "lost" in repr(repair)
    assert 1900 < repair.documents <= 2000 - repair.lost
    with twindex.open(path) as repaired:
        assert repaired.check()


def test_one_process_writes(index: twindex.Index, path: Path) -> None:
    with pytest.raises(twindex.BusyError, match="in use"):
        twindex.open(path)
    with pytest.raises(twindex.BusyError):
        twindex.open(path, wait=0.1)
    with pytest.raises(twindex.InvalidInputError, match="wait"):
        twindex.open(path, wait=-1.0)


def test_a_moved_file_is_told(index: twindex.Index, path: Path, tmp_path: Path) -> None:
    index.insert("a", TEXT)
    path.rename(tmp_path / "elsewhere.twx")
    with pytest.raises(twindex.MovedError) as moved:
        index.insert("b", TEXT)
    assert isinstance(moved.value, OSError)
    assert "moved, deleted or replaced" in str(moved.value)
    with pytest.raises(twindex.MovedError):
        index.close()
    assert index.closed


def test_every_exception_is_a_twindex_error() -> None:
    for name in twindex.__all__:
        kind = getattr(twindex, name)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            assert issubclass(kind, twindex.Error) and kind.__doc__
