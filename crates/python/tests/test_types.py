"""The stubs: strict, and those of the module that there is."""

import subprocess
import sys
from pathlib import Path

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
