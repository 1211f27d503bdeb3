"""Long work: the GIL, Ctrl-C, progress, threads, fork, spawn."""

import itertools
import multiprocessing
import os
import pickle
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import twindex


def texts(count: int, words: int = 400) -> list[tuple[str, str]]:
    rng = random.Random(3)
    return [
        (f"d{number}", " ".join(str(rng.randrange(10_000)) for _ in range(words)))
        for number in range(count)
    ]


def test_a_python_thread_goes_on_while_rust_works(index: twindex.Index) -> None:
    rows = texts(3000)
    table = [(id, text * 20) for id, text in rows]
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    index.insert_many(table)
    took = time.perf_counter() - start
    done.set()
    thread.join()
    gaps = [later - earlier for earlier, later in zip(ticks, ticks[1:], strict=False)]
    assert took > 0.2, "too quick to tell"
    # Where the GIL were held, a gap would last as long as the work on a batch.
    assert len(ticks) > 20 * took and max(gaps) < took / 2


def interrupt_soon(seconds: float) -> threading.Timer:
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    return timer


def endless() -> Iterator[tuple[str, str]]:
    for number, (_, text) in enumerate(itertools.cycle(texts(200))):
        yield f"e{number}", f"{number} {text}"


def test_ctrl_c_ends_an_insertion_and_loses_nothing(path: Path) -> None:
    seen: list[int] = []
    with twindex.open(path) as index:
        interrupt_soon(1.0)
        with pytest.raises(KeyboardInterrupt) as raised:
            index.insert_many(endless(), progress=lambda done, _: seen.append(done))
        documents = len(index)
        assert documents >= seen[-1] > 0
        assert f"the documents before it are committed: {documents}" in raised.value.__notes__[0]
        assert index.check()
        interrupt_soon(0.5)
        with pytest.raises(KeyboardInterrupt), index.write() as txn:
            txn.insert_many(endless())
        assert len(index) == documents


def test_ctrl_c_ends_long_questions(path: Path) -> None:
    text = "the same text for all of them, which makes every document like every other"
    with twindex.open(path) as index:
        index.insert_many((f"d{n}", f"{text} {n % 50}") for n in range(20_000))
        interrupt_soon(0.3)
        with pytest.raises(KeyboardInterrupt):
            for _ in index.pairs(0.5):
                pass
        interrupt_soon(0.2)
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            while True:
                index.clusters(0.5, linkage="connected")
        assert time.monotonic() - start < 30
        assert index.check()


def test_ctrl_c_ends_the_wait_for_a_writer(index: twindex.Index, path: Path) -> None:
    began, end = threading.Event(), threading.Event()

    def hold() -> None:
        with index.write():
            began.set()
            end.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    began.wait()
    interrupt_soon(0.2)
    with pytest.raises(KeyboardInterrupt):
        index.insert("a", "text")
    end.set()
    holder.join()
    interrupt_soon(0.2)
    with pytest.raises(KeyboardInterrupt):
        twindex.open(path, wait=60.0)


def test_progress_is_told_and_its_exceptions_stop_the_work(index: twindex.Index) -> None:
    seen: list[tuple[int, int | None]] = []
    index.insert_many(texts(6000, 10), progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (6000, 6000)
    index.insert_many(iter([("one", "more")]), progress=lambda *told: seen.append(told))
    assert seen.pop() == (1, None)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)

    def stop(done: int, total: int | None) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        index.check(progress=stop)
    with pytest.raises(RuntimeError, match="enough"):
        index.insert_many([("new", "text")], progress=stop)
    with pytest.raises(RuntimeError, match="enough"):
        index.dedup([("other", "text of another")], progress=stop)
    assert "other" not in index


def test_threads_share_an_index(index: twindex.Index) -> None:
    failures: list[BaseException] = []

    def use(name: str) -> None:
        try:
            for number in range(40):
                text = f"{name} writes document {number} with words of its own {name * 3}"
                index.insert(f"{name}{number}", text)
                assert index.query(text)[0].similarity == 1.0
                with index.write() as txn:
                    txn.insert(f"{name}-again", text)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=use, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and len(index) == 4 * 41 and index.check()


