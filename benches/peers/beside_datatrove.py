#!/usr/bin/env python3
"""Compares deduplication by twindex with the MinHash pipeline of datatrove, on one input.

usage: beside_datatrove.py INPUT.jsonl --twindex target/release/twindex [--rounds 3]
       beside_datatrove.py made.jsonl --make 100000

INPUT.jsonl holds {"id": "...", "text": "..."} a line. With --make, writes that many rows there
first, if there is no such file: those of benches/spark.py, shape "pairs". Run it by the Python that
has datatrove:

    python -m venv peers
    peers/bin/pip install datatrove==0.10.1 orjson regex spacy tokenizers 'xxhash<4'
    peers/bin/python benches/peers/beside_datatrove.py INPUT.jsonl --twindex target/release/twindex

Every run is a process of its own, timed from its start to its end, with all processes that it
starts. datatrove runs its four stages one after the other: signatures, buckets, clusters, filter.
It gets the input in as many files as it has tasks, which is not timed, and writes what it keeps
without compression. Prints a Markdown table of medians: wall and processor seconds (user and
system), rows kept, and the probability that a pair of similarity 0.8 meets in a band.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SIMILARITY = 0.8
# Buckets, hashes in a bucket, words in a shingle, and who splits a text into words. The first are
# the defaults of datatrove. The second have the recall of twindex; `split` takes the place of
# spaCy, which is most of the time. The words of the last are as similar as the characters of
# twindex, on the rows of --make.
DATATROVE = [(14, 8, 5, "spacy"), (26, 8, 5, "spacy"), (26, 8, 5, "split"), (26, 8, 2, "split")]
TWINDEX = [[], ["--shingle", "word:5"]]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("input", metavar="INPUT.jsonl", type=Path)
    parser.add_argument("--twindex", default="target/release/twindex", help="the program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--make", type=int, metavar="ROWS", help="write the input first")
    parser.add_argument("--tasks", type=int, default=2, help="tasks and workers of datatrove")
    parser.add_argument("--skip", metavar="TEXT", help="leave out runs whose name has this: spacy")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave the kept rows here")
    parser.add_argument("--datatrove", metavar="SETTINGS", help=argparse.SUPPRESS)
    return parser.parse_args()


def make(path: Path, rows: int) -> None:
    """The rows of benches/spark.py: groups of three, which differ in a word of 60 each."""
    import numpy as np

    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz", np.uint8)
    vocabulary = np.random.default_rng(1).choice(letters, (1 << 15, 7))
    vocabulary[:, 6] = ord(" ")

    def mixed(numbers):
        numbers = numbers * np.uint64(0x9E3779B97F4A7C15)
        numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return numbers ^ (numbers >> np.uint64(31))

    size, places = np.uint64(len(vocabulary)), np.arange(60, dtype=np.uint64)
    with open(path, "w") as out:
        for start in range(0, rows, 10_000):
            numbers = np.arange(start, min(start + 10_000, rows), dtype=np.uint64)
            group = numbers % np.uint64(max(1, rows // 3))
            words = mixed(group[:, None] * np.uint64(60) + places) % size
            change = mixed(numbers + np.uint64(1 << 50))
            at = (change % np.uint64(60)).astype(int)
            words[np.arange(len(words)), at] = (change >> np.uint64(20)) % size
            for number, text in zip(numbers, vocabulary[words], strict=True):
                out.write(f'{{"id": "{number}", "text": "{text.tobytes().decode()}"}}\n')


def datatrove(settings: str, source: Path, out: Path, tasks: int) -> None:
    """All four stages of datatrove, in this process and its workers."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import minhash
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter
    from datatrove.utils.word_tokenizers import WordTokenizer

    class Split(WordTokenizer):
        """The text has been freed of punctuation before, so spaces are enough."""

        sent_tokenize = span_tokenize = None  # abstract, and not called

        def word_tokenize(self, text):
            return text.split()

    *numbers, words = settings.split(",")
    buckets, hashes, grams = map(int, numbers)
    config = minhash.MinhashConfig(n_grams=grams, num_buckets=buckets, hashes_per_bucket=hashes)
    # English is split by spaCy's rules, which need no model.
    language = "eng" if words == "spacy" else Split()
    sigs, pairs, remove, kept = (str(out / name) for name in ("sigs", "pairs", "remove", "kept"))
    reader = JsonlReader(str(source))
    writer = JsonlWriter(kept, compression=None)
    stages = [
        (tasks, reader, minhash.MinhashDedupSignature(sigs, config, language)),
        (buckets, minhash.MinhashDedupBuckets(sigs, pairs, config=config)),
        (1, minhash.MinhashDedupCluster(pairs, remove, config)),
        (tasks, reader, minhash.MinhashDedupFilter(remove), writer),
    ]
    for number, (count, *steps) in enumerate(stages):
        # `fork`, so that the workers are children of this process, whose time is counted with it.
        settings = {"workers": min(tasks, count), "start_method": "fork"}
        logs = str(out / f"logs-{number}")
        LocalPipelineExecutor(steps, tasks=count, logging_dir=logs, **settings).run()


