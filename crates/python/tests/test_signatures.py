"""Signatures without a file: golden values, and those of an index."""

import pickle
from pathlib import Path

import pyarrow
import pytest

import twindex

# The first lanes of 64, 128, 256 and 512, and the packed size, as the library's own tests pin them.
GOLDEN = {
    "The quick brown fox jumps over the lazy dog.": (
        ["6a14ded7282c58eb", "96aa71ca2b35b1a9", "5bc00849b3ed0816", "fe2d082283ed37ad"],
        0x0000FFDC,
    ),
    "敏捷的棕色狐狸跳过了懒狗的背": (
        ["a2bb2489aa9d5010", "a2bb2489aa9d5010", "a2bb2489aa9d5010", "a2bb2489aa9d5010"],
        0x0000FFFA,
    ),
    "Z\u0351\u036ba\u0308\u0334l\u0327go\u0301 text": (
        ["04153e8f87097083", "04a63e6018097083", "04a63e8f1809f883", "04a63e8f18097083"],
        0x0000FFFB,
    ),
}


def test_signatures_have_their_golden_values() -> None:
    for text, (lanes, size) in GOLDEN.items():
        for count, first in zip((64, 128, 256, 512), lanes, strict=True):
            signature = twindex.Sketcher(lanes=count).signature(text)
            assert len(signature) == count + 4
            assert signature[:8].hex() == first
            assert int.from_bytes(signature[-4:], "little") == size


def test_a_sketcher_gives_the_signatures_of_the_index(
    path: Path, corpus: list[tuple[str, str]]
) -> None:
    settings = {"shingle": "word:3", "lanes": 128, "seed": 9, "normalize": "none"}
    with twindex.open(path, **settings) as index:  # type: ignore[arg-type]
        index.insert_many(corpus)
        alone = twindex.Sketcher(**settings)  # type: ignore[arg-type]
        column = alone.sketch(pyarrow.array([text for _, text in corpus]))
        assert len(column) == len(corpus) and alone.signature_bytes == 132
        for (id, text), signature in zip(corpus, column, strict=True):
            document = index.get(id)
            assert document is not None and document.signature == signature
            assert index.sketcher.signature(text) == signature == alone.signature(text)
        assert alone.sketch(text for _, text in corpus)[5:7] == column[5:7]
        table = pyarrow.table({"body": [text for _, text in corpus]})
        assert list(index.sketcher.sketch(table, text="body")) == list(column)


def test_signatures_go_in_instead_of_texts(path: Path, corpus: list[tuple[str, str]]) -> None:
    sketcher = twindex.Sketcher()
    signatures = sketcher.sketch([text for _, text in corpus])
    ids = [id for id, _ in corpus]
    with twindex.open(path) as index, twindex.open(path.with_name("texts.twx")) as texts:
        texts.insert_many(corpus)
        column = pyarrow.array(signatures)
        assert column.type == pyarrow.binary(260)
        assert index.insert_signatures(pyarrow.table({"id": ids, "signature": column})).added > 0
        assert [(p.a, p.b, p.similarity) for p in index.pairs(0.6)] == [
            (p.a, p.b, p.similarity) for p in texts.pairs(0.6)
        ]
        assert index.query(signature=signatures[0])[0].id == ids[0]
        same = index.insert_signatures(zip(ids, signatures, strict=True))
        assert same.unchanged == len(ids)
        large = pyarrow.table({"key": ["new"], "s": column[:1].cast(pyarrow.large_binary())})
        assert index.insert_signatures(large, id="key", signature="s").added == 1
        with index.write() as txn:
            assert txn.insert_signature("one", signatures[0]) == "added"
        for wrong in (b"", b"abc", b"\xff" * 260):
            with pytest.raises(twindex.InvalidInputError):
                index.insert_signatures([("x", wrong)])
        with pytest.raises(twindex.MismatchError, match="lanes"):
            index.insert_signatures([("x", twindex.Sketcher(lanes=64).signature("a text"))])


def test_similarity_of_signatures() -> None:
    sketcher = twindex.Sketcher()
    a, b = (sketcher.signature(text) for text in ("one text and its words", "one text, its words"))
    estimate = sketcher.similarity(a, b)
    assert estimate is not None and 0 < estimate[1] <= estimate[0] <= estimate[2] < 1
    same = twindex.Sketcher.similarity(a, a)
    assert same is not None and same[0] == same[2] == 1.0 and 0.97 < same[1] < 1.0
    assert sketcher.similarity(a, sketcher.signature("")) is None
    with pytest.raises(twindex.InvalidInputError):
        sketcher.similarity(a, twindex.Sketcher(lanes=64).signature("x"))
    assert repr(sketcher).startswith("Sketcher(lanes=256, shingle='char:9'")


def test_sketchers_and_settings_cross_processes(path: Path) -> None:
    with twindex.open(path, shingle="word:2", lanes=64, seed=2**64 - 1) as index:
        copy = pickle.loads(pickle.dumps(index.sketcher))
        assert copy.settings == index.sketcher.settings
        assert copy.signature("a text of words") == index.sketcher.signature("a text of words")
        settings = index.settings.to_dict()
        with twindex.open(path.with_name("other.twx"), **settings) as other:
            assert other.settings == index.settings and repr(other.settings) == repr(index.settings)


def test_rows_of_signatures_need_no_ids(path: Path) -> None:
    with twindex.open(path) as index:
        rows = index.sketcher.sketch([{"text": "a text of some length"}, "another one"])
        assert index.insert_signatures(rows[:], id=None).added == 2
        assert list(index) == ["#1", "#2"]
