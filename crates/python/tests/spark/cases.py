"""What the tests on Spark share: rows, and what a single index says of them."""

import os
import random
import sysconfig
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from pyspark.sql import DataFrame

import twindex
import twindex.spark

long = pytest.mark.skipif(
    not os.environ.get("TWINDEX_LONG"), reason="takes long: set TWINDEX_LONG=1"
)

Rows = list[tuple[str, str]]
Verdicts = dict[str, tuple[str, float]]


@cache
def sources() -> Rows:
    """The files of Python's standard library. Its tables of characters are near copies."""
    library = Path(sysconfig.get_path("stdlib"))
    files = sorted([*library.glob("*.py"), *library.glob("encodings/*.py")])
    texts = [(str(file.relative_to(library)), file.read_text("utf-8")) for file in files]
    texts = [(name, text) for name, text in texts if len(text) < 60_000]
    assert len(texts) > 200
    return texts


def crowded(seed: int) -> Rows:
    """Texts of which many are near copies or copies of one."""
    rng = random.Random(seed)

    def words(count: int) -> list[str]:
        return [f"w{rng.randrange(5000)}" for _ in range(count)]

    crowd, rows = words(60), Rows()
    for row in range(250):
        text = list(crowd) if rng.random() < 0.4 else words(60)
        if rows and rng.random() < 0.2:
            text = rng.choice(rows)[1].split()
        for _ in range(rng.randrange(7)):
            text[rng.randrange(60)] = words(1)[0]
        rows.append((f"d{row}", " ".join(text)))
    return rows


def by_index(rows: Rows, **settings: Any) -> Verdicts:
    """What a single index says of rows: what those that are not kept are duplicates of."""
    found = twindex.dedup(rows, **settings).to_pylist()
    return {row["id"]: (row["duplicate_of"], row["similarity"]) for row in found if not row["keep"]}


def by_spark(df: DataFrame, **settings: Any) -> Verdicts:
    annotated = twindex.spark.dedup(df, annotate=True, **settings)
    assert annotated.columns == [*df.columns, "duplicate_of", "similarity", "problem"]
    found = annotated.where("duplicate_of is not null").collect()
    verdicts = {row.id: (row.duplicate_of, row.similarity) for row in found}
    assert len(verdicts) == len(found)
    return verdicts


class open_index:
    """An index of rows in a temporary folder."""

    def __init__(self, rows: Rows, exact: bool = False, **settings: Any) -> None:
        self._folder = TemporaryDirectory()
        path = Path(self._folder.name) / "rows.twx"
        self._index = twindex.open(path, store_text=exact, **settings)
        self._index.insert_many(rows)

    def __enter__(self) -> twindex.Index:
        return self._index

    def __exit__(self, *_: object) -> None:
        self._index.close()
        self._folder.cleanup()


def clusters_by_index(rows: Rows, linkage: Any, **settings: Any) -> dict[str, str]:
    with open_index(rows, **settings) as index:
        found = index.clusters(linkage=linkage)
        return {id: cluster.representative for cluster in found for id in cluster.members}
