"""Queries, pairs, clusters, explanations: against brute force where there is one."""

import signal
from pathlib import Path

import pytest
from conftest import jaccard, shingles

import twindex


@pytest.fixture
def filled(index: twindex.Index, corpus: list[tuple[str, str]]) -> twindex.Index:
    index.insert_many(corpus)
    return index


def test_queries_agree_with_brute_force(
    filled: twindex.Index, corpus: list[tuple[str, str]]
) -> None:
    for id, text in corpus[:40]:
        expected = {other: jaccard(text, of) for other, of in corpus}
        found = {match.id: match.similarity for match in filled.query(text, threshold=0.7)}
        wanted = {other: score for other, score in expected.items() if score >= 0.7}
        assert found == pytest.approx(wanted)
        by_id = filled.query(id=id, threshold=0.7)
        assert [match.id for match in by_id] == [other for other in found if other != id]
        top = filled.query(text, top=2, threshold=0.1)
        assert len(top) <= 2 and top[0].similarity == 1.0
        scanned = filled.query(text, threshold=0.05, scan=True)
        assert {match.id for match in scanned} == {
            other for other, score in expected.items() if score >= 0.05
        }


def test_candidates_can_be_bounded(filled: twindex.Index, corpus: list[tuple[str, str]]) -> None:
    text = max((text for _, text in corpus), key=lambda text: len(filled.query(text)))
    matches = filled.query(text)
    assert len(matches) > 1 and not matches.limited
    few = filled.query(text, max_candidates=1)
    assert few.limited and few.candidates == 1 and set(few) <= set(matches)
    assert list(filled.query(text, max_candidates=len(filled))) == list(matches)
    with pytest.raises(twindex.InvalidInputError, match="max_candidates"):
        filled.query(text, max_candidates=0)
    with pytest.raises(twindex.InvalidInputError, match="scan"):
        filled.query(text, max_candidates=5, scan=True)


def test_matches_are_a_sequence(filled: twindex.Index, corpus: list[tuple[str, str]]) -> None:
    matches = filled.query(corpus[0][1], threshold=1e-6, scan=True, limit=5)
    assert len(matches) == 5 and matches.left_out > 0 and matches.recall > 0.999
    assert matches[0] == list(matches)[0] and matches[-1] == matches[4]
    assert matches[1:3] == [matches[1], matches[2]] and matches[::-2] == [
        matches[4],
        matches[2],
        matches[0],
    ]
    assert matches[0] in matches and matches[0] != "else"
    with pytest.raises(IndexError):
        matches[5]
    with pytest.raises(TypeError):
        matches["0"]  # type: ignore[call-overload]
    assert repr(matches).startswith('<5 matches: [Match("d0", 1.0000, exact)')


def test_estimates_have_intervals(filled: twindex.Index, corpus: list[tuple[str, str]]) -> None:
    exact = filled.query(corpus[0][1])[0]
    assert exact.exact and exact.low == exact.similarity == exact.high
    estimates = filled.query(corpus[0][1], estimate=True, threshold=0.5, confidence=0.99)
    for match in estimates:
        assert not match.exact and 0 <= match.low <= match.similarity <= match.high <= 1
    assert "[" in repr(estimates[0])


def test_wrong_questions(filled: twindex.Index) -> None:
    with pytest.raises(twindex.UnknownIdError) as unknown:
        filled.query(id="nobody")
    assert isinstance(unknown.value, KeyError)
    assert str(unknown.value) == 'no document has the id "nobody"'
    with pytest.raises(twindex.InvalidInputError, match="give one of"):
        filled.query()
    with pytest.raises(twindex.InvalidInputError, match="give one of"):
        filled.query(id="d0", signature=b"")
    with pytest.raises(twindex.InvalidInputError, match="threshold"):
        filled.query("text", threshold=1.5)
    with pytest.raises(twindex.InvalidInputError, match="no signature"):
        filled.query(signature=b"abc")
    with pytest.raises(twindex.MismatchError, match="lanes"):
        filled.query(signature=bytes(64) + b"\x00\x00\x01\x00")
    with pytest.raises(twindex.InvalidInputError, match="threshold"):
        filled.pairs(1.5)
    for wrong in ({"linkage": "single"}, {"keep": "last"}):
        with pytest.raises(twindex.InvalidInputError):
            filled.clusters(**wrong)  # type: ignore[arg-type]
    assert filled.get("nobody") is None and filled.text("nobody") is None


