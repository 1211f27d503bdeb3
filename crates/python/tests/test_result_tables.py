"""Results in Parquet and Arrow: other programs read from them what the command prints."""

import datetime
import json
import os
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow
import pyarrow.parquet
import pytest
from test_formats import read, rich, run, texts, well, with_maps, write_parquet

COMMANDS = {
    "pairs": ("pairs", "x.twx"),
    "clusters": ("clusters", "x.twx"),
    "query": ("query", "x.twx", "asked.jsonl"),
    "list": ("list", "x.twx"),
    "export": ("export", "x.twx"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    rows = [json.dumps({"id": f"dö {n}", "text": text}) for n, text in enumerate(texts(300))]
    (folder / "given.jsonl").write_text("\n".join(rows))
    (folder / "asked.jsonl").write_text("\n".join(rows[:100]))
    well("add", "x.twx", "given.jsonl", cwd=folder)
    return folder


def exported(row: dict[str, Any]) -> dict[str, Any]:
    """A row of an export as the table has it."""
    lanes = bytes.fromhex(row.pop("signature"))
    code = row.pop("set_code", row["set_size"])
    row["signature"] = lanes + code.to_bytes(4, "little")
    row["inserted"] = datetime.datetime.fromtimestamp(row["inserted"], datetime.UTC)
    return row


def printed(command: str, folder: Path) -> list[dict[str, Any]]:
    """What the command prints as JSON."""
    lines = well(*COMMANDS[command], "--json", cwd=folder).splitlines()
    rows = [json.loads(line) for line in lines]
    return [exported(row) for row in rows[1:]] if command == "export" else rows


def same(found: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    """Compares rows. JSON has four decimals of a similarity."""
    assert len(found) == len(expected) > 0
    for row, wanted in zip(found, expected, strict=True):
        assert list(row) and set(row) == set(wanted)
        for name, value in wanted.items():
            close = isinstance(value, float)
            assert row[name] == (pytest.approx(value, abs=6e-5) if close else value), name


def read_by_duckdb(path: Path) -> list[dict[str, Any]]:
    relation: Any = duckdb.sql(f"SELECT * FROM '{path}'")
    rows: list[dict[str, Any]] = relation.to_arrow_table().to_pylist()
    return rows


@pytest.mark.parametrize("command", COMMANDS)
def test_parquet_is_read_by_pyarrow_duckdb_and_polars(command: str, folder: Path) -> None:
    path, expected = folder / f"{command}.parquet", printed(command, folder)
    well(*COMMANDS[command], "-o", path, cwd=folder)
    same(read(path).to_pylist(), expected)
    same(read_by_duckdb(path), expected)
    same(polars.read_parquet(path).to_dicts(), expected)


@pytest.mark.parametrize("ending", ["arrow", "feather", "arrows"])
@pytest.mark.parametrize("command", COMMANDS)
def test_arrow_is_read_by_pyarrow_and_polars(command: str, ending: str, folder: Path) -> None:
    path, expected = folder / f"{command}.{ending}", printed(command, folder)
    well(*COMMANDS[command], "-o", path, cwd=folder)
    same(read(path).to_pylist(), expected)
    opened: Any = polars.read_ipc_stream if ending == "arrows" else polars.read_ipc
    same(opened(path).to_dicts(), expected)


def test_kept_rows_of_every_type_are_read_by_polars_and_duckdb(tmp_path: Path) -> None:
    table = rich(200)
    write_parquet(table, tmp_path / "in.parquet")
    # Neither reads all types: no durations in Parquet, no decimals of 256 bits.
    more = with_maps(table).drop_columns(["wide", "span"])
    write_parquet(more, tmp_path / "more.parquet")
    for name, frame in (("in", table), ("more", more)):
        out = tmp_path / f"{name}.out.parquet"
        well("dedup", tmp_path / f"{name}.twx", tmp_path / f"{name}.parquet", "-o", out)
        kept = set(read(out)["id"].to_pylist())
        assert 0 < len(kept) < frame.num_rows
        given = read_by_duckdb(tmp_path / f"{name}.parquet")
        assert read_by_duckdb(out) == [row for row in given if row["id"] in kept]
        wanted = polars.read_parquet(tmp_path / f"{name}.parquet")
        wanted = wanted.filter(polars.col("id").is_in(kept))
        assert polars.read_parquet(out).equals(wanted)


def public_files() -> list[Path]:
    """Files of the project of Parquet that come with its packages."""
    home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    crate = home.glob("registry/src/*/parquet-*/tests/arrow_reader/*")
    old = (Path(pyarrow.__file__).parent / "tests/data/parquet").glob("*.parquet")
    return sorted(path for path in (*crate, *old) if path.suffix in (".bin", ".parquet"))


@pytest.mark.parametrize("given", public_files(), ids=lambda path: path.name)
def test_public_files_are_read_or_refused_in_one_line(given: Path, tmp_path: Path) -> None:
    content = given.read_bytes()
    if given.suffix == ".bin":
        # The bare footer of a bad file.
        content = b"PAR1" + content + len(content).to_bytes(4, "little") + b"PAR1"
    path = tmp_path / "a.parquet"
    path.write_bytes(content)
    try:
        table = pyarrow.parquet.ParquetFile(path).read()
    except (OSError, pyarrow.ArrowException):
        table = None
    strings = pyarrow.types.is_string, pyarrow.types.is_large_string, pyarrow.types.is_binary
    fields = [] if table is None else list(table.schema)
    texts = [field.name for field in fields if any(kind(field.type) for kind in strings)]
    field = texts[0] if texts else "text"
    done = run("add", "x.twx", path, "--text-field", field, "--json", cwd=tmp_path)
    if texts and done.returncode == 0:
        counts = json.loads(done.stderr.splitlines()[-1])
        assert table is not None and counts["added"] == table.num_rows, done
    else:
        said = [line for line in done.stderr.splitlines() if line.startswith("twindex: ")]
        assert done.returncode == 2 and len(said) == 1 and len(said[0]) < 400, done
