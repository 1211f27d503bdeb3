"""MinHashLSH in a file."""

from __future__ import annotations

import copy
import enum
import math
import pickle
import random
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import twindex
from datasketch_helpers import SCHEMES, both, near, ours, rng, theirs
from twindex.datasketch.persistent import _order


def opened(path: Path, **arguments: Any) -> ours.MinHashLSH:
    config = {"type": "twindex", "path": str(path), **arguments.pop("config", {})}
    return ours.MinHashLSH(storage_config=config, **{"threshold": 0.5, **arguments})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "lsh.twx"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("num_perm", [64, 100, 128, 600])
def test_a_query_finds_what_is_similar_and_nothing_else(
    scheme: str, num_perm: int, path: Path, rng: random.Random
) -> None:
    minhashes = near(rng, 80, num_perm=num_perm, scheme=scheme)
    with opened(path, num_perm=num_perm) as lsh:
        with lsh.insertion_session() as session:
            for key, minhash in enumerate(minhashes):
                session.insert(key, minhash)
        missed = wrong = 0
        for minhash in minhashes:
            found = set(lsh.query(minhash))
            similar = {i for i, other in enumerate(minhashes) if minhash.jaccard(other) >= 0.5}
            missed += len({i for i in similar if minhash.jaccard(minhashes[i]) >= 0.65} - found)
            wrong += len({i for i in found if minhash.jaccard(minhashes[i]) < 0.35})
            assert lsh.query(minhash)[0] in {
                i for i in found if minhash.jaccard(minhashes[i]) > 0.85
            }
        assert (missed, wrong) == (0, 0)


def test_everything_is_there_when_the_file_is_opened_again(path: Path) -> None:
    minhashes = ours.MinHash.bulk([[b"a"], [b"b"], [b"c"]])
    with opened(path) as lsh:
        for key, minhash in zip("abc", minhashes, strict=True):
            lsh.insert(key, minhash)
        lsh.remove("b")
        lsh.update("c", minhashes[1])
    with opened(path) as lsh:
        assert set(lsh.keys) == {"a", "c"} and len(lsh.keys) == 2
        assert lsh.query(minhashes[0]) == ["a"]
        assert lsh.query(minhashes[1]) == ["c"]
        assert lsh.query(minhashes[2]) == []
        assert "b" not in lsh and "c" in lsh and "c" in lsh.keys
    with twindex.open(path) as index:
        assert sorted(index.ids()) == ["a", "c"]
        assert index.get("a").signature.endswith(b"\xff\xff\0\0")


def test_an_insertion_is_durable_when_it_returns(path: Path) -> None:
    script = (
        "import os, sys, twindex.datasketch as d\n"
        "lsh = d.MinHashLSH(storage_config={'type': 'twindex', 'path': sys.argv[1]})\n"
        "lsh.insert('kept', d.MinHash())\n"
        "lsh.insert('removed', d.MinHash())\n"
        "lsh.remove('removed')\n"
        "session = lsh.insertion_session()\n"
        "session.insert('pending', d.MinHash())\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", script, str(path)])
    with opened(path, threshold=0.9) as lsh:
        assert list(lsh.keys) == ["kept"]
        assert lsh.query(ours.MinHash()) == ["kept"]


def test_nothing_is_created_before_the_first_insertion(path: Path) -> None:
    lsh = opened(path)
    assert lsh.query(ours.MinHash()) == [] and lsh.is_empty() and list(lsh.keys) == []
    assert "a" not in lsh and len(lsh.keys) == 0
    with pytest.raises(ValueError):
        lsh.remove("a")
    assert not path.exists()
    lsh.insert("a", ours.MinHash())
    assert path.exists() and not lsh.is_empty()


KEYS = ["text", "", "\x1epy:1", "\ud800", "ü\n", 1, -5, 2**70, b"\0b", (1, ("x", b"y")), True, None]
KEYS += [1.5, (), np.int64(7), np.str_("numpy")]


def test_literal_keys_come_back_as_they_are(path: Path) -> None:
    minhashes = ours.MinHash.bulk([[repr(key).encode()] for key in KEYS])
    with opened(path) as lsh:
        for key, minhash in zip(KEYS, minhashes, strict=True):
            lsh.insert(key, minhash)
    with opened(path) as lsh:
        for key, minhash in zip(KEYS, minhashes, strict=True):
            assert lsh.query(minhash) == [key] and key in lsh
            with pytest.raises(ValueError):
                lsh.insert(key, minhash)
        assert set(lsh.keys) == set(KEYS)
        lsh.remove(7)
        assert np.int64(7) not in lsh


