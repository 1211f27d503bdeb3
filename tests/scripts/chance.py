#!/usr/bin/env python3
"""Reference values of the law of the estimate and of similarity by chance, from whole numbers.

Usage: chance.py law | coverage | chance

Every probability is a fraction of whole numbers of any size (`fractions.Fraction`), and is rounded
once, when it is printed. Where that would take too long, terms are decimals of 60 digits, each made
of the one before by an exact ratio. Those of `chance` are normalised by their own sum, which leaves
out no term above 1e-45 of the greatest. Shares no code with twindex.
"""

import sys
from decimal import Decimal, getcontext
from fractions import Fraction
from math import comb, sqrt

getcontext().prec = 60


def binomial(k, j, equal):
    j = Fraction(j)
    return comb(k, equal) * j**equal * (1 - j) ** (k - equal)


def law():
    """k, J, number of equal minima, its probability, and that of as many or more."""
    for k, j, equal in [
        (1, 0.5, 1),
        (2, 0.3, 1),
        (15, 0.8, 12),
        (16, 0.8, 16),
        (128, 0.8, 102),
        (128, 0.8, 128),
        (128, 0.8, 60),
        (128, 0.99, 126),
        (128, 1e-6, 3),
        (1000, 0.05, 90),
        (1000, 0.5, 500),
    ]:
        tail = sum(binomial(k, j, t) for t in range(equal, k + 1))
        print(f"({k}, {j!r}, {equal}, {float(binomial(k, j, equal))!r}, {float(tail)!r}),")
    for k, j, equal in [
        (4_000, 0.9, 3_500),
        (100_000, 0.8, 80_200),
        (100_000, 0.8, 78_500),
        (100_000, 0.001, 120),
    ]:
        p = Decimal(j)
        at = p**equal * (1 - p) ** (k - equal) * Decimal(comb(k, equal))
        tail, term = at, at
        for t in range(equal, k):
            term = term * (k - t) / (t + 1) * p / (1 - p)
            tail += term
        print(f"({k}, {j!r}, {equal}, {float(at)!r}, {float(tail)!r}),")


def coverage():
    """J, and how often Wilson's and Wald's 95 % intervals of 128 trials hold it."""
    k, z = 128, 1.959963984540054
    for j in [0.05, 0.5, 0.8, 0.9, 0.91, 0.95, 0.99]:
        held = [Fraction(0), Fraction(0)]
        for s in range(k + 1):
            p = s / k
            root = sqrt(p * (1 - p) / k + z * z / (4 * k * k))
            middle = p + z * z / (2 * k)
            wilson = sorted((middle + sign * z * root) / (1 + z * z / k) for sign in (-1, 1))
            wald = [p + sign * z * sqrt(p * (1 - p) / k) for sign in (-1, 1)]
            for which, (low, high) in enumerate([wilson, wald]):
                if low <= j <= high:
                    held[which] += binomial(k, j, s)
        print(f"({j!r}, {float(held[0])!r}, {float(held[1])!r}),")


def mean(a, b, n):
    """The mean of j/(a+b-j), with j hypergeometric, from the most probable j outwards."""
    start = max((a * b) // n, a + b - n)
    total = weighted = Decimal(0)
    for step in (1, -1):
        j, term = start, Decimal(1)
        while max(0, a + b - n) <= j <= min(a, b):
            if not (step == -1 and j == start):
                total += term
                weighted += term * j / (a + b - j)
            if term < Decimal("1e-45"):
                break
            if step == 1:
                term = term * ((a - j) * (b - j)) / ((j + 1) * (n - a - b + j + 1))
            else:
                term = term * (j * (n - a - b + j)) / ((a - j + 1) * (b - j + 1))
            j += step
    return weighted / total


def chance():
    """Sizes of both sets and of the universe, and the mean similarity."""
    n = 1_000_000
    for a, b in [
        (1, 1),
        (1, n - 1),
        (1, n),
        (2, 3),
        (10, 10),
        (10, n - 10),
        (1000, 1000),
        (1000, n - 1000),
        (50_000, 110_000),
        (72_018, 112_950),
        (400_000, 600_000),
        (500_000, 500_000),
        (500_001, 500_000),
        (777_777, 333_333),
        (999_000, 999_000),
        (n - 1, n - 1),
        (n, n - 1),
        (n, n),
    ]:
        print(f"({a}, {b}, {float(mean(a, b, n))!r}),")
    print("# the paper's universe, a + b")
    for a, b in [
        (50_000, 50_000),
        (50_000, 110_000),
        (110_000, 110_000),
        (1, 1),
        (1, 2),
        (1, 999_999),
    ]:
        print(f"({a}, {b}, {float(mean(a, b, a + b))!r}),")


if __name__ == "__main__":
    {"law": law, "coverage": coverage, "chance": chance}[sys.argv[1]]()
