"""LeanMinHash against datasketch's."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

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

ORDERS = ("@", "=", "<", ">", "!")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("num_perm", [1, 2, 3, 64, 128])
def test_serialized_bytes_are_those_of_datasketch(
    scheme: str, num_perm: int, rng: random.Random
) -> None:
    made = both(tokens(rng, 30), num_perm=num_perm, seed=2**32 - 1, scheme=scheme)
    one, other = theirs.LeanMinHash(made[0]), ours.LeanMinHash(made[1])
    for order in ORDERS:
        assert one.bytesize(order) == other.bytesize(order)
        written = []
        for lean in (one, other):
            buffer = bytearray(lean.bytesize(order) + 3)
            lean.serialize(buffer, order)
            written.append(bytes(buffer))
        assert written[0] == written[1]
        for buf in (written[0], bytearray(written[0]), memoryview(written[0])):
            read = ours.LeanMinHash.deserialize(buf, order)
            assert read == other
            assert type(read) is ours.LeanMinHash
            assert_same(theirs.LeanMinHash.deserialize(buf, order), read)
    assert one.__getstate__() == other.__getstate__()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_states_are_interchangeable(scheme: str, rng: random.Random) -> None:
    made = both(tokens(rng, 30), scheme=scheme)
    one, other = theirs.LeanMinHash(made[0]), ours.LeanMinHash(made[1])
    for source, library in ((one, ours), (other, theirs)):
        empty = library.LeanMinHash.__new__(library.LeanMinHash)
        empty.__setstate__(source.__getstate__())
        assert_same(empty, source)
    assert pickle.loads(pickle.dumps(other)) == other
    assert copy.deepcopy(other) == other


@pytest.mark.parametrize("scheme", SCHEMES)
def test_methods_do_the_same(scheme: str, rng: random.Random) -> None:
    values = tokens(rng, 60)
    first, second = both(values[:40], scheme=scheme), both(values[20:], scheme=scheme)
    results = []
    for library, a, b in zip((theirs, ours), first, second, strict=True):
        one, other = library.LeanMinHash(a), library.LeanMinHash(b)
        union = library.LeanMinHash.union(one, other)
        assert type(union) is library.LeanMinHash
        assert one != a and one == library.LeanMinHash(a)
        assert hash(one) == hash(library.LeanMinHash(a))
        assert type(one.copy()) is library.LeanMinHash and one.copy() == one
        jaccards = one.jaccard(other), one.jaccard(b), b.jaccard(one)
        one.merge(other)
        assert one == union
        numbers = len(one), one.count(), one.is_empty(), one.digest().tolist(), hash(one)
        one.clear()
        results.append((jaccards, numbers, one.is_empty(), sorted(one.__dict__)))
    assert results[0] == results[1]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"seed": 1},
        {"hashvalues": [1]},
        {"seed": 1, "hashvalues": [1]},
        {"seed": 1, "hashvalues": [], "scheme": "affine32"},
        {"seed": 1, "hashvalues": [1], "scheme": "no"},
        {"seed": 1, "hashvalues": [2**32], "scheme": "affine32"},
        {"seed": 1, "hashvalues": [-1], "scheme": "legacy"},
    ],
    ids=repr,
)
def test_wrong_arguments_raise_the_same_exception(arguments: dict[str, Any]) -> None:
    assert_same_failure(lambda library: library.LeanMinHash(**arguments))


def test_a_conflicting_scheme_is_refused() -> None:
    assert_same_failure(lambda library: library.LeanMinHash(library.MinHash(), scheme="legacy"))
    assert ours.LeanMinHash(ours.MinHash(), scheme="affine32").scheme == "affine32"


def test_an_update_fails_as_in_datasketch() -> None:
    def lean(library: Any) -> Any:
        return library.LeanMinHash(library.MinHash())

    assert assert_same_failure(lambda library: lean(library).update(b"a")) is TypeError
    assert assert_same_failure(lambda library: lean(library).update_batch([b"a"])) is AttributeError
    assert_same_failure(lambda library: library.LeanMinHash.bulk([[b"a"]]))
    lean(ours).update_batch([])


def test_bad_buffers_fail_as_in_datasketch() -> None:
    whole = ours.LeanMinHash(ours.MinHash(num_perm=4)).__getstate__()
    unknown = whole[:12] + b"\7" + whole[13:]
    for buffer in (b"", whole[:12], whole[:-1], unknown, "text", 5, b"\0" * 8 + b"\xff" * 4):
        assert_same_failure(lambda library, b=buffer: library.LeanMinHash.deserialize(b))

    def too_small(library: Any) -> None:
        library.LeanMinHash(library.MinHash()).serialize(bytearray(10))

    def too_great_a_seed(library: Any) -> None:
        lean = library.LeanMinHash(seed=2**63, hashvalues=[1], scheme="affine32")
        lean.serialize(bytearray(100))

    for work in (too_small, too_great_a_seed):
        assert_same_failure(work)


def test_the_bytes_of_a_sketch_without_values_are_legacy() -> None:
    for library in (theirs, ours):
        lean = library.LeanMinHash(seed=1, hashvalues=[], scheme="legacy")
        assert len(library.LeanMinHash.deserialize(lean.__getstate__())) == 0


def test_a_sketch_of_datasketch_is_taken() -> None:
    one, other = both([b"a", b"b"])
    assert ours.LeanMinHash(one) == ours.LeanMinHash(other)
    with pytest.raises(ValueError):
        ours.LeanMinHash.union(ours.LeanMinHash(other))
