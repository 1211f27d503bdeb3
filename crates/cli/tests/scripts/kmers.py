#!/usr/bin/env python3
"""Exact Jaccard similarity of the canonical k-mers of two FASTA files, by plain sets of strings.

Usage: kmers.py K A B. Prints, separated by spaces: the similarity of both sets, how many k-mers
each has, how many they share, and the Mash distance (Ondov et al. 2016, equation 4). Shares no code
with twindex.
"""

import gzip
import math
import re
import sys

COMPLEMENT = str.maketrans("ACGT", "TGCA")


def records(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as lines:
        sequence = []
        for line in lines:
            if line.startswith(">"):
                yield "".join(sequence)
                sequence = []
            elif not line.startswith(";"):
                sequence.append(line.strip())
        yield "".join(sequence)


def kmers(path, k):
    found = set()
    for record in records(path):
        for run in re.findall("[ACGT]+", record.upper().replace("U", "T")):
            backwards = run.translate(COMPLEMENT)[::-1]
            for at in range(len(run) - k + 1):
                end = len(run) - at
                found.add(min(run[at : at + k], backwards[end - k : end]))
    return found


def distance(similarity, k):
    if similarity == 0:
        return 1.0
    return min(1.0, abs(math.log(2 * similarity / (1 + similarity)) / k))


def main():
    k = int(sys.argv[1])
    a, b = (kmers(path, k) for path in sys.argv[2:4])
    shared, union = len(a & b), len(a | b)
    similarity = shared / union if union else 0.0
    print(similarity, len(a), len(b), shared, distance(similarity, k))


if __name__ == "__main__":
    main()