def test_containment(filled: twindex.Index, corpus: list[tuple[str, str]]) -> None:
    text = corpus[2][1]
    part = text[100:400]
    best = filled.query(part, containment=True, threshold=0.9)[0]
    share = len(shingles(part) & shingles(text)) / len(shingles(part))
    assert best.id == corpus[2][0] and best.containment == pytest.approx(share)
    assert best.containment_interval is not None and "containment" in repr(best)
    assert filled.query(text)[0].containment is None


def test_pairs_and_clusters(filled: twindex.Index, corpus: list[tuple[str, str]]) -> None:
    expected = {
        tuple(sorted((a, b)))
        for at, (a, of_a) in enumerate(corpus)
        for b, of_b in corpus[at + 1 :]
        if jaccard(of_a, of_b) >= 0.7
    }
    pairs = filled.pairs(0.7)
    assert pairs.recall > 0.9
    found = list(pairs)
    assert {(pair.a, pair.b) for pair in found} == expected and len(found) == len(expected)
    texts = dict(corpus)
    for pair in found:
        assert pair.similarity == pytest.approx(jaccard(texts[pair.a], texts[pair.b]))
    assert list(pairs) == [] and len(list(filled.pairs(0.7, max_per_document=1))) < len(found)
    clusters = filled.clusters(0.7, linkage="connected")
    members = {id for cluster in clusters for id in cluster.members}
    assert members == {id for pair in expected for id in pair}
    largest = clusters[0]
    assert len(largest) == max(len(cluster) for cluster in clusters)
    assert largest.representative == largest.members[0]
    assert largest.duplicates == largest.members[1:]
    assert filled.clusters(0.7, keep="id")[0].representative == min(
        filled.clusters(0.7, keep="id")[0].members
    )
    last = largest.members[-1]
    preferred = filled.clusters(0.7, linkage="connected", prefer=iter(["unknown", last]))[0]
    assert (preferred.representative, preferred.members) == (last, largest.members)


def test_explanations(filled: twindex.Index) -> None:
    a = "It was the best of times, it was the worst of times, it was the age of wisdom"
    b = "Somebody said: it was the best of times, it was the worst of times. Nobody replied"
    filled.insert_many([("a", a), ("b", b)])
    explained = filled.explain("a", "b")
    passage = explained.passages[0]
    assert passage.text.lower() == "it was the best of times, it was the worst of times"
    assert a[slice(*passage.a)] == passage.text
    assert b[slice(*passage.b)].lower() == passage.text.lower()
    assert 0 < explained.similarity < 1 and 0 < explained.share_of_b < explained.share_of_a < 1
    sketched = filled.sketcher.explain(a, b)
    assert sketched.passages == explained.passages
    with pytest.raises(twindex.UnknownIdError):
        filled.explain("a", "nobody")


def test_dedup(path: Path, corpus: list[tuple[str, str]]) -> None:
    with twindex.open(path, store_text=True) as index:
        table = index.dedup(corpus, threshold=0.7)
        assert table["id"] == [id for id, _ in corpus] and len(index) == sum(table["keep"])
        texts = dict(corpus)
        for row in table.to_pylist():
            if row["keep"]:
                assert row["duplicate_of"] is None and row["similarity"] is None
            else:
                exact = jaccard(texts[row["id"]], texts[row["duplicate_of"]])
                assert row["similarity"] == pytest.approx(exact) and exact >= 0.7
        kept = [id for id, keep in zip(table["id"], table["keep"], strict=True) if keep]
        for at, a in enumerate(kept):
            assert all(jaccard(texts[a], texts[b]) < 0.7 for b in kept[at + 1 :])
        again = index.dedup(corpus, threshold=0.7)
        assert again["keep"] == table["keep"]
        alone = twindex.dedup(corpus, threshold=0.7, exact=True)
        assert alone.to_pylist() == table.to_pylist()
        new = twindex.dedup([("n", corpus[0][1])], against=[index])
        assert new["duplicate_of"] == [corpus[0][0]]
        with pytest.raises(KeyError, match="there are id, keep"):
            table["none"]