def test_other_keys_are_refused_unless_they_are_pickled(path: Path, tmp_path: Path) -> None:
    with opened(path) as lsh:
        for key in (frozenset({1}), object(), float("nan"), np.datetime64("2020-01-01"), int):
            with pytest.raises(TypeError, match="prepickle=True"):
                lsh.insert(key, ours.MinHash())
        assert list(lsh.keys) == []
    with opened(tmp_path / "pickled.twx", prepickle=True) as lsh:
        for key in (frozenset({1}), "text", 1):
            lsh.insert(key, ours.MinHash())
            assert key in lsh
        assert set(lsh.query(ours.MinHash())) == {frozenset({1}), "text", 1}


@pytest.mark.parametrize("other", [{"scheme": "legacy"}, {"seed": 2}], ids=repr)
def test_a_file_keeps_to_one_kind_of_minhash(other: dict[str, Any], path: Path) -> None:
    with opened(path) as lsh:
        lsh.insert("a", ours.MinHash())
    with opened(path) as lsh:
        for work in (lambda m: lsh.insert("b", m), lsh.query):
            with pytest.raises(ValueError, match="affine32, num_perm 128 and seed 1"):
                work(ours.MinHash(**other))
        lsh.insert("b", ours.MinHash())


def test_a_file_keeps_to_the_length_of_its_minhashes(path: Path) -> None:
    opened(path).insert("a", ours.MinHash())
    for num_perm in (64, 200, 512):
        with pytest.raises(ValueError, match="num_perm 128"):
            opened(path, num_perm=num_perm).insert("b", ours.MinHash(num_perm=num_perm))


@pytest.mark.parametrize("threshold", [0.27, 0.3, 0.5, 0.7, 1.0])
@pytest.mark.parametrize("num_perm", [64, 128, 256])
def test_usual_settings_reach_the_recall(threshold: float, num_perm: int, path: Path) -> None:
    """A pair whose estimate is the threshold is found with the recall of 0.99."""
    lsh = opened(path, threshold=threshold, num_perm=num_perm)
    random = np.random.RandomState(5)
    equal = math.ceil(num_perm * threshold)
    found, trials = 0, 600
    pairs = []
    with lsh.insertion_session() as session:
        for key in range(trials):
            values = random.randint(0, 2**32, (2, num_perm), dtype=np.uint32)
            same = random.permutation(num_perm)[:equal]
            values[1, same] = values[0, same]
            made = [ours.MinHash(hashvalues=row, scheme="affine32") for row in values]
            session.insert(key, made[0])
            pairs.append(made[1])
    for key, asked in enumerate(pairs):
        found += key in lsh.query(asked)
    assert found >= 0.985 * trials


