"""Parquet and Arrow in the command: what other programs write is read, and the other way round."""

import datetime
import decimal
import gzip
import json
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow
import pyarrow.compute
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest

COMMAND = shutil.which("twindex", path=str(Path(sys.executable).parent)) or "twindex"

METADATA = {
    b"huggingface": b'{"info": {"features": {"text": {"dtype": "string", "_type": "Value"}}}}',
    b"pandas": b'{"index_columns": [], "columns": [], "note": "caf\xc3\xa9"}',
    b"empty": b"",
}


def run(*args: object, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [COMMAND, *map(str, args)]
    done = subprocess.run(command, capture_output=True, timeout=120, **options)
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "panicked" not in err and "backtrace" not in err, err
    return subprocess.CompletedProcess(command, done.returncode, out, err)


def well(*args: object, **options: Any) -> str:
    done = run(*args, **options)
    assert done.returncode == 0, done
    return done.stdout


def listed(index: Path) -> list[str]:
    return well("list", index).splitlines()


def texts(count: int) -> list[str]:
    """Texts of which every third is a near copy of one before it."""
    rng = random.Random(11)
    made: list[str] = []
    for number in range(count):
        if number % 3 == 2:
            made.append(made[rng.randrange(number)] + ".")
        else:
            made.append(" ".join(f"wört{rng.randrange(9999)}" for _ in range(30)))
    return made


def rich(count: int) -> pyarrow.Table:
    """A table with an id, a text that may be null, and columns of all sorts of types."""
    numbers, string, hour = range(count), pyarrow.string(), datetime.timedelta(hours=1)
    pair = pyarrow.struct({"a": pyarrow.int8(), "text": pyarrow.list_(string)})
    moment = datetime.datetime(2024, 1, 2, 3, 4, 5, tzinfo=datetime.UTC)
    columns: dict[str, tuple[pyarrow.DataType, list[Any]]] = {
        "list": (pyarrow.list_(pyarrow.int64()), [list(range(n % 4)) for n in numbers]),
        "pair": (pair, [{"a": n % 100, "text": [str(n)]} if n % 5 else None for n in numbers]),
        "id": (string, [f"row {n}" for n in numbers]),
        "zoned": (pyarrow.timestamp("us", "Europe/Berlin"), [moment + n * hour for n in numbers]),
        "dec": (pyarrow.decimal128(20, 3), [decimal.Decimal(n) / 8 for n in numbers]),
        "bytes": (pyarrow.binary(), [bytes([n % 256, 0, 255]) for n in numbers]),
        "text": (string, [None if n % 50 == 7 else t for n, t in enumerate(texts(count))]),
        "flag": (pyarrow.bool_(), [n % 3 == 0 if n % 7 else None for n in numbers]),
        "real": (pyarrow.float32(), [n / 4 for n in numbers]),
        "größe": (pyarrow.uint16(), [n % 65536 for n in numbers]),
        "nothing": (string, [None] * count),
    }
    arrays = [pyarrow.array(values, kind) for kind, values in columns.values()]
    fields = [pyarrow.field(name, kind) for name, (kind, _) in columns.items()]
    fields[2] = fields[2].with_nullable(False).with_metadata({"note": "the key"})
    return pyarrow.table(arrays, schema=pyarrow.schema(fields, METADATA))


def with_maps(table: pyarrow.Table) -> pyarrow.Table:
    """The same with types that not every program reads."""
    count = table.num_rows
    kind = pyarrow.map_(pyarrow.string(), pyarrow.int32())
    more = {
        "map": pyarrow.array([[("k", n), ("l", None)] for n in range(count)], kind),
        "fixed": pyarrow.array([b"abcd"] * count, pyarrow.binary(4)),
        "sized": pyarrow.array([[n, 2] for n in range(count)], pyarrow.list_(pyarrow.int32(), 2)),
        "cat": pyarrow.array([str(n % 3) for n in range(count)]).dictionary_encode(),
        "view": pyarrow.array([f"a long enough view {n}" for n in range(count)], "string_view"),
        "time": pyarrow.array(list(range(count)), pyarrow.time64("ns")),
        "span": pyarrow.array(list(range(count)), pyarrow.duration("ms")),
        "wide": pyarrow.array(map(decimal.Decimal, range(count)), pyarrow.decimal256(60, 2)),
    }
    for name, column in more.items():
        table = table.append_column(name, column)
    return table


write_parquet = pyarrow.parquet.write_table


def write_file(table: pyarrow.Table, path: Path) -> None:
    pyarrow.feather.write_feather(table, str(path), compression="lz4", chunksize=41)


def write_stream(table: pyarrow.Table, path: Path) -> None:
    with pyarrow.ipc.new_stream(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=37)


WRITERS: dict[str, Callable[[pyarrow.Table, Path], object]] = {
    "parquet": write_parquet,
    "arrow": write_file,
    "arrows": write_stream,
}


def read(path: Path) -> pyarrow.Table:
    if path.suffix in (".parquet", ".pq"):
        return pyarrow.parquet.ParquetFile(path).read()
    opened = pyarrow.ipc.open_stream if path.suffix == ".arrows" else pyarrow.ipc.open_file
    return opened(str(path)).read_all()


def lines(table: pyarrow.Table, path: Path, text: str = "text", key: str = "id") -> Path:
    """Writes the same rows as JSON Lines."""
    ids, values = table[key].to_pylist(), table[text].to_pylist()
    rows = [json.dumps({"id": str(i), "text": v or ""}) + "\n" for i, v in zip(ids, values)]
    path.write_text("".join(rows))
    return path


def check_added(table: pyarrow.Table, path: Path, *options: str, **names: str) -> None:
    """Adds a file, and the same rows as JSON Lines: the ids and the texts are the same."""
    expected, found = path.with_suffix(".lines.twx"), path.with_suffix(".found.twx")
    well("add", expected, "--store-text", lines(table, path.with_suffix(".jsonl"), **names))
    well("add", found, "--store-text", path, *options)
    assert listed(found) == listed(expected)
    # The same texts are unchanged, and others would be replaced.
    again = run("add", found, "--json", path.with_suffix(".jsonl")).stderr
    assert json.loads(again.splitlines()[-1])["unchanged"] == table.num_rows, again


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "gzip", "lz4", "zstd"])
def test_parquet_of_pyarrow(compression: str, version: str, tmp_path: Path) -> None:
    table, path = rich(100), tmp_path / "a.parquet"
    write_parquet(table, path, compression=compression, data_page_version=version)
    check_added(table, path)