def test_dedup_of_rows_without_ids_counts_them() -> None:
    rows = ["the same text as before", "another one entirely", "the same text as before"]
    table = twindex.dedup(rows)
    assert table["id"] == ["0", "1", "2"] and table["duplicate_of"] == [None, None, "0"]
    assert table.column_names == ["id", "keep", "duplicate_of", "similarity"]
    assert table.num_rows == len(table) == 3
    assert repr(table) == "<twindex.Table 3 rows: id, keep, duplicate_of, similarity>"
    assert twindex.dedup([]).to_pylist() == []


def test_a_repeated_id_is_another_row() -> None:
    text, other = "the same text as before", "another one entirely"
    table = twindex.dedup([("a", text), ("a", text), ("a", other), ("b", other)])
    assert table["keep"] == [True, False, True, False]
    assert table["id"] == ["a", "a", "a", "b"] and table["duplicate_of"] == [None, "a", None, "a"]


def test_tables_have_rows_and_columns() -> None:
    table = twindex.dedup(["one text", "one text"])
    assert table[0] == {"id": "0", "keep": True, "duplicate_of": None, "similarity": None}
    assert table[-1] == list(table)[1] == table[1:][0] and len(list(table)) == 2
    with pytest.raises(IndexError):
        table[2]


def test_matches_and_pairs_can_be_put_into_sets(filled: twindex.Index) -> None:
    again = {match for _ in range(2) for match in filled.query(id="d0", threshold=0.5)}
    assert len(again) == len(filled.query(id="d0", threshold=0.5))
    assert len({*filled.pairs(0.7), *filled.pairs(0.7)}) == len(list(filled.pairs(0.7)))


def test_an_index_wants_each_id_once(index: twindex.Index) -> None:
    with pytest.raises(twindex.InvalidInputError, match='the id "a" comes twice'):
        index.dedup([("a", "one text of many"), ("b", "another"), ("a", "a third of them")])
    assert len(index) == 0
    index.insert("a", "one text of many")
    table = index.dedup([("a", "a third of them")], on_conflict="skip")
    assert table[0] == {"id": "a", "keep": False, "duplicate_of": "a", "similarity": None}


def test_tuples_and_dicts_without_ids_are_contents(path: Path) -> None:
    sketcher = twindex.Sketcher(shingle="token")
    assert sketcher.sketch([("a", "b")])[0] == sketcher.signature(("a", "b"))
    weighted = twindex.Sketcher(shingle="token", weighted=True)
    assert weighted.sketch([{"a": 1.0}])[0] == weighted.signature({"a": 1.0})
    with twindex.open(path, shingle="token") as index:
        index.insert_many([("a", "b"), ("a", "b", "c")], id=None)
        assert list(index) == ["#1", "#2"] and index.query(["a", "b"])[0].id == "#1"
    table = twindex.dedup([{"a": 1.0}, {"a": 1.0}], weighted=True, shingle="token")
    assert table["keep"] == [True, False]


