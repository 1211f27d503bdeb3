#!/usr/bin/env python3
"""Times the Python package beside datasketch, rensa and twindex's own command.

usage: peers.py CORPUS.jsonl [--parts sketch,ingest,query] [--rounds N] [--json]
                [--sketched N] [--documents N] [--peer-documents N] [--command TWINDEX]
                [--index INDEX --scale BINARY] [--calls N]

CORPUS.jsonl holds one {"id": "...", "text": "..."} a line, each id once. In every round, all
contestants of a part run in turn, in another order each time. Figures are medians over rounds, and
a ratio is the median of the ratios of each round. All get the same texts, and make 128 values a
document unless a line says otherwise.

sketch   MinHash of datasketch, `twindex.datasketch` and rensa, from sets of 5-character shingles
         that are ready as bytes, of the first --sketched documents. The hash values of
         twindex.datasketch are compared with those of datasketch. "flat" is rensa's
         `digest_matrix_from_flat_token_hashes`; "hashes ready" leaves out hashing the shingles.
ingest   The first --documents documents into a new file: `index.insert_many` of a pyarrow table,
         of an iterable of pairs, and `twindex add` of the same documents as JSON Lines, timed as a
         whole process. Rensa's RMinHashLSH in memory gets --peer-documents from texts, with its
         shingles made in Python. Rates are MB of text a second.
query    --calls queries by signature, one after the other, of an index with 256 lanes, beside the
         library's own time for the same queries. INDEX and BINARY are of
         `cargo bench --bench scale -- ingest N --keep INDEX`, where BINARY is the program that
         cargo names `target/release/deps/scale-...`.

needs: pip install twindex[datasketch] pyarrow datasketch==2.0.0 rensa==0.5.0
"""

from __future__ import annotations

import argparse
import gc
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from array import array
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import twindex

#: Values of a MinHash, and lanes of the indexes beside rensa.
PERMS = 128

#: Bands of rensa: 16 of 8 values, which find 94.7 % of pairs at 0.8.
BANDS = 16

#: Documents that are asked about, and as many that no document is like: those of `scale`.
QUESTIONS = 2_000

#: A contestant does its work once and returns the seconds that count.
Contestant = Callable[[], float]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--parts", default="sketch,ingest,query")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print every time as JSON as well")
    parser.add_argument("--sketched", type=int, default=500)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--peer-documents", type=int, default=20_000)
    parser.add_argument("--command", default=str(Path(sys.executable).with_name("twindex")))
    parser.add_argument("--index", type=Path)
    parser.add_argument("--scale", type=Path)
    parser.add_argument("--calls", type=int, default=1_000_000)
    args = parser.parse_args()
    parts = args.parts.split(",")
    most = max(args.documents, args.peer_documents, args.sketched)
    rows = read(args.corpus, most) if {"sketch", "ingest"} & set(parts) else []
    for part in parts:
        {"sketch": sketch, "ingest": ingest, "query": query}[part](args, rows)