def test_a_transaction_of_two_threads_at_once_is_refused_not_a_deadlock(
    index: twindex.Index,
) -> None:
    inside, end = threading.Event(), threading.Event()

    def rows() -> Iterator[tuple[str, str]]:
        yield "a", "text"
        inside.set()
        end.wait()

    with index.write() as txn:
        feeder = threading.Thread(target=txn.insert_many, args=(rows(),))
        feeder.start()
        inside.wait()
        with pytest.raises(twindex.BusyError, match="in use"):
            txn.remove("a")
        end.set()
        feeder.join()
    assert "a" in index


def child(index: twindex.Index, send: Any) -> None:
    told: list[object] = []
    for use in (lambda: len(index), lambda: index.insert("x", "y"), lambda: index.query("text")):
        try:
            use()
            told.append("used")
        except twindex.ForkError as error:
            told.append(str(error))
    sketcher = twindex.Sketcher()
    told.append(len(sketcher.sketch([f"text {n}" for n in range(9000)])))
    with twindex.open(index.path, "r") as mine:
        told.append(len(mine))
        assert mine.query(id="d0", scan=True, threshold=1e-6).recall > 0.99
    send.send(told)


def test_a_forked_child_is_told_and_can_open_the_index_itself(index: twindex.Index) -> None:
    index.insert_many(texts(5000, 10))
    receive, send = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=child, args=(index, send))
    process.start()
    assert receive.poll(60), "the child hangs"
    told = receive.recv()
    process.join(60)
    assert process.exitcode == 0
    for message in told[:3]:
        assert "before a fork" in message and "spawn" in message
    assert told[3:] == [9000, 5000]
    index.insert("still", "usable in the parent")
    assert index.check()


def length(path: str) -> int:
    with twindex.open(path, "r") as index:
        return len(index)


def test_spawned_workers_open_the_path(index: twindex.Index) -> None:
    index.insert_many(texts(10, 10))
    with pytest.raises(TypeError, match="send its path"):
        pickle.dumps(index)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(length, [pickle.loads(pickle.dumps(str(index.path)))] * 3) == [10] * 3


def test_an_interpreter_may_end_with_everything_open(path: Path) -> None:
    program = (
        "import sys, twindex\n"
        "index = twindex.open(sys.argv[1])\n"
        "index.insert_many((str(n), 'the same text') for n in range(5000))\n"
        "pairs = index.pairs(0.2); next(pairs)\n"
        "snapshot = index.snapshot(); txn = index.write(); txn.insert('x', 'y')\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=True, timeout=60)
    with twindex.open(path) as index:
        assert len(index) == 5000 and index.check()


def test_leaving_a_transaction_that_is_in_use_is_an_error_and_not_a_loss(
    index: twindex.Index,
) -> None:
    inside, end = threading.Event(), threading.Event()

    def rows() -> Iterator[tuple[str, str]]:
        yield "b", "text"
        inside.set()
        end.wait()

    txn = index.write()
    with pytest.raises(twindex.BusyError, match="in use"), txn:
        txn.insert("precious", "text")
        feeder = threading.Thread(target=txn.insert_many, args=(rows(),))
        feeder.start()
        inside.wait()
    end.set()
    feeder.join()
    txn.commit()
    assert "precious" in index and "b" in index


def test_closing_and_compacting_wait_for_calls_of_other_threads(path: Path) -> None:
    for round in range(10):
        index = twindex.open(path)
        index.insert_many(texts(200, 20))
        stop = threading.Event()
        failures: list[BaseException] = []

        def ask(index: twindex.Index = index, stop: threading.Event = stop) -> None:
            try:
                while not stop.is_set():
                    index.query("1 2 3 4 5 6 7 8 9")
            except twindex.ClosedError:
                pass
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=ask) for _ in range(2)]
        for thread in threads:
            thread.start()
        index.compact()
        index.close()
        assert index.closed and not failures
        stop.set()
        for thread in threads:
            thread.join()
        assert not failures, round


