"""MinHashLSH in memory against datasketch's."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import random
import signal
import threading
from typing import Any

import numpy as np
import pytest
from datasketch_helpers import SCHEMES, assert_same_failure, both, near, ours, rng, theirs


def indexes(minhashes: list[Any], keys: Any = None, **arguments: Any) -> tuple[Any, Any]:
    made = theirs.MinHashLSH(**arguments), ours.MinHashLSH(**arguments)
    for lsh in made:
        for key, minhash in zip(keys or range(len(minhashes)), minhashes, strict=False):
            lsh.insert(key, minhash)
    return made


def tables(lsh: Any) -> list[dict[bytes, set[Any]]]:
    return [{bucket: set(table.get(bucket)) for bucket in table} for table in lsh.hashtables]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.9])
def test_an_index_answers_as_that_of_datasketch(
    scheme: str, threshold: float, rng: random.Random
) -> None:
    minhashes = near(rng, 60, num_perm=64, scheme=scheme)
    one, other = indexes(minhashes, num_perm=64, threshold=threshold)
    assert (one.b, one.r, one.h, one.hashranges) == (other.b, other.r, other.h, other.hashranges)
    for minhash in minhashes:
        assert set(one.query(minhash)) == set(other.query(minhash))
    assert tables(one) == tables(other)
    assert one.get_counts() == other.get_counts()
    assert one.get_subset_counts(1, 2, 3) == other.get_subset_counts(1, 2, 3)
    assert {k: one.keys.get(k) for k in one.keys} == {k: other.keys.get(k) for k in other.keys}


def test_choices_of_bands_and_rows_are_those_of_datasketch() -> None:
    from datasketch.lsh import _optimal_param
    from twindex import _twindex

    rng = random.Random(7)
    for _ in range(150):
        threshold = round(rng.random(), rng.choice([1, 2, 4]))
        num_perm = rng.choice([2, 3, 16, 32, 64, rng.randrange(2, 96)])
        share = rng.choice([0.5, 0.5, 0.0, 1.0, 0.1, 0.75])
        arguments = threshold, num_perm, share, 1.0 - share
        assert _twindex.minhash_optimal(*arguments) == _optimal_param(*arguments), arguments


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [((0.9, 128), (5, 25)), ((0.5, 128), (25, 5)), ((0.8, 256), (17, 15)), ((0.5, 512), (73, 7))],
)
def test_usual_bands_and_rows(arguments: tuple[float, int], expected: tuple[int, int]) -> None:
    lsh = ours.MinHashLSH(*arguments)
    assert (lsh.b, lsh.r) == expected


def test_the_same_index_may_be_of_minhashes_of_both_libraries() -> None:
    one, other = both([b"a", b"b"])
    lsh = ours.MinHashLSH()
    lsh.insert("theirs", one)
    lsh.insert("ours", other)
    lsh.insert("lean", ours.LeanMinHash(other))
    assert set(lsh.query(one)) == set(lsh.query(other)) == {"theirs", "ours", "lean"}


@pytest.mark.parametrize(
    "arguments",
    [
        {"threshold": 1.1},
        {"threshold": -0.1},
        {"threshold": 1.0},
        {"num_perm": 1},
        {"weights": (0.4, 0.4)},
        {"weights": (1.5, -0.5)},
        {"params": (1, 5)},
        {"params": (100, 5)},
        {"params": (1, 2, 3)},
        {"storage_config": {"type": "no"}},
        {"storage_config": {"path": "x"}},
        {"threshold": "x"},
        {"num_perm": "x"},
    ],
    ids=repr,
)
def test_wrong_arguments_raise_the_same_exception(arguments: dict[str, Any]) -> None:
    assert_same_failure(lambda library: library.MinHashLSH(**arguments))


@pytest.mark.parametrize("kind", ["redis", "cassandra", "aioredis", "aiomongo"])
def test_storages_that_are_not_offered_say_which_are(kind: str) -> None:
    with pytest.raises(ValueError, match="'dict'.*'twindex'"):
        ours.MinHashLSH(storage_config={"type": kind, kind: {}})


def test_wrong_calls_raise_the_same_exception() -> None:
    def lsh(library: Any) -> Any:
        index = library.MinHashLSH(num_perm=128)
        index.insert("a", library.MinHash())
        return index

    calls: list[Any] = [
        lambda library: lsh(library).insert("a", library.MinHash()),
        lambda library: lsh(library).insert("b", library.MinHash(num_perm=64)),
        lambda library: lsh(library).insert("b", library.MinHash(scheme="legacy")),
        lambda library: lsh(library).insert([], library.MinHash()),
        lambda library: lsh(library).insert("b", None),
        lambda library: lsh(library).query(library.MinHash(num_perm=64)),
        lambda library: lsh(library).query(library.MinHash(scheme="affine64")),
        lambda library: lsh(library).add_to_query_buffer(library.MinHash(num_perm=64)),
        lambda library: lsh(library).remove("b"),
        lambda library: lsh(library).merge(library.MinHashLSH(num_perm=64)),
        lambda library: lsh(library).merge(5),
        lambda library: lsh(library).merge(lsh(library), check_overlap=True),
        lambda library: [] in lsh(library),
    ]
    for call in calls:
        assert_same_failure(call)


def test_removal_leaves_what_it_leaves_in_datasketch(rng: random.Random) -> None:
    minhashes = near(rng, 20)
    one, other = indexes(minhashes, threshold=0.5)
    for key in rng.sample(range(20), 12):
        for lsh in (one, other):
            lsh.remove(key)
        assert key not in other and other.is_empty() == one.is_empty()
    assert tables(one) == tables(other) and set(one.keys) == set(other.keys)
    for key in list(other.keys):
        other.remove(key)
    assert other.is_empty() and tables(other) == [{} for _ in range(other.b)]


def test_update_replaces_or_inserts() -> None:
    one, other = ours.MinHash.bulk([[b"a"], [b"b"]])
    lsh = ours.MinHashLSH()
    lsh.update("key", one)
    lsh.update("key", other)
    assert lsh.query(one) == [] and lsh.query(other) == ["key"]
    with pytest.raises(ValueError):
        lsh.update("key", ours.MinHash(num_perm=64))
    assert "key" in lsh


def test_an_update_that_fails_changes_nothing() -> None:
    one, other = ours.MinHash.bulk([[b"a"], [b"b"]])
    calls: list[bytes] = []

    def failing(bucket: bytes) -> bytes:
        calls.append(bucket)
        if len(calls) > lsh.b:
            raise OSError("no more")
        return bucket

    lsh = ours.MinHashLSH(hashfunc=failing)
    lsh.insert("key", one)
    with pytest.raises(OSError):
        lsh.update("key", other)
    assert "key" in lsh and len(list(lsh.keys)) == 1


def test_a_key_without_a_check_of_duplicates_is_that_of_datasketch() -> None:
    made = []
    for library in (theirs, ours):
        lsh = library.MinHashLSH(num_perm=16, params=(4, 4))
        for value in (b"a", b"b"):
            minhash = library.MinHash(num_perm=16)
            minhash.update(value)
            lsh.insert("key", minhash, check_duplication=False)
        made.append((tables(lsh), list(lsh.keys.get("key"))))
        lsh.remove("key")
        made[-1] += (tables(lsh),)
    assert made[0] == made[1]


@pytest.mark.parametrize("check", [False, True])
def test_merge_is_that_of_datasketch(check: bool, rng: random.Random) -> None:
    minhashes = near(rng, 20)
    one = indexes(minhashes[:10], threshold=0.5)
    other = indexes(minhashes[10:], range(10, 20), threshold=0.5)
    empty = indexes([], threshold=0.5)
    for a, b, c in zip(one, other, empty, strict=True):
        a.merge(b, check_overlap=check)
        c.merge(a)
        with pytest.raises(ValueError):
            c.insert("x", (theirs if c is empty[0] else ours).MinHash(scheme="legacy"))
    assert tables(one[0]) == tables(one[1]) == tables(empty[1])
    assert set(one[1].query(minhashes[3])) == set(one[0].query(minhashes[3]))


def test_merge_refuses_another_scheme() -> None:
    def work(library: Any) -> None:
        one, other = library.MinHashLSH(), library.MinHashLSH()
        one.insert("a", library.MinHash())
        other.insert("b", library.MinHash(scheme="legacy"))
        one.merge(other)

    assert assert_same_failure(work) is ValueError


def test_sessions_insert_and_remove(rng: random.Random) -> None:
    minhashes = near(rng, 12)
    made = []
    for library in (theirs, ours):
        lsh = library.MinHashLSH(threshold=0.5)
        with lsh.insertion_session(buffer_size=5) as session:
            for i, minhash in enumerate(minhashes):
                session.insert(i, minhash)
            with pytest.raises(ValueError):
                session.insert(0, minhashes[0])
            session.insert(0, minhashes[0], check_duplication=False)
        assert lsh.buffer_size == 5
        with lsh.deletion_session() as session:
            session.remove(3)
            with pytest.raises(ValueError):
                session.remove(3)
        assert lsh.buffer_size == 50000
        made.append(tables(lsh))
    assert made[0] == made[1]


def test_the_query_buffer_is_that_of_datasketch(rng: random.Random) -> None:
    minhashes = near(rng, 24)
    one, other = indexes(minhashes, threshold=0.3)
    stranger = both([b"nothing like it"])[0]
    for asked in ([], [0], [0, 1], [0, 8], [0, 1, 2], [None], [0, None]):
        for lsh in (one, other):
            for key in asked:
                lsh.add_to_query_buffer(stranger if key is None else minhashes[key])
        assert set(one.collect_query_buffer()) == set(other.collect_query_buffer()), asked
        assert other.collect_query_buffer() == []


@pytest.mark.parametrize("prepickle", [None, False, True])
def test_keys_may_be_anything_hashable(prepickle: bool | None) -> None:
    keys = ["a", 1, b"b", (1, "x"), None, 1.5, frozenset({1})]
    minhashes = [both([repr(key).encode()])[0] for key in keys]
    one, other = indexes(minhashes, keys, prepickle=prepickle)
    for key, minhash in zip(keys, minhashes, strict=True):
        assert other.query(minhash) == one.query(minhash) == [key]
        assert key in other
    assert set(one.keys) == set(other.keys)
    one.add_to_query_buffer(minhashes[0])
    other.add_to_query_buffer(minhashes[0])
    assert one.collect_query_buffer() == other.collect_query_buffer() == ["a"]
    assert one.get_subset_counts("a", 1) == other.get_subset_counts("a", 1)
    other.remove((1, "x"))
    assert (1, "x") not in other


def test_a_hash_function_shortens_the_buckets(rng: random.Random) -> None:
    def digest(data: bytes) -> bytes:
        return hashlib.md5(data).digest()

    one, other = indexes(near(rng, 10), hashfunc=digest)
    assert tables(one) == tables(other)


def test_views_read_as_the_storages_of_datasketch_do(rng: random.Random) -> None:
    minhashes = near(rng, 10)
    one, other = indexes(minhashes, threshold=0.5)
    pairs = [(one.keys, other.keys), *zip(one.hashtables, other.hashtables, strict=True)]
    for stored, view in pairs:
        names = list(stored.keys())
        assert list(view.keys()) == names and list(view) == names and len(view) == len(stored)
        assert view.size() == stored.size() and view.itemcounts() == stored.itemcounts()
        assert view.getmany(*names[:3], "no") == stored.getmany(*names[:3], "no")
        assert view[names[0]] == stored[names[0]] and view.get("no") == stored.get("no")
        assert type(view.get("no")) is type(stored.get("no"))
        assert view.has_key(names[0]) and names[0] in view and "no" not in view
        assert view.status() == stored.status()


def test_views_cannot_change_the_index(rng: random.Random) -> None:
    lsh = indexes(near(rng, 4))[1]
    before = tables(lsh)
    for view in (lsh.keys, lsh.hashtables[0]):
        name = next(iter(view))
        with pytest.raises(TypeError):
            view.insert(name, 1)
        with pytest.raises(TypeError):
            view.remove(name)
        with pytest.raises(TypeError):
            view[name] = 1
        with pytest.raises(TypeError):
            del view[name]
        view.get(name).clear()
    lsh.hashtables.clear()
    with pytest.raises(AttributeError):
        lsh.keys = {}
    with pytest.raises(AttributeError):
        lsh.hashtables = []
    assert tables(lsh) == before and len(lsh.keys) == 4


def test_pickles_and_copies_are_indexes_of_their_own(rng: random.Random) -> None:
    minhashes = near(rng, 10)
    lsh = indexes(minhashes, threshold=0.5)[1]
    for copied in (pickle.loads(pickle.dumps(lsh)), copy.deepcopy(lsh), copy.copy(lsh)):
        assert tables(copied) == tables(lsh)
        assert set(copied.query(minhashes[0])) == set(lsh.query(minhashes[0]))
        copied.remove(0)
        copied.insert("new", minhashes[1])
        with pytest.raises(ValueError):
            copied.insert("x", ours.MinHash(scheme="legacy"))
    assert 0 in lsh and "new" not in lsh and "new" not in lsh.query(minhashes[1])


def test_weighted_minhashes_are_indexed(rng: random.Random) -> None:
    made = []
    vectors = np.random.RandomState(1).randint(0, 5, (20, 30)) + 1
    for library in (theirs, ours):
        generator = library.WeightedMinHashGenerator(30, sample_size=64)
        lsh = library.WeightedMinHashLSH(threshold=0.6, num_perm=64)
        sketches = [generator.minhash(vector) for vector in vectors]
        for i, sketch in enumerate(sketches):
            lsh.insert(i, sketch)
        made.append((tables(lsh), [set(lsh.query(sketch)) for sketch in sketches]))
    assert made[0] == made[1]


def test_threads_may_insert_query_and_remove_at_once(rng: random.Random) -> None:
    minhashes = near(rng, 80, num_perm=32)
    lsh = ours.MinHashLSH(num_perm=32, threshold=0.4)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(5):
                for i, minhash in enumerate(minhashes):
                    lsh.insert((number, turn, i), minhash)
                    assert (number, turn, i) in lsh.query(minhash)
                for i in range(0, len(minhashes), 2):
                    lsh.remove((number, turn, i))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(lsh.keys) == 4 * 5 * 40


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_does_not_wait_for_a_thread_of_its_parent() -> None:
    index = ours.MinHashLSH(0.5)
    taken, end = threading.Event(), threading.Event()

    def hold() -> None:
        with index._changing.lock:
            taken.set()
            end.wait(60)

    holder = threading.Thread(target=hold, daemon=True)
    holder.start()
    taken.wait()
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(30)
            index.insert("a", ours.MinHash())
            os._exit(0 if "a" in index else 1)
        finally:
            os._exit(3)
    assert os.waitpid(child, 0)[1] == 0
    end.set()
    holder.join()
    assert "a" not in index
