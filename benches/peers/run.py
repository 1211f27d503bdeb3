#!/usr/bin/env python3
"""Compares twindex with public libraries on one sample, in turn on one machine.

usage: run.py CORPUS.jsonl [--limit N] [--rounds 3] [--threshold 0.8]
              [--peers lance,incrededup,...] [--twindex target/release/twindex]

CORPUS.jsonl holds {"id": "...", "text": "..."} a line, each id once. In every round each peer runs
once, and right after it twindex in the configurations that the peer is compared with. Prints
Markdown tables on standard output; progress and errors go to standard error. README.md beside this
file says how everything is set up and what is timed.

exit status: 0 all was measured, 1 something was left out, 2 nothing could be measured

needs: Python 3.11 or later, pip, and cargo for incrededup; installs the peers into target/peers
"""
import argparse
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# Nothing is written beside the sources.
sys.dont_write_bytecode = True

import peers  # noqa: E402
from drivers import KIB, QUERIES, TOP  # noqa: E402
from peers import PEERS, PYTHON, ROOT, SETTINGS, SHORT_CHARS  # noqa: E402
from peers import Problem, last_line, say  # noqa: E402
from report import report  # noqa: E402

DRIVERS = Path(__file__).resolve().parent / "drivers.py"


def arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
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
    if not args.corpus.is_file():
        parser.error(f"{args.corpus}: no such file")
    if not os.access(args.twindex, os.X_OK) or not args.twindex.is_file():
        parser.error(f"{args.twindex}: no such command; build it with `cargo build --release`")
    args.twindex = args.twindex.resolve()
    return args


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
        # The same texts that lance is asked for, without ids: twindex leaves out the asking record
        # if its id is in the index, lance does not.
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


def timed(command, folder, stdin=None, environment=None):
    """Runs a command; gives (seconds, peak bytes, standard output, standard error, status)."""
    environ = {**os.environ, **(environment or {}), "TMPDIR": str(folder)}
    environ = {name: value for name, value in environ.items() if value is not None}
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
        # The ends are all that is looked at. This process stays small: the kernel counts its memory
        # as that of a child which takes less.
        texts = []
        for file in (out, err):
            file.seek(max(0, file.seek(0, os.SEEK_END) - (1 << 16)))
            texts.append(file.read().decode(errors="replace"))
    return seconds, usage.ru_maxrss * KIB, *texts, child.returncode


def run_peer(name, args, sample, folder):
    peer = PEERS[name]
    command = [PYTHON, DRIVERS, name, sample.path, "--threshold", str(args.threshold)]
    if not peer.module:
        command += ["--command", peers.command_of(peer)]
    _, _, out, err, status = timed(command, folder, environment=peer.environment)
    if status != 0:
        raise Problem(f"{name} failed ({status}): {last_line(err)}")
    told = json.loads(last_line(out))
    if told["documents"] != sample.documents:
        raise Problem(f"{name} took {told['documents']} of {sample.documents} documents")
    return told


def run_twindex(name, args, sample, folder, first):
    """Loads a new index; the first time in a round, it is also asked, compacted and described."""
    index = folder / "index.twx"

    def twindex(*words, stdin=None, good=(0,)):
        ran = timed([args.twindex, *words], folder, stdin)
        if ran[4] not in good:
            raise Problem(f"twindex {name}: `{words[0]}` failed ({ran[4]}): {last_line(ran[3])}")
        return ran

    try:
        threshold = ["--threshold", str(args.threshold)]
        add = twindex("add", index, sample.path, "--json", *threshold, *SETTINGS[name])
        added = json.loads(last_line(add[3]))["added"]
        if added != sample.documents:
            raise Problem(f"twindex {name} added {added} of {sample.documents}; are ids twice?")
        result = {"seconds": add[0], "peak": add[1]}
        if not first:
            return result
        # Status 1 says that nothing was found.
        if name == SHORT_CHARS:
            pairs = twindex("pairs", index, "--quiet", good=(0, 1))
            result["total_seconds"] = add[0] + pairs[0]
            result["total_peak"] = max(add[1], pairs[1])
        else:
            words = ["query", index, "-", "--quiet", "--threads", "1", "--top", str(TOP)]
            asked = twindex(*words, stdin=sample.questions, good=(0, 1))
            result["query"] = asked[0] / sample.asked
        result["loaded_disk"] = index.stat().st_size
        twindex("compact", index, "--quiet")
        info = json.loads(last_line(twindex("info", index, "--json")[2]))
        result["disk"] = index.stat().st_size
        result["index"] = info["signature_bytes"] + info["posting_bytes"]
        result["bands"] = (info["bands"], info["depth"])
        result["recall"] = info["recall"]
        return result
    except (ValueError, KeyError) as error:
        raise Problem(f"twindex {name}: not the output expected: {error!r}")
    finally:
        for left in folder.glob("index.twx*"):
            left.unlink()


class Results:
    """What was measured: a list of runs for every tool."""

    def __init__(self, names):
        #: One result a round.
        self.peers = {name: [] for name in names}
        #: Seconds of twindex right after a peer, one a round, by peer and configuration.
        self.beside = {(name, like): [] for name in names for like in PEERS[name].likes}
        likes = {like for _, like in self.beside}
        #: The first run of each configuration in every round.
        self.twindex = {like: [] for like in SETTINGS if like in likes}
        #: Load averages of the last minute before each round.
        self.loads = []

    def drop(self, name):
        del self.peers[name]
        self.beside = {key: runs for key, runs in self.beside.items() if key[0] != name}


def measure(args, names, sample, folder):
    """Runs everything in turn; keeps the results of the peers that never failed."""
    results = Results(names)
    for number in range(1, args.rounds + 1):
        start = time.perf_counter()
        results.loads.append(os.getloadavg()[0])
        fresh = set(results.twindex)
        for name in list(results.peers):
            say(f"round {number} of {args.rounds}: {name}")
            try:
                result = run_peer(name, args, sample, folder)
            except Problem as problem:
                say(f"run.py: {problem}; left out")
                results.drop(name)
                continue
            results.peers[name].append(result)
            say(f"    {sample.text_bytes / 1e6 / result['seconds']:.1f} MB/s")
            for like in PEERS[name].likes:
                ours = run_twindex(like, args, sample, folder, like in fresh)
                if like in fresh:
                    results.twindex[like].append(ours)
                fresh.discard(like)
                results.beside[name, like].append(ours["seconds"])
                say(f"    twindex {like}: {sample.text_bytes / 1e6 / ours['seconds']:.1f} MB/s")
        say(f"round {number} took {time.perf_counter() - start:.0f} s")
    results.twindex = {like: runs for like, runs in results.twindex.items() if runs}
    return results


def main():
    args = arguments()
    peers.environment()
    names = []
    for name in args.peers:
        try:
            peers.install(name)
            names.append(name)
        except Problem as problem:
            say(f"run.py: {problem}; left out")
    if not names:
        raise Problem("no peer is left to compare with")
    folder = Path(tempfile.mkdtemp(prefix="peers-", dir=ROOT / "target"))
    try:
        say(f"reading {args.corpus}")
        sample = Sample(args.corpus, args.limit, folder)
        results = measure(args, names, sample, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not results.peers:
        raise Problem("nothing could be measured")
    report(args, results, sample)
    return 0 if set(results.peers) == set(args.peers) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Problem, OSError) as problem:
        say(f"run.py: {problem}")
        sys.exit(2)
    except KeyboardInterrupt:
        say("run.py: interrupted")
        sys.exit(130)
