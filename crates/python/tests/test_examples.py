"""The programs of `examples/` run with the real packages, and print what they should."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"

#: What each program needs, and what it prints.
PROGRAMS = {
    "duck_db.py": (
        ["duckdb", "pyarrow"],
        """\
without near duplicates:
  1: The ferry leaves at nine and at ...
  3: The museum is closed on Mondays,...
Inserted(added=5, replaced=0, unchanged=0, skipped=0)
pairs:
  1 and 2 (en): 0.73
  3 and 5 (en): 0.73
""",
    ),
    "hugging_face.py": (
        ["datasets"],
        """\
cake-2 is like cake-1: 0.79
fence-2 is like fence-1: 1.00
kept: ['cake-1', 'fence-1', 'bread-1']
kept of the shuffled rows: ['bread-1', 'cake-1', 'fence-1']
kept of the stream: 3 of 5
""",
    ),
    "many_processes.py": (
        [],
        """\
Inserted(added=500, replaced=0, unchanged=0, skipped=0)
article 3: ['article-3', 'article-4']
article 4: ['article-3', 'article-4']
article 5: ['article-5']
pairs: 100
""",
    ),
    "pandas_frame.py": (
        ["pandas", "pyarrow"],
        """\
Monday:
  101: new
  102: new
  103: like 101
Tuesday:
  104: like 101
  105: new
kept: [101, 102, 105]
ids: ['#1', '#2', '#3']
""",
    ),
    "polars_frame.py": (
        ["polars"],
        """\
rows: [('n2', True, None), ('n5', True, None), ('n3', True, None), ('n4', False, 'n2'), \
('n1', False, 'n2')]
kept: ['n2', 'n3', 'n5']
pairs: [('n1', 'n2', 0.73), ('n1', 'n4', 0.84), ('n2', 'n4', 0.62)]
clusters: [(0, 3, 'n1')]
""",
    ),
    "progress_bars.py": (
        ["tqdm"],
        """\
stopped: ['the documents before it are committed: 12288'] 12288 documents
Inserted(added=7712, replaced=0, unchanged=12288, skipped=0)
<CheckReport: clean, 20000 documents>
<10000 clusters of 20000 documents>
""",
    ),
}


#: Programs that need an engine. `tests/spark` runs the first.
ON_ENGINES = ["spark_dedup.py", "ray_data.py", "daft_frame.py"]


def test_every_example_is_run() -> None:
    programs = [*PROGRAMS, *ON_ENGINES]
    assert sorted(path.name for path in EXAMPLES.glob("*.py")) == sorted(programs)


@pytest.mark.parametrize(("name", "package"), [("ray_data.py", "ray"), ("daft_frame.py", "daft")])
def test_the_example_for_another_engine(name: str, package: str) -> None:
    pytest.importorskip(package)
    done = subprocess.run(
        [sys.executable, EXAMPLES / name], capture_output=True, text=True, timeout=200
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "200 similar pairs, 400 of 600 kept\nas a single index: True\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_example(name: str, tmp_path: Path) -> None:
    packages, expected = PROGRAMS[name]
    for package in packages:
        pytest.importorskip(package)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, EXAMPLES / name],
        cwd=tmp_path,
        env={"TMPDIR": str(temporary), "HOME": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == expected
    assert list(temporary.iterdir()) == [], "it leaves something behind"
