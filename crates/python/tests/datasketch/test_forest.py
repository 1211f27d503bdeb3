"""MinHashLSHForest against datasketch's."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest
from datasketch_helpers import SCHEMES, assert_same_failure, near, ours, rng, theirs


def forests(minhashes: list[Any], **arguments: Any) -> tuple[Any, Any]:
    made = theirs.MinHashLSHForest(**arguments), ours.MinHashLSHForest(**arguments)
    for forest in made:
        assert forest.is_empty()
        for key, minhash in enumerate(minhashes):
            forest.add(key, minhash)
        assert forest.is_empty()
        forest.index()
    return made


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("num_perm", "trees"), [(128, 8), (64, 1), (60, 7), (4, 4)])
def test_a_forest_answers_as_that_of_datasketch(
    scheme: str, num_perm: int, trees: int, rng: random.Random
) -> None:
    minhashes = near(rng, 60, num_perm=num_perm, scheme=scheme)
    one, other = forests(minhashes, num_perm=num_perm, l=trees)
    for name in ("l", "k", "hashranges", "keys", "sorted_hashtables", "hashtables"):
        assert getattr(one, name) == getattr(other, name), name
    for key, minhash in enumerate(minhashes):
        for k in (1, 3, 10, 1000):
            assert one.query(minhash, k) == other.query(minhash, k)
        values = other.get_minhash_hashvalues(key)
        assert values.dtype == one.get_minhash_hashvalues(key).dtype
        assert np.array_equal(values, one.get_minhash_hashvalues(key))
        assert key in other
    assert not other.is_empty() and 1000 not in other


def test_keys_that_are_not_indexed_yet_are_not_found(rng: random.Random) -> None:
    minhashes = near(rng, 8)
    one, other = forests(minhashes[:4])
    for forest in (one, other):
        forest.add("late", minhashes[4])
    assert "late" not in other.query(minhashes[4], 10)
    for forest in (one, other):
        forest.index()
    assert set(one.query(minhashes[4], 10)) == set(other.query(minhashes[4], 10))


def test_weighted_minhashes_are_indexed() -> None:
    vectors = np.random.RandomState(1).randint(0, 5, (20, 30)) + 1
    made = []
    for library in (theirs, ours):
        generator = library.WeightedMinHashGenerator(30, sample_size=64)
        forest = library.WeightedMinHashLSHForest(num_perm=64)
        for key, vector in enumerate(vectors):
            forest.add(key, generator.minhash(vector))
        forest.index()
        made.append([forest.query(generator.minhash(vector), 4) for vector in vectors])
    assert made[0] == made[1]


def test_wrong_calls_raise_the_same_exception() -> None:
    def forest(library: Any) -> Any:
        made = library.MinHashLSHForest()
        made.add("a", library.MinHash())
        return made

    calls: list[Any] = [
        lambda library: library.MinHashLSHForest(num_perm=0),
        lambda library: library.MinHashLSHForest(l=0),
        lambda library: library.MinHashLSHForest(num_perm=4, l=8),
        lambda library: forest(library).add("a", library.MinHash()),
        lambda library: forest(library).add("b", library.MinHash(num_perm=64)),
        lambda library: forest(library).add("b", library.MinHash(scheme="legacy")),
        lambda library: forest(library).add([], library.MinHash()),
        lambda library: forest(library).query(library.MinHash(), 0),
        lambda library: forest(library).query(library.MinHash(num_perm=64), 1),
        lambda library: forest(library).query(library.MinHash(scheme="legacy"), 1),
        lambda library: forest(library).get_minhash_hashvalues("b"),
    ]
    for call in calls:
        assert_same_failure(call)


def test_damage_is_told() -> None:
    for damaged in ([b"x" * 7] * 8, [b"x" * 64] * 7 + [b"x"]):

        def work(library: Any, damaged: list[bytes] = damaged) -> None:
            forest = library.MinHashLSHForest()
            forest.keys["a"] = damaged
            forest.get_minhash_hashvalues("a")

        assert assert_same_failure(work) is ValueError


def test_pickles_and_copies_answer_the_same(rng: random.Random) -> None:
    minhashes = near(rng, 12)
    forest = forests(minhashes)[1]
    for copied in (pickle.loads(pickle.dumps(forest)), copy.deepcopy(forest)):
        assert copied.query(minhashes[0], 3) == forest.query(minhashes[0], 3)
        copied.add("new", minhashes[0])
    assert "new" not in forest
