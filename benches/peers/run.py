#!/usr/bin/env python3
"""Compares twindex with public libraries on one sample, in turn on one machine.

usage: run.py BENCH_PEER.py CORPUS.jsonl [--limit N] [--rounds 3] [--threshold 0.8]
              [--peers lance,gaoya,rensa,datasketch] [--twindex target/release/twindex]

BENCH_PEER.py runs one peer; README.md beside this file says what it has to take and to print.
CORPUS.jsonl holds {"id": "...", "text": "..."} a line. In every round each peer runs once, and
twindex once in each of its configurations. Prints a Markdown table of medians on standard output;
progress and errors go to standard error.

exit status: 0 all was measured, 1 something was left out, 2 nothing could be measured

needs: Python 3.9 or later and pip; installs the peers into target/peers
"""
import argparse
import contextlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / "target" / "peers"
PYTHON = VENV / "bin" / "python"

# What pip installs, and what is imported.
PEERS = {
    "lance": ("pylance", "lance"),
    "gaoya": ("gaoya", "gaoya"),
    "rensa": ("rensa", "rensa"),
    "datasketch": ("datasketch", "datasketch"),
}
PERMS = 128
CHARS = "char:5"
# Lance's default: 3 tokens a shingle.
LANCE = "word:3"
# The configurations of twindex, by the name they have in the table.
LIKE_CHARS = f"twindex {CHARS}, {PERMS} lanes"
LIKE_LANCE = f"twindex {LANCE}"
DEFAULT = "twindex"
SETTINGS = {
    DEFAULT: [],
    LIKE_LANCE: ["--shingle", LANCE],
    LIKE_CHARS: ["--shingle", CHARS, "--lanes", str(PERMS)],
}
# As many as the driver asks of Lance.
QUERIES = 2000
TOP = 10
CORES = os.cpu_count() or 1
# The unit of ru_maxrss.
KIB = 1 if sys.platform == "darwin" else 1024


