"""The steps on Arrow tables, without an engine: they give the answers of an index."""

import random
import tracemalloc
from collections import defaultdict
from collections.abc import Iterable
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import twindex
from conftest import changed, words
from twindex import kernel
from twindex.kernel import buckets
from twindex.kernel.columns import Docs, numbers
from twindex.kernel.meetings import CROWD, PAIRS, SQUARE
from twindex.kernel.numbering import PART_BITS, first_of
from twindex.kernel.planes import pack, unpack, unpack_all

NONE = np.zeros(0, np.int64)


class Rows:
    """Rows in some partitions, and the steps on them as an engine would run them."""

    def __init__(
        self, texts: list[str | None], settings: twindex.Settings, partitions: int
    ) -> None:
        self.settings = settings
        self.parts: dict[int, pa.Table] = {}
        bounds = np.linspace(0, len(texts), partitions + 1).astype(int)
        self.docs: list[int] = []
        for part, (first, last) in enumerate(zip(bounds, bounds[1:], strict=False)):
            ids = [f"d{row}" for row in range(first, last)]
            batch = pa.RecordBatch.from_pydict(
                {"id": pa.array(ids, pa.string()), "text": pa.array(texts[first:last], pa.string())}
            )
            sketches = kernel.sketch(batch, settings, id="id", text="text")
            self.parts[part] = pa.Table.from_batches([sketches])
            self.docs += [first_of(part) + row for row in range(last - first)]
        self.rows = {doc: row for row, doc in enumerate(self.docs)}
        self.copies = self._copies()

    def _docs(self, part: int) -> Docs:
        return first_of(part) + np.arange(len(self.parts[part]), dtype=np.int64)

    def _copies(self) -> dict[int, int]:
        made = [
            kernel.copy_entries(self._docs(part), sketches, self.settings, 4)
            for part, sketches in self.parts.items()
        ]
        found = [batch for blobs in _by_key(made) for batch in kernel.copies(blobs)]
        rows = [row for batch in found for row in _rows(batch)]
        assert len({doc for doc, _ in rows}) == len(rows)
        return dict(rows)

    def lookup(self, docs: Docs) -> pa.Table:
        part = int(docs[0]) >> 33
        return self.parts[part].take(pa.array(docs - first_of(part)))

    def round(
        self, taken: kernel.Round, among: set[int] | None = None, removed: Iterable[int] = ()
    ) -> tuple[list[tuple[int, int, float]], dict[int, bool]]:
        """The similar pairs of a round, and the documents of large buckets: whether they wait."""
        left_out = {doc for doc, first in self.copies.items() if doc != first}
        if among is not None:
            left_out |= set(self.docs) - among
        marks = kernel.Marks(
            np.array(sorted(left_out), np.int64),
            np.array(sorted(set(self.copies.values())), np.int64),
            np.array(sorted(removed), np.int64),
        )
        made: list[pa.RecordBatch] = []
        for part, sketches in self.parts.items():
            signatures = sketches.column("signature").combine_chunks()
            made += kernel.band_entries(self._docs(part), signatures, marks, self.settings, 2)
        met = all_met(_by_key(made), taken)
        similar = self._similar([row for row in met if row["kind"] == PAIRS])
        waits: dict[int, bool] = {}
        crowds = defaultdict(list)
        for row in met:
            if row["kind"] == CROWD:
                crowds[row["part"]].append(row["blob"])
        for of_part in crowds.values():
            docs, waiting = kernel.crowd(of_part)
            waits.update(zip(docs.tolist(), waiting.tolist(), strict=True))
        return similar, waits

    def _similar(self, pairs: list[dict[str, Any]]) -> list[tuple[int, int, float]]:
        by_part = defaultdict(list)
        for row in pairs:
            by_part[row["part"]].append(row["blob"])
        arriving = defaultdict(list)
        for blobs in by_part.values():
            for batch in kernel.travellers(blobs, self.lookup):
                for traveller in batch.to_pylist():
                    arriving[traveller["part"]].append(traveller)
        found = set()
        for travellers in arriving.values():
            table = pa.Table.from_pylist(travellers, kernel.TRAVELLERS)
            for batch in kernel.similar(table, self.lookup, self.settings):
                for pair in batch.to_pylist():
                    found.add((pair["a"], pair["b"], pair["similarity"]))
        return sorted(found)

    def dedup(self, growth: int, small: int) -> dict[int, tuple[int, float]]:
        """The rows that are not kept, with the most similar kept row before each."""
        similar, crowd = self.round(kernel.Round("pivots", small=small))
        waits, removed, pivots = crowd, self._removed(similar, crowd), 1
        while waiting := {doc for doc, waits in waits.items() if waits} - removed:
            pivots *= growth
            more, waits = self.round(kernel.Round("pivots", pivots, small), among=waiting)
            similar = sorted({*similar, *more})
            removed = self._removed(similar, waits)
        if crowd:
            similar += self.round(
                kernel.Round("kept", small=small), among=set(crowd), removed=removed
            )[0]
        return self._verdicts(similar, removed)

    @staticmethod
    def _removed(similar: list[tuple[int, int, float]], waits: dict[int, bool]) -> set[int]:
        a, b = (np.array([pair[at] for pair in similar], np.int64) for at in (0, 1))
        waiting = np.array([doc for doc, waits in waits.items() if waits], np.int64)
        return set(kernel.removed(a, b, waiting).tolist())

    def _verdicts(
        self, similar: list[tuple[int, int, float]], removed: set[int]
    ) -> dict[int, tuple[int, float]]:
        found: dict[int, list[tuple[float, int]]] = defaultdict(list)
        members = defaultdict(list)
        for doc, first in self.copies.items():
            members[first].append(doc)
            if doc != first and first not in removed:
                found[doc].append((-1.0, first))
        for a, b, similarity in similar:
            for kept, gone in ((a, b), (b, a)):
                if kept not in removed:
                    for doc in {gone, *members[gone]}:
                        if kept < doc:
                            found[doc].append((-similarity, kept))
        best = {doc: min(of_doc) for doc, of_doc in found.items()}
        return {self.rows[d]: (self.rows[of], -nearness) for d, (nearness, of) in best.items()}


