"""Pickles and states, between both libraries and between processes."""

from __future__ import annotations

import copy
import io
import multiprocessing
import pickle
import random
from typing import Any

import numpy as np
import pytest
from datasketch_helpers import SCHEMES, assert_same, both, near, ours, rng, theirs, tokens


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_of_datasketch_are_read_as_ours(
    scheme: str, protocol: int, rng: random.Random
) -> None:
    one, other = both(tokens(rng, 20), scheme=scheme)
    made = {
        "minhash": one,
        "lean": theirs.LeanMinHash(one),
        "many": theirs.MinHash.bulk([[b"a"], [b"b"]], scheme=scheme),
    }
    read = ours.loads(pickle.dumps(made, protocol))
    assert type(read["minhash"]) is ours.MinHash and type(read["lean"]) is ours.LeanMinHash
    assert read["minhash"] == other and read["lean"] == ours.LeanMinHash(other)
    assert read["minhash"].hashfunc is getattr(ours, one.hashfunc.__name__)
    for minhash in (one, read["minhash"]):
        minhash.update_batch([b"more", b"values"])
    assert_same(one, read["minhash"])
    for a, b in zip(made["many"], read["many"], strict=True):
        assert_same(a, b)


@pytest.mark.parametrize("prepickle", [False, True])
def test_indexes_of_datasketch_are_read_as_ours(prepickle: bool, rng: random.Random) -> None:
    minhashes = near(rng, 20)
    lsh, forest = theirs.MinHashLSH(threshold=0.5, prepickle=prepickle), theirs.MinHashLSHForest()
    for key, minhash in enumerate(minhashes):
        lsh.insert(key, minhash)
        forest.add(key, minhash)
    forest.index()
    ensemble = theirs.MinHashLSHEnsemble(num_perm=128, num_part=2, m=2)
    ensemble.index([(key, minhash, 10 + key) for key, minhash in enumerate(minhashes)])
    weighted = theirs.WeightedMinHashGenerator(3).minhash([1, 2, 3])
    made = {"lsh": lsh, "forest": forest, "ensemble": ensemble, "weighted": weighted}
    read = ours.load(io.BytesIO(pickle.dumps(made)))
    assert type(read["lsh"]) is ours.MinHashLSH
    assert type(read["forest"]) is ours.MinHashLSHForest
    assert type(read["ensemble"]) is ours.MinHashLSHEnsemble
    assert type(read["weighted"]) is ours.WeightedMinHash
    for minhash in minhashes:
        assert set(read["lsh"].query(minhash)) == set(lsh.query(minhash))
        assert read["forest"].query(minhash, 3) == forest.query(minhash, 3)
        assert set(read["ensemble"].query(minhash, 12)) == set(ensemble.query(minhash, 12))
    assert read["lsh"].get_counts() == lsh.get_counts()
    with pytest.raises(ValueError, match="scheme"):
        read["lsh"].insert("x", ours.MinHash(scheme="legacy"))
    with pytest.raises(ValueError):
        read["lsh"].insert(0, minhashes[0])
    read["lsh"].remove(0)
    read["lsh"].insert("x", ours.MinHash())
    assert read["lsh"].query(ours.MinHash()) == ["x"]


def test_an_index_with_a_hash_function_is_read() -> None:
    import zlib

    lsh = theirs.MinHashLSH(hashfunc=zlib.compress)
    lsh.insert("a", theirs.MinHash())
    assert ours.loads(pickle.dumps(lsh)).query(ours.MinHash()) == ["a"]


def old_state(minhash: Any) -> dict[str, Any]:
    """What datasketch 1.x pickled: no scheme, and no mode of the GPU before 1.7."""
    names = ("seed", "num_perm", "hashfunc", "hashvalues", "permutations")
    return {name: getattr(minhash, name) for name in names}


def test_states_from_before_the_schemes_are_legacy(rng: random.Random) -> None:
    values = tokens(rng, 20)
    one, other = both(values, scheme="legacy")
    for source in (one, other):
        read = ours.MinHash.__new__(ours.MinHash)
        read.__setstate__(old_state(source))
        assert read.scheme == "legacy"
        assert_same(one, read)
        read.update_batch([b"more"])
        read.copy()
        assert_same(both([*values, b"more"], scheme="legacy")[0], read)


def test_indexes_from_before_the_schemes_are_read() -> None:
    lsh = theirs.MinHashLSH()
    lsh.insert("a", theirs.MinHash(scheme="legacy"))
    for name in ("_minhash_scheme", "_require_bytes_keys"):
        del lsh.__dict__[name]
    forest = theirs.MinHashLSHForest()
    del forest.__dict__["_minhash_scheme"]
    read, trees = ours.loads(pickle.dumps((lsh, forest)))
    assert read.query(ours.MinHash(scheme="legacy")) == ["a"]
    read.insert("b", ours.MinHash(scheme="legacy"))
    trees.add("a", ours.MinHash(scheme="legacy"))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_states_are_interchangeable(scheme: str, rng: random.Random) -> None:
    made = both(tokens(rng, 20), scheme=scheme)
    assert made[0].__getstate__().keys() == made[1].__getstate__().keys()
    for source, library in zip(made, (ours, theirs), strict=True):
        read = library.MinHash.__new__(library.MinHash)
        read.__setstate__(source.__getstate__())
        assert_same(source, read)
        read.update_batch([b"x"])
        read.update(b"y")
        read.merge(source)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_our_own_pickles_are_read(scheme: str, rng: random.Random) -> None:
    minhash = both(tokens(rng, 20), scheme=scheme)[1]
    for read in (pickle.loads(pickle.dumps(minhash)), ours.loads(pickle.dumps(minhash))):
        assert read == minhash and np.array_equal(read.permutations, minhash.permutations)
        read.update(b"x")
        assert read != minhash
    assert copy.copy(minhash) == copy.deepcopy(minhash) == minhash


def sketch(values: list[bytes]) -> Any:
    return ours.MinHash.bulk([values] * 100)[-1]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_compute_the_same(method: str, rng: random.Random) -> None:
    values = tokens(rng, 5000)
    # Threads run here before the fork, and are not there after it.
    expected = sketch(values)
    with multiprocessing.get_context(method).Pool(2) as pool:
        made = pool.map_async(sketch, [values] * 4).get(timeout=120)
    assert all(minhash == expected for minhash in made)
