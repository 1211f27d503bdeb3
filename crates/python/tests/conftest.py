"""What the tests share."""

import random
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import twindex


# What starts the tests in the background may ignore Ctrl-C, and children would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def words(rng: random.Random, count: int) -> list[str]:
    return [f"w{rng.randrange(5000)}" for _ in range(count)]


def changed(rng: random.Random, text: list[str], changes: int) -> list[str]:
    copy = list(text)
    for _ in range(changes):
        copy[rng.randrange(len(copy))] = f"w{rng.randrange(5000)}"
    return copy


@pytest.fixture
def corpus() -> list[tuple[str, str]]:
    """Documents of which some are near copies of others."""
    rng = random.Random(7)
    documents: list[tuple[str, str]] = []
    for number in range(60):
        text = words(rng, 120)
        documents.append((f"d{number}", " ".join(text)))
        if number % 3 == 0:
            for copy in range(number % 4 + 1):
                near = changed(rng, text, copy * 4)
                documents.append((f"d{number}.{copy}", " ".join(near)))
    return documents


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.twx"


@pytest.fixture
def index(path: Path) -> Iterator[twindex.Index]:
    with twindex.open(path, store_text=True) as opened:
        yield opened


def shingles(text: str, width: int = 9) -> set[str]:
    return {text[at : at + width] for at in range(len(text) - width + 1)}


def jaccard(a: str, b: str) -> float:
    """The exact similarity by default settings, of texts that normalisation does not change."""
    of_a, of_b = shingles(a), shingles(b)
    return len(of_a & of_b) / len(of_a | of_b)
