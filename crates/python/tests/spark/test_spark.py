"""The answers on Spark are those of a single index."""

import random
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
import pytest

pytest.importorskip("pyspark")

import pyspark  # noqa: E402
from cases import (  # noqa: E402
    by_index,
    by_spark,
    clusters_by_index,
    crowded,
    long,
    open_index,
    sources,
)
from pyspark.sql import DataFrame  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

import twindex  # noqa: E402
import twindex.spark  # noqa: E402
from twindex.spark import _deciding, _similar, _sketches  # noqa: E402
from twindex.spark._batches import Batches, Step  # noqa: E402
from twindex.spark._run import Run  # noqa: E402


@pytest.mark.parametrize(
    ("partitions", "exact"),
    [
        (64, False),
        (3, False),
        (5, True),
        pytest.param(1, False, marks=long),
        pytest.param(16, False, marks=long),
        pytest.param(1, True, marks=long),
        pytest.param(64, True, marks=long),
    ],
)
def test_real_files(table: Any, partitions: int, exact: bool) -> None:
    expected = by_index(sources(), threshold=0.6, exact=exact)
    assert len(expected) > 20
    df = table(sources(), partitions)
    assert by_spark(df, threshold=0.6, exact=exact) == expected


@pytest.mark.parametrize("exact", [False, pytest.param(True, marks=long)])
def test_crowds_and_kept_rows(table: Any, exact: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_deciding, "_SMALL_OF_FEW", 8)
    rows = crowded(1)
    expected = by_index(rows, exact=exact)
    df = table(rows, 5)
    assert by_spark(df, exact=exact) == expected
    kept = [row.id for row in twindex.spark.dedup(df, exact=exact).collect()]
    assert kept == [id for id, _ in rows if id not in expected]


