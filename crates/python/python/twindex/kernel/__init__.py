"""Deduplication in steps on Arrow tables, for engines that spread them over machines.

`twindex.spark` is made of these steps. They know no engine: each is a function from tables to
tables, and what must come together between two steps is told by a key. `docs/engines.md` shows the
order of the steps, and an example for Ray Data.

Documents have numbers, whose order is that of the documents; `numbering` tells how they are made.
"""

from twindex.kernel.bands import Marks, band_entries
from twindex.kernel.buckets import Round, meet
from twindex.kernel.columns import Docs
from twindex.kernel.copies import COPIES, copies, copy_entries, id_entries, repeated_ids
from twindex.kernel.deciding import components, removed
from twindex.kernel.entries import ENTRIES, OutOfOrderError
from twindex.kernel.meetings import MET, Meetings, crowd, expand
from twindex.kernel.pairs import SIMILAR, TRAVELLERS, similar, travellers
from twindex.kernel.sketching import sketch

__all__ = [
    "COPIES",
    "Docs",
    "ENTRIES",
    "MET",
    "SIMILAR",
    "TRAVELLERS",
    "Marks",
    "Meetings",
    "OutOfOrderError",
    "Round",
    "band_entries",
    "components",
    "copies",
    "copy_entries",
    "crowd",
    "expand",
    "id_entries",
    "meet",
    "removed",
    "repeated_ids",
    "similar",
    "sketch",
    "travellers",
]