@pytest.mark.parametrize(
    "options",
    [
        {"row_group_size": 3},
        {"data_page_size": 64, "write_batch_size": 7, "use_dictionary": False},
        {"version": "1.0", "write_statistics": False, "store_schema": False},
        {"use_dictionary": False, "column_encoding": "DELTA_BYTE_ARRAY"},
        {"use_dictionary": False, "column_encoding": "DELTA_LENGTH_BYTE_ARRAY"},
        {"write_page_index": True, "write_page_checksum": True},
        {"dictionary_pagesize_limit": 100},
    ],
    ids=str,
)
def test_parquet_of_any_layout(options: dict[str, Any], tmp_path: Path) -> None:
    table, path = rich(300).select(["id", "text"]), tmp_path / "a.parquet"
    write_parquet(table, path, **options)
    check_added(table, path)


STRINGS = [
    pyarrow.string(),
    pyarrow.large_string(),
    pyarrow.string_view(),
    pyarrow.dictionary(pyarrow.int8(), pyarrow.string()),
    pyarrow.dictionary(pyarrow.uint32(), pyarrow.large_string()),
]


@pytest.mark.parametrize("kind", STRINGS, ids=str)
@pytest.mark.parametrize("ending", WRITERS)
def test_columns_of_every_type_of_string(kind: Any, ending: str, tmp_path: Path) -> None:
    table, path = rich(100).select(["id", "text", "flag"]), tmp_path / f"a.{ending}"
    for column in ("id", "text"):
        at = table.schema.get_field_index(column)
        table = table.set_column(at, column, table[column].cast(kind))
    WRITERS[ending](table, path)
    check_added(table, path)


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("kind", ["int8", "int16", "int32", "int64"])
def test_ids_are_numbers_of_any_width(kind: str, ending: str, tmp_path: Path) -> None:
    half = 2 ** (int(kind[3:]) - 1)
    for name, ends in ((kind, [-half, half - 1]), (f"u{kind}", [half, 2 * half - 1])):
        ids = pyarrow.array([0, 5, *ends, 17], name)
        table = pyarrow.table({"id": ids, "text": texts(len(ids))})
        path = tmp_path / f"{name}.{ending}"
        WRITERS[ending](table, path)
        check_added(table, path)