def test_calls_that_wait_for_an_index_learn_that_it_was_closed(path: Path) -> None:
    for _ in range(40):
        index = twindex.open(path)
        index.insert_many(texts(20, 20))
        closed: list[bool] = []

        def ask(index: twindex.Index = index, closed: list[bool] = closed) -> None:
            try:
                while True:
                    index.query("1 2 3 4 5 6 7 8 9")
            except twindex.ClosedError:
                closed.append(index.closed)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        index.compact()
        index.close()
        # Whoever looks has the interpreter, which those who wait need for their exceptions.
        while len(closed) < len(threads):
            assert index.closed
        for thread in threads:
            thread.join()


def test_a_call_may_use_the_index_that_another_thread_waits_for(path: Path) -> None:
    for wanted in ("compact", "close"):
        index = twindex.open(path)
        index.insert_many(texts(3000, 20))
        begun, answers = threading.Event(), []

        def take(index: twindex.Index = index, wanted: str = wanted) -> None:
            begun.set()  # noqa: B023
            getattr(index, wanted)()

        other = threading.Thread(target=take)

        def progress(done: int, total: int | None) -> None:
            if not begun.is_set():  # noqa: B023
                other.start()  # noqa: B023
                begun.wait()  # noqa: B023
            with pytest.raises(twindex.BusyError, match="has not ended"):
                while True:
                    # Until the other thread waits for this call.
                    index.write().abort()  # noqa: B023
            answers.append(len(index))  # noqa: B023
            with pytest.raises(twindex.BusyError, match="has not ended"):
                index.compact()  # noqa: B023

        assert index.check(progress=progress)
        assert answers and set(answers) == {3000}
        other.join(timeout=60)
        assert not other.is_alive()
        index.close()
        path.unlink()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_waits_for_no_thread(path: Path) -> None:
    index = twindex.open(path)
    index.insert_many(texts(3000, 20))
    statuses: list[int] = []

    def progress(done: int, total: int | None) -> None:
        if statuses:
            return
        child = os.fork()
        if child == 0:
            # Whether or not the compaction has the index for itself.
            signal.alarm(30)
            try:
                for call in (lambda: len(index), index.compact, index.close):
                    with pytest.raises(twindex.ForkError):
                        call()
                os._exit(0)
            finally:
                os._exit(1)
        statuses.append(os.waitpid(child, 0)[1])

    index.compact(progress=progress)
    assert statuses == [0]
    index.close()


def test_a_call_cannot_close_the_index_that_it_uses(index: twindex.Index, path: Path) -> None:
    index.insert_many(texts(3000, 20))
    copy = path.with_suffix(".copy")
    for close in (index.close, index.compact):
        for work in (
            index.check,
            index.clusters,
            lambda progress: index.backup(copy, progress=progress),
        ):
            copy.unlink(missing_ok=True)
            with pytest.raises(twindex.BusyError, match="has not ended"):
                work(progress=lambda done, total: close())  # noqa: B023
    index.close()


def test_ctrl_c_ends_a_list_of_pairs(path: Path) -> None:
    words = "the quick brown fox jumps over the lazy dog and then runs away into the dark forest "
    index = twindex.open(path, threshold=0.5)
    index.insert_many((str(k), f"{words}{words}{k}") for k in range(2500))
    start = time.perf_counter()
    all_of_them = len(list(index.pairs()))
    took = time.perf_counter() - start
    start = time.perf_counter()
    interrupt_soon(took / 10)
    with pytest.raises(KeyboardInterrupt):
        list(index.pairs())
    assert all_of_them > 1_000_000 and time.perf_counter() - start < took / 2
    index.close()


def test_other_threads_run_while_a_list_of_pairs_is_made(path: Path) -> None:
    words = "the quick brown fox jumps over the lazy dog and then runs away into the dark forest "
    index = twindex.open(path, threshold=0.5)
    index.insert_many((str(k), f"{words}{words}{k}") for k in range(1500))
    turns, ended = [time.perf_counter()], threading.Event()

    def take_turns() -> None:
        while not ended.wait(0.01):
            turns.append(time.perf_counter())

    thread = threading.Thread(target=take_turns)
    thread.start()
    start = time.perf_counter()
    pairs = len(list(index.pairs()))
    took = time.perf_counter() - start
    ended.set()
    thread.join()
    waits = [later - earlier for earlier, later in itertools.pairwise(turns)]
    assert pairs > 1_000_000 and max(waits) < took / 2
    index.close()


