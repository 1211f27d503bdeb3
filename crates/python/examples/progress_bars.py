"""Progress of long work, by tqdm or by a function, and stopping it.

needs: pip install twindex tqdm
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

import twindex


def documents(count: int) -> list[tuple[str, str]]:
    """Texts in which neighbours are alike."""
    return [
        (f"doc-{number}", " ".join(f"word{(number // 2) * 50 + place}" for place in range(50)))
        for number in range(count)
    ]


def shown_by(bar: tqdm) -> Callable[[int, int | None], None]:
    """What `progress=` takes: it is called with what is done, and the total if it is known."""

    def progress(done: int, total: int | None) -> None:
        if total is not None:
            bar.total = total
        bar.update(done - bar.n)

    return progress


class Enough(Exception):
    """Raised to stop."""


def stop_soon(done: int, total: int | None) -> None:
    """Stops after some documents. Ctrl-C does the same at any time."""
    if done >= 8_000:
        raise Enough


with tempfile.TemporaryDirectory() as folder:
    with twindex.open(Path(folder) / "documents.twx") as index:
        rows = documents(20_000)

        # An exception that a progress function raises ends the work and comes out of the call. What
        # was committed stays: `insert_many` commits after every `commit_every` documents.
        try:
            index.insert_many(rows, commit_every=4096, progress=stop_soon)
        except Enough as stopped:
            print("stopped:", stopped.__notes__, len(index), "documents")

        # The same call again goes on from there: documents that are there are `unchanged`. The
        # number of rows is known here, so the bar is told; a table that is streamed has none.
        with tqdm(total=len(rows), unit=" documents", desc="insert") as bar:
            inserted = index.insert_many(rows, progress=shown_by(bar))
        print(inserted)

        # Work on the whole file knows its total.
        with tqdm(unit=" steps", desc="check") as bar:
            report = index.check(progress=shown_by(bar))
        print(report)
        with tqdm(desc="clusters") as bar:
            clusters = index.clusters(progress=shown_by(bar))
        print(clusters)
