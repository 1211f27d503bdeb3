"""Which sizes of sets an ensemble puts together: as few false positives as possible."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._schemes import Array


def best_partitions(sizes: Array, counts: Array, number: int) -> list[tuple[Any, Any]]:
    """The least and the greatest size of each partition.

    Args:
        sizes: All sizes that occur, in ascending order.
        counts: How often each of them occurs.
        number: How many partitions there are to be.
    """
    if number < 2:
        return [(sizes[0], sizes[-1])]
    if number >= len(sizes):
        return [(size, size) for size in sizes]
    ends = _best_ends(_false_positives(sizes, counts), number)
    begins = [0, *(end + 1 for end in ends[:-1])]
    return [(sizes[begin], sizes[end]) for begin, end in zip(begins, ends, strict=True)]


def _false_positives(sizes: Array, counts: Array) -> Array:
    """The false positives of a partition from each size (row) to each size (column): those of a
    set are the share that it lacks of the greatest size."""
    number = len(sizes)
    expected = np.zeros((number, number))
    for upper in range(number):
        greatest = float(sizes[upper])
        each = (greatest - sizes[: upper + 1]) / greatest * counts[: upper + 1]
        # Sums of their own, not differences of running sums: rounding decides between equals.
        for lower in range(upper + 1):
            expected[lower, upper] = np.sum(each[lower:])
    return expected


def _best_ends(expected: Array, number: int) -> list[int]:
    """Where the partitions end, by dynamic programming over the number of partitions."""
    last = len(expected) - 1
    # The least cost of the sizes up to each one, in 1, 2 and more partitions.
    costs = [expected[0]]
    for parts in range(2, number):
        cost = np.zeros(last + 1)
        for upper in range(parts - 1, last + 1):
            cost[upper] = np.min(_totals(costs[-1], expected, parts, upper))
        costs.append(cost)
    ends = [last]
    for parts in range(number, 1, -1):
        # From the second step on, datasketch takes the costs of one partition too many. They are
        # taken here too: the answers of an ensemble depend on them.
        cost = costs[parts - 2] if parts == number else costs[parts - 1]
        totals = _totals(cost, expected, parts, ends[0])
        ends.insert(0, parts - 2 + int(np.argmin(totals)))
    return ends


def _totals(cost: Array, expected: Array, parts: int, upper: int) -> Array:
    """The costs of the sizes up to one of them, for each end of the partition before the last."""
    total: Array = cost[parts - 2 : upper] + expected[parts - 1 : upper + 1, upper]
    return total
