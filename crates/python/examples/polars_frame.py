"""Near duplicates of a polars frame: flags, joins, clusters.

needs: pip install twindex polars
"""

import tempfile
from pathlib import Path

import polars

import twindex

NOTICE = "The library is closed on Friday the 3rd, because the heating is being repaired."

notices = polars.DataFrame(
    {
        "id": ["n1", "n2", "n3", "n4", "n5"],
        "text": [
            NOTICE,
            NOTICE.replace("Friday", "Monday"),
            "Lost: a grey umbrella with a wooden handle, in the reading room.",
            NOTICE.replace("repaired", "replaced"),
            "The summer reading club meets each Wednesday at five.",
        ],
        "year": [2021, 2024, 2023, 2022, 2024],
    }
)

# What goes in is kept in order: the first of similar rows stays. So sort the best ones to the
# front, here the newest.
newest = notices.sort("year", "id", descending=[True, False])
outcome = polars.DataFrame(twindex.dedup(newest, threshold=0.6))
print("rows:", outcome.select("id", "keep", "duplicate_of").rows())

# Joined by id, the flags become columns of the frame.
kept = notices.join(outcome, on="id").filter("keep").sort("id")
print("kept:", kept["id"].to_list())

with tempfile.TemporaryDirectory() as folder:
    with twindex.open(Path(folder) / "notices.twx", threshold=0.6) as index:
        index.insert_many(notices)

        # Pairs come as a stream of Arrow batches, so that millions of them need no Python objects.
        pairs = polars.DataFrame(index.pairs()).with_columns(polars.col("similarity").round(2))
        print("pairs:", pairs.select("a", "b", "similarity").sort("a", "b").rows())

        # Clusters come as a row for each document. Those without near duplicates are in none.
        clusters = polars.DataFrame(index.clusters())
        sizes = clusters.group_by("cluster").agg(polars.len(), polars.first("representative"))
        print("clusters:", sizes.sort("cluster").rows())
