"""Files that Spark writes and the workers read again: those of one partition, without a shuffle."""

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs
from pyspark.sql import DataFrame

from twindex.kernel.columns import Docs
from twindex.kernel.numbering import first_of, partition_of

_SCHEMES = {"s3a": "s3", "s3n": "s3"}
"""What pyarrow calls file systems that Spark calls otherwise."""

_SPARKS = re.compile(r"/part-(\d+)-[^/]*\.parquet$")
_SLICES = re.compile(r"/p=(\d+)/[^/]*\.parquet$")


def storage(url: str) -> tuple[fs.FileSystem, str]:
    """The file system of a URL, as Spark names it, and the path there."""
    scheme, _, rest = url.partition(":")
    if scheme in ("file", "dbfs"):
        # Databricks shows its file system as a folder.
        root = "/dbfs/" if scheme == "dbfs" else "/"
        return fs.LocalFileSystem(), root + rest.lstrip("/")
    host, _, path = rest.removeprefix("//").partition("/")
    found, root = fs.FileSystem.from_uri(f"{_SCHEMES.get(scheme, scheme)}://{host}/")
    return found, posixpath.join(root, path)


def _by_partition(names: Iterable[str], of: re.Pattern[str]) -> dict[int, list[str]]:
    """The names of files by the number that a pattern finds in them."""
    found: dict[int, list[str]] = {}
    for name in sorted(names):
        match = of.search(name)
        if match is not None:
            found.setdefault(int(match.group(1)), []).append(posixpath.basename(name))
    return found


@dataclass
class Sketches:
    """The sketches that were written with a file for each partition, in the order of the rows."""

    url: str
    columns: tuple[str, ...]
    files: dict[int, str] = field(repr=False)
    _open: dict[str, pq.ParquetFile] = field(default_factory=dict, repr=False, compare=False)
    _last: tuple[tuple[str, int], pa.Table] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def written(cls, url: str, frame: DataFrame, columns: tuple[str, ...]) -> "Sketches":
        """The sketches in a folder, which `frame` reads."""
        files = _by_partition(frame.inputFiles(), _SPARKS)
        several = [names for names in files.values() if len(names) > 1]
        if several or not files:
            raise RuntimeError(f"{url}: expected one file for each partition, got {several or 0}")
        made = cls(url, columns, {partition: names[0] for partition, names in files.items()})
        # Whoever cannot read a file where Spark has written it learns it here.
        made._opened(next(iter(made.files.values())))
        return made

    def lookup(self, docs: Docs) -> pa.Table:
        """The sketches of documents of one partition, whose numbers ascend."""
        partition = int(partition_of(docs[0]))
        rows, before, found = docs - first_of(partition), 0, []
        name = self.files[partition]
        opened = self._opened(name)
        for group in range(opened.num_row_groups):
            after = before + opened.metadata.row_group(group).num_rows
            first, last = np.searchsorted(rows, [before, after])
            if first < last:
                table = self._group(name, opened, group)
                found.append(table.take(pa.array(rows[first:last] - before)))
            before = after
        table = pa.concat_tables(found)
        if len(table) != len(docs):
            raise RuntimeError(f"{self.url} lacks rows of partition {partition}: was it changed?")
        return table

    def _opened(self, name: str) -> pq.ParquetFile:
        if name not in self._open:
            if len(self._open) >= 16:
                self._open.clear()
            where, path = storage(self.url)
            self._open[name] = pq.ParquetFile(posixpath.join(path, name), filesystem=where)
        return self._open[name]

    def _group(self, name: str, opened: pq.ParquetFile, group: int) -> pa.Table:
        if self._last is None or self._last[0] != (name, group):
            table = opened.read_row_group(group, columns=list(self.columns))
            self._last = ((name, group), table)
        return self._last[1]

    def __getstate__(self) -> dict[str, object]:
        return {
            "url": self.url,
            "columns": self.columns,
            "files": self.files,
            "_open": {},
            "_last": None,
        }


@dataclass
class Slices:
    """Rows about documents, written with a folder for each partition."""

    url: str
    files: dict[int, list[str]] = field(repr=False)
    _last: tuple[int, pa.Table | None] | None = field(default=None, repr=False, compare=False)
    _docs: tuple[int, Docs] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def written(cls, url: str, frame: DataFrame) -> "Slices":
        """The rows in a folder, which `frame` reads."""
        return cls(url, _by_partition(frame.inputFiles(), _SLICES))

    def of(self, partition: int) -> pa.Table | None:
        """The rows about the documents of one partition; `None` if there are none."""
        if self._last is None or self._last[0] != partition:
            where, path = storage(f"{self.url}/p={partition}")
            tables = [
                pq.ParquetFile(posixpath.join(path, name), filesystem=where).read()
                for name in self.files.get(partition, [])
            ]
            self._last = (partition, pa.concat_tables(tables) if tables else None)
        return self._last[1]

    def docs(self, partition: int) -> Docs:
        """The documents of a partition that there are rows about, ascending."""
        if self._docs is None or self._docs[0] != partition:
            table = self.of(partition)
            docs = np.zeros(0, np.int64) if table is None else table.column("doc").to_numpy()
            self._docs = (partition, np.sort(docs))
        return self._docs[1]

    def __getstate__(self) -> dict[str, object]:
        return {"url": self.url, "files": self.files, "_last": None, "_docs": None}