@pytest.mark.parametrize("num_perm", [64, 128, 256, 512])
def test_bands_begin_with_all_values_before_one_comes_again(num_perm: int) -> None:
    lanes = 512
    first = _order(num_perm, lanes)[::8]
    assert len(set(first)) == min(num_perm, lanes // 8)
    second = _order(num_perm, lanes // 2)[1::8] if num_perm < lanes else []
    assert not set(second) & set(first[: len(second)])


def test_a_file_of_another_order_is_refused(path: Path) -> None:
    seed = 0xDA << 56 | 1 << 52 | 128 << 32 | 1
    twindex.open(path, threshold=0.5, shingle="token", seed=seed).close()
    with pytest.raises(ValueError, match="another order of hash values: make it again"):
        opened(path)


@pytest.mark.parametrize("num_perm", [64, 128, 1024])
def test_thresholds_are_as_low_as_the_recall_allows(num_perm: int, path: Path) -> None:
    minhash = ours.MinHash(num_perm=num_perm)
    for threshold, config in [(0.26, {}), (0.18, {"recall": 0.9})]:
        with pytest.raises(ValueError, match="raise the threshold or lower the recall"):
            opened(path, threshold=threshold, num_perm=num_perm, config=config).insert("a", minhash)
    with opened(path, threshold=0.2, num_perm=num_perm, config={"recall": 0.9}) as lsh:
        lsh.insert("a", minhash)
        assert lsh.query(minhash) == ["a"]


def test_a_file_that_appears_later_is_opened(path: Path) -> None:
    late = opened(path)
    with opened(path) as lsh:
        lsh.insert("a", ours.MinHash())
    assert "a" in late and late.query(ours.MinHash()) == ["a"]
    with pytest.raises(ValueError, match="exists"):
        late.insert("a", ours.MinHash())


def test_sessions_commit_at_their_end_and_when_they_are_full(path: Path) -> None:
    minhashes = ours.MinHash.bulk([[str(i).encode()] for i in range(10)])
    with opened(path) as lsh:
        lsh.insert("first", minhashes[9])
        with lsh.insertion_session(buffer_size=4) as session:
            for i in range(6):
                session.insert(i, minhashes[i])
                assert i in lsh
            with pytest.raises(ValueError):
                session.insert(5, minhashes[5])
            assert len(lsh._store._pending) == 2
            # A query sees everything.
            assert lsh.query(minhashes[5]) == [5]
        assert len(lsh.keys) == 7
        with lsh.deletion_session() as session:
            session.remove(0)
            session.remove(1)
            with pytest.raises(ValueError):
                session.remove(0)
        assert set(lsh.keys) == {"first", 2, 3, 4, 5}


def test_a_session_that_fails_inserts_nothing_more(path: Path) -> None:
    with opened(path) as lsh:
        lsh.insert("kept", ours.MinHash())
        with pytest.raises(KeyboardInterrupt):
            with lsh.insertion_session() as session:
                session.insert("lost", ours.MinHash())
                raise KeyboardInterrupt
        assert list(lsh.keys) == ["kept"]


def test_a_session_that_fails_leaves_the_others_alone(path: Path) -> None:
    with opened(path) as lsh:
        one, other = lsh.insertion_session(), lsh.insertion_session()
        one.insert("kept", ours.MinHash())
        with pytest.raises(KeyboardInterrupt), other:
            other.insert("lost", ours.MinHash())
            raise KeyboardInterrupt
        one.close()
        assert list(lsh.keys) == ["kept"]


def test_a_session_that_fails_leaves_the_same_key_of_another(path: Path) -> None:
    one, other = ours.MinHash.bulk([[b"a"], [b"b"]])
    with opened(path) as lsh:
        first = lsh.insertion_session()
        first.insert("key", one)
        with pytest.raises(KeyboardInterrupt):
            with lsh.insertion_session() as second:
                second.insert("key", other, check_duplication=False)
                raise KeyboardInterrupt
        first.close()
        assert lsh.query(one) == ["key"] and lsh.query(other) == []


def test_keys_that_are_pickled_need_no_hash(path: Path) -> None:
    keys: list[Any] = [[1, 2], {"a": 1}, {3}, bytearray(b"x")]
    with opened(path, prepickle=True) as lsh:
        minhashes = ours.MinHash.bulk([[b"a"], [b"b"], [b"c"], [b"d"]])
        for key, minhash in zip(keys, minhashes, strict=True):
            lsh.insert(key, minhash)
            assert lsh.query(minhash) == [key] and key in lsh


def test_a_replacement_needs_no_check(path: Path) -> None:
    one, other = ours.MinHash.bulk([[b"a"], [b"b"]])
    with opened(path) as lsh:
        lsh.insert("key", one)
        with pytest.raises(ValueError, match="exists"):
            lsh.insert("key", other)
        lsh.insert("key", other, check_duplication=False)
        assert lsh.query(one) == [] and lsh.query(other) == ["key"]


def test_what_only_memory_has_says_so(path: Path) -> None:
    with opened(path) as lsh:
        calls: list[Any] = [
            lambda: lsh.hashtables,
            lsh.get_counts,
            lambda: lsh.get_subset_counts("a"),
            lambda: lsh.merge(lsh),
            lambda: lsh.keys.get("a"),
        ]
        for call in calls:
            with pytest.raises(AttributeError):
                call()
        with pytest.raises(TypeError, match="read-only"):
            lsh.keys.insert("a")
        for call in (lambda: pickle.dumps(lsh), lambda: copy.deepcopy(lsh)):
            with pytest.raises(TypeError, match="open its path"):
                call()


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"params": (16, 8)}, "threshold instead of params"),
        ({"num_perm": 32}, "at least 64"),
        ({"threshold": 0.0}, "above 0.0"),
        ({"config": {"redis": 1}}, "no 'redis'"),
        ({"config": {"recall": 2.0}}, "recall"),
    ],
    ids=repr,
)
def test_wrong_settings_are_refused(arguments: Any, reason: str, path: Path) -> None:
    with pytest.raises(ValueError, match=reason):
        opened(path, **arguments).insert("a", ours.MinHash())


def test_wrong_paths_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="path"):
        ours.MinHashLSH(storage_config={"type": "twindex"})
    with pytest.raises(FileNotFoundError):
        opened(tmp_path / "no" / "lsh.twx")
    (tmp_path / "text").write_text("no index")
    with pytest.raises(twindex.Error):
        opened(tmp_path / "text")
    twindex.open(tmp_path / "documents.twx", shingle="token", threshold=0.5).close()
    with pytest.raises(ValueError, match="not of MinHashes"):
        opened(tmp_path / "documents.twx")