@pytest.mark.parametrize("ending", WRITERS)
def test_rows_without_ids_are_named_by_their_place(ending: str, tmp_path: Path) -> None:
    table, name = rich(200).select(["text"]), f"in.{ending}"
    WRITERS[ending](table, tmp_path / name)
    well("add", "i.twx", name, cwd=tmp_path)
    assert listed(tmp_path / "i.twx") == [f"{name}:{row}" for row in range(1, 201)]
    some = pyarrow.table({"id": ["x", None, "y"], "text": texts(3)})
    WRITERS[ending](some, tmp_path / name)
    well("add", "j.twx", name, cwd=tmp_path)
    assert listed(tmp_path / "j.twx") == ["x", f"{name}:2", "y"]
    assert run("add", "k.twx", "--id-field", "id", name, cwd=tmp_path).returncode == 2
    assert listed(tmp_path / "k.twx") == ["x", "y"]


@pytest.mark.parametrize("ending", WRITERS)
def test_any_column_may_be_named(ending: str, tmp_path: Path) -> None:
    made = rich(50)
    columns = {"größe 🦀": made["größe"], "a.b": made["text"], "text": made["bytes"]}
    table, path = pyarrow.table(columns), tmp_path / f"a.{ending}"
    WRITERS[ending](table, path)
    options = ("--text-field", "a.b", "--id-field", "größe 🦀")
    check_added(table, path, *options, text="a.b", key="größe 🦀")


@pytest.mark.parametrize("ending", WRITERS)
def test_all_types_and_no_rows(ending: str, tmp_path: Path) -> None:
    full = with_maps(rich(120))
    for number, table in enumerate((full, full.slice(0, 0), full.slice(7, 1))):
        path = tmp_path / f"{number}.{ending}"
        WRITERS[ending](table, path)
        check_added(table, path)


def test_what_polars_writes_is_read(tmp_path: Path) -> None:
    table = rich(100)
    frame: Any = polars.from_arrow(table)
    for compression in ("uncompressed", "snappy", "gzip", "lz4", "zstd"):
        path = tmp_path / f"{compression}.parquet"
        frame.write_parquet(path, compression=compression, row_group_size=30)
        check_added(table, path)
    for age in ("oldest", "newest"):
        level = getattr(polars.CompatLevel, age)()
        for compression in ("uncompressed", "lz4", "zstd"):
            for write in (frame.write_ipc, frame.write_ipc_stream):
                path = tmp_path / f"{age}{compression}{write.__name__}.arrow"
                write(path, compression=compression, compat_level=level)
                check_added(table, path)


@pytest.mark.parametrize("options", ["", ", PARQUET_VERSION v2", ", CODEC zstd", ", CODEC lz4_raw"])
def test_what_duckdb_writes_is_read(options: str, tmp_path: Path) -> None:
    table, path = rich(100), tmp_path / "a.parquet"
    duckdb.from_arrow(table).query("t", f"COPY t TO '{path}' (FORMAT parquet{options})")
    check_added(table, path)


def test_wrapped_and_piped_files_are_read(tmp_path: Path) -> None:
    table = rich(100)
    for ending, write in WRITERS.items():
        plain = tmp_path / f"a.{ending}"
        write(table, plain)
        content = plain.read_bytes()
        zstd = pyarrow.BufferOutputStream()
        with pyarrow.CompressedOutputStream(zstd, "zstd") as packer:
            packer.write(content)
        wrapped = {"gz": gzip.compress(content), "zst": zstd.getvalue().to_pybytes()}
        for suffix, packed in wrapped.items():
            path = tmp_path / f"b.{ending}.{suffix}"
            path.write_bytes(packed)
            check_added(table, path)
        for given in (content, *wrapped.values()):
            index = tmp_path / "piped.twx"
            well("add", index, "-", input=given)
            assert listed(index) == table["id"].to_pylist()
            index.unlink()


def kept_of(table: pyarrow.Table, place: Path) -> list[str]:
    """The ids that a run on the same rows as JSON Lines keeps."""
    named, out = lines(table, place / "same.jsonl"), place / "same.out.jsonl"
    well("dedup", place / "same.twx", named, "-o", out, "--removed", "/dev/null")
    ids = [json.loads(line)["id"] for line in out.read_text().splitlines()]
    assert ids == listed(place / "same.twx") and 0 < len(ids) < table.num_rows
    return ids