def test_a_task_meets_hot_words_and_copies_in_pieces(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def holding_little(step: Step) -> Step:
        def limited(batches: Batches) -> Batches:
            limits = {"buckets": {"_HELD": 50, "_HOT": 10}, "copies": {"_HELD": 50}}
            with ExitStack() as stack:
                for name, values in limits.items():
                    module = import_module(f"twindex.kernel.{name}")
                    stack.enter_context(patch.multiple(module, **values))
                yield from step(batches)

        return limited

    meet = _similar._meet
    monkeypatch.setattr(_similar, "_meet", lambda taken: holding_little(meet(taken)))
    monkeypatch.setattr(_sketches, "_copies", holding_little(_sketches._copies))
    monkeypatch.setattr(_deciding, "_SMALL_OF_FEW", 8)
    rows = crowded(17)
    assert by_spark(table(rows, 16)) == by_index(rows)


def test_a_recall(table: Any) -> None:
    rows = crowded(10)
    expected = by_index(rows, recall=0.5)
    # Fewer bands miss some.
    assert expected != by_index(rows)
    assert by_spark(table(rows, 3), recall=0.5) == expected


@long
def test_decisions_by_rounds_of_joins(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Some rounds are decided by joins, and the last pairs at once.
    monkeypatch.setattr(_deciding, "AT_ONCE", 60)
    monkeypatch.setattr(_deciding, "_SMALL_OF_FEW", 8)
    rows = crowded(2)
    df = table(rows, 3)
    assert by_spark(df) == by_index(rows)
    assert components(df) == clusters_by_index(rows, "connected")


def test_who_is_removed_by_joins_waits_no_longer(
    table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Fewer than the pairs and the documents that wait, but more than these alone.
    monkeypatch.setattr(_deciding, "AT_ONCE", 200)
    monkeypatch.setattr(_deciding, "_SMALL_OF_FEW", 8)
    stages: list[str] = []
    store = Run.store

    def storing(run: Run, name: str, *rest: Any, **named: Any) -> Any:
        stages.append(name)
        return store(run, name, *rest, **named)

    monkeypatch.setattr(Run, "store", storing)
    # All are similar to the first, which they meet in the first round.
    words = [f"word{number}" for number in range(200)]
    rows = [(f"d{at}", " ".join([*words[:at], "other", *words[at + 1 :]])) for at in range(150)]
    assert by_spark(table(rows, 3)) == by_index(rows)
    assert "removed-1-0" in stages and "met-1" not in stages


@long
def test_repartitioned_rows_in_an_order(table: Any) -> None:
    rows = crowded(3)
    mixed = [(place, id, text) for place, (id, text) in enumerate(rows)]
    random.Random(1).shuffle(mixed)
    df = table(mixed, 7, "place int, id string, text string").repartition(4)
    assert by_spark(df, order="place") == by_index(rows)
    assert by_spark(df, order=-F.col("place")) == by_index(rows[::-1])


def components(df: DataFrame, linkage: Any = "connected", **settings: Any) -> dict[str, str]:
    rows = twindex.spark.clusters(df, linkage=linkage, **settings).collect()
    assert len({row.id for row in rows}) == len(rows)
    return {row.id: row.representative for row in rows}


@pytest.mark.parametrize("exact", [True, pytest.param(False, marks=long)])
def test_pairs_and_clusters(table: Any, exact: bool) -> None:
    rows = crowded(4)
    df = table(rows, 4)
    found = twindex.spark.pairs(df, threshold=0.7, exact=exact).collect()
    with open_index(rows, exact, threshold=0.7) as index:
        expected = {(p.a, p.b): (p.similarity, p.low, p.high) for p in index.pairs()}
    assert {(p.a, p.b): (p.similarity, p.low, p.high) for p in found} == expected
    assert len(found) == len(expected)
    for linkage in ("representative", "connected"):
        of_index = clusters_by_index(rows, linkage, exact=exact)
        assert components(df, linkage, exact=exact) == of_index


def test_signatures_and_settings(table: Any) -> None:
    rows = [*sources()[:30], ("empty", ""), ("short", "ab")]
    settings = {"lanes": 128, "shingle": "word:2", "seed": 5}
    sketcher = twindex.Sketcher(**settings)  # type: ignore[arg-type]
    found = twindex.spark.sketch(table(rows, 2), **settings).collect()
    assert [(row.id, bytes(row.signature)) for row in found] == [
        (id, sketcher.signature(text)) for id, text in rows
    ]


@pytest.mark.parametrize("on_conflict", ["replace", pytest.param("skip", marks=long)])
def test_shards_become_one_index(table: Any, tmp_path: Path, on_conflict: Any) -> None:
    rows = [*crowded(5)[:200], ("d3", "another text of this id"), ("e", ""), ("d4", "another")]
    # In one shard, and the same row in two.
    rows += [("d4", "another, in the same shard"), crowded(5)[7]]
    report: dict[str, int] = {}
    path = tmp_path / "built.twx"
    df = table(rows, 5)
    twindex.spark.build(
        df, path, store_text=True, on_conflict=on_conflict, report=report, threshold=0.7
    )
    with (
        open_index([], exact=True, threshold=0.7) as one,
        twindex.open(path, "r") as built,
    ):
        done = one.insert_many(rows, on_conflict=on_conflict)
        names = ("replaced", "unchanged", "skipped")
        expected = {name: getattr(done, name) for name in names}
        assert sum(expected.values()) == 4 and expected["unchanged"] == 1
        assert report == {"rows": len(rows), "problems": 0, **expected}
        assert built.check().clean
        assert sorted(built.ids()) == sorted(one.ids())
        assert {(p.a, p.b, p.similarity) for p in built.pairs()} == {
            (p.a, p.b, p.similarity) for p in one.pairs()
        }
        assert [built.text(id) for id in ("d3", "d4")] == [one.text(id) for id in ("d3", "d4")]
    with pytest.raises(twindex.ExistsError):
        twindex.spark.build(df, path)


def test_rows_against_an_index(table: Any, tmp_path: Path) -> None:
    rows = crowded(6)
    old, new = rows[:120], rows[120:]
    with open_index(old) as index:
        expected = {}
        for id, text in new:
            if match := index.query(text, limit=1):
                expected[id] = (match[0].id, match[0].similarity)
        annotated = twindex.spark.against(table(new, 3), index, annotate=True).collect()
        found = {r.id: (r.duplicate_of, r.similarity) for r in annotated if r.duplicate_of}
        assert found == expected and len(annotated) == len(new)
        index.backup(tmp_path / "old.twx")
        verdicts = twindex.dedup(new, against=[index]).to_pylist()
    # An incremental run: what is new, and not twice.
    left = twindex.spark.against(table(new, 3), tmp_path / "old.twx")
    kept = [row.id for row in twindex.spark.dedup(left).collect()]
    assert kept == [row["id"] for row in verdicts if row["keep"]]


def test_rows_without_ids_and_with_other_columns(table: Any, tmp_path: Path) -> None:
    texts = ["not found, try again later", "a text of some length, said once"]
    rows = [(n, [n, n + 1], {"k": n}, texts[n % 2]) for n in range(200)]
    df = table(rows, 3, "n long, list array<int>, map map<string, int>, `a text` string")
    work = str(tmp_path / "a b%20#")
    kept = twindex.spark.dedup(df, id=None, text="a text", work=work).collect()
    assert [(row.n, row.list, row.map) for row in kept] == [row[:3] for row in rows[:2]]
    assert twindex.spark.dedup(df.where("n < 0"), id="n", text="a text").collect() == []


def test_mistakes_are_told(table: Any, tmp_path: Path) -> None:
    df = table([("a", "text")], 1)
    with pytest.raises(ValueError, match="no column 'body': there are id, text"):
        twindex.spark.dedup(df, text="body")
    with pytest.raises(ValueError, match="column 'n' is of type double: expected a string"):
        twindex.spark.dedup(df.withColumn("n", F.lit(1.0)), text="n")
    with pytest.raises(ValueError, match="order: expected a column or an expression"):
        twindex.spark.dedup(df, order=F.col("id").desc())
    with pytest.raises(ValueError, match="annotate=True names documents by their ids"):
        twindex.spark.dedup(df, id=None, annotate=True)
    with pytest.raises(twindex.InvalidInputError, match="threshold"):
        twindex.spark.dedup(df, threshold=2)
    with pytest.raises(TypeError, match="unexpected keyword argument 'shingles'"):
        twindex.spark.dedup(df, shingles="word:3")
    again = df.withColumn("problem", F.lit("none"))
    with pytest.raises(ValueError, match="adds the column 'problem', which is there already"):
        twindex.spark.dedup(again, annotate=True)
    months = df.withColumn("months", F.expr("interval '1' month"))
    with pytest.raises(NotImplementedError, match="YearMonthIntervalType"):
        twindex.spark.dedup(months, work=f"file://{tmp_path}/work")
    assert not (tmp_path / "work").exists()
    with pytest.raises(ValueError, match="linkage='single'"):
        twindex.spark.clusters(df, linkage="single")  # type: ignore[arg-type]


def test_rows_may_come_in_another_order_but_not_change(table: Any, tmp_path: Path) -> None:
    rows = [*crowded(7)[:60], *crowded(7)[:20], ("d1", "other"), ("d1", "other")]
    rows.append(("only", "a text that is similar to nothing"))
    change = tmp_path / "change"

    def changing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kind = change.read_text() if change.exists() else ""
        for batch in batches:
            places = list(range(len(batch)))
            if kind == "order":
                places.reverse()
            if kind == "rows":
                places = places[:-1]
            if kind == "more":
                places.append(0)
            batch = batch.take(places)
            if kind == "texts":
                # Rows that were kept, and that have the text of another one now.
                texts = pc.if_else(pc.equal(batch.column("id"), "only"), "other", batch.column(1))
                batch = batch.set_column(1, "text", texts)
            yield batch

    df = table(rows, 2).mapInArrow(changing, "id string, text string")
    kept = twindex.spark.dedup(df)
    first = [row.id for row in kept.collect()]
    change.write_text("order")
    assert sorted(row.id for row in kept.collect()) == sorted(first)
    for other in ("rows", "more", "texts"):
        change.write_text(other)
        with pytest.raises(Exception, match="the rows are others than those that were judged"):
            kept.collect()


@long
def test_the_example_is_submitted_as_it_is(tmp_path: Path) -> None:
    rows = crowded(9)[:200]
    source, target = tmp_path / "pages", tmp_path / "kept"
    source.mkdir()
    columns = {"id": [id for id, _ in rows], "text": [text for _, text in rows]}
    pyarrow.parquet.write_table(pa.table(columns), source / "part-0.parquet")
    example = Path(__file__).parents[2] / "examples" / "spark_dedup.py"
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    options = ["spark.ui.enabled=false", "spark.sql.shuffle.partitions=2"]
    command = [submit, "--master", "local[2]"]
    for option in options:
        command += ["--conf", option]
    command.append(example)
    done = subprocess.run([*command, source, target], capture_output=True, text=True)
    kept = len(rows) - len(by_index(rows))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{len(rows)} rows, {kept} kept\n"
    assert pyarrow.parquet.read_table(target).num_rows == kept