def rows_of(batches: Iterable[pa.RecordBatch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.to_pylist()]


def all_met(keys: Iterable[Iterable[bytes]], taken: kernel.Round) -> list[dict[str, Any]]:
    """What the entries of keys give, with the pairs of squares."""
    out = kernel.Meetings()
    met = rows_of(batch for blobs in keys for batch in kernel.meet(blobs, taken, out))
    met += rows_of(out.take())
    for row in met:
        if row["kind"] == SQUARE:
            kernel.expand(row["blob"], row["other"], out)
    return met + rows_of(out.take())


def _by_key(entries: Iterable[pa.RecordBatch]) -> Iterable[list[bytes]]:
    """The blobs of each key, in the order of their documents."""
    table = pa.Table.from_batches(entries, kernel.ENTRIES).sort_by(
        [("key", "ascending"), ("first", "ascending")]
    )
    blobs = defaultdict(list)
    for row in table.to_pylist():
        blobs[row["key"]].append(row["blob"])
    return blobs.values()


def _rows(batch: pa.RecordBatch) -> Iterable[tuple[int, int]]:
    return zip(*(column.to_pylist() for column in batch.columns), strict=True)


def by_index(texts: list[str | None], settings: twindex.Settings) -> dict[int, tuple[int, float]]:
    """What a single index says."""
    table = twindex.dedup(
        [text or "" for text in texts],
        id=None,
        threshold=settings.threshold,
        exact=settings.store_text,
        lanes=settings.lanes,
        shingle=settings.shingle,
    )
    return {
        row: (int(verdict["duplicate_of"]), verdict["similarity"])
        for row, verdict in enumerate(table.to_pylist())
        if not verdict["keep"]
    }


def near_copies(seed: int, size: int) -> list[str | None]:
    """Texts of which many are near copies or copies of others, some in a crowd."""
    rng = random.Random(seed)
    crowd, texts = words(rng, 50), list[str | None]()
    for _ in range(size):
        kind = rng.random()
        given = [text for text in texts if text and text.split()]
        if kind < 0.3 and given:
            texts.append(" ".join(changed(rng, rng.choice(given).split(), rng.randrange(4))))
        elif kind < 0.5:
            texts.append(" ".join(changed(rng, crowd, rng.randrange(7))))
        elif kind < 0.52:
            texts.append(rng.choice(["", "  ", "ab", None]))
        else:
            texts.append(" ".join(words(rng, 50)))
    return texts


@pytest.mark.parametrize(("exact", "held"), [(False, 1 << 21), (True, 1 << 21), (False, 20)])
@pytest.mark.parametrize("seed", range(6))
def test_the_steps_give_the_answers_of_an_index(
    seed: int, exact: bool, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "_HELD", held)
    monkeypatch.setattr(buckets, "_HOT", held // 10)
    # The module has the name of a function.
    monkeypatch.setattr(import_module("twindex.kernel.copies"), "_HELD", held)
    threshold = [0.8, 0.7, 0.9, 0.6, 0.8, 0.5][seed]
    settings = twindex.Settings(threshold=threshold, store_text=exact)
    texts = near_copies(seed, 400)
    rows = Rows(texts, settings, [1, 3, 7, 2, 16, 50][seed])
    expected = by_index(texts, settings)
    assert len(expected) > 60
    assert (
        rows.dedup(growth=[2, 8, 64, 4, 8, 64][seed], small=[8, 64, 8, 2, 1, 20][seed]) == expected
    )


def test_all_pairs_are_those_of_an_index(path: object) -> None:
    settings = twindex.Settings(threshold=0.7)
    texts = near_copies(9, 300)
    rows = Rows(texts, settings, 3)
    similar, _ = rows.round(kernel.Round("all"))
    assert len({pair[:2] for pair in similar}) == len(similar)
    members = defaultdict(list)
    for doc, first in rows.copies.items():
        members[first].append(doc)
    found = {
        frozenset((f"d{rows.rows[x]}", f"d{rows.rows[y]}")): similarity
        for a, b, similarity in similar
        for x in members.get(a, [a])
        for y in members.get(b, [b])
    }
    for group in members.values():
        found.update(
            {
                frozenset((f"d{rows.rows[x]}", f"d{rows.rows[y]}")): 1.0
                for x in group
                for y in group
                if x < y
            }
        )
    with twindex.open(path, threshold=0.7) as index:  # type: ignore[arg-type]
        index.insert_many((f"d{row}", text or "") for row, text in enumerate(texts))
        assert found == {frozenset((pair.a, pair.b)): pair.similarity for pair in index.pairs()}


@pytest.mark.parametrize("size", [2, 9, 1 << 16, (1 << 16) + 1])
def test_a_bucket_of_any_size_gives_its_pivot_with_all_others(size: int) -> None:
    docs = np.arange(size, dtype=np.uint64)
    blob = pack(np.zeros(size, np.uint64), docs << np.uint64(2))
    met = all_met([[blob]], kernel.Round("pivots"))
    pairs = [unpack(row["blob"]) for row in met if row["kind"] == PAIRS]
    assert sum(len(a) for a, _ in pairs) == size - 1


def entries_of_a_hot_word(pieces: int, rows: int) -> Iterable[bytes]:
    """Entries of which half have one word."""
    for piece in range(pieces):
        docs = np.arange(piece * rows, (piece + 1) * rows, dtype=np.uint64)
        words = np.where(docs % np.uint64(2) == 0, np.uint64(0), docs)
        order = np.argsort(words, kind="stable")
        yield pack(words[order], docs[order] << np.uint64(2))


def test_a_hot_word_is_met_as_its_entries_come(monkeypatch: pytest.MonkeyPatch) -> None:
    def met(blobs: Iterable[bytes]) -> tuple[set[tuple[int, int]], dict[int, bool]]:
        rows = all_met([blobs], kernel.Round("pivots"))
        a, b = unpack_all([row["blob"] for row in rows if row["kind"] == PAIRS], 2)
        docs, waits = kernel.crowd([row["blob"] for row in rows if row["kind"] == CROWD])
        crowd = dict(zip(docs.tolist(), waits.tolist(), strict=True))
        return set(zip(a.tolist(), b.tolist(), strict=True)), crowd

    at_once = met(entries_of_a_hot_word(30, 100))
    assert len(at_once[0]) == 1499
    monkeypatch.setattr(buckets, "_HELD", 200)
    monkeypatch.setattr(buckets, "_HOT", 20)
    assert met(entries_of_a_hot_word(30, 100)) == at_once
    # Which document is first is known only if they come in order.
    backwards = list(entries_of_a_hot_word(30, 100))[::-1]
    with pytest.raises(kernel.OutOfOrderError, match="sort them by it"):
        met(backwards)


@pytest.mark.parametrize("what", ["copies", "word"])
def test_a_key_takes_no_more_memory_than_some_entries(what: str) -> None:
    def peak(pieces: int) -> int:
        def blobs() -> Iterable[bytes]:
            same = np.full(1 << 18, 3, np.uint64)
            for piece in range(pieces):
                docs = np.arange(1 << 18, dtype=np.uint64) + np.uint64(piece << 18)
                columns = (same, same, docs) if what == "copies" else (same, docs << np.uint64(2))
                yield pack(*columns)

        tracemalloc.start()
        out = kernel.Meetings()
        found = (
            kernel.copies(blobs())
            if what == "copies"
            else kernel.meet(blobs(), kernel.Round("pivots"), out)
        )
        for _ in found:
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    # A task holds 2 million entries, and here come 8 million more.
    assert peak(40) < 1.2 * peak(10)


def test_long_texts_travel_in_small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("twindex.kernel.pairs._TEXT_BYTES", 10_000)
    lengths = [random.Random(at).choice([10, 2_000, 30_000]) for at in range(300)]

    def lookup(docs: Docs) -> pa.Table:
        texts = pa.array(["x" * lengths[doc] for doc in docs], pa.string())
        return pa.table({"signature": pa.array([b"\0" * 8] * len(docs)), "text": texts})

    docs = np.arange(300, dtype=np.uint64)
    others = docs + np.uint64(first_of(1))
    batches = list(kernel.travellers([pack(docs, others)], lookup))
    sent = [row for batch in batches for row in batch.to_pylist()]
    assert [(row["doc"], len(row["text"]), row["others"]) for row in sent] == [
        (doc, lengths[doc], [doc]) for doc in range(300)
    ]
    sizes = [[len(text) for text in batch.column("text").to_pylist()] for batch in batches]
    assert all(len(of_batch) == 1 or sum(of_batch) <= 10_000 for of_batch in sizes)
    assert any(len(of_batch) > 1 for of_batch in sizes)


def test_a_few_megabytes_of_texts_are_looked_up_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(5)
    text = words(rng, 60)
    texts = [" ".join(changed(rng, text, 1) * (1 if row < 100 else 9)) for row in range(200)]
    rows = Rows(list(texts), twindex.Settings(store_text=True, threshold=0.7), 1)
    a, b = (of_side.astype(np.uint64) for of_side in np.triu_indices(len(texts), 1))
    held = 0

    def lookup(docs: Docs) -> pa.Table:
        nonlocal held
        found = rows.lookup(docs)
        held += found.column("text").nbytes
        return found

    def found() -> tuple[set[tuple[int, int]], int]:
        """The similar pairs, and the most bytes of texts that were looked up for a batch."""
        nonlocal held
        sent: list[pa.RecordBatch] = []
        pairs: set[tuple[int, int]] = set()
        most = 0
        for batch in kernel.travellers([pack(a, b)], lookup):
            sent.append(batch)
            most, held = max(most, held), 0
        for batch in kernel.similar(pa.Table.from_batches(sent), lookup, rows.settings):
            pairs.update((pair["a"], pair["b"]) for pair in batch.to_pylist())
            most, held = max(most, held), 0
        return pairs, most

    whole, all_texts = found()
    assert len(whole) > 1000 and all_texts > 200_000
    monkeypatch.setattr("twindex.kernel.pairs._FIRST_TEXTS", 2)
    monkeypatch.setattr("twindex.kernel.pairs._TEXTS", 2)
    monkeypatch.setattr("twindex.kernel.pairs._TEXT_BYTES", 10_000)
    in_parts, most = found()
    assert in_parts == whole
    assert most < 10_000 + 2 * max(map(len, texts))


@pytest.mark.parametrize("length", [100, 2_000, 9_000])
def test_texts_that_go_to_several_parts_are_looked_up_about_once(
    monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    monkeypatch.setattr("twindex.kernel.pairs._TEXT_BYTES", 100_000)
    looked_up = 0

    def lookup(docs: Docs) -> pa.Table:
        nonlocal looked_up
        looked_up += len(docs)
        texts = pa.array(["x" * length] * len(docs), pa.string())
        return pa.table({"signature": pa.array([b"\0" * 8] * len(docs)), "text": texts})

    docs, parts = np.repeat(np.arange(1000), 3), np.tile(np.arange(3), 1000)
    others = (first_of(1) + (parts << PART_BITS)).astype(np.uint64)
    sent = list(kernel.travellers([pack(docs.astype(np.uint64), others)], lookup))
    assert sum(batch.num_rows for batch in sent) == 3000
    assert looked_up < 1500


def test_large_products_travel_as_squares() -> None:
    out = kernel.Meetings()
    docs = np.arange(3000, dtype=np.uint64)
    out.product(docs[:1500], docs[1500:])
    out.product(docs[:2000], None)
    met = rows_of(out.take())
    squares = [row for row in met if row["kind"] == SQUARE]
    assert len(squares) > 3
    pairs: set[tuple[int, int]] = set()
    for row in squares:
        kernel.expand(row["blob"], row["other"], out)
    for row in met + rows_of(out.take()):
        if row["kind"] == PAIRS:
            a, b = unpack(row["blob"])
            pairs.update(zip(a.tolist(), b.tolist(), strict=True))
    expected = {(a, b) for a in range(1500) for b in range(1500, 3000)}
    expected |= {(a, b) for a in range(2000) for b in range(a + 1, 2000)}
    assert pairs == expected


@pytest.mark.parametrize("seed", range(4))
def test_what_is_packed_is_unpacked(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(1, 300))
    columns = [
        rng.integers(0, 1 << int(rng.integers(1, 64)), rows, np.uint64) + np.uint64(seed)
        for _ in range(3)
    ]
    columns[1][:] = columns[1][0]
    columns[2][-1] = (1 << 64) - 1
    for column, again in zip(columns, unpack(pack(*columns)), strict=True):
        assert np.array_equal(column, again)


def test_documents_wait_until_all_before_them_are_compared() -> None:
    def removed(pairs: list[tuple[int, int]], waiting: list[int]) -> list[int]:
        a, b = (np.array([pair[at] for pair in pairs], np.int64) for at in (0, 1))
        found: list[int] = kernel.removed(a, b, np.array(waiting, np.int64)).tolist()
        return found

    chain = [(1, 2), (2, 3), (3, 4), (4, 5)]
    assert removed(chain, []) == [2, 4]
    # 3 is undecided while it waits, and so are those that depend on it.
    assert removed(chain, [3]) == [2]
    # 2 is removed although it waits: 1 is kept.
    assert removed(chain, [2]) == [2, 4]
    assert removed(chain, [1]) == []
    with pytest.raises(twindex.InvalidInputError, match="first is less"):
        removed([(2, 1)], [])


def test_components_are_what_can_be_reached() -> None:
    a, b = np.array([5, 9, 1, 20]), np.array([7, 7, 2, 30])
    docs, firsts = kernel.components(a, b)
    assert dict(zip(docs.tolist(), firsts.tolist(), strict=True)) == {
        1: 1, 2: 1, 5: 5, 7: 5, 9: 5, 20: 20, 30: 20,
    }  # fmt: skip


def test_rows_that_are_no_documents_are_told() -> None:
    bad = pa.Array.from_buffers(
        pa.string(),
        4,
        [None, pa.py_buffer(np.array([0, 2, 4, 7, 9], np.int32)), pa.py_buffer(b"ab\xff\xfeabcde")],
    )
    batch = pa.RecordBatch.from_arrays([pa.array([1, 2, None, 4]), bad], ["id", "text"])
    made = kernel.sketch(batch, twindex.Settings(), id="id", text="text")
    assert made.column("problem").to_pylist() == [
        None, "the text is not valid UTF-8", "the id is null", None,
    ]  # fmt: skip
    assert made.column("id").to_pylist() == ["1", "2", None, "4"]
    assert made.column("empty").to_pylist() == [False, True, True, False]


def test_ids_are_strings_or_whole_numbers() -> None:
    def ids(column: pa.Array) -> list[str | None]:
        batch = pa.RecordBatch.from_pydict({"id": column, "text": ["one", "two"]})
        made = kernel.sketch(batch, twindex.Settings(), id="id", text="text")
        return list(made.column("id").to_pylist())

    for kind in (pa.int8(), pa.uint64()):
        assert ids(pa.array([7, 8], kind)) == ["7", "8"]
    assert ids(pa.array([7, 8]).dictionary_encode()) == ["7", "8"]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        assert ids(pa.array(["a", None]).cast(kind)) == ["a", None]
    assert ids(pa.nulls(2)) == [None, None]
    for column in ([1.5, 2.0], [True, False], [b"a", b"b"]):
        with pytest.raises(ValueError, match="ids of type .*: expected strings or whole numbers"):
            ids(pa.array(column))


def test_wrong_columns_are_refused() -> None:
    with pytest.raises(twindex.InvalidInputError, match="expected uint64"):
        twindex._twindex.greedy(pa.array([1]), pa.array([2]), pa.array([], pa.uint64()))
    signatures = twindex.Sketcher().sketch(["a text of some length"])
    places = pa.array([1], pa.uint64())
    with pytest.raises(twindex.InvalidInputError, match="beyond the end"):
        twindex._twindex.compare_signatures(signatures, places, signatures, places, least=0)


@pytest.mark.parametrize("missing", [1, 3])
def test_a_lookup_that_lacks_sketches_is_told(missing: int) -> None:
    rows = Rows(["a text of some length"] * 3, twindex.Settings(store_text=True), 1)
    calls = 0

    def lookup(docs: Docs) -> pa.Table:
        nonlocal calls
        calls += 1
        assert calls < 10, "asked again and again"
        return rows.lookup(docs)[missing:]

    a, b = (of_side.astype(np.uint64) for of_side in np.triu_indices(3, 1))
    with pytest.raises(ValueError, match=r"lookup gave \d sketches for 2 documents"):
        list(kernel.travellers([pack(a, b)], lookup))
    (sent,) = kernel.travellers([pack(a, b)], rows.lookup)
    with pytest.raises(ValueError, match=r"lookup gave \d sketches for 2 documents"):
        list(kernel.similar(pa.Table.from_batches([sent]), lookup, rows.settings))