def test_closing_undoes_a_transaction_of_this_thread(path: Path) -> None:
    with pytest.raises(ZeroDivisionError), twindex.open(path) as index:
        txn = index.write()
        txn.insert("a", "text")
        raise ZeroDivisionError
    with pytest.raises(twindex.ClosedError):
        txn.commit()
    with twindex.open(path) as index:
        assert len(index) == 0


def test_what_feeds_an_index_cannot_write_to_it(index: twindex.Index) -> None:
    def rows() -> Iterator[tuple[str, str]]:
        yield "a", "text"
        index.insert("b", "text")

    with pytest.raises(twindex.BusyError, match="this thread has a write transaction"):
        index.insert_many(rows())
    assert list(index) == ["a"]


def test_an_exception_of_progress_loses_no_row(index: twindex.Index) -> None:
    rows = iter(texts(10_000, 3))

    def once(done: int, total: int | None) -> None:
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError):
        index.insert_many(rows, progress=once)
    assert len(index) + len(list(rows)) == 10_000
    other = twindex.open(index.path.with_name("other.twx"), store_text=True)
    other.insert("of the other", "text")
    with pytest.raises(RuntimeError):
        index.merge(other, progress=once)
    assert "of the other" not in index


def test_ctrl_c_ends_the_wait_of_a_rebuild(index: twindex.Index) -> None:
    interrupt_soon(0.3)
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        twindex.rebuild(index.path, threshold=0.5, wait=30.0)
    assert time.monotonic() - start < 10


def in_child(index: twindex.Index, send: Any) -> None:
    told = []
    for use in (index.close, index.flush, index.compact, index.write):
        try:
            use()
            told.append("used")
        except twindex.ForkError:
            told.append("fork")
    send.send(told)


def test_a_forked_child_waits_for_no_writer_of_its_parent(index: twindex.Index) -> None:
    receive, send = multiprocessing.Pipe(duplex=False)
    with index.write():
        process = multiprocessing.get_context("fork").Process(target=in_child, args=(index, send))
        process.start()
        assert receive.poll(60) and receive.recv() == ["fork"] * 4
        process.join(60)


def test_a_thread_that_uses_a_transaction_does_not_wait_for_itself(index: twindex.Index) -> None:
    with ThreadPoolExecutor(1) as pool:
        txn = pool.submit(index.write).result()
        txn.insert("b", "a text of some length")
        with pytest.raises(twindex.BusyError, match="this thread has a write transaction"):
            index.insert("c", "another text")
        waiting = pool.submit(index.insert, "d", "a third text")
        txn.commit()
        waiting.result(timeout=60)
    assert list(index.ids()) == ["b", "d"]


def test_a_transaction_waits_as_long_as_it_is_told(index: twindex.Index) -> None:
    begun, end = threading.Event(), threading.Event()

    def hold() -> None:
        with index.write() as txn:
            txn.insert("a", "text")
            begun.set()
            end.wait(60)

    holder = threading.Thread(target=hold)
    holder.start()
    begun.wait()
    for wait in (0, 0.2):
        start = time.perf_counter()
        with pytest.raises(twindex.BusyError, match="in time"):
            index.write(wait=wait)
        assert wait <= time.perf_counter() - start < wait + 5
    with pytest.raises(twindex.InvalidInputError, match="wait=-1"):
        index.write(wait=-1)
    end.set()
    with index.write(wait=60) as txn:
        assert "a" in txn
    holder.join()
    with index.write(wait=0):
        with pytest.raises(twindex.BusyError, match="this thread"):
            index.write(wait=0)


def test_whoever_prints_a_transaction_does_not_use_it(index: twindex.Index) -> None:
    with index.write() as txn:
        txn.insert("a", "text")
        shown: list[str] = []
        other = threading.Thread(target=lambda: shown.append(repr(txn)))
        other.start()
        other.join()
        assert "1 documents" in shown[0]
        # It would wait for itself if the other thread had taken the transaction over.
        with pytest.raises(twindex.BusyError, match="this thread"):
            index.insert("b", "text")


