"""How documents are numbered, and which of them travel together."""

from typing import Any

ROW_BITS = 33
"""The number of a document is that of its partition, then that of its row, in so many bits."""

PART_BITS = 17
"""The documents of a partition whose rows differ in so many bits at most are a part."""


def first_of(partition: int) -> int:
    """The number of the first document of a partition."""
    return partition << ROW_BITS


def partition_of(doc: Any) -> Any:
    """The partition of a document, or of an array of documents."""
    return doc >> ROW_BITS


def part_of(doc: Any) -> Any:
    """The part of a document, or of an array of documents."""
    return doc >> PART_BITS


def first_of_part(part: Any) -> Any:
    """The number that the first document of a part has or would have."""
    return part << PART_BITS
