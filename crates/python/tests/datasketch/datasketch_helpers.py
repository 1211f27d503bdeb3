"""What the tests of twindex.datasketch share. Their oracle is datasketch: they skip without it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import twindex.datasketch as ours

# A module of it, because the folder of these tests passes for a package without any.
pytest.importorskip("datasketch.minhash")
theirs: Any = pytest.importorskip("datasketch")

SCHEMES = ("affine32", "affine64", "legacy")
LIBRARIES = {"theirs": theirs, "ours": ours}


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Random numbers whose seed is the test's name, so that a failure repeats."""
    return random.Random(request.node.nodeid)


def tokens(rng: random.Random, number: int, most_bytes: int = 40) -> list[bytes]:
    return [rng.randbytes(rng.randrange(most_bytes)) for _ in range(number)]


def both(values: Iterable[bytes], **arguments: Any) -> tuple[Any, Any]:
    """The MinHash of datasketch and ours, of the same values."""
    made = theirs.MinHash(**arguments), ours.MinHash(**arguments)
    values = list(values)
    for minhash in made:
        minhash.update_batch(values)
    return made


def assert_same(one: Any, other: Any) -> None:
    """Checks that two sketches have the same state."""
    assert one.scheme == other.scheme
    assert one.seed == other.seed
    assert one.hashvalues.dtype == other.hashvalues.dtype
    assert np.array_equal(one.hashvalues, other.hashvalues)


def outcome(work: Callable[[], Any]) -> Any:
    """What the work returns, or the class of its exception."""
    try:
        return work()
    except Exception as error:
        return type(error)


def assert_same_failure(work: Callable[[Any], Any]) -> type[BaseException]:
    """Checks that both libraries raise the same class of exception, and returns it."""
    raised = outcome(lambda: work(theirs)), outcome(lambda: work(ours))
    assert isinstance(raised[0], type) and issubclass(raised[0], Exception), raised
    assert raised[0] is raised[1]
    return raised[0]


def near(rng: random.Random, number: int, **arguments: Any) -> list[Any]:
    """MinHashes of datasketch: groups of sets that share most of their elements."""
    made = []
    for group in range(number // 4 + 1):
        base = [f"{group}-{i}".encode() for i in range(60)]
        for _ in range(4):
            kept = [value for value in base if rng.random() < 0.93]
            made.append(both(kept, **arguments)[0])
    return made[:number]