def metadata(of: Any, inner: bytes) -> dict[bytes, bytes]:
    return {key: value for key, value in (of.metadata or {}).items() if key != inner}


def check_kept(out: Path, table: pyarrow.Table, kept: list[str]) -> None:
    """A file has the kept rows, with the types, names, order and metadata of the table."""
    found = read(out)
    assert found.schema.equals(table.schema), found.schema
    assert metadata(found.schema, b"ARROW:schema") == (table.schema.metadata or {})
    for own, field in zip(found.schema, table.schema):
        assert metadata(own, b"PARQUET:field_id") == metadata(field, b"PARQUET:field_id"), own
    rows = [row for row, id in enumerate(table["id"].to_pylist()) if id in set(kept)]
    for name in table.column_names:
        values = table[name].to_pylist()
        assert found[name].to_pylist() == [values[row] for row in rows], name


@pytest.mark.parametrize("target", ["parquet", "pq", "arrow", "feather", "ipc"])
@pytest.mark.parametrize("ending", WRITERS)
def test_kept_rows_are_those_of_the_input(ending: str, target: str, tmp_path: Path) -> None:
    table, path, out = rich(300), tmp_path / f"in.{ending}", tmp_path / f"out.{target}"
    WRITERS[ending](table, path)
    kept = kept_of(table, tmp_path)
    well("dedup", "i.twx", path, "-o", out, "--batch", 40, cwd=tmp_path)
    assert listed(tmp_path / "i.twx") == kept
    check_kept(out, table, kept)
    expected = table.filter(pyarrow.compute.is_in(table["id"], pyarrow.array(kept)))
    # The other readers agree about both files.
    if target in ("parquet", "pq"):
        pyarrow.parquet.write_table(expected, tmp_path / "expected.parquet")
        # Zoned times as DuckDB gives them to Python need another package.
        query = "SELECT * REPLACE (epoch_us(zoned) AS zoned) FROM read_parquet($file)"
        for ask in (query, "DESCRIBE SELECT * FROM read_parquet($file)"):
            files = (out, tmp_path / "expected.parquet")
            rows = [duckdb.execute(ask, {"file": str(file)}).fetchall() for file in files]
            assert rows[0] == rows[1] and rows[0]
        frame = polars.read_parquet(out)
    else:
        frame = polars.read_ipc(out)
    wanted: Any = polars.from_arrow(expected)
    assert frame.schema == wanted.schema and frame.equals(wanted)
    assert not [left.name for left in tmp_path.iterdir() if ".part" in left.name]
    before = out.read_bytes()
    well("dedup", "i.twx", path, "-o", out, "--batch", 40, cwd=tmp_path)
    assert out.read_bytes() == before


@pytest.mark.parametrize("target", ["parquet", "arrow"])
@pytest.mark.parametrize("ending", WRITERS)
def test_kept_rows_have_every_type(ending: str, target: str, tmp_path: Path) -> None:
    table, path = with_maps(rich(200)), tmp_path / f"in.{ending}"
    WRITERS[ending](table, path)
    for number, rows in enumerate((table, table.slice(0, 0))):
        WRITERS[ending](rows, path)
        given = read(path)
        kept = kept_of(given, tmp_path) if given.num_rows else []
        out = tmp_path / f"{number}.{target}"
        well("dedup", tmp_path / f"{number}.twx", path, "-o", out)
        check_kept(out, given, kept)


def test_row_groups_small_and_large(tmp_path: Path) -> None:
    table = rich(2000)
    kept = kept_of(table, tmp_path)
    for rows in (1, 100, 2000):
        path, out = tmp_path / f"{rows}.parquet", tmp_path / f"{rows}.out.parquet"
        write_parquet(table, path, row_group_size=rows)
        well("dedup", tmp_path / f"{rows}.twx", path, "-o", out)
        check_kept(out, table, kept)


@pytest.mark.parametrize("target", ["parquet", "arrow"])
def test_files_may_have_other_categories(target: str, tmp_path: Path) -> None:
    table, out = rich(60).select(["id", "text"]), tmp_path / f"out.{target}"
    kept = kept_of(table, tmp_path)
    names = [f"{n}.parquet" for n in range(3)]
    for at, name in enumerate(names):
        category = pyarrow.array(["all", f"only {at}"] * 10).dictionary_encode()
        part = table.slice(at * 20, 20).append_column("category", category)
        write_parquet(part, tmp_path / name)
    well("dedup", "i.twx", *names, "-o", out, cwd=tmp_path)
    found = read(out)
    assert found["id"].to_pylist() == kept
    numbers = [int(id.split()[1]) for id in kept]
    expected = [f"only {n // 20}" if n % 2 else "all" for n in numbers]
    assert found["category"].to_pylist() == expected


