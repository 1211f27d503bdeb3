"""Near duplicates of a Hugging Face dataset: find them, look at them, leave them out.

needs: pip install twindex datasets
"""

import os

# This program needs no network, and says so before `datasets` is imported.
os.environ["HF_HUB_OFFLINE"] = "1"

import datasets

import twindex

datasets.disable_progress_bars()

CAKE = "Beat four eggs with a cup of sugar, add two cups of flour, and bake it for an hour."
FENCE = "Paint the fence on a dry day: first the posts, then the rails, and the gate last of all."

reviews = datasets.Dataset.from_list(
    [
        {"name": "cake-1", "text": CAKE, "stars": 5},
        {"name": "fence-1", "text": FENCE, "stars": 4},
        {"name": "cake-2", "text": CAKE.replace("four eggs", "five eggs"), "stars": 5},
        {"name": "fence-2", "text": FENCE.upper(), "stars": 2},
        {"name": "bread-1", "text": "Knead the dough until it no longer sticks.", "stars": 3},
    ]
)

# A dataset is an Arrow table inside. `with_format("arrow")` shows that table, so that no text is
# copied; the column of ids is called "name" here. The result has a row for each row of the
# dataset, in the same order.
table = twindex.dedup(reviews.with_format("arrow")[:], id="name", threshold=0.6)

for row in table.to_pylist():
    if not row["keep"]:
        print(f"{row['id']} is like {row['duplicate_of']}: {row['similarity']:.2f}")

# Keep some rows, by their numbers or by a condition. `select` copies no text.
kept = reviews.select([number for number, keep in enumerate(table["keep"]) if keep])
print("kept:", kept["name"][:])

# The same by ids: useful after a shuffle or a sort, when row numbers no longer fit.
duplicates = {name for name, keep in zip(table["id"], table["keep"], strict=True) if not keep}
shuffled = reviews.shuffle(seed=7).filter(lambda row: row["name"] not in duplicates)
print("kept of the shuffled rows:", sorted(shuffled["name"]))

# A dataset that is streamed has no table. Its rows are dicts, which are taken as they come.
stream = datasets.IterableDataset.from_generator(lambda: iter(reviews))
table = twindex.dedup(stream, id="name", threshold=0.6)
print("kept of the stream:", sum(table["keep"]), "of", len(table))