class Problem(Exception):
    """What a person can do something about: one line."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def last_line(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("driver", metavar="BENCH_PEER.py", type=Path)
    parser.add_argument("corpus", metavar="CORPUS.jsonl", type=Path)
    parser.add_argument("--limit", type=int, default=0, help="take the first N records only")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threshold", type=float, default=0.8)
    parser.add_argument("--peers", default=",".join(PEERS), help="default: %(default)s")
    parser.add_argument(
        "--twindex", type=Path, default=ROOT / "target" / "release" / "twindex", help="the command"
    )
    args = parser.parse_args()
    args.peers = list(dict.fromkeys(name.strip() for name in args.peers.split(",") if name.strip()))
    unknown = [name for name in args.peers if name not in PEERS]
    if unknown or not args.peers:
        parser.error(f"--peers {','.join(unknown)}: expected some of {','.join(PEERS)}")
    if args.rounds < 1 or args.limit < 0:
        parser.error("--rounds must be at least 1, --limit at least 0")
    if not 0 < args.threshold <= 1:
        parser.error("--threshold must be above 0 and at most 1")
    for path in (args.driver, args.corpus):
        if not path.is_file():
            parser.error(f"{path}: no such file")
    if not os.access(args.twindex, os.X_OK) or not args.twindex.is_file():
        parser.error(f"{args.twindex}: no such command; build it with `cargo build --release`")
    args.twindex = args.twindex.resolve()
    return args


# Peers and their environment


def environment():
    """Makes the virtual environment if there is none that works."""

    def works():
        return PYTHON.exists() and succeeds([PYTHON, "-c", "import pip"])

    if works():
        return
    say(f"creating {VENV.relative_to(ROOT)}")
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--clear", VENV], capture_output=True, text=True
    )
    if made.returncode != 0 or not works():
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        raise Problem(
            f"{sys.executable} cannot make a virtual environment with pip: "
            f"{last_line(made.stderr or made.stdout)}; if ensurepip is missing, install "
            f"python{version}-venv (Debian, Ubuntu) or a Python that has it"
        )


def succeeds(command):
    return subprocess.run(command, capture_output=True).returncode == 0


def install(name):
    package, module = PEERS[name]
    if succeeds([PYTHON, "-c", f"import {module}"]):
        return
    say(f"installing {package}")
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
    done = subprocess.run(pip, capture_output=True, text=True)
    if done.returncode != 0:
        raise Problem(f"pip cannot install {package}: {last_line(done.stderr)}")
    loaded = subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, text=True)
    if loaded.returncode != 0:
        raise Problem(f"{package} is installed but cannot be used: {last_line(loaded.stderr)}")


def version(name):
    code = f"import importlib.metadata as m; print(m.version({PEERS[name][0]!r}))"
    return subprocess.run([PYTHON, "-c", code], capture_output=True, text=True).stdout.strip()


# The sample


class Sample:
    """The records that every tool reads, and the questions that twindex is asked."""

    def __init__(self, corpus, limit, folder):
        self.path = folder / "sample.jsonl"
        self.questions = folder / "questions.jsonl"
        self.documents = 0
        self.text_bytes = 0
        with open(corpus, "rb") as lines, open(self.path, "wb") as out:
            for number, line in enumerate(lines, 1):
                if not line.strip():
                    continue
                text = self.text(corpus, number, line)
                out.write(line if line.endswith(b"\n") else line + b"\n")
                self.documents += 1
                self.text_bytes += len(text.encode())
                if self.documents == limit:
                    break
            settle(out)
        if not self.documents:
            raise Problem(f"{corpus}: no records")
        # The same texts that the driver asks Lance, without ids: twindex leaves out the asking
        # record if its id is in the index, Lance does not.
        step = max(1, self.documents // QUERIES)
        self.asked = 0
        with open(self.path, "rb") as lines, open(self.questions, "w", encoding="utf-8") as out:
            for number, line in enumerate(lines):
                if number % step == 0:
                    out.write(json.dumps({"text": json.loads(line)["text"]}) + "\n")
                    self.asked += 1
            settle(out)

    @staticmethod
    def text(corpus, number, line):
        with contextlib.suppress(ValueError, TypeError, KeyError):
            record = json.loads(line)
            if isinstance(record["id"], str) and isinstance(record["text"], str):
                return record["text"]
        raise Problem(f"{corpus}:{number}: not a JSON object with the strings id and text")


def settle(file):
    """Pages still to be written would slow the first commit that follows."""
    file.flush()
    os.fsync(file.fileno())


# Runs


def timed(command, folder, stdin=None):
    """Runs a command; gives (seconds, peak bytes, standard output, standard error, status)."""
    # Lance keeps two cores free for reading unless told otherwise: of two cores it takes one.
    environ = {"LANCE_CPU_THREADS": str(CORES), **os.environ, "TMPDIR": str(folder)}
    with contextlib.ExitStack() as files:
        out = files.enter_context(tempfile.TemporaryFile(dir=folder))
        err = files.enter_context(tempfile.TemporaryFile(dir=folder))
        source = files.enter_context(open(stdin, "rb")) if stdin else subprocess.DEVNULL
        start = time.perf_counter()
        child = subprocess.Popen(command, stdin=source, stdout=out, stderr=err, env=environ)
        try:
            _, status, usage = os.wait4(child.pid, 0)
        except KeyboardInterrupt:
            child.wait()
            raise
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    # The kernel counts what this process held when it forked as the child's, so a child that took
    # less shows up with this process's own peak.
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak = max(usage.ru_maxrss, own) * KIB
    return seconds, peak, *texts, child.returncode


def run_peer(name, args, sample, folder):
    command = [PYTHON, args.driver, name, sample.path, "--threshold", str(args.threshold)]
    command += ["--perms", str(PERMS), "--shingle", CHARS]
    _, _, out, err, status = timed(command, folder)
    if status != 0:
        raise Problem(f"{args.driver.name} {name} failed ({status}): {last_line(err)}")
    try:
        told = json.loads(last_line(out))
        seconds = told["index_s"]
        result = {
            # The driver rounds to a hundredth.
            "seconds": max(seconds, 0.005),
            "peak": told["peak_mib"] * 2**20,
            "corpus": told["corpus_mib"] * 2**20,
            "each": told.get("bytes_per_doc"),
            "documents": told["docs"],
        }
        if "queries" in told:
            result["query"] = told["query_s"] / told["queries"]
        if "b" in told and "r" in told:
            result["bands"] = (told["b"], told["r"])
    except (ValueError, KeyError, TypeError) as error:
        raise Problem(f"{args.driver.name} {name}: not the output expected: {error!r}")
    if result["documents"] != sample.documents:
        raise Problem(f"{name} took {result['documents']} of {sample.documents} documents")
    return result


def run_twindex(name, args, sample, folder, top):
    index = folder / "index.twx"

    def twindex(*words, stdin=None, good=(0,)):
        ran = timed([args.twindex, *words], folder, stdin)
        if ran[4] not in good:
            raise Problem(f"{name}: `twindex {words[0]}` failed ({ran[4]}): {last_line(ran[3])}")
        return ran

    try:
        threshold = ["--threshold", str(args.threshold)]
        add = twindex("add", index, sample.path, "--json", *threshold, *SETTINGS[name])
        added = json.loads(last_line(add[3]))["added"]
        if added != sample.documents:
            raise Problem(f"{name} added {added} of {sample.documents} records; are ids twice?")
        result = {"seconds": add[0], "peak": add[1], "documents": added}
        if name != LIKE_CHARS:
            # Status 1 says that nothing was found.
            words = ["query", index, "-", "--quiet", "--threads", "1", *top]
            asked = twindex(*words, stdin=sample.questions, good=(0, 1))
            result["query"] = asked[0] / sample.asked
        twindex("compact", index, "--quiet")
        info = json.loads(last_line(twindex("info", index, "--json")[2]))
        if "signature_bytes" in info and "posting_bytes" in info:
            stored = info["signature_bytes"] + info["posting_bytes"]
            result["each"] = stored / sample.documents
        result["shingle"] = info["shingle"]
        if "bands" in info and "depth" in info:
            result["bands"] = (info["bands"], info["depth"])
            result["recall"] = info.get("recall")
        return result
    except (ValueError, KeyError) as error:
        raise Problem(f"{name}: not the output expected: {error!r}")
    finally:
        for left in folder.glob("index.twx*"):
            left.unlink()


def measure(args, tools, sample, folder, top):
    """Runs everything in turn; gives the results of the tools that never failed."""
    results = {tool: [] for tool in tools}
    for number in range(1, args.rounds + 1):
        start = time.perf_counter()
        for tool in list(results):
            say(f"round {number} of {args.rounds}: {tool}")
            try:
                if tool in PEERS:
                    result = run_peer(tool, args, sample, folder)
                else:
                    result = run_twindex(tool, args, sample, folder, top)
            except Problem as problem:
                say(f"run.py: {problem}; left out")
                del results[tool]
                continue
            results[tool].append(result)
            say(f"    {sample.text_bytes / 1e6 / result['seconds']:.1f} MB/s")
        say(f"round {number} took {time.perf_counter() - start:.0f} s")
    return results


# The report


def medians(runs):
    keys = [key for key in ("seconds", "peak", "corpus", "each", "query") if runs[0].get(key)]
    middle = {key: statistics.median(run[key] for run in runs) for key in keys}
    times = [run["seconds"] for run in runs]
    return {**runs[0], **middle, "fastest": min(times), "slowest": max(times)}


def likes(tool):
    """The configurations of twindex that a peer is compared with."""
    return (DEFAULT, LIKE_LANCE) if tool == "lance" else (LIKE_CHARS,)


def memory(result):
    if "corpus" not in result:
        least = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
        sign = "<= " if result["peak"] <= least else ""
        return f"{sign}{result['peak'] / 2**20:.0f} MiB"
    return f"{result['peak'] / 2**20:.0f} MiB, {result['corpus'] / 2**20:.0f} of it before indexing"


def shingle(tool, result):
    return result.get("shingle") or (f"{LANCE}, its own words" if tool == "lance" else CHARS)


def row(tool, results, sample):
    result = results[tool]
    speed = {
        key: sample.text_bytes / 1e6 / result[key] for key in ("seconds", "slowest", "fastest")
    }
    factors = []
    if tool in PEERS:
        for other in likes(tool):
            if other in results:
                factor = result["seconds"] / results[other]["seconds"]
                factors.append(f"{factor:.1f} ({results[other]['shingle']})")
    return [
        f"{tool} {version(tool)}" if tool in PEERS else tool,
        "no" if tool in PEERS and tool != "lance" else "yes",
        shingle(tool, result),
        f"{speed['seconds']:.1f} ({speed['slowest']:.1f} to {speed['fastest']:.1f})",
        f"{sample.documents / result['seconds']:,.0f}",
        f"{result['each']:.0f}" if result.get("each") else "-",
        f"{result['query'] * 1e6:,.0f} us" if result.get("query") else "-",
        memory(result),
        ", ".join(factors) or "-",
    ]


def report(args, results, sample, top):
    heads = ["tool", "on disk", "shingle", "MB/s", "documents/s", "bytes a document", "a query"]
    heads += ["peak memory", "twindex is so many times as fast"]
    print("|", " | ".join(heads), "|")
    print("|" + "---|" * len(heads))
    for tool in results:
        print("|", " | ".join(row(tool, results, sample)), "|")
    rounds = f"{args.rounds} rounds" if args.rounds > 1 else "1 round"
    notes = [
        f"{sample.documents:,} documents, {sample.text_bytes / 1e6:.1f} MB of text, {rounds}, "
        f"medians (least to most); {CORES} cores; threshold {args.threshold}.",
        "MB/s, peers: making the index only, the texts already in memory and no JSON parsed. "
        "twindex: the whole process `twindex add` into a new file, with reading, JSON and durable "
        "commits. That is to the disadvantage of twindex.",
        "lance and gaoya take all cores, as does twindex; rensa and datasketch one. lance works in "
        "batches of 8,192 documents, one core a batch.",
    ]
    if any(result.get("query") for result in results.values()):
        notes.append(
            f"A query: mean of {sample.asked:,} texts one after the other, sketching included. "
            f"lance: the {TOP} nearest, within a running process. twindex: the whole process "
            "`twindex query --threads 1` on the index as loaded, by its wall time, "
            + (f"the {TOP} nearest" if top else "all")
            + " at the threshold or above."
        )
    if any(result.get("each") for result in results.values()):
        notes.append(
            "Bytes a document: lance, all files of its index; twindex, signatures and postings "
            "after `twindex compact`, the records of ids and checksums aside."
        )
    found = [
        f"{tool} {bands_of(result)}, {chance(result, args.threshold):.1%}"
        for tool, result in results.items()
        if "bands" in result
    ]
    if found:
        notes.append(
            "Bands x values in a band, and how probably they make a pair at the threshold a "
            f"candidate: {'; '.join(found)}."
        )
    print()
    for note in notes:
        print("-", note)


def bands_of(result):
    return "{} x {}".format(*result["bands"])


def chance(result, threshold):
    """What twindex promises; for peers, whose bands are of whole values, by the usual formula."""
    bands, rows = result["bands"]
    return result.get("recall") or 1 - (1 - threshold**rows) ** bands


def main():
    args = arguments()
    environment()
    tools = []
    for name in args.peers:
        try:
            install(name)
            tools.append(name)
        except Problem as problem:
            say(f"run.py: {problem}; left out")
    if not tools:
        raise Problem("no peer is left to compare with")
    # Configurations in the order of SETTINGS, after the peers.
    tools += [name for name in SETTINGS if any(name in likes(peer) for peer in tools)]
    usage = subprocess.run([args.twindex, "query", "--help"], capture_output=True, text=True)
    top = ["--top", str(TOP)] if "--top" in usage.stdout else []
    folder = Path(tempfile.mkdtemp(prefix="peers-", dir=ROOT / "target"))
    try:
        say(f"reading {args.corpus}")
        sample = Sample(args.corpus, args.limit, folder)
        results = measure(args, tools, sample, folder, top)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not results:
        raise Problem("nothing could be measured")
    report(args, {tool: medians(runs) for tool, runs in results.items()}, sample, top)
    return 0 if set(results) >= {*args.peers, *tools} else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Problem, OSError) as problem:
        say(f"run.py: {problem}")
        sys.exit(2)
    except KeyboardInterrupt:
        say("run.py: interrupted")
        sys.exit(130)
