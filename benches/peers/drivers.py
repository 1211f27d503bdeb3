#!/usr/bin/env python3
"""Indexes a sample with one peer, and tells time, memory and size as a line of JSON.

usage: drivers.py PEER SAMPLE.jsonl --threshold T [--command PATH]

run.py calls this in the environment where the peers are installed; README.md describes what each
peer is set to. A process measures one peer once, so that its peak memory is that peer's.

  documents                 documents indexed
  seconds                   from texts in memory to the index (incrededup: from a table on disk)
  peak, loaded              bytes of memory at most, and at most until indexing began: the library
                            and the texts
  disk                      bytes of the index, if it is on disk
  bands                     [bands, values in a band]
  queries, query_seconds    lance: texts asked for one after the other, and the time for all
  total_seconds, total_peak incrededup: of the whole run, which also finds all pairs
"""
import argparse
import contextlib
import json
import os
import re
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PERMS = 128
#: Bands of 8 values: what lance and incrededup have, and what the others are set to.
BANDS = 16
SEED = 42
#: Characters in a shingle.
WIDTH = 5
QUERIES = 2000
TOP = 10
CORES = os.cpu_count() or 1
#: The unit of ru_maxrss.
KIB = 1 if sys.platform == "darwin" else 1024

U64 = 2**64 - 1
#: Odd numbers with bits all over: 2^64 divided by the golden ratio, and a multiplier of splitmix.
GOLDEN, SPLITMIX = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9


def records(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            yield record["id"], record["text"]


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB


def size_of(folder):
    return sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())


@contextlib.contextmanager
def clock(told, key="seconds"):
    told.setdefault("loaded", peak())
    start = time.perf_counter()
    yield
    told[key] = time.perf_counter() - start


def pieces(texts, limit):
    """Cuts a list into runs of about so many characters: slices of its numbers."""
    begin, held = 0, 0
    for number, text in enumerate(texts, 1):
        held += len(text)
        if held >= limit or number == len(texts):
            yield slice(begin, number)
            begin, held = number, 0


def shingles(text):
    """The set of a text's shingles, one string each."""
    return {text[at : at + WIDTH] for at in range(max(1, len(text) - WIDTH + 1))}


# Peers in Python. Each gets ids, texts and the threshold, and fills in what it can tell.


