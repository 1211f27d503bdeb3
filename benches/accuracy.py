#!/usr/bin/env python3
"""Compares the output of `twindex pairs` with exact similarities.

usage: accuracy.py PAIRS.tsv EXACT.tsv

PAIRS.tsv is what `twindex pairs` prints when piped; EXACT.tsv holds `id <tab> id <tab> similarity`
for all pairs of exact Jaccard similarity of at least 0.5, by a program that shares no code with
twindex. Prints the share of exact pairs that were reported, by similarity, and how many of the
reported pairs lie below 0.7 and below 0.8. Of an index with stored texts, whose similarities are
exact, also how many of them are wrong in the sixth digit.
"""
import sys


def key(a, b):
    return (a, b) if a < b else (b, a)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    exact = {}
    with open(sys.argv[2], encoding="utf-8") as lines:
        for line in lines:
            a, b, similarity = line.rstrip("\n").split("\t")
            exact[key(a, b)] = float(similarity)
    reported, errors, wrong, verified = set(), [], 0, 0
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            a, b, similarity, low, high, is_exact = line.rstrip("\n").split("\t")
            assert key(a, b) not in reported, f"reported twice: {a} {b}"
            reported.add(key(a, b))
            truth = exact.get(key(a, b), 0.0)
            if is_exact == "true":
                verified += 1
                wrong += abs(float(similarity) - truth) > 1.5e-6
            errors.append((float(similarity) - truth, float(low) <= truth <= float(high)))
    print("exact similarity      pairs   reported    share")
    for low, high in ((0.75, 0.8), (0.8, 0.85), (0.85, 0.9), (0.9, 0.95), (0.95, 1.01)):
        within = [pair for pair, s in exact.items() if low <= s < high]
        found = sum(pair in reported for pair in within)
        share = found / max(1, len(within))
        print(f"[{low:.2f}, {min(high, 1):.2f})    {len(within):9}  {found:9}  {share:.5f}")
    low = [pair for pair, s in exact.items() if s >= 0.8]
    found = sum(pair in reported for pair in low)
    print(f"at least 0.80: {found} of {len(low)} reported, {found / max(1, len(low)):.5f}")
    above = [pair for pair, s in exact.items() if s >= 0.85]
    found = sum(pair in reported for pair in above)
    below = sum(exact.get(pair, 0.0) < 0.7 for pair in reported)
    print(f"at least 0.85: {found} of {len(above)} reported, {found / max(1, len(above)):.5f}")
    print(f"reported: {len(reported)}, of which below 0.7: {below}")
    below = sum(exact.get(pair, 0.0) < 0.8 for pair in reported)
    print(f"reported: {len(reported)}, of which below 0.8: {below}")
    if verified:
        print(f"exact similarities: {verified}, of which wrong in the sixth digit: {wrong}")
        return
    covered = sum(inside for _, inside in errors) / max(1, len(errors))
    print(f"intervals that cover the exact value: {covered:.4f}")


main()
