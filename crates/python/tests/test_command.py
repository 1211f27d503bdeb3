"""The command that the wheel brings."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import twindex

COMMAND = shutil.which("twindex", path=str(Path(sys.executable).parent)) or "twindex"


def run(*args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run([COMMAND, *args], capture_output=True, text=True, timeout=60, cwd=cwd)


def test_exit_statuses_are_those_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("one text\none text\nanother\n")
    assert run("--version").stdout == f"twindex {twindex.__version__}\n"
    assert run("--help").returncode == 0
    added = run("add", "i.twx", "--format", "lines", "in.txt", cwd=tmp_path)
    assert added.returncode == 0 and "added 3" in added.stderr, added
    found = run("query", "i.twx", "--text", "one text", cwd=tmp_path)
    assert found.returncode == 0 and found.stdout.count("\n") == 2
    assert run("query", "i.twx", "--text", "nothing like it", cwd=tmp_path).returncode == 1
    for wrong in (["frobnicate"], ["add"], ["info", "none.twx"], ["query", "--bad-flag"]):
        assert run(*wrong, cwd=tmp_path).returncode == 2, wrong
    with twindex.open(tmp_path / "i.twx", "r") as index:
        assert len(index) == 3


def test_the_module_is_the_command_too() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "twindex", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"twindex {twindex.__version__}\n"


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_commits_and_ends_it(ending: signal.Signals, tmp_path: Path) -> None:
    path = tmp_path / "i.twx"
    command = [COMMAND, "add", str(path), "--format", "lines", "--batch", "10", "-v", "-"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    assert process.stdin and process.stderr
    process.stdin.write(b"".join(b"line number %d of many\n" % n for n in range(5000)))
    process.stdin.flush()
    while b"committed" not in process.stderr.readline():
        assert process.poll() is None
    process.send_signal(ending)
    deadline = time.monotonic() + 20
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert process.poll() == 2, process.stderr.read()
    assert b"interrupted" in process.stderr.read().lower()
    with twindex.open(path) as index:
        assert len(index) >= 10 and index.check()


def test_a_closed_pipe_ends_it_well(tmp_path: Path) -> None:
    with twindex.open(tmp_path / "i.twx") as index:
        index.insert_many((f"{n}", f"text {n}") for n in range(50_000))
    read, write = os.pipe()
    process = subprocess.Popen([COMMAND, "list", str(tmp_path / "i.twx")], stdout=write)
    os.close(write)
    os.read(read, 10)
    os.close(read)
    assert process.wait(60) == 0
