"""MinHashLSHEnsemble against datasketch's."""

from __future__ import annotations

import pickle
import random
from typing import Any

import numpy as np
import pytest
from datasketch_helpers import assert_same_failure, both, ours, rng, theirs


def entries(rng: random.Random, number: int, most: int = 60) -> list[Any]:
    made = []
    for i in range(number):
        values = [f"{rng.randrange(80)}".encode() for _ in range(rng.randrange(1, most))]
        made.append((f"key{i}", both(values, num_perm=32)[0], len(set(values))))
    return made


@pytest.mark.parametrize("parts", [1, 2, 3, 8, 100])
@pytest.mark.parametrize("threshold", [0.3, 0.8])
def test_an_ensemble_answers_as_that_of_datasketch(
    parts: int, threshold: float, rng: random.Random
) -> None:
    sets = entries(rng, 60)
    arguments = {"threshold": threshold, "num_perm": 32, "num_part": parts, "m": 4}
    one, other = theirs.MinHashLSHEnsemble(**arguments), ours.MinHashLSHEnsemble(**arguments)
    assert np.array_equal(one.xqs, other.xqs) and np.array_equal(one.params, other.params)
    assert other.is_empty()
    one.index(list(sets))
    other.index(iter(sets))
    assert not other.is_empty()
    assert (one.lowers, one.uppers) == (other.lowers, other.uppers)
    for name in ("threshold", "h", "m"):
        assert getattr(one, name) == getattr(other, name)
    for key, minhash, size in sets:
        assert set(one.query(minhash, size)) == set(other.query(minhash, size))
        assert key in other
    assert "no" not in other
    copied = pickle.loads(pickle.dumps(other))
    assert set(copied.query(*sets[0][1:])) == set(other.query(*sets[0][1:]))


def test_partitions_are_those_of_datasketch(rng: random.Random) -> None:
    from datasketch.lshensemble_partition import optimal_partitions
    from twindex.datasketch._partitions import best_partitions

    for _ in range(60):
        sizes = np.array(sorted(rng.sample(range(1, 200), rng.randrange(1, 40))))
        counts = np.array([rng.choice([1, 1, 2, 50]) for _ in sizes])
        for parts in (1, 2, 3, 4, 7, 39, 40):
            expected = [tuple(map(int, p)) for p in optimal_partitions(sizes, counts, parts)]
            made = [tuple(map(int, p)) for p in best_partitions(sizes, counts, parts)]
            assert made == expected, (sizes, counts, parts)


def test_choices_of_shapes_are_those_of_datasketch() -> None:
    from datasketch.lshensemble import _optimal_param
    from twindex import _twindex

    rng = random.Random(11)
    for _ in range(60):
        threshold = round(rng.random(), rng.choice([1, 2]))
        num_perm = rng.choice([4, 16, 32, 48])
        share = rng.choice([0.5, 0.5, 0.0, 1.0, 0.2])
        xq = float(rng.choice(np.exp(np.linspace(-5, 5, 10))))
        arguments = threshold, num_perm, rng.randrange(2, 5), xq, share, 1.0 - share
        expected = _optimal_param(*arguments)
        assert _twindex.minhash_optimal_containment(*arguments) == expected, arguments


@pytest.mark.parametrize(
    "arguments",
    [
        {"threshold": 2.0},
        {"num_perm": 1},
        {"num_part": 0},
        {"m": 1},
        {"m": 200},
        {"weights": (0.4, 0.4)},
        {"weights": (2.0, -1.0)},
        {"num_perm": 2, "m": 2, "threshold": 1.0},
        {"num_perm": 16, "m": 2, "storage_config": {"type": "no"}},
    ],
    ids=repr,
)
def test_wrong_arguments_raise_the_same_exception(arguments: dict[str, Any]) -> None:
    assert_same_failure(lambda library: library.MinHashLSHEnsemble(**arguments))


def test_wrong_calls_raise_the_same_exception(rng: random.Random) -> None:
    sets = entries(rng, 4)

    def ensemble(library: Any) -> Any:
        return library.MinHashLSHEnsemble(num_perm=32, num_part=2, m=2)

    def twice(library: Any) -> None:
        made = ensemble(library)
        made.index(list(sets))
        made.index(list(sets))

    calls: list[Any] = [
        twice,
        lambda library: ensemble(library).index([]),
        lambda library: ensemble(library).index(iter([])),
        lambda library: ensemble(library).index(iter([("a", sets[0][1], 0)])),
        lambda library: ensemble(library).index([sets[0], sets[0]]),
    ]
    for call in calls:
        assert assert_same_failure(call) is ValueError


def test_a_file_is_refused_with_advice() -> None:
    with pytest.raises(ValueError, match="MinHashLSH"):
        ours.MinHashLSHEnsemble(storage_config={"type": "twindex", "path": "x.twx"})