def test_settings_of_a_file_are_checked(path: Path) -> None:
    with opened(path, config={"recall": 0.9}) as lsh:
        lsh.insert("a", ours.MinHash())
    with pytest.raises(ValueError):
        opened(path, threshold=0.8)
    with pytest.raises(ValueError):
        opened(path, config={"recall": 0.95})
    with opened(path) as lsh:
        assert "a" in lsh


def test_a_closed_index_says_so(path: Path) -> None:
    lsh = opened(path)
    lsh.insert("a", ours.MinHash())
    lsh.close()
    lsh.close()
    for call in (lambda: lsh.query(ours.MinHash()), lambda: "a" in lsh, lambda: list(lsh.keys)):
        with pytest.raises(ValueError, match="closed"):
            call()


def test_weighted_minhashes_are_stored(path: Path) -> None:
    generator = ours.WeightedMinHashGenerator(20, sample_size=128)
    vectors = np.random.RandomState(3).randint(0, 4, (10, 20)) + 1
    with opened(path, threshold=0.9) as lsh:
        for key, vector in enumerate(vectors):
            lsh.insert(key, generator.minhash(vector))
        for key, vector in enumerate(vectors):
            assert lsh.query(generator.minhash(vector)) == [key]
        with pytest.raises(ValueError, match="weighted"):
            lsh.insert("x", ours.MinHash())


def test_minhashes_of_datasketch_are_stored(path: Path) -> None:
    one, other = both([b"a", b"b"])
    with opened(path) as lsh:
        lsh.insert("theirs", one)
        assert lsh.query(other) == ["theirs"]
        lsh.add_to_query_buffer(one)
        lsh.add_to_query_buffer(theirs.MinHash())
        assert lsh.collect_query_buffer() == []


def test_threads_may_insert_and_query_at_once(path: Path, rng: random.Random) -> None:
    minhashes = near(rng, 40, num_perm=64)
    failures: list[BaseException] = []
    with opened(path, num_perm=64) as lsh:

        def work(number: int) -> None:
            try:
                for i in range(number, len(minhashes), 4):
                    lsh.insert(i, minhashes[i])
                    assert i in lsh.query(minhashes[i])
                    if i % 3 == 0:
                        lsh.remove(i)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert set(lsh.keys) == {i for i in range(40) if i % 3}


def test_a_key_that_cannot_be_stored_is_refused_at_once(path: Path) -> None:
    minhash = ours.MinHash()
    with opened(path) as lsh:
        with lsh.insertion_session() as session:
            session.insert("good", minhash)
            with pytest.raises(ValueError, match="at most 4096 bytes"):
                session.insert("x" * 5000, minhash)
            with pytest.raises(TypeError, match="unhashable"):
                session.insert({8, 0}, minhash)  # type: ignore[arg-type]
        assert lsh.query(minhash) == ["good"]


def test_a_failing_commit_loses_its_session_only(path: Path) -> None:
    minhash = ours.MinHash()
    lsh = opened(path)
    lsh.insert("before", minhash)
    store = lsh._store
    assert store is not None and store._index is not None
    index = store._index
    blocking = index.write()
    with pytest.raises(twindex.BusyError), lsh.insertion_session() as session:
        session.insert("lost", minhash)
    blocking.abort()
    assert lsh.query(minhash) == ["before"]
    lsh.close()
    with opened(path) as again:
        assert again.query(minhash) == ["before"]


def test_a_key_that_is_an_enumeration_is_its_string(path: Path) -> None:
    class Name(str, enum.Enum):
        A = "a"

    with opened(path) as lsh:
        lsh.insert(Name.A, ours.MinHash())
        assert "a" in lsh and lsh.query(ours.MinHash()) == ["a"]


def test_what_a_file_was_made_with_is_said(path: Path) -> None:
    with opened(path, prepickle=True) as lsh:
        lsh.insert(("any", 5), ours.MinHash())
    with pytest.raises(ValueError, match="was made with prepickle=True"):
        opened(path)
    with pytest.raises(ValueError, match=r"was made with threshold 0\.5, and not 0\.9"):
        opened(path, prepickle=True, threshold=0.9)
    with opened(path, prepickle=True) as lsh:
        assert list(lsh.keys) == [("any", 5)]


def test_others_can_read_while_one_writes(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        opened(path, config={"mode": "r"})
    minhash = ours.MinHash()
    with opened(path) as lsh, pytest.raises(twindex.MismatchError, match="reading only"):
        lsh.insert("a", minhash)
        with opened(path, config={"mode": "r"}) as reader:
            assert reader.query(minhash) == ["a"] and "a" in reader
            lsh.insert("b", minhash)
            assert sorted(reader.query(minhash)) == ["a", "b"]
            reader.insert("c", minhash)
    with pytest.raises(ValueError, match="'mode'"):
        opened(path, config={"mode": "w"})
