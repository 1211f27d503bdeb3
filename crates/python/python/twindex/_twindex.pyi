# datasketch

from collections.abc import Iterable, Iterator
from typing import Any

def minhash_update(
    values: Iterable[Any], hashvalues: Any, permutations: Any, scheme: str, bits: int
) -> int: ...
def minhash_update_hashes(
    hashes: Any, hashvalues: Any, permutations: Any, scheme: str
) -> None: ...
def minhash_bulk(
    documents: Iterator[Iterable[Any]], hashvalues: Any, permutations: Any, scheme: str, bits: int
) -> bytes: ...
def minhash_optimal(
    threshold: float,
    num_perm: int,
    false_positive_weight: float,
    false_negative_weight: float,
) -> tuple[int, int]: ...
def minhash_optimal_containment(
    threshold: float,
    num_perm: int,
    most_rows: int,
    ratio: float,
    false_positive_weight: float,
    false_negative_weight: float,
) -> tuple[int, int]: ...
