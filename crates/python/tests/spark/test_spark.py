"""The answers on Spark are those of a single index."""

import os
import random
import signal
import subprocess
import sysconfig
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

pytest.importorskip("pyspark")

import pyspark  # noqa: E402
from pyspark import TaskContext  # noqa: E402
from pyspark.sql import DataFrame, SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

import twindex  # noqa: E402
import twindex.spark  # noqa: E402
from twindex.spark import _deciding  # noqa: E402

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


@long
def test_decisions_by_rounds_of_joins(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # Some rounds are decided by joins, and the last pairs at once.
    monkeypatch.setattr(_deciding, "AT_ONCE", 60)
    monkeypatch.setattr(_deciding, "_SMALL_OF_FEW", 8)
    rows = crowded(2)
    df = table(rows, 3)
    assert by_spark(df) == by_index(rows)
    assert components(df) == clusters_by_index(rows, "connected")


@long
def test_repartitioned_rows_in_an_order(table: Any) -> None:
    rows = crowded(3)
    mixed = [(place, id, text) for place, (id, text) in enumerate(rows)]
    random.Random(1).shuffle(mixed)
    df = table(mixed, 7, "place int, id string, text string").repartition(4)
    assert by_spark(df, order="place") == by_index(rows)
    assert by_spark(df, order=-F.col("place")) == by_index(rows[::-1])


def clusters_by_index(rows: Rows, linkage: Any, **settings: Any) -> dict[str, str]:
    with open_index(rows, **settings) as index:
        found = index.clusters(linkage=linkage)
        return {id: cluster.representative for cluster in found for id in cluster.members}


def components(df: DataFrame, linkage: Any = "connected", **settings: Any) -> dict[str, str]:
    rows = twindex.spark.clusters(df, linkage=linkage, **settings).collect()
    assert len({row.id for row in rows}) == len(rows)
    return {row.id: row.representative for row in rows}


class open_index:
    """An index of rows in a temporary folder."""

    def __init__(self, rows: Rows, exact: bool = False, **settings: Any) -> None:
        from tempfile import TemporaryDirectory

        self._folder = TemporaryDirectory()
        path = Path(self._folder.name) / "rows.twx"
        self._index = twindex.open(path, store_text=exact, **settings)
        self._index.insert_many(rows)

    def __enter__(self) -> twindex.Index:
        return self._index

    def __exit__(self, *_: object) -> None:
        self._index.close()
        self._folder.cleanup()


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


def test_shards_become_one_index(table: Any, tmp_path: Path) -> None:
    rows = [*crowded(5)[:200], ("d3", "the last text of this id counts"), ("e", "")]
    report: dict[str, int] = {}
    path = tmp_path / "built.twx"
    twindex.spark.build(table([*rows, (None, "x")], 5), path, store_text=True, report=report)
    assert report == {"rows": len(rows) + 1, "problems": 1}
    with open_index(rows, exact=True) as one, twindex.open(path, "r") as built:
        assert built.check().clean
        assert sorted(built.ids()) == sorted(one.ids())
        assert {(p.a, p.b, p.similarity) for p in built.pairs()} == {
            (p.a, p.b, p.similarity) for p in one.pairs()
        }
        assert built.text("d3") == "the last text of this id counts"
    with pytest.raises(twindex.ExistsError):
        twindex.spark.build(table(rows, 2), path)


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


def bad_rows(table: Any) -> DataFrame:
    rows = [("a", "a text of some length, said once"), (None, "a text without an id"),
            ("n", None), ("a", "another text of the same id"), ("e", ""),
            ("c", "a text of some length,  said once")]  # fmt: skip
    invalid = table([("i",)], 1, "id string").select("id", F.expr("cast(x'61ff62' as string) text"))
    return table(rows, 2).union(invalid)


def test_bad_rows_are_counted_and_shown(table: Any, caplog: pytest.LogCaptureFixture) -> None:
    report: dict[str, int] = {}
    df = bad_rows(table)
    kept = twindex.spark.dedup(df, report=report).collect()
    assert [row.id for row in kept] == ["a", "n", "a", "e"]
    expected = {
        "rows": 7, "empty": 2, "repeated ids": 1, "the id is null": 1,
        "the text is not valid UTF-8": 1,
    }  # fmt: skip
    assert report == expected
    assert "1 rows: the id is null" in caplog.text
    annotated = twindex.spark.dedup(df, annotate=True)
    found = annotated.select("id", "duplicate_of", "problem").collect()
    assert [(row.id, row.duplicate_of, row.problem) for row in found] == [
        ("a", None, None), (None, None, "the id is null"), ("n", None, None), ("a", None, None),
        ("e", None, None), ("c", "a", None), ("i", None, "the text is not valid UTF-8"),
    ]  # fmt: skip


@long
def test_ids_may_be_numbers(table: Any) -> None:
    rows = [(7, "a text of some length, said once"), (8, "a text of some length,  said once")]
    df = table(rows, 1, "n long, text string")
    annotated = twindex.spark.dedup(df, id="n", annotate=True).collect()
    assert [row.duplicate_of for row in annotated] == [None, "7"]


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
    with pytest.raises(ValueError, match="linkage='single'"):
        twindex.spark.clusters(df, linkage="single")  # type: ignore[arg-type]


def test_rows_may_come_in_another_order_but_not_change(table: Any, tmp_path: Path) -> None:
    rows = [*crowded(7)[:60], *crowded(7)[:20], ("d1", "other"), ("d1", "other")]
    change = tmp_path / "change"

    def changing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kind = change.read_text() if change.exists() else ""
        for batch in batches:
            places = list(range(len(batch)))
            if kind == "order":
                places.reverse()
            if kind == "rows":
                places = places[:-1]
            yield batch.take(places)

    df = table(rows, 2).mapInArrow(changing, "id string, text string")
    kept = twindex.spark.dedup(df)
    first = [row.id for row in kept.collect()]
    change.write_text("order")
    assert sorted(row.id for row in kept.collect()) == sorted(first)
    change.write_text("rows")
    with pytest.raises(Exception, match="the rows are others than those that were judged"):
        kept.collect()


def executors() -> list[int]:
    """The processes of the executors that this process has started."""
    parents, commands = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
                commands[int(entry.name)] = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])

    def is_ours(process: int | None) -> bool:
        while process is not None and process != os.getpid():
            process = parents.get(process)
        return process is not None

    return [
        process
        for process, command in commands.items()
        if b"CoarseGrainedExecutorBackend" in command and is_ours(process)
    ]


@long
def test_killed_tasks_and_executors_change_nothing(
    spark: SparkSession, table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_deciding, "_SMALL_OF_FEW", 8)
    rows = crowded(8)

    def failing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        for number, batch in enumerate(batches):
            yield batch
            if context.attemptNumber() == 0 and context.partitionId() % 2 == 0:
                raise RuntimeError(f"the first attempt fails after batch {number}")

    df = table(rows, 6).mapInArrow(failing, "id string, text string")
    done, killed = threading.Event(), []

    def kill() -> None:
        while not done.wait(3) and len(killed) < 3:
            running = executors()
            if running:
                killed.append(running[len(killed) % len(running)])
                os.kill(killed[-1], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        assert by_spark(df) == by_index(rows)
    finally:
        done.set()
        killer.join()
    assert killed
    # The executors come back.
    for _ in range(60):
        if len(executors()) == 2:
            break
        time.sleep(1)
    assert table([("a", "b")], 1).count() == 1


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
