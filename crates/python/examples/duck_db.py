"""Near duplicates of a DuckDB query, and the result back in SQL.

needs: pip install twindex duckdb pyarrow
"""

import tempfile
from pathlib import Path

import duckdb
import pyarrow

import twindex

database = duckdb.connect()
database.sql("""
    create table pages as select * from (values
        (1, 'en', 'The ferry leaves at nine and at noon, and on Sundays at noon only.'),
        (2, 'en', 'The ferry leaves at nine and at noon, and on Sunday at noon only.'),
        (3, 'en', 'The museum is closed on Mondays, except in July and August.'),
        (4, 'de', 'Das Museum ist montags geschlossen, außer im Juli und im August.'),
        (5, 'en', 'The museum is closed on Mondays, except in July and in August.')
    ) as pages(page, lang, body)
""")

# A relation of DuckDB speaks Arrow, so that it is an input as it is. Whole numbers are ids too:
# they become their decimal digits.
english = database.sql("select page, body from pages where lang = 'en' order by page")
outcome = twindex.dedup(english, id="page", text="body", threshold=0.6)

# Results speak Arrow as well. DuckDB finds a pyarrow table by the name of its Python variable.
duplicates = pyarrow.table(outcome)
print("without near duplicates:")
for page, body in database.sql("""
    select pages.page, pages.body
    from pages join duplicates on pages.page = duplicates.id::int
    where duplicates.keep order by page
""").fetchall():
    print(f"  {page}: {body[:32]}...")

# An index in a file: insert the whole table, then join its pairs with the columns of the table.
with tempfile.TemporaryDirectory() as folder:
    with twindex.open(Path(folder) / "pages.twx", threshold=0.6) as index:
        print(index.insert_many(database.sql("from pages"), id="page", text="body"))
        pairs = pyarrow.table(index.pairs())
    print("pairs:")
    for a, b, similarity, lang in database.sql("""
        select a::int, b::int, round(similarity, 2), lang
        from pairs join pages on pages.page = pairs.a::int order by all
    """).fetchall():
        print(f"  {a} and {b} ({lang}): {similarity}")
