"""MinHash against datasketch's."""

from __future__ import annotations

import copy
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from datasketch_helpers import (
    SCHEMES,
    assert_same,
    assert_same_failure,
    both,
    ours,
    rng,
    theirs,
    tokens,
)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("num_perm", [1, 2, 31, 32, 33, 100, 128, 4096])
def test_hash_values_are_those_of_datasketch(
    scheme: str, num_perm: int, rng: random.Random
) -> None:
    for number in (0, 1, 2, 300):
        assert_same(*both(tokens(rng, number), num_perm=num_perm, scheme=scheme))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_length_of_a_value_is_padded_right(scheme: str) -> None:
    lengths = [*range(200), 16383, 32767, 32768, 32769, 40000, 1 << 20]
    for length in lengths:
        assert_same(*both([b"x" * length], num_perm=8, scheme=scheme))


@pytest.mark.parametrize("seed", [0, 1, 2, 12345, 2**32 - 1, np.int64(7), True])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_permutations_depend_on_the_seed_alone(scheme: str, seed: int) -> None:
    one, other = both([b"a", b"b"], num_perm=70, seed=seed, scheme=scheme)
    assert_same(one, other)
    assert np.array_equal(one.permutations, other.permutations)
    assert one.permutations.dtype == other.permutations.dtype


@pytest.mark.parametrize("scheme", SCHEMES)
def test_batches_that_are_shared_between_threads_are_the_same(
    scheme: str, rng: random.Random
) -> None:
    values = tokens(rng, 40_000)
    assert_same(*both(values, num_perm=64, scheme=scheme))
    big = [rng.randbytes(30_000) for _ in range(80)]
    assert_same(*both(big + values[:5000], num_perm=16, scheme=scheme))


@pytest.mark.parametrize(
    "values",
    [
        [],
        (),
        [b""],
        [b"a", b"a", b"a"],
        (b"a", b"b"),
        {b"a", b"b"},
        {b"a": 1},
        [bytearray(b"ab"), memoryview(b"cd"), np.array([1, 2, 3], dtype=np.uint8)],
        np.array([b"abc", b"d", b"ab\0c"]),
        np.array([b"abc", b"d"], dtype=object),
        np.arange(10),
        b"",
        [np.bytes_(b"x"), type("Bytes", (bytes,), {})(b"y")],
        [bytearray(50_000)],
    ],
    ids=repr,
)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_kind_of_value_is_taken(values: Any, scheme: str) -> None:
    made = theirs.MinHash(scheme=scheme), ours.MinHash(scheme=scheme)
    for minhash in made:
        minhash.update_batch(values)
    assert_same(*made)
    for minhash in made:
        minhash.update_batch(iter(values))
        for value in values:
            minhash.update(value)
    assert_same(*made)


@pytest.mark.parametrize("value", ["text", 5, None, 1.5, [b"a"], b"bytes"], ids=repr)
@pytest.mark.parametrize("method", ["update", "update_batch"])
def test_values_of_a_wrong_type_raise_what_hashlib_raises(value: Any, method: str) -> None:
    given = [b"fine", value] if method == "update_batch" else value
    if value == b"bytes":
        given = value if method == "update_batch" else [value]
    for scheme in SCHEMES:
        raised = assert_same_failure(
            lambda library, scheme=scheme: getattr(library.MinHash(scheme=scheme), method)(given)
        )
        assert raised is TypeError


def test_a_refused_value_leaves_the_sketch_as_it_was() -> None:
    minhash = ours.MinHash()
    before = minhash.hashvalues
    with pytest.raises(TypeError):
        minhash.update_batch([b"a"] * 30_000 + ["text"])
    assert minhash.hashvalues is before
    assert minhash.is_empty()


def test_an_iterable_may_update_the_sketch_meanwhile() -> None:
    made = theirs.MinHash(), ours.MinHash()
    for minhash in made:

        def values(minhash: Any = minhash) -> Any:
            minhash.update(b"inner")
            yield b"outer"

        minhash.update_batch(values())
    assert_same(*made)


