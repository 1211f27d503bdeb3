"""Processes that sketch, one that writes, and processes that read at the same time.

Making signatures is most of the work, and needs no index. So worker processes can do it, beside
what else they do with a text: fetching, parsing, cleaning. One process writes the index.
(Without such work, `insert_many` in one process is simpler and as fast: it uses all cores.)

needs: pip install twindex
"""

import multiprocessing
import tempfile
from pathlib import Path

import twindex

#: The settings that decide about signatures. The index and all workers must have the same ones.
LANES, SHINGLE = 256, "char:9"

sketcher: twindex.Sketcher
reader: twindex.Index


def article(number: int) -> str:
    """Every fifth article is like the one before; the others have nothing in common."""
    subject = number - 1 if number % 5 == 4 else number
    text = " ".join(f"word-{subject}-{place}" for place in range(100))
    return text if subject == number else text + " and a line at the end"


def start_sketching() -> None:
    """Runs once in each worker that sketches."""
    global sketcher
    sketcher = twindex.Sketcher(lanes=LANES, shingle=SHINGLE)


def sketch(number: int) -> tuple[str, bytes]:
    """An id and a signature: 260 bytes to send, however long the text."""
    return f"article-{number}", sketcher.signature(article(number))


def start_reading(path: Path) -> None:
    """Runs once in each worker that reads. An open index cannot be sent to it; its path can."""
    global reader
    reader = twindex.open(path, mode="r")


def ask(number: int) -> list[str]:
    """The ids of what is similar to an article."""
    return [match.id for match in reader.query(article(number))]


def main() -> None:
    # A forked child must not use what its parent has opened, so processes are spawned.
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "articles.twx"
        with twindex.open(path, lanes=LANES, shingle=SHINGLE) as index:
            with spawn.Pool(2, start_sketching) as pool:
                # `imap` keeps the order, and gives rows as they become ready.
                print(index.insert_signatures(pool.imap(sketch, range(500), chunksize=50)))
            with spawn.Pool(2, start_reading, [path]) as pool:
                for number, ids in zip([3, 4, 5], pool.map(ask, [3, 4, 5]), strict=True):
                    print(f"article {number}:", sorted(ids))
            print("pairs:", sum(1 for _ in index.pairs()))


if __name__ == "__main__":
    main()