def test_sequences_are_sequences(filled: twindex.Index, corpus: list[tuple[str, str]]) -> None:
    matches = filled.query(corpus[0][1], threshold=0.3)
    assert matches.index(matches[1]) == 1 and matches.count(matches[0]) == 1
    assert list(reversed(matches)) == list(matches)[::-1]
    assert matches[1 :: 2**62] == [matches[1]]
    with pytest.raises(IndexError):
        matches[2**70]


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarm")
def test_pairs_that_are_being_read_are_busy(index: twindex.Index) -> None:
    index.insert_many((str(number), f"one and the same text {number}") for number in range(3000))
    pairs = index.pairs(0.1)
    before = signal.signal(signal.SIGALRM, lambda number, frame: pairs.__arrow_c_stream__())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.5)
        with pytest.raises(twindex.BusyError, match="another call reads"):
            list(pairs)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_copied_passages_are_found_and_cut_out(tmp_path: Path) -> None:
    path = tmp_path / "passages.twx"
    tale = "It was the best of times, it was the worst of times, it was the age of wisdom."
    with twindex.open(path, store_text=True, passages=30) as index:
        assert index.settings.passages == 30
        index.insert("tale", tale)
        index.insert("other", "Call me Ishmael. Some years ago, never mind how long precisely.")
        text = "Á propos:\nIT WAS the worst  of times, it was the age of reason"
        (found,) = index.passages(text)
        (passage,) = found.passages
        start, end = passage.query
        assert (found.id, found.share) == ("tale", found.most) and 0.6 < found.share < 1
        assert text[start:end] == "\nIT WAS the worst  of times, it was the age of "
        assert passage.document is not None
        assert tale[slice(*passage.document)] == " it was the worst of times, it was the age of "
        assert passage.units == passage.most == end - start - 1
        assert index.passages(text, threshold=0.99) == []
        assert index.passages(text, limit=0) == index.passages(text, excluding="tale") == []

        known = index.known_passages(text)
        assert known and len(known) == 1 and not known.limited
        assert (known.passages[0].of, known.passages[0].place) == ("tale", passage.query)
        assert known.passages[0].at == passage.document and known.share == found.share
        assert known.rest == "Á propos:\nreason"
        assert not index.known_passages("nothing of all this was ever said before")
        with index.snapshot() as snapshot:
            assert snapshot.passages(text) == [found]
    with pytest.raises(twindex.MismatchError):
        twindex.open(path, passages=40)
    with twindex.open(tmp_path / "none.twx", passages=False) as index:
        assert index.settings.passages == 0
        with pytest.raises(twindex.MismatchError, match="no fingerprints"):
            index.passages("text")
    with twindex.open(tmp_path / "usual.twx", passages=True) as index:
        assert index.settings.passages == 100
        with pytest.raises(twindex.MismatchError, match="stores no texts"):
            index.known_passages("text")
    with pytest.raises(TypeError, match="passages"):
        twindex.Settings(passages="100")  # type: ignore[arg-type]
    with pytest.raises(twindex.InvalidInputError, match="passages"):
        twindex.Settings(passages=-1)
    assert twindex.Settings(**twindex.Settings(passages=50).to_dict()).passages == 50


def test_tracked_clusters_keep_their_ids(index: twindex.Index) -> None:
    text = "It was the best of times, it was the worst of times, it was the age of wisdom"
    with pytest.raises(twindex.MismatchError, match="tracks no clusters"):
        index.tracked_clusters()
    assert index.track_clusters() == 0
    seen = index.commit_number
    index.insert_many([("a", text), ("b", text + "."), ("c", "Call me Ishmael. Some years ago")])
    assert index.tracked_clusters() == {1: ["a", "b"]}
    assert index.cluster_of("b") == 1 and index.cluster_of("c") is None
    changes = index.cluster_changes(seen)
    assert [(change.id, change.cluster, change.removed) for change in changes] == [
        ("a", 1, False),
        ("b", 1, False),
    ]
    seen = index.commit_number
    index.remove("a")
    index.insert("d", text)
    assert [repr(change).split(", ", 1)[1] for change in index.cluster_changes(seen)] == [
        '"a", removed)',
        '"d", cluster=1)',
    ]
    assert index.forget_cluster_changes(index.commit_number) == 1
    with pytest.raises(twindex.MismatchError, match="not since"):
        index.cluster_changes(seen)
    assert index.stop_tracking() and not index.stop_tracking()
