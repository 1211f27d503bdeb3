"""The oracle of these tests is datasketch itself: without it, they are skipped."""

from __future__ import annotations

import random

import pytest

collect_ignore_glob: list[str] = []

try:
    # A name, because this folder passes for a package of no names.
    from datasketch import MinHash  # noqa: F401
except ImportError:
    collect_ignore_glob.append("test_*.py")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Random numbers whose seed is the test's name, so that a failure repeats."""
    return random.Random(request.node.nodeid)