def lance(ids, texts, threshold, told):
    import lance
    import pyarrow
    from lance.query import MinHashQuery

    with tempfile.TemporaryDirectory() as folder:
        data = lance.write_dataset(pyarrow.table({"id": ids, "text": texts}), f"{folder}/table")
        with clock(told):
            data.create_scalar_index("text", "MINHASHLSH")
        told["disk"] = size_of(f"{folder}/table/_indices")
        asked = texts[:: max(1, len(texts) // QUERIES)]
        with clock(told, "query_seconds"):
            for text in asked:
                query = MinHashQuery(column="text", text=text)
                data.to_table(columns=["id", "_distance"], nearest=query, limit=TOP)
    told["queries"] = len(asked)


def gaoya(ids, texts, threshold, told):
    from gaoya.minhash import MinHashStringIndex

    numbers = list(range(len(texts)))
    with clock(told):
        index = MinHashStringIndex(
            hash_size=32,
            jaccard_threshold=threshold,
            num_bands=BANDS,
            band_size=PERMS // BANDS,
            analyzer="char",
            ngram_range=(WIDTH, WIDTH),
            lowercase=False,
        )
        index.par_bulk_insert_docs(numbers, texts)
    told["bands"] = [BANDS, PERMS // BANDS]


def rensa(ids, texts, threshold, told):
    from rensa import RMinHash, RMinHashLSH

    with clock(told):
        index = RMinHashLSH(threshold=threshold, num_perm=PERMS, num_bands=BANDS)
        kept = []
        for number, text in enumerate(texts):
            minhash = RMinHash(num_perm=PERMS, seed=SEED)
            minhash.update(list(shingles(text)))
            index.insert(number, minhash)
            kept.append(minhash)
    told["bands"] = [BANDS, PERMS // BANDS]


def rensa_flat(ids, texts, threshold, told, digest="digest_matrix_from_flat_token_hashes"):
    import numpy
    from rensa import RMinHash, RMinHashLSH

    matrix_of = getattr(RMinHash, digest)
    one, square = numpy.uint64(GOLDEN), numpy.uint64(GOLDEN * GOLDEN & U64)
    mixer, half = numpy.uint64(SPLITMIX), numpy.uint64(32)

    def hashed(part):
        """A hash of every shingle, repeated ones too, and where each text's begin and end."""
        whole = [text.ljust(WIDTH, "\0") for text in part]
        raw = "".join(whole).encode("utf-32-le", "surrogatepass")
        code = numpy.frombuffer(raw, dtype="<u4").astype(numpy.uint64)
        # A polynomial of five characters, out of those of two and of four.
        two = code[:-1] * one + code[1:]
        five = (two[:-2] * square + two[2:])[:-1] * one + code[4:]
        five ^= five >> half
        five *= mixer
        five ^= five >> half
        ends = numpy.cumsum([len(text) for text in whole])
        keep = numpy.ones(len(five), dtype=bool)
        # Shingles that begin in one text and end in the next.
        for back in range(1, WIDTH):
            keep[ends[:-1] - back] = False
        lost = (WIDTH - 1) * numpy.arange(1, len(whole) + 1)
        rows = numpy.concatenate(([0], ends - lost)).astype(numpy.uint64)
        return five[keep], rows

    def digests(run):
        return matrix_of(*hashed(texts[run]), PERMS, SEED)

    with clock(told):
        index = RMinHashLSH(threshold=threshold, num_perm=PERMS, num_bands=BANDS)
        kept = []
        # What stays in a core's cache; larger runs are several times slower.
        runs = list(pieces(texts, 1 << 16))
        with ThreadPoolExecutor(CORES) as pool:
            for run, matrix in zip(runs, pool.map(digests, runs)):
                index.insert_matrix(matrix, run.start)
                kept.append(matrix)
    told["bands"] = [BANDS, PERMS // BANDS]


def rensa_rho(ids, texts, threshold, told):
    rensa_flat(ids, texts, threshold, told, "digest_matrix_from_flat_token_hashes_rho")


def dupekit(ids, texts, threshold, told):
    import pyarrow
    from dupekit import Transformation, transform

    batch = pyarrow.RecordBatch.from_pydict({"id": ids, "text": texts})
    steps = [
        Transformation.CleanText("text", "clean"),
        Transformation.MinHash("clean", "signature", PERMS, WIDTH, SEED),
        Transformation.MinHashLSH("signature", "buckets", BANDS),
        Transformation.SelectColumns(["id", "signature", "buckets"]),
    ]

    def transformed(run):
        return transform(batch.slice(run.start, run.stop - run.start), steps)

    with clock(told), ThreadPoolExecutor(CORES) as pool:
        made = list(pool.map(transformed, pieces(texts, 1 << 18)))
    told["documents"] = sum(part.num_rows for part in made)
    told["bands"] = [BANDS, PERMS // BANDS]


def datasketch(ids, texts, threshold, told):
    from datasketch import MinHash, MinHashLSH

    # Looks for the best bands, which takes as long for few texts as for many.
    index = MinHashLSH(threshold=threshold, num_perm=PERMS)
    with clock(told):
        kept = []
        sets = ([shingle.encode() for shingle in shingles(text)] for text in texts)
        for number, minhash in enumerate(MinHash.generator(sets, num_perm=PERMS, seed=SEED)):
            index.insert(number, minhash, check_duplication=False)
            kept.append(minhash)
    told["bands"] = [index.b, index.r]


LIBRARIES = {
    "lance": lance,
    "lance-default": lance,
    "gaoya": gaoya,
    "rensa": rensa,
    "rensa-flat": rensa_flat,
    "rensa-rho": rensa_rho,
    "dupekit": dupekit,
    "datasketch": datasketch,
}


def library(name, path, threshold):
    ids, texts = map(list, zip(*records(path)))
    told = {"documents": len(texts)}
    LIBRARIES[name](ids, texts, threshold, told)
    return {**told, "peak": peak()}


# A peer that is a command


def incrededup(path, threshold, command):
    """Fills a table of SQLite and runs the command on it, with the clock on the command only."""
    told = {"bands": [BANDS, PERMS // BANDS]}
    with tempfile.TemporaryDirectory() as folder:
        fill_table(f"{folder}/sample.sqlite", path)
        words = [command, "--sqlite", f"{folder}/sample.sqlite", "--data-dir", f"{folder}/data"]
        # All documents whatever their length; every run begins anew; results stay in its files.
        words += ["--min-content-len", "0", "--all", "--skip-db-write"]
        words += ["--threshold", str(threshold)]
        start = time.perf_counter()
        child = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder
        )
        last = ""
        for line in child.stdout:
            last = line.strip() or last
            indexed = re.search(r"Phase 1 complete: indexed (\d+) ", line)
            if indexed:
                told["seconds"] = time.perf_counter() - start
                told["documents"] = int(indexed[1])
                told["peak"] = peak_so_far(child.pid)
        _, status, usage = os.wait4(child.pid, 0)
        told["total_seconds"] = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0 or "seconds" not in told:
            raise SystemExit(f"incrededup failed ({child.returncode}): {last}")
        told["total_peak"] = usage.ru_maxrss * KIB
        told["peak"] = told["peak"] or told["total_peak"]
        told["disk"] = sum(file.stat().st_size for file in Path(folder).rglob("lsh.redb"))
    return told


def peak_so_far(pid):
    """Peak memory of a process that runs, where Linux tells it."""
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{pid}/status").read_text()
        return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) * 1024
    return None


def fill_table(database, path):
    with contextlib.closing(sqlite3.connect(database)) as connection:
        connection.execute(
            "create table documents (id text primary key, content text not null, "
            "content_len integer not null, filename text, is_parent integer)"
        )
        connection.execute("create index idx_documents_is_parent on documents (is_parent)")
        # Numbered ids come in the order of the table, which is the best case for the peer. It
        # leaves out texts of many short lines, and takes a line's end for a space otherwise.
        connection.executemany(
            "insert into documents values (?, ?, ?, ?, null)",
            (
                (str(uuid.UUID(int=number)), text.replace("\n", " "), len(text.encode()), name)
                for number, (name, text) in enumerate(records(path))
            ),
        )
        connection.commit()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("peer", choices=[*LIBRARIES, "incrededup"])
    parser.add_argument("sample", metavar="SAMPLE.jsonl")
    parser.add_argument("--threshold", type=float, required=True)
    parser.add_argument("--command", help="the command, of a peer that is one")
    args = parser.parse_args()
    if args.peer == "incrededup":
        told = incrededup(args.sample, args.threshold, args.command)
    else:
        told = library(args.peer, args.sample, args.threshold)
    print(json.dumps(told))


if __name__ == "__main__":
    main()
