"""Near duplicates of a pandas frame, and an index that grows from day to day.

needs: pip install twindex pandas pyarrow
"""

import tempfile
from pathlib import Path

import pandas
import pyarrow

import twindex

ADVERT = "For sale: one bicycle, blue, three gears, new tyres, a basket in front. Call after six."

monday = pandas.DataFrame(
    {
        "advert": [101, 102, 103],
        "body": [ADVERT, "Wanted: somebody who repairs clocks.", ADVERT.replace("blue", "green")],
    }
)
tuesday = pandas.DataFrame(
    {
        "advert": [104, 105],
        "body": [ADVERT.replace("six", "five"), "Found: a set of keys, near the church."],
    }
)


def frame(result: object) -> pandas.DataFrame:
    """Whatever speaks Arrow, as a frame."""
    return pyarrow.table(result).to_pandas()


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "adverts.twx"

    # `Index.dedup` remembers what it keeps. So the adverts of Tuesday are compared with each other
    # and with those of Monday.
    kept = []
    for day, adverts in [("Monday", monday), ("Tuesday", tuesday)]:
        with twindex.open(path, threshold=0.6) as index:
            outcome = frame(index.dedup(adverts, id="advert", text="body"))
        print(f"{day}:")
        for row in outcome.itertuples():
            print(f"  {row.id}:", "new" if row.keep else f"like {row.duplicate_of}")
        # The rows of the result are those of the frame, in the same order: its column `keep` is a
        # mask.
        kept.append(adverts[outcome["keep"].to_numpy()])
    print("kept:", pandas.concat(kept)["advert"].to_list())

    # A frame without a column of ids: `id=None` gives rows the ids of an index that counts.
    with twindex.open(Path(folder) / "counted.twx") as index:
        index.insert_many(monday[["body"]], id=None, text="body")
        print("ids:", list(index.ids()))
