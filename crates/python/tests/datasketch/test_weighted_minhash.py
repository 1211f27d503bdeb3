"""WeightedMinHash and its generator against datasketch's."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from datasketch_helpers import assert_same_failure, ours, theirs


def generators(*arguments: Any, **named: Any) -> tuple[Any, Any]:
    return (
        theirs.WeightedMinHashGenerator(*arguments, **named),
        ours.WeightedMinHashGenerator(*arguments, **named),
    )


def assert_same(one: Any, other: Any) -> None:
    assert one.seed == other.seed
    assert one.hashvalues.dtype == other.hashvalues.dtype
    assert np.array_equal(one.hashvalues, other.hashvalues)


@pytest.mark.parametrize("seed", [0, 1, 99])
@pytest.mark.parametrize("dim", [1, 2, 50, 5000])
def test_samples_are_those_of_datasketch(seed: int, dim: int) -> None:
    one, other = generators(dim, sample_size=32, seed=seed)
    for name in ("rs", "ln_cs", "betas", "dim", "sample_size", "seed"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    random = np.random.RandomState(seed)
    for density in (1.0, 0.5, 0.02):
        weights = random.gamma(1.0, 10.0, dim) * (random.uniform(size=dim) < density)
        weights[random.randint(dim)] = 3
        for vector in (weights, weights.astype(np.float32), weights.astype(int) + 1, list(weights)):
            assert_same(one.minhash(vector), other.minhash(vector))


@pytest.mark.parametrize("value", [1e30, 1e-30, float("inf"), -1.0, float("nan")])
def test_odd_weights_are_treated_alike(value: float) -> None:
    results = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for generator in generators(4, sample_size=8):
            try:
                results.append(generator.minhash([1.0, value, 0.0, 2.0]).hashvalues.tolist())
            except Exception as error:
                results.append(type(error))
    assert results[0] == results[1]


def test_a_vector_that_is_given_does_not_change() -> None:
    vector = np.array([0, 1, 2], dtype=np.float32)
    generators(3)[1].minhash(vector)
    assert vector.tolist() == [0, 1, 2]


def test_matrices_are_those_of_datasketch(monkeypatch: pytest.MonkeyPatch) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    # datasketch needs a method that the matrices of newer versions of SciPy have not.
    for kind in (sparse.csr_matrix, np.matrix):
        if not hasattr(kind, "getA1"):
            monkeypatch.setattr(kind, "getA1", lambda m: m.toarray().ravel(), raising=False)
    one, other = generators(40, sample_size=32)
    matrix = np.random.RandomState(1).randint(0, 3, (12, 40))
    matrix[3] = 0
    matrix[11] = 0
    kinds = [
        matrix,
        matrix.astype(np.float64) / 3,
        sparse.csr_matrix(matrix),
        sparse.csc_matrix(matrix),
        sparse.coo_matrix(matrix),
        np.zeros((3, 40)),
    ]
    for given in kinds:
        expected, made = one.minhash_many(given), other.minhash_many(given)
        assert len(expected) == len(made)
        for a, b in zip(expected, made, strict=True):
            assert (a is None) == (b is None)
            if a is not None:
                assert_same(a, b)


def test_wrong_calls_raise_the_same_exception() -> None:
    def generator(library: Any) -> Any:
        return library.WeightedMinHashGenerator(3, 8)

    calls: list[Any] = [
        lambda library: generator(library).minhash(5),
        lambda library: generator(library).minhash([1, 2]),
        lambda library: generator(library).minhash([0, 0, 0]),
        lambda library: generator(library).minhash("abc"),
        lambda library: generator(library).minhash_many([[1, 2, 3]]),
        lambda library: generator(library).minhash_many(np.ones(3)),
        lambda library: generator(library).minhash_many(np.ones((2, 2))),
        lambda library: library.WeightedMinHashGenerator(3, seed=-1),
        lambda library: (
            generator(library)
            .minhash([1, 2, 3])
            .jaccard(library.WeightedMinHash(2, np.zeros((8, 2))))
        ),
        lambda library: (
            generator(library)
            .minhash([1, 2, 3])
            .jaccard(library.WeightedMinHash(1, np.zeros((7, 2))))
        ),
        lambda library: hash(generator(library).minhash([1, 2, 3])),
    ]
    for call in calls:
        assert_same_failure(call)


def test_sketches_compare_copy_and_pickle() -> None:
    results = []
    for generator in generators(3, 64):
        one, other = generator.minhash([1, 3, 4]), generator.minhash([1, 3, 2])
        assert one == one.copy() == copy.deepcopy(one) == pickle.loads(pickle.dumps(one))
        assert one != other and one != 5 and len(one) == 64
        digest = one.digest()
        digest[:] = 0
        assert one.hashvalues.any()
        results.append((one.jaccard(other), one.jaccard(one)))
    assert results[0] == results[1]


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_a_matrix_of_numpy_is_rows_too() -> None:
    generator = ours.WeightedMinHashGenerator(4)
    rows = np.array([[1.0, 2.0, 0.0, 3.0], [0.0, 0.0, 1.0, 1.0]])
    made = zip(generator.minhash_many(np.matrix(rows)), generator.minhash_many(rows), strict=True)
    assert all(one == other for one, other in made)