def test_ctrl_c_ends_a_compaction_that_waits_for_readers(path: Path) -> None:
    index = twindex.open(path, wait=60)
    index.insert_many(texts(2000, 20))
    reader = twindex.open(path, mode="r")
    snapshot = reader.snapshot()
    start = time.perf_counter()
    interrupt_soon(0.5)
    with pytest.raises(KeyboardInterrupt):
        index.compact()
    assert time.perf_counter() - start < 30
    assert len(snapshot) == 2000
    snapshot.close()
    reader.close()
    index.close()


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarm")
def test_a_signal_that_ends_a_wait_is_raised_at_once(path: Path) -> None:
    class Alarm(Exception):
        pass

    def handler(number: int, frame: object) -> None:
        holder.close()
        raise Alarm

    holder = twindex.open(path)
    before = signal.signal(signal.SIGALRM, handler)
    try:
        # The last attempt succeeds, as the handler has closed the file.
        with pytest.raises(Alarm):
            signal.setitimer(signal.ITIMER_REAL, 0.3)
            twindex.open(path, wait=60)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(twindex.NotFoundError):
        twindex.open(path.with_suffix(".none"), mode="w")
    twindex.open(path).close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_reads_no_stream_of_its_parent(path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    index = twindex.open(path, threshold=0.5)
    index.insert_many((str(number), "one and the same text") for number in range(300))
    stream = pa.RecordBatchReader.from_stream(index.pairs())
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(30)
            stream.read_all()
        except pa.ArrowException as error:
            os._exit(0 if "before a fork" in str(error) else 2)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert stream.read_all().num_rows == 300 * 299 // 2
    index.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("leaves", ["raises", "returns"])
def test_a_child_forked_while_rows_are_inserted_leaves_the_file_alone(
    path: Path, leaves: str
) -> None:
    program = (
        "import os, sys, twindex\n"
        "index = twindex.open(sys.argv[1])\n"
        "children = []\n"
        "def progress(done, total):\n"
        "    if not children:\n"
        "        child = os.fork()\n"
        "        if child == 0 and sys.argv[2] == 'raises': sys.exit(7)\n"
        "        children.append(child)\n"
        "rows = [(str(n), f'a text {n} of many words {n * n}') for n in range(30000)]\n"
        "try:\n"
        "    index.insert_many(rows, progress=progress, commit_every=5000)\n"
        "except twindex.ForkError:\n"
        "    sys.exit(7 if sys.argv[2] == 'returns' else 8)\n"
        "assert os.waitpid(children[0], 0)[1] == 7 << 8\n"
        "index.close()\n"
    )
    subprocess.run([sys.executable, "-c", program, str(path), leaves], check=True, timeout=120)
    with twindex.open(path) as index:
        assert len(index) == 30000 and index.check()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_child_forked_in_long_work_ends(index: twindex.Index) -> None:
    index.insert_many((str(n), f"a text {n} of many words {n * n}") for n in range(60000))
    children: list[int] = []

    def progress(done: int, total: int | None) -> None:
        if not children and done < (total or 0):
            children.append(os.fork())
            if children[0] == 0:
                signal.alarm(30)

    index.clusters(progress=progress)
    if not children:
        pytest.skip("the work ended before it was asked how far it is")
    if children[0] == 0:
        os._exit(2)
    assert os.waitpid(children[0], 0)[1] == 1 << 8


def test_a_transaction_waits_no_longer_for_a_compaction(path: Path) -> None:
    index = twindex.open(path, wait=60)
    index.insert_many(texts(2000, 20))
    reader = twindex.open(path, mode="r")
    snapshot = reader.snapshot()
    other = threading.Thread(target=index.compact)
    other.start()
    with pytest.raises(twindex.BusyError, match="in time"):
        while True:
            index.write(wait=0.05).abort()
    snapshot.close()
    reader.close()
    other.join()
    index.close()
