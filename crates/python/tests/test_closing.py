"""Who waits for whom: closing, compacting, and progress functions that use indexes."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

import twindex


def filled(path: Path) -> twindex.Index:
    index = twindex.open(path)
    index.insert_many((f"d{number}", f"a text with the number {number}") for number in range(500))
    return index


@contextmanager
def beside(work: Callable[[Callable[[], None]], object]) -> Iterator[None]:
    """Another thread works, and waits for the end of the block when it calls what it is given."""
    begun, end = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        end.wait(60)

    thread = threading.Thread(target=work, args=(wait,))
    thread.start()
    assert begun.wait(60)
    try:
        yield
    finally:
        end.set()
        thread.join()


def checked(index: twindex.Index) -> AbstractContextManager[None]:
    """Another thread checks the index, and its progress function waits for the end of the block."""
    return beside(lambda wait: index.check(progress=lambda done, total: wait()))


def written(index: twindex.Index) -> AbstractContextManager[None]:
    """Another thread has a transaction until the end of the block."""

    def hold(wait: Callable[[], None]) -> None:
        with index.write() as txn:
            txn.insert("of another thread", "a text")
            wait()

    return beside(hold)


def interrupt_soon() -> None:
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()


def interrupt_when_closed(index: twindex.Index) -> None:
    def interrupt() -> None:
        while not index.closed:
            time.sleep(0.001)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()


def test_an_interrupted_close_has_closed_the_index(path: Path) -> None:
    index = filled(path)
    with checked(index):
        with pytest.raises(KeyboardInterrupt):
            interrupt_when_closed(index)
            index.close()
        assert index.closed
        with pytest.raises(twindex.ClosedError):
            index.query("a text with the number 7")
        index.close()
    # The call that ended last has closed the file.
    with twindex.open(path) as again:
        assert len(again) == 500


def test_a_close_that_waits_for_a_transaction_changes_nothing(path: Path) -> None:
    index = filled(path)
    seen: list[bool] = []
    with written(index):
        with pytest.raises(KeyboardInterrupt):
            interrupt_soon()
            index.close()
        seen.append(index.closed)
        assert len(index) == 500
    assert seen == [False] and len(index) == 501
    index.close()


def test_a_progress_function_may_wait_for_a_thread_that_asks(path: Path) -> None:
    index = filled(path)
    compaction = threading.Thread(target=index.compact)
    answers: list[int] = []

    def progress(done: int, total: int | None) -> None:
        if compaction.ident:
            return
        compaction.start()
        while "in use" not in repr(index):
            time.sleep(0.001)
        asker = threading.Thread(target=lambda: answers.append(len(index)))
        asker.start()
        asker.join(20)
        answers.append(-1)

    assert index.check(progress=progress)
    assert answers == [500, -1]
    compaction.join(60)
    assert not compaction.is_alive()
    index.close()


def of_each_other(tmp_path: Path, work: str, use: Callable[[twindex.Index], object]) -> int:
    """Two threads do long work on an index each, and use that of the other in their progress
    functions. Returns how many of them were refused."""
    indexes = [filled(tmp_path / f"{name}.twx") for name in "ab"]
    both = threading.Barrier(2)
    refused: list[str] = []

    def run(own: twindex.Index, other: twindex.Index) -> None:
        once = iter([True])

        def progress(done: int, total: int | None) -> None:
            if next(once, False):
                both.wait(60)
                use(other)

        try:
            getattr(own, work)(progress=progress)
        except twindex.BusyError as error:
            refused.append(str(error))

    pairs = [indexes, indexes[::-1]]
    threads = [threading.Thread(target=run, args=pair, daemon=True) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads), "they wait for each other"
    assert all("has not ended" in error for error in refused)
    for index in indexes:
        index.close()
    return len(refused)


@pytest.mark.parametrize("work", ["compact", "check"])
def test_two_indexes_compacted_in_each_others_progress_functions_are_busy(
    tmp_path: Path, work: str
) -> None:
    assert of_each_other(tmp_path, work, lambda index: index.compact())


def test_two_compactions_that_ask_each_others_index_are_busy(tmp_path: Path) -> None:
    assert of_each_other(tmp_path, "compact", len)


def test_two_compactions_that_write_to_each_others_index_are_busy(tmp_path: Path) -> None:
    assert of_each_other(tmp_path, "compact", lambda index: index.insert("a", "text"))


def test_checks_may_ask_each_others_index(tmp_path: Path) -> None:
    assert of_each_other(tmp_path, "check", len) == 0


def test_a_compaction_may_ask_an_index_that_nobody_compacts(tmp_path: Path) -> None:
    index, other = filled(tmp_path / "a.twx"), filled(tmp_path / "b.twx")
    lengths: list[int] = []
    index.compact(progress=lambda done, total: lengths.append(len(other)))
    assert lengths and set(lengths) == {500}
    index.close()
    other.close()


def test_a_thread_with_a_transaction_may_compact_another_index(tmp_path: Path) -> None:
    index, other = filled(tmp_path / "a.twx"), filled(tmp_path / "b.twx")
    done: list[str] = []

    def compact() -> None:
        with other.write():
            index.compact()
            done.append("compacted")

    compaction = threading.Thread(target=compact, daemon=True)

    def progress(now: int, total: int | None) -> None:
        if not compaction.ident:
            compaction.start()
            while "in use" not in repr(index):
                time.sleep(0.001)
            other.insert("a", "text")

    # The check waits for the transaction, and the transaction for the check.
    with pytest.raises(twindex.BusyError, match="has not ended"):
        index.check(progress=progress)
    compaction.join(20)
    assert done == ["compacted"]
    index.close()
    other.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_whoever_prints_an_index_in_a_forked_child_reads_what_is_true(path: Path) -> None:
    index, closed = filled(path), twindex.open(path.with_suffix(".other"))
    closed.close()
    txn = index.write()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, "\n".join(map(repr, (index, closed, txn))).encode())
        finally:
            # Whatever happens, the child must not go on with the tests.
            os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    told = os.read(read, 10_000).decode().split("\n")
    os.close(read)
    os.close(write)
    assert told[0] == f"<twindex.Index {path}: opened before a fork>"
    assert told[1].endswith(": closed>")
    assert told[2] == f"<twindex.Transaction {path}: begun before a fork>"
    txn.abort()
    assert repr(txn) == f"<twindex.Transaction {path}: ended>"
    index.close()