def test_something_that_is_no_iterable_is_refused() -> None:
    for given in (None, 5):

        def work(library: Any, given: Any = given) -> None:
            library.MinHash().update_batch(given)

        assert assert_same_failure(work) is TypeError


def test_arrays_that_were_handed_out_never_change() -> None:
    minhash = ours.MinHash()
    handed = minhash.hashvalues
    minhash.update(b"a")
    assert np.all(handed == 2**32 - 1)
    handed = minhash.hashvalues
    kept = handed.copy()
    minhash.update_batch([b"b", b"c"])
    assert np.array_equal(handed, kept)
    minhash.hashvalues[0] = 0
    assert minhash.digest()[0] == 0


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("hashfunc", [lambda v: v, lambda v: int(v) ^ 7, np.uint32, hash])
def test_another_hash_function_is_called(scheme: str, hashfunc: Any) -> None:
    made = [library.MinHash(scheme=scheme, hashfunc=hashfunc) for library in (theirs, ours)]
    for minhash in made:
        minhash.update(5)
        minhash.update_batch([1, 2, 3, 2**31])
        minhash.update_batch([])
    assert_same(*made)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("value", [2**32, 2**64 - 1, 2**64, -1, 2**70, "x", None, [1, 2], 1.5])
@pytest.mark.parametrize("method", ["update", "update_batch"])
def test_hashes_out_of_range_are_treated_alike(scheme: str, value: Any, method: str) -> None:
    results = []
    for library in (theirs, ours):
        minhash = library.MinHash(num_perm=8, scheme=scheme, hashfunc=lambda v: v)
        try:
            getattr(minhash, method)([value] if method == "update_batch" else value)
            results.append(minhash.hashvalues.tolist())
        except Exception as error:
            results.append(type(error))
    assert results[0] == results[1]


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_default_hash_functions_of_datasketch_are_known(scheme: str, bits: int) -> None:
    name = f"sha1_hash{bits}"
    one = theirs.MinHash(scheme=scheme, hashfunc=getattr(theirs, name))
    for library in (ours, theirs):
        other = ours.MinHash(scheme=scheme, hashfunc=getattr(library, name))
        for minhash in (one, other):
            try:
                minhash.update_batch([b"abc", b"def"])
            except ValueError:
                assert (scheme, bits) == ("affine32", 64)
        assert_same(one, other)


def test_hash_functions_return_the_same_integers(rng: random.Random) -> None:
    for value in tokens(rng, 50):
        assert ours.sha1_hash32(value) == theirs.sha1_hash32(value)
        assert ours.sha1_hash64(value) == theirs.sha1_hash64(value)
    with pytest.raises(TypeError):
        ours.sha1_hash32("text")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "arguments",
    [
        {"num_perm": 0},
        {"num_perm": -1},
        {"num_perm": 2**32 + 1},
        {"seed": -1},
        {"seed": 2**32},
        {"seed": 1.5},
        {"seed": "1"},
        {"hashfunc": 5},
        {"scheme": "affine"},
        {"scheme": 5},
        {"hashvalues": [1, 2]},
        {"permutations": ([1], [2])},
        {"hashvalues": [], "scheme": "affine32"},
        {"hashvalues": [2**32], "scheme": "affine32"},
        {"hashvalues": np.array([2**32]), "scheme": "affine32"},
        {"hashvalues": [-1], "scheme": "affine64"},
        {"hashvalues": [2**64], "scheme": "affine64"},
        {"hashvalues": [2**64], "scheme": "legacy"},
        {"hashvalues": 5, "scheme": "legacy"},
        {"hashvalues": [1, 2], "permutations": ([1], [2]), "scheme": "affine32"},
        {"hashvalues": [1, 2], "permutations": ([1], [2]), "scheme": "legacy"},
        {"num_perm": 2, "permutations": ([1, 2], [3, 4]), "scheme": "affine32"},
        {"num_perm": 2, "permutations": ([1, 2**32 + 1], [3, 4]), "scheme": "affine32"},
        {"no_such": 1},
    ],
    ids=repr,
)
def test_wrong_arguments_raise_the_same_exception(arguments: dict[str, Any]) -> None:
    assert_same_failure(lambda library: library.MinHash(**arguments))