def timed(command: list, log: Path) -> tuple[float, float]:
    """Wall and processor seconds of a command."""
    with open(log, "wb") as out:
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=out)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{log.read_text()[-2000:]}")
    return seconds, used.ru_utime + used.ru_stime


def lines(files) -> int:
    count = 0
    for file in files:
        with open(file, "rb") as rows:
            count += sum(1 for _ in rows)
    return count


def divided(source: Path, folder: Path, parts: int) -> None:
    """The rows in that many files, in their order."""
    total, number = lines([source]), 0
    folder.mkdir()
    with open(source, "rb") as rows:
        for part in range(parts):
            with open(folder / f"{part:05}.jsonl", "wb") as out:
                while number < total * (part + 1) // parts:
                    out.write(rows.readline())
                    number += 1


def main() -> None:
    wanted = arguments()
    if wanted.datatrove:
        return datatrove(wanted.datatrove, wanted.input, wanted.keep, wanted.tasks)
    if wanted.make and not wanted.input.exists():
        make(wanted.input, wanted.make)
    found: dict[str, list[tuple]] = {}
    with tempfile.TemporaryDirectory(prefix="twindex-peers-") as folder:
        base = wanted.keep or Path(folder)
        source = Path(folder, "input")
        divided(wanted.input, source, wanted.tasks)
        runs = [("twindex", setting) for setting in TWINDEX]
        runs += [("datatrove", setting) for setting in DATATROVE]
        for turn in range(wanted.rounds):
            for number, (tool, setting) in enumerate(runs):
                out = base / f"{turn}-{number}"
                out.mkdir(parents=True)
                if tool == "twindex":
                    name, chance = " ".join([tool, *setting]), "0.992"
                    kept = [out / "kept.jsonl"]
                    command = [wanted.twindex, "dedup", out / "x.twx", wanted.input, "-o", *kept]
                    command += ["--removed", out / "removed.jsonl", "--no-progress", *setting]
                else:
                    buckets, hashes, grams, words = setting
                    name = f"{tool} {buckets} x {hashes}, {grams} words by {words}"
                    chance = f"{1 - (1 - SIMILARITY**hashes) ** buckets:.3f}"
                    command = [sys.executable, __file__, source, "--tasks", str(wanted.tasks)]
                    command += ["--keep", out, "--datatrove", ",".join(map(str, setting))]
                if wanted.skip and wanted.skip in name:
                    continue
                times = timed(command, out / "log")
                if tool == "datatrove":
                    kept = sorted((out / "kept").glob("*.jsonl"))
                found.setdefault(name, []).append((*times, lines(kept), chance))
                if not wanted.keep:
                    shutil.rmtree(out)
                print(f"{name}: {times[0]:.1f} s, {times[1]:.1f} s", file=sys.stderr, flush=True)
    print(f"{lines([wanted.input])} rows, medians of {wanted.rounds} rounds\n")
    print("| run | wall s | processor s | kept | recall at 0.8 |\n|---|---|---|---|---|")
    for name, results in found.items():
        wall, cpu = (statistics.median(result[at] for result in results) for at in (0, 1))
        print(f"| {name} | {wall:.1f} | {cpu:.1f} | {results[-1][2]} | {results[-1][3]} |")


if __name__ == "__main__":
    main()
