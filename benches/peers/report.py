"""The tables that run.py prints, and the lines under them."""
import platform
import resource
import statistics
from pathlib import Path

from drivers import KIB, TOP
from peers import CORES, PEERS


def spread(values, form):
    """The median; more than one value are told with their least and most."""
    middle = form.format(statistics.median(values))
    if len(values) < 2:
        return middle
    return f"{middle} ({form.format(min(values))} to {form.format(max(values))})"


def rates(sample, seconds):
    return [sample.text_bytes / 1e6 / each for each in seconds]


def rate(sample, seconds):
    return f"{statistics.median(rates(sample, seconds)):.0f}"


def column(runs, key):
    return [run[key] for run in runs if run.get(key)]


def memory(runs):
    """Peak memory, and what of it was held before indexing began."""
    peak = statistics.median(column(runs, "peak"))
    text = f"{peak / 2**20:,.0f} MiB"
    loaded = column(runs, "loaded")
    if loaded:
        return f"{text} ({statistics.median(loaded) / 2**20:,.0f} before)"
    # The kernel counts what this process held when it forked as the child's, so a child that took
    # less shows up with this process's own peak.
    least = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
    return f"at most {text}" if peak <= least else text


def each(runs, key, sample):
    values = column(runs, key)
    return f"{statistics.median(values) / sample.documents:,.0f}" if values else "-"


def table(heads, rows):
    print("|", " | ".join(heads), "|")
    print("|" + "---|" * len(heads))
    for row in rows:
        print("|", " | ".join(row), "|")
    print()


def peers_table(results, sample):
    heads = ["peer", "on disk", "cores", "shingles", "MB/s", "twindex, MB/s", "times as fast"]
    heads += ["peak memory", "bytes a document"]
    rows = []
    for (name, like), beside in results.beside.items():
        peer, runs = PEERS[name], results.peers[name]
        factors = [run["seconds"] / seconds for run, seconds in zip(runs, beside)]
        rows.append(
            [
                peer.title,
                "yes" if peer.disk else "no",
                str(peer.cores),
                peer.shingles,
                spread(rates(sample, column(runs, "seconds")), "{:.1f}"),
                f"{rate(sample, beside)} ({like.partition(',')[0]})",
                spread(factors, "{:.1f}"),
                memory(runs),
                each(runs, "disk", sample),
            ]
        )
    table(heads, rows)


def twindex_table(results, sample):
    heads = ["twindex", "MB/s", "peak memory", "bytes a document", "compacted", "of these index"]
    heads += ["a query"]
    rows = []
    for like, runs in results.twindex.items():
        queries = column(runs, "query")
        rows.append(
            [
                like,
                spread(rates(sample, column(runs, "seconds")), "{:.0f}"),
                memory(runs),
                each(runs, "loaded_disk", sample),
                each(runs, "disk", sample),
                each(runs, "index", sample),
                f"{statistics.median(queries) * 1e6:,.0f} us" if queries else "-",
            ]
        )
    table(heads, rows)


def processor():
    """The model that Linux tells, or what the platform calls it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def chance(run, threshold):
    """What twindex promises; for peers, whose bands are of whole values, by the usual formula."""
    bands, values = run["bands"]
    return run.get("recall") or 1 - (1 - threshold**values) ** bands


def notes(args, results, sample):
    rounds = f"{args.rounds} rounds" if args.rounds > 1 else "1 round"
    yield (
        f"{sample.documents:,} documents, {sample.text_bytes / 1e6:.1f} MB of text, threshold "
        f"{args.threshold}; {CORES} cores, {processor()}; {rounds}, medians (least to most). Load "
        f"before each round: {', '.join(f'{load:.1f}' for load in results.loads)}."
    )
    yield (
        "Times as fast: time of the peer by that of the run of twindex right after it, one ratio a "
        "round."
    )
    yield (
        "MB/s: texts, by the time from texts in memory to the index; for incrededup, from a table "
        "of SQLite. twindex: the whole process `twindex add` into a new file, with reading, JSON "
        "and durable commits."
    )
    yield (
        "Peak memory: of the process; of libraries with the interpreter and all texts, which they "
        "held before they began to index."
    )
    if any(run.get("disk") for runs in results.peers.values() for run in runs):
        yield (
            "Bytes a document: files of the index, as left. twindex: the whole file, as loaded and "
            "after `twindex compact`, ids and checksums included; of these index: signatures and "
            "postings."
        )
    yield from query_note(results)
    yield from pairs_note(results)
    told = [
        f"{title} {run['bands'][0]} x {run['bands'][1]}, {chance(run, args.threshold):.1%}"
        for title, run in [
            *((PEERS[name].title, runs[0]) for name, runs in results.peers.items()),
            *((f"twindex {like}", runs[0]) for like, runs in results.twindex.items() if runs),
        ]
        if "bands" in run
    ]
    if told:
        yield (
            "Bands x values in a band, and how probably they make a pair at the threshold a "
            f"candidate: {'; '.join(told)}."
        )


def query_note(results):
    for name, runs in results.peers.items():
        times = [run["query_seconds"] / run["queries"] for run in runs if "queries" in run]
        if times:
            yield (
                f"A query: mean of {runs[0]['queries']:,} texts one after the other, sketching "
                f"included. {PEERS[name].title}: {statistics.median(times) * 1e6:,.0f} us, the "
                f"{TOP} nearest, within a running process. twindex: the whole process `twindex "
                f"query --threads 1`, the {TOP} nearest at the threshold or above."
            )


def pairs_note(results):
    for name, runs in results.peers.items():
        theirs = column(runs, "total_seconds")
        like = results.twindex.get(PEERS[name].likes[0], [])
        ours = column(like, "total_seconds")
        if theirs and len(ours) == len(theirs):
            factors = [a / b for a, b in zip(theirs, ours)]
            peaks = [statistics.median(column(each, "total_peak")) for each in (runs, like)]
            yield (
                f"{PEERS[name].title} also finds all pairs in the same run, which takes "
                f"{spread(theirs, '{:.1f}')} s and {peaks[0] / 2**20:,.0f} MiB in all. `twindex "
                f"add` and `twindex pairs` take {spread(ours, '{:.1f}')} s and "
                f"{peaks[1] / 2**20:,.0f} MiB: {spread(factors, '{:.1f}')} times as fast."
            )


def report(args, results, sample):
    peers_table(results, sample)
    twindex_table(results, sample)
    for note in notes(args, results, sample):
        print("-", note)
