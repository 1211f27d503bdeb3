"""Faults change no answer: executors that are killed, tasks that fail, disks that are full."""

import faulthandler
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

pytest.importorskip("pyspark")

import pyspark  # noqa: E402
from cases import by_index, by_spark, crowded, long  # noqa: E402
from pyspark import TaskContext  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402

import twindex.spark  # noqa: E402
from twindex.spark import _deciding  # noqa: E402
from twindex.spark._run import Run  # noqa: E402

EXAMPLE = Path(__file__).parents[2] / "examples" / "spark_dedup.py"


def executors() -> dict[str, int]:
    """The processes of the executors that this process has started, by their ids in Spark."""
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

    found = {}
    for process, command in commands.items():
        words = command.decode(errors="replace").split("\0")
        if "--executor-id" in words and is_ours(process):
            found[words[words.index("--executor-id") + 1]] = process
    return found


def both_come_back() -> None:
    """Waits until there are two executors again."""
    for _ in range(60):
        if len(executors()) == 2:
            return
        time.sleep(1)
    raise AssertionError("the executors did not come back")


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
    done = threading.Event()
    killed: list[int] = []

    def kill() -> None:
        while not done.wait(3) and len(killed) < 3:
            running = list(executors().values())
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
    both_come_back()
    assert table([("a", "b")], 1).count() == 1


class Killer(threading.Thread):
    """Kills an executor in each of Spark's stages, while it has tasks there, until one is lost."""

    def __init__(self, spark: SparkSession) -> None:
        super().__init__()
        self.step = ""
        """The step of the run that is on, by the name of its folder."""
        self.hit: dict[int, str] = {}
        """The stages in which a task was lost, with their steps."""
        self._context: Any = spark.sparkContext
        self._done = threading.Event()
        self._killed: set[str] = set()

    def run(self) -> None:
        tracker, aimed = self._context.statusTracker(), dict[int, float]()
        while not self._done.wait(0.01):
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if stage in self.hit or info is None:
                    continue
                if info.numFailedTasks > 0:
                    self.hit[stage] = self.step
                # Spark needs some time to learn of a loss.
                elif info.numActiveTasks > 0 and time.monotonic() > aimed.get(stage, 0) + 1:
                    if self._kill_a_busy_one():
                        aimed[stage] = time.monotonic()

    def _kill_a_busy_one(self) -> bool:
        summaries = self._context._jsc.sc().statusStore().executorList(True)
        for at in range(summaries.length()):
            busy, running = summaries.apply(at), executors()
            name = busy.id()
            if busy.activeTasks() > 0 and name in running and name not in self._killed:
                self._killed.add(name)
                os.kill(running[name], signal.SIGKILL)
                return True
        return False

    def stop(self) -> None:
        self._done.set()
        self.join()


@long
def test_an_executor_killed_in_every_stage_changes_nothing(
    spark: SparkSession, table: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each stage waits for an executor that starts.
    faulthandler.dump_traceback_later(1800, exit=True, file=2)
    monkeypatch.setattr(_deciding, "_SMALL_OF_FEW", 8)
    rows = crowded(13)
    expected = by_index(rows)
    killer = Killer(spark)
    steps: list[str] = []
    store = Run.store

    def storing(run: Run, name: str, *rest: Any, **named: Any) -> Any:
        killer.step = name
        steps.append(name)
        return store(run, name, *rest, **named)

    monkeypatch.setattr(Run, "store", storing)
    df = table(rows, 4)
    killer.start()
    try:
        assert by_spark(df) == expected
    finally:
        killer.stop()
    missed = set(steps) - set(killer.hit.values())
    print(f"lost a task in {len(killer.hit)} stages; steps without a loss: {sorted(missed)}")
    # A step of few rows may end before its executor does.
    assert len(killer.hit) > 30 and len(missed) <= len(set(steps)) // 5
    both_come_back()


@pytest.mark.parametrize("fault", ["refused", pytest.param("killed", marks=long)])
def test_a_task_that_lacks_memory_is_tried_again(table: Any, fault: str) -> None:
    def hungry(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        context = TaskContext.get()
        assert context is not None
        for batch in batches:
            yield batch
            if context.attemptNumber() == 0 and fault == "refused":
                bytearray(1 << 60)
            elif context.attemptNumber() == 0:
                # As by a kernel that is short of memory.
                os.kill(os.getpid(), signal.SIGKILL)

    rows = crowded(14)
    df = table(rows, 3).mapInArrow(hungry, "id string, text string")
    assert by_spark(df) == by_index(rows)


@long
def test_a_task_that_lacks_memory_for_good_fails_the_run(table: Any, tmp_path: Path) -> None:
    def hungry(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield batch
            bytearray(1 << 60)

    df = table(crowded(15), 3).mapInArrow(hungry, "id string, text string")
    with pytest.raises(Exception, match="MemoryError"):
        twindex.spark.dedup(df, work=str(tmp_path))


def on_a_small_disk(folder: Path, command: list[Any]) -> list[Any]:
    """A command for which a folder is a disk of a megabyte."""
    mounted = 'mount -t tmpfs -o size=1m tmpfs "$1" && shift && exec "$@"'
    return ["unshare", "--mount", "--map-root-user", "sh", "-c", mounted, "sh", folder, *command]


@long
@pytest.mark.parametrize("full", ["local", "work"])
def test_a_full_disk_fails_the_run(tmp_path: Path, full: str) -> None:
    source, target, disk = (tmp_path / name for name in ("pages", "kept", "disk"))
    for folder in (source, disk):
        folder.mkdir()
    try:
        subprocess.run(on_a_small_disk(disk, ["true"]), check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as why:
        pytest.skip(f"no small disk can be mounted: {why}")
    rng = random.Random(16)
    texts = [" ".join(f"w{rng.randrange(5000)}" for _ in range(30)) for _ in range(30_000)]
    columns = {"id": [str(row) for row in range(len(texts))], "text": texts}
    pyarrow.parquet.write_table(pa.table(columns), source / "part-0.parquet")
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    command: list[Any] = [submit, "--master", "local[2]", "--conf", "spark.ui.enabled=false"]
    if full == "local":
        command += ["--conf", f"spark.local.dir={disk}"]
    command += [EXAMPLE, source, target, disk if full == "work" else tmp_path / "work"]
    env = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    command = on_a_small_disk(disk, command)
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    # What Python prints is the output of `spark-submit`, errors too.
    assert done.returncode != 0 and "No space left on device" in done.stdout
    assert " kept\n" not in done.stdout and not target.exists()