def read(corpus: Path, most: int) -> list[tuple[str, str]]:
    """The first documents of a corpus."""
    rows = []
    with corpus.open(encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            rows.append((record["id"], record["text"]))
            if len(rows) == most:
                break
    return rows


def megabytes(rows: Iterable[tuple[str, str]]) -> float:
    return sum(len(text.encode()) for _, text in rows) / 1e6


def processor() -> float:
    """The seconds of processor time of this process and of its children so far."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


class Taken(NamedTuple):
    """The seconds of a contestant in each round, by the clock and of processor time."""

    clock: list[float]
    cpu: list[float]


def in_turn(contestants: dict[str, Contestant], rounds: int) -> dict[str, Taken]:
    """What each contestant took."""
    names = list(contestants)
    taken = {name: Taken([], []) for name in names}
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            gc.collect()
            before = processor()
            taken[name].clock.append(contestants[name]())
            taken[name].cpu.append(processor() - before)
            print(f"  round {number + 1}: {taken[name].clock[-1]:8.3f} s  {name}", file=sys.stderr)
    return taken


def ratio(numerators: list[float], denominators: list[float]) -> float:
    """The median of the ratios of each round."""
    return statistics.median(a / b for a, b in zip(numerators, denominators, strict=True))


def timed(work: Callable[[], object]) -> Contestant:
    """A contestant of which all the work counts."""

    def contestant() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return contestant


# -- sketch ---------------------------------------------------------------------------------------


def shingles(text: str) -> set[str]:
    """Five characters each, as bench drivers of MinHash libraries make them."""
    return {text[start : start + 5] for start in range(max(1, len(text) - 4))}


def sketch(args: argparse.Namespace, rows: list[tuple[str, str]]) -> None:
    """MinHashes of sets that are ready."""
    import datasketch
    import numpy
    from rensa import RMinHash

    rows = rows[: args.sketched]
    sets = [[shingle.encode() for shingle in shingles(text)] for _, text in rows]
    count = sum(map(len, sets))

    def one_by_one(kind: Any) -> list[Any]:
        made = []
        for values in sets:
            minhash = kind(num_perm=PERMS)
            minhash.update_batch(values)
            made.append(minhash)
        return made

    def rensa_one_by_one() -> None:
        for values in sets:
            RMinHash(num_perm=PERMS, seed=42).update(values)

    def flat(hashed: list[list[int]]) -> tuple[Any, Any]:
        offsets = numpy.cumsum([0, *map(len, hashed)], dtype=numpy.uint64)
        flattened = numpy.concatenate([numpy.array(h, dtype=numpy.uint64) for h in hashed])
        return flattened, offsets

    def rensa_flat() -> None:
        hashes, offsets = flat(RMinHash.hash_token_sets(sets))
        RMinHash.digest_matrix_from_flat_token_hashes(hashes, offsets, PERMS, 42)

    ready = flat(RMinHash.hash_token_sets(sets))
    contestants = {
        "datasketch, update_batch": timed(lambda: one_by_one(datasketch.MinHash)),
        "datasketch, bulk": timed(lambda: datasketch.MinHash.bulk(sets, num_perm=PERMS)),
        "rensa, update": timed(rensa_one_by_one),
        "rensa, byte sets to a matrix": timed(
            lambda: RMinHash.digest_matrix_from_token_byte_sets(sets, PERMS, 42)
        ),
        "rensa, hashes to flat to a matrix": timed(rensa_flat),
        "rensa, flat, hashes ready": timed(
            lambda: RMinHash.digest_matrix_from_flat_token_hashes(*ready, PERMS, 42)
        ),
    }
    try:
        from twindex import datasketch as ours

        ours.MinHash  # noqa: B018
    except (ImportError, AttributeError) as error:
        print(f"twindex.datasketch is left out: {error}", file=sys.stderr)
    else:
        kinds = (datasketch.MinHash, ours.MinHash)
        theirs, same = (one_by_one(kind)[:100] for kind in kinds)
        for a, b in zip(theirs, same, strict=True):
            assert (a.hashvalues == b.hashvalues).all(), "the hash values differ"
        contestants["twindex.datasketch, update_batch"] = timed(lambda: one_by_one(ours.MinHash))
        contestants["twindex.datasketch, bulk"] = timed(
            lambda: ours.MinHash.bulk(sets, num_perm=PERMS)
        )
    taken = in_turn(contestants, args.rounds)
    base = taken["datasketch, update_batch"].clock
    print(f"\n{len(sets):,} sets of {count:,} shingles in all, {PERMS} values each\n")
    print("| sketching | million shingles/s | times datasketch's update_batch |\n|---|---|---|")
    for name, seconds in taken.items():
        rate = count / statistics.median(seconds.clock) / 1e6
        print(f"| {name} | {rate:.2f} | {ratio(base, seconds.clock):.1f} |")
    if args.json:
        print(json.dumps({"sketch": taken}))


# -- ingest ---------------------------------------------------------------------------------------


def ingest(args: argparse.Namespace, rows: list[tuple[str, str]]) -> None:
    """Documents into a new index."""
    import pyarrow
    from rensa import RMinHash, RMinHashLSH

    ours, theirs = rows[: args.documents], rows[: args.peer_documents]
    columns = list(zip(*ours, strict=True))
    table = pyarrow.table({"id": columns[0], "text": columns[1]})
    sizes = {"ours": megabytes(ours), "theirs": megabytes(theirs)}
    settings: dict[str, dict[str, Any]] = {
        "char:9, 256 lanes": {},
        "char:5, 128 lanes": {"shingle": "char:5", "lanes": PERMS},
    }

    def rensa() -> None:
        lsh = RMinHashLSH(threshold=0.8, num_perm=PERMS, num_bands=BANDS)
        for key, (_, text) in enumerate(theirs):
            minhash = RMinHash(num_perm=PERMS, seed=42)
            minhash.update(list(shingles(text)))
            lsh.insert(key, minhash)

    with tempfile.TemporaryDirectory(prefix="peers-", dir=args.corpus.parent) as name:
        folder = Path(name)
        lines = folder / "documents.jsonl"
        with lines.open("w", encoding="utf-8") as out:
            for document, text in ours:
                out.write(json.dumps({"id": document, "text": text}, ensure_ascii=False) + "\n")

        def python(rows_to_insert: Any, wanted: dict[str, Any]) -> Contestant:
            def contestant() -> float:
                path = folder / "python.twx"
                start = time.perf_counter()
                with twindex.open(path, **wanted) as index:
                    index.insert_many(rows_to_insert)
                    count = len(index)
                seconds = time.perf_counter() - start
                assert count == len(ours)
                path.unlink()
                return seconds

            return contestant

        def command(wanted: dict[str, Any]) -> Contestant:
            flags = [part for key, value in wanted.items() for part in (f"--{key}", str(value))]

            def contestant() -> float:
                path = folder / "command.twx"
                words = [args.command, "add", str(path), "--quiet", *flags, str(lines)]
                start = time.perf_counter()
                subprocess.run(words, check=True)
                seconds = time.perf_counter() - start
                path.unlink()
                return seconds

            return contestant

        contestants: dict[str, Contestant] = {}
        for label, wanted in settings.items():
            contestants[f"twindex add, {label}"] = command(wanted)
            contestants[f"insert_many of a table, {label}"] = python(table, wanted)
        contestants["insert_many of pairs, char:9, 256 lanes"] = python(ours, {})
        contestants["rensa, 5 characters, 128 values"] = timed(rensa)
        taken = in_turn(contestants, args.rounds)

    print(f"\n{len(ours):,} documents, {sizes['ours']:.1f} MB; rensa {len(theirs):,}\n")
    print("| indexing | MB/s | MB/s of processor time | times `twindex add` | times rensa |")
    print("|---|---|---|---|---|")
    peer = [seconds / sizes["theirs"] for seconds in taken["rensa, 5 characters, 128 values"].clock]
    for name, seconds in taken.items():
        size = sizes["theirs" if name.startswith("rensa") else "ours"]
        each = [one / size for one in seconds.clock]
        label = name.split(", ", 1)[1]
        add = taken.get(f"twindex add, {label}")
        beside_add = f"{ratio(add.clock, seconds.clock):.2f}" if add else ""
        beside_rensa = f"{ratio(peer, each):.1f}" if "5" in label.split(",")[0] else ""
        rate, of_cpu = 1 / statistics.median(each), size / statistics.median(seconds.cpu)
        print(f"| {name} | {rate:.1f} | {of_cpu:.1f} | {beside_add} | {beside_rensa} |")
    if args.json:
        print(json.dumps({"ingest": taken}))


# -- query ----------------------------------------------------------------------------------------


def stranger(seed: int, lanes: int, size: bytes) -> bytes:
    """A signature that no document's is like: `stranger` of benches/scale/synthetic.rs."""
    state, made = seed ^ 0xFFFF_0000_0000, bytearray()
    mask = (1 << 64) - 1
    for _ in range(lanes):
        state = (state + 0x9E37_79B9_7F4A_7C15) & mask
        x = state
        x = ((x ^ (x >> 30)) * 0xBF58_476D_1CE4_E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D0_49BB_1331_11EB) & mask
        made.append((x ^ (x >> 31)) & 0xFF)
    return bytes(made) + size


def own_times(scale: Path, index: Path) -> dict[str, float]:
    """The library's median microseconds, as `scale queries` prints them."""
    done = subprocess.run(
        [scale, "queries", index], check=True, capture_output=True, text=True
    ).stdout
    found = re.findall(r": (hits|misses), p50 \| ([\d.]+) (ns|us|ms) ", done)
    factors = {"ns": 1e-3, "us": 1.0, "ms": 1e3}
    return {kind: float(number) * factors[unit] for kind, number, unit in found}


def query(args: argparse.Namespace, _: list[tuple[str, str]]) -> None:
    """Single queries by signature."""
    if args.index is None or args.scale is None:
        print("the part `query` is left out: it needs --index and --scale", file=sys.stderr)
        return
    with twindex.open(args.index, mode="r") as index:
        lanes = index.settings.lanes
        step = max(len(index) // QUESTIONS, 1)
        hits: list[bytes] = []
        for number, name in enumerate(index.ids()):
            if number % step == 0 and len(hits) < QUESTIONS:
                document = index.get(name)
                assert document is not None
                hits.append(document.signature)
        misses = [stranger(seed, lanes, hits[0][lanes:]) for seed in range(QUESTIONS)]
        documents = len(index)
        each: dict[str, list[float]] = {"hits": [], "misses": []}
        library: dict[str, list[float]] = {"hits": [], "misses": []}
        snapshot = index.snapshot()
        for number in range(args.rounds):
            for kind, median in own_times(args.scale, args.index).items():
                library[kind].append(median)
            for kind, signatures in (("hits", hits), ("misses", misses)):
                ask(snapshot, signatures, len(signatures))
                times = ask(snapshot, signatures, args.calls // args.rounds)
                each[kind].append(statistics.median(times) / 1e3)
                print(
                    f"  round {number + 1}: {kind}: {each[kind][-1]:.1f} us, "
                    f"library {library[kind][-1]:.1f} us",
                    file=sys.stderr,
                )
    print(f"\n{args.calls:,} calls of each kind, an index of {documents:,} documents\n")
    print("| query by signature | Python, median | library, median | times | more |")
    print("|---|---|---|---|---|")
    for kind in each:
        more = statistics.median(a - b for a, b in zip(each[kind], library[kind], strict=True))
        print(
            f"| {kind} | {statistics.median(each[kind]):.1f} us "
            f"| {statistics.median(library[kind]):.1f} us "
            f"| {ratio(each[kind], library[kind]):.2f} | {more:.1f} us |"
        )
    if args.json:
        print(json.dumps({"query": {"python": each, "library": library}}))


def ask(snapshot: twindex.Snapshot, signatures: list[bytes], calls: int) -> array[int]:
    """The nanoseconds of each call."""
    times = array("Q")
    clock = time.perf_counter_ns
    for call in range(calls):
        signature = signatures[call % len(signatures)]
        start = clock()
        snapshot.query(signature=signature, limit=10)
        times.append(clock() - start)
    return times


if __name__ == "__main__":
    main()