def test_a_folder_names_rows_the_same_however_it_is_given(tmp_path: Path) -> None:
    table = rich(30).select(["text"])
    (tmp_path / "folder" / "data").mkdir(parents=True)
    names = [f"data/train-{n:05}-of-00003.parquet" for n in range(3)]
    for at, name in enumerate(names):
        write_parquet(table.slice(at * 10, 10), tmp_path / "folder" / name)
    expected = [f"folder/{name}:{row}" for name in names for row in range(1, 11)]
    for at, given in enumerate(("folder", "./folder", "folder/", tmp_path / "folder")):
        well("add", f"{at}.twx", given, cwd=tmp_path)
        assert listed(tmp_path / f"{at}.twx") == expected, given


def test_mistakes_are_one_clear_line(tmp_path: Path) -> None:
    table = rich(400)
    write_parquet(table, tmp_path / "good.parquet")
    write_file(table, tmp_path / "good.arrow")
    lines(table, tmp_path / "good.jsonl")
    lines(table, tmp_path / "lines.parquet")
    content = (tmp_path / "good.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(content[:-100])
    (tmp_path / "cut.arrow").write_bytes((tmp_path / "good.arrow").read_bytes()[:-100])
    (tmp_path / "hole.parquet").write_bytes(content[:9] + bytes(9999) + content[9 + 9999 :])
    write_parquet(table, tmp_path / "brotli.parquet", compression="brotli")
    out = ("-o", "o.parquet")
    for args, said in (
        (["add", "i.twx", "good.parquet", "--text-field", "none"], "no column `none`"),
        (["add", "i.twx", "good.arrow", "--id-field", "none"], "no column `none`"),
        (["add", "i.twx", "good.parquet", "--text-field", "list"], "is of type"),
        (["add", "i.twx", "good.arrow", "--id-field", "real"], "is of type"),
        (["add", "i.twx", "cut.parquet"], "incomplete Parquet"),
        (["add", "i.twx", "cut.arrow"], "cut short"),
        (["add", "i.twx", "hole.parquet"], "damaged"),
        (["add", "i.twx", "lines.parquet"], "is no Parquet"),
        (["add", "i.twx", "brotli.parquet"], "brotli"),
        (["dedup", "i.twx", "good.parquet", "-o", "o.jsonl"], ".parquet or .arrow"),
        (["dedup", "i.twx", "good.jsonl", *out], "give the output the extension"),
        (["dedup", "i.twx", "cut.parquet", *out], "incomplete Parquet"),
    ):
        done = run("--quiet", *args, cwd=tmp_path)
        assert done.returncode == 2 and done.stdout == "", (args, done)
        assert said.lower() in done.stderr.lower(), (args, done.stderr)
        assert done.stderr.count("\n") == 1 and len(done.stderr) < 400, (args, done.stderr)
    left = {file.name for file in tmp_path.iterdir() if ".part" in file.name}
    assert not left and not (tmp_path / "o.parquet").exists()


@pytest.mark.parametrize("target", ["parquet", "arrow"])
def test_a_killed_run_goes_on(target: str, tmp_path: Path) -> None:
    table = rich(6000)
    write_parquet(table, tmp_path / "in.parquet", row_group_size=500)
    kept = kept_of(table, tmp_path)
    command = ["dedup", "i.twx", "in.parquet", "-o", f"out.{target}", "--batch", "100", "-v"]
    for commits in (3, 20, 1):
        process = subprocess.Popen(
            [COMMAND, *command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, cwd=tmp_path
        )
        assert process.stderr
        while commits and process.poll() is None:
            commits -= b"committed" in process.stderr.readline()
        process.send_signal(signal.SIGKILL)
        assert process.wait(60) == -signal.SIGKILL
        assert not (tmp_path / f"out.{target}").exists()
    well(*command, cwd=tmp_path)
    check_kept(tmp_path / f"out.{target}", table, kept)
    assert listed(tmp_path / "i.twx") == kept
    assert not [left.name for left in tmp_path.iterdir() if ".part" in left.name]
