"""The examples of README.md do what it says.

Each section is a program of its own, in an empty folder: the blocks of Python share their names,
and the shell blocks with `$ ` run the package's own command.
"""

import doctest
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

README = Path(__file__).parent.parent / "README.md"

#: What examples need beside twindex itself.
PACKAGES = ["numpy", "polars", "pyarrow", "tqdm"]


class Block(NamedTuple):
    language: str
    text: str
    #: The line of README.md on which the text begins, counted from 0.
    line: int


def sections() -> dict[str, list[Block]]:
    """The blocks of each section, by its title."""
    found: dict[str, list[Block]] = {}
    title, language, first = "", None, 0
    lines: list[str] = []
    for number, line in enumerate(README.read_text(encoding="utf-8").splitlines()):
        if language is not None:
            if line == "```":
                block = Block(language, "".join(lines), first)
                found.setdefault(title, []).append(block)
                language = None
            else:
                lines.append(line + "\n")
        elif line.startswith("```"):
            language, first, lines = line[3:], number + 1, []
        elif line.startswith("## "):
            title = line[3:]
    assert language is None, "a block of README.md does not end"
    return found


SECTIONS = sections()
RUN = [title for title, blocks in SECTIONS.items() if any(block[0] != "sh" for block in blocks)]


def test_every_block_is_run_or_known_not_to_be() -> None:
    languages = {block.language for blocks in SECTIONS.values() for block in blocks}
    assert languages == {"python", "console", "sh"}
    not_run = [title for title, blocks in SECTIONS.items() if "sh" in {b.language for b in blocks}]
    assert not_run == ["Install", "Performance"]
    for blocks in SECTIONS.values():
        for block in blocks:
            if block.language == "python":
                assert block.text.startswith(">>> "), f"line {block.line}: no prompt"


@pytest.mark.parametrize("title", RUN)
def test_section_of_readme(
    title: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = SECTIONS[title]
    code = "".join(block.text for block in blocks)
    for package in PACKAGES:
        if re.search(rf"\b{package}\b", code):
            pytest.importorskip(package)
    if "twindex.datasketch" in code:
        pytest.importorskip("numpy")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:
        if block.language == "python":
            run_python(block, names)
        elif block.language == "console":
            run_console(block)


def run_python(block: Block, names: dict[str, object]) -> None:
    """Runs a block in the names that the blocks before have left."""
    test = doctest.DocTestParser().get_doctest(
        block.text, names, README.name, str(README), block.line
    )
    test.globs = names
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test, out=report.append, clear_globs=False)
    assert not report, "".join(report)


def run_console(block: Block) -> None:
    """Runs the commands of a block, and compares what they print."""
    for example in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, expected = example.split("\n", 1)
        python = shlex.quote(sys.executable)
        command = re.sub(r"^twindex\b", f"{python} -m twindex", command)
        done = subprocess.run(
            command, shell=True, text=True, capture_output=True, check=False, timeout=60
        )
        assert done.stdout + done.stderr == expected, command
        assert done.returncode == 0, command