def test_a_seed_of_none_is_another_one_each_time() -> None:
    one, other = ours.MinHash(seed=None), ours.MinHash(seed=None)  # type: ignore[arg-type]
    assert not np.array_equal(one.permutations, other.permutations)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_given_hash_values_and_permutations_are_taken(scheme: str, rng: random.Random) -> None:
    one, _ = both(tokens(rng, 20), num_perm=40, scheme=scheme)
    for values in (one.hashvalues, one.hashvalues.tolist(), one.hashvalues.astype(object)):
        for permutations in (None, one.permutations, np.array(one.permutations)):
            made = [
                library.MinHash(hashvalues=values, permutations=permutations, scheme=scheme)
                for library in (theirs, ours)
            ]
            for minhash in made:
                minhash.update_batch([b"x", b"y"])
                minhash.update(b"z")
            assert_same(*made)
    if scheme != "legacy":
        lists = tuple(row.tolist() for row in one.permutations)
        made = [
            library.MinHash(num_perm=40, permutations=lists, scheme=scheme)
            for library in (theirs, ours)
        ]
        for minhash in made:
            minhash.update(b"x")
        assert_same(*made)


def test_a_deprecated_argument_warns() -> None:
    for library in (theirs, ours):
        with pytest.warns(DeprecationWarning):
            library.MinHash(hashobj=object())


def test_the_mode_of_the_gpu_is_kept_and_always_fails() -> None:
    made = [library.MinHash(gpu_mode="always") for library in (theirs, ours)]
    for minhash in made:
        minhash.update(b"one")
        minhash.update_batch([])
        with pytest.raises(RuntimeError):
            minhash.update_batch([b"two"])
    assert_same(*made)
    assert_same_failure(lambda library: library.MinHash.bulk([[b"a"]], gpu_mode="always"))
    assert ours.MinHash(gpu_mode="detect").copy()._gpu_mode == "detect"


@pytest.mark.parametrize("scheme", SCHEMES)
def test_estimates_are_the_same_numbers(scheme: str, rng: random.Random) -> None:
    values = tokens(rng, 100)
    one = both(values[:70], scheme=scheme)
    other = both(values[30:], scheme=scheme)
    empty = both([], scheme=scheme)
    assert one[0].jaccard(other[0]) == one[1].jaccard(other[1])
    assert type(one[1].jaccard(other[1])) is float
    for pair in (one, other, empty):
        assert pair[0].count() == pair[1].count()
        assert type(pair[0].count()) is type(pair[1].count())
        assert pair[0].is_empty() == pair[1].is_empty()
        assert len(pair[0]) == len(pair[1])
    # Sketches of both libraries compare with each other.
    assert one[1].jaccard(other[0]) == one[0].jaccard(other[1])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_merge_union_copy_and_clear_do_the_same(scheme: str, rng: random.Random) -> None:
    values = tokens(rng, 60)
    one, other = both(values[:40], scheme=scheme), both(values[20:], scheme=scheme)
    for library, a, b in zip((theirs, ours), one, other, strict=True):
        union = library.MinHash.union(a, b, a)
        assert type(union) is library.MinHash
        copied = a.copy()
        assert copied == a and copied is not a
        copied.merge(b)
        assert copied == union and copied != a
        assert np.array_equal(union.hashvalues, both(values, scheme=scheme)[0].hashvalues)
        copied.clear()
        assert copied.is_empty() and copied.hashvalues.dtype == a.hashvalues.dtype
        digest = a.digest()
        digest[0] = 0
        assert a.hashvalues[0] != 0
        assert a != 5
        assert copy.deepcopy(a) == a and copy.copy(a) == a


