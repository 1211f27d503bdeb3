"""How much faster MinHash is than datasketch's, and how it compares with rensa.

    python tests/datasketch/bench_minhash.py [rounds]

Build with `maturin develop --release` first. The libraries take turns in one process, so that they
meet the same machine. rensa hashes with another function and keeps no datasketch hash values.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import datasketch
import rensa

import twindex.datasketch as ours

NUM_PERM = 128


def work(scheme: Any) -> dict[str, dict[str, Callable[[], Any]]]:
    rng = random.Random(1)
    values = [f"token{i}".encode() for i in range(10_000)]
    words = [value.decode() for value in values]
    sets = [[f"t{rng.randrange(10**6)}".encode() for _ in range(200)] for _ in range(1000)]
    texts = [[value.decode() for value in one] for one in sets]

    def batch(library: Any) -> Callable[[], Any]:
        return lambda: library.MinHash(num_perm=NUM_PERM, scheme=scheme).update_batch(values)

    def bulk(library: Any) -> Callable[[], Any]:
        return lambda: library.MinHash.bulk(sets, num_perm=NUM_PERM, scheme=scheme)

    def rensa_batch() -> None:
        rensa.RMinHash(num_perm=NUM_PERM, seed=1).update(words)

    def rensa_bulk() -> None:
        for one in texts:
            rensa.RMinHash(num_perm=NUM_PERM, seed=1).update(one)

    return {
        "update_batch": {
            "datasketch": batch(datasketch),
            "twindex": batch(ours),
            "rensa": rensa_batch,
        },
        "bulk": {"datasketch": bulk(datasketch), "twindex": bulk(ours), "rensa": rensa_bulk},
    }


def measure(rounds: int, scheme: str) -> None:
    for name, functions in work(scheme).items():
        times: dict[str, list[float]] = {library: [] for library in functions}
        for _ in range(rounds):
            for library, function in functions.items():
                begin = time.perf_counter()
                function()
                times[library].append(time.perf_counter() - begin)
        shown = "  ".join(
            f"{library} {statistics.median(taken) * 1e3:.2f} ms (least {min(taken) * 1e3:.2f})"
            for library, taken in times.items()
        )
        ratio = statistics.median(times["datasketch"]) / statistics.median(times["twindex"])
        least = min(times["datasketch"]) / min(times["twindex"])
        print(f"{scheme} {name}: {shown}  ratio {ratio:.1f}, of the least {least:.1f}")


if __name__ == "__main__":
    for scheme in ("affine32", "affine64", "legacy"):
        measure(int(sys.argv[1]) if len(sys.argv) > 1 else 9, scheme)
