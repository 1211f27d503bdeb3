"""The stubs: strict, and those of the module that there is."""

import doctest
import subprocess
import sys
from pathlib import Path

import twindex

HERE = Path(__file__).parent


def run(*args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *args], capture_output=True, text=True, cwd=HERE.parent
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_package_and_its_tests_are_strictly_typed() -> None:
    files = [str(file) for file in HERE.glob("*.py")]
    run("mypy", "--strict", "-p", "twindex")
    run("mypy", "--strict", "--disable-error-code", "import-untyped", *files)


def test_the_stubs_are_those_of_the_module() -> None:
    allowed = str(HERE / "stubtest_allowlist.txt")
    run(
        "mypy.stubtest", "twindex", "--allowlist", allowed, "--ignore-unused-allowlist",
        "--mypy-config-file", "pyproject.toml",
    )  # fmt: skip


def test_the_examples_of_docstrings_run() -> None:
    names = {"twindex": twindex}
    of_module = doctest.testmod(twindex, extraglobs=names)
    assert of_module.failed == 0 and of_module.attempted >= 4
    for test in doctest.DocTestFinder().find(twindex.dedup, "dedup", globs=names):
        assert test.examples and doctest.DocTestRunner().run(test).failed == 0


def test_everything_public_has_a_docstring() -> None:
    for name in twindex.__all__:
        item = getattr(twindex, name)
        if name.startswith("__"):
            continue
        assert item.__doc__, name
        for member, value in vars(item).items() if isinstance(item, type) else ():
            assert member.startswith("_") or value.__doc__, f"{name}.{member}"