@pytest.mark.parametrize(
    "arguments", [{"scheme": "legacy"}, {"seed": 2}, {"num_perm": 64}], ids=repr
)
@pytest.mark.parametrize("method", ["jaccard", "merge", "union"])
def test_sketches_that_differ_are_not_compared(arguments: dict[str, Any], method: str) -> None:
    def work(library: Any) -> Any:
        one, other = library.MinHash(), library.MinHash(**arguments)
        if method == "union":
            return library.MinHash.union(one, other)
        return getattr(one, method)(other)

    assert assert_same_failure(work) is ValueError


def test_union_needs_two_sketches() -> None:
    assert_same_failure(lambda library: library.MinHash.union(library.MinHash()))
    assert_same_failure(lambda library: hash(library.MinHash()))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_bulk_and_generator_are_those_of_datasketch(scheme: str, rng: random.Random) -> None:
    documents = [tokens(rng, rng.choice([0, 1, 5, 200, 3000])) for _ in range(50)]
    arguments = {"num_perm": 48, "seed": 3, "scheme": scheme}
    expected = theirs.MinHash.bulk(documents, **arguments)
    for made in (
        ours.MinHash.bulk(documents, **arguments),
        ours.MinHash.bulk((iter(document) for document in documents), **arguments),
        list(ours.MinHash.generator(documents, **arguments)),
    ):
        assert len(made) == len(expected)
        for one, other in zip(expected, made, strict=True):
            assert_same(one, other)
            assert other.permutations is made[0].permutations
            assert one.__dict__.keys() == other.__dict__.keys()


def test_bulk_takes_documents_greater_than_a_batch(rng: random.Random) -> None:
    documents = [tokens(rng, n, 12) for n in (40_000, 3, 0, 20_000, 1, 70_000)] + [[b"x"]] * 3000
    expected = theirs.MinHash.bulk(documents, num_perm=16)
    made = ours.MinHash.bulk(documents, num_perm=16)
    assert len(made) == len(expected)
    for one, other in zip(expected, made, strict=True):
        assert_same(one, other)


def test_bulk_takes_each_document_before_the_next_one() -> None:
    def documents() -> Any:
        source = iter([b"a", b"b", b"c", b"d"])
        for _ in range(2):
            yield (next(source) for _ in range(2))

    expected = theirs.MinHash.bulk(documents())
    for one, other in zip(expected, ours.MinHash.bulk(documents()), strict=True):
        assert_same(one, other)


def test_bulk_with_another_hash_function_or_a_subclass_is_right() -> None:
    class Mine(ours.MinHash):
        def copy(self) -> ours.MinHash:
            copied = super().copy()
            copied.update(b"always")
            return copied

    one = Mine.bulk([[b"a"]])[0]
    assert_same(both([b"a", b"always"])[0], one)
    expected = theirs.MinHash.bulk([[1, 2]], hashfunc=lambda v: v)
    assert_same(expected[0], ours.MinHash.bulk([[1, 2]], hashfunc=lambda v: v)[0])
    initial = both([b"z"])[0]
    arguments = {"hashvalues": initial.hashvalues, "scheme": "affine32"}
    expected = theirs.MinHash.bulk([[b"a"], []], **arguments)
    for one, other in zip(expected, ours.MinHash.bulk([[b"a"], []], **arguments), strict=True):
        assert_same(one, other)


def test_bulk_raises_what_datasketch_raises() -> None:
    for documents in ([["text"]], [5], 5, [[b"a"], None]):
        assert_same_failure(lambda library, d=documents: library.MinHash.bulk(d))
    assert_same_failure(lambda library: library.MinHash.bulk([], num_perm=0))
    assert_same_failure(lambda library: library.MinHash.bulk([], no_such=1))


def test_a_generator_is_lazy() -> None:
    taken = []

    def documents() -> Any:
        for i in range(10):
            taken.append(i)
            yield [b"a"]

    generator = ours.MinHash.generator(documents(), num_perm=8)
    assert taken == []
    next(generator)
    assert taken == [0]


def test_numpy_is_needed_by_this_module_only() -> None:
    script = (
        "import sys; sys.modules['numpy'] = None\n"
        "import twindex\n"
        "try:\n    import twindex.datasketch\n"
        "except ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "pip install 'twindex[datasketch]'" in done.stdout, done.stderr
