"""Metadata and filters, the same in every store."""

import math
from datetime import UTC, date, datetime

import numpy as np
import pytest
from stores import D, a_query, an_entry

import adamerge as am
from adamerge.errors import BadInput, Mismatch

FILTERS = {
    "year >= 2003": lambda i, m: m["year"] >= 2003,
    "year > 2003 AND year < 2007": lambda i, m: 2003 < m["year"] < 2007,
    "2003 < year": lambda i, m: m["year"] > 2003,
    "year = 2002 OR language = 'en'": lambda i, m: m["year"] == 2002 or m["language"] == "en",
    "NOT (year = 2002 OR language = 'en')": lambda i, m: (
        m["year"] != 2002 and m["language"] not in ("en", None)
    ),
    "language != 'en'": lambda i, m: m["language"] not in ("en", None),
    "language IS NULL": lambda i, m: m["language"] is None,
    "language IS NOT NULL AND open": lambda i, m: m["language"] is not None and m["open"],
    "NOT open": lambda i, m: not m["open"],
    "open = false": lambda i, m: not m["open"],
    "language IN ('en', 'it''s')": lambda i, m: m["language"] in ("en", "it's"),
    "language NOT IN ('en')": lambda i, m: m["language"] not in ("en", None),
    "year BETWEEN 2002 AND 2004": lambda i, m: 2002 <= m["year"] <= 2004,
    "NOT year BETWEEN 2002 AND 2004": lambda i, m: not 2002 <= m["year"] <= 2004,
    "YEAR > 2003.5": lambda i, m: m["year"] >= 2004,
    "open IS NOT TRUE": lambda i, m: not m["open"],
    "day = '2020-01-05'": lambda i, m: m["day"] == date(2020, 1, 5),
    "day != '2020-01-05' AND day <= '2020-01-06'": lambda i, m: (
        m["day"] in [date(2020, 1, d) for d in (1, 2, 3, 4, 6)]
    ),
    "price <= -0.5": lambda i, m: m["price"] <= -0.5,
    "price = 1.5": lambda i, m: m["price"] == 1.5,
    "source = 'file1.pdf' AND number > 3": lambda i, m: i % 3 == 1 and i > 3,
    "id IN ('p2', 'p5', 'p77')": lambda i, m: i in (2, 5),
    "day >= date '2020-01-05'": lambda i, m: m["day"] >= date(2020, 1, 5),
    "day = date '2020-01-05'": lambda i, m: m["day"] == date(2020, 1, 5),
    "at < timestamp '2021-01-01T06:00:00'": lambda i, m: (
        m["at"] < datetime(2021, 1, 1, 6, tzinfo=UTC)
    ),
}


def labels(i):
    return {
        "year": 2000 + i,
        "language": [None, "en", "it's"][i % 3],
        "open": i % 2 == 0,
        "price": 0.5 * i - 2.5,
        "day": date(2020, 1, 1 + i),
        "at": datetime(2021, 1, 1, i, tzinfo=UTC),
    }


def test_filters_choose_what_they_say(store):
    store.add(an_entry(i, metadata=labels(i)) for i in range(10))
    for where, passes in FILTERS.items():
        wanted = {f"p{i}" for i in range(10) if passes(i, labels(i))}
        assert {hit.id for hit in store.search(a_query(), 10, where)} == wanted, where
        assert {entry.id for entry in store.entries(where)} == wanted, where


@pytest.mark.parametrize("where", ["nobody = 3", "year >=", "year > 'x' AND", "DROP TABLE pages"])
def test_a_filter_that_cannot_be_applied_is_refused_in_words(store, where):
    store.add(an_entry(1, metadata=labels(1)))
    with pytest.raises(BadInput, match="the filter"):
        store.search(a_query(), where=where)


def test_metadata_may_come_later_and_be_set_for_a_whole_file(store):
    store.add(an_entry(i) for i in range(6))
    store.add(an_entry(6, metadata={"year": 2020}))
    store.set_metadata({"file1.pdf": {"year": 2021, "title": "One"}})
    assert {hit.id for hit in store.search(a_query(), where="year = 2021")} == {"p1", "p4"}
    assert store.columns() == {"year": "int", "title": "text"}
    assert store.sources()["file1.pdf"].metadata == {"year": 2021, "title": "One"}
    assert store.sources()["file2.pdf"].metadata == {}


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({"year": "2020"}, "is int on other pages and text here"),
        ({"Year": 3}, "lower-case"),
        ({"two words": 3}, "lower-case"),
        ({"_rowid": 3}, "lower-case"),
        ({"other": 2**70}, "expected one of"),
        ({"source": "x"}, "is a column of the store"),
        ({"other": [1]}, "expected one of bool, int, float, str"),
        ({"other": math.nan}, "expected one of"),
    ],
)
def test_metadata_that_no_filter_could_use_is_refused(store, metadata, words):
    store.add(an_entry(0, metadata={"year": 2020}))
    with pytest.raises((BadInput, Mismatch), match=words):
        store.add(an_entry(1, metadata=metadata))
    assert len(store) == 1


def test_whole_numbers_fit_into_a_column_of_numbers(store):
    store.add([an_entry(0, metadata={"price": 2}), an_entry(1, metadata={"price": 2.5})])
    store.add(an_entry(2, metadata={"price": 3}))
    assert {hit.id for hit in store.search(a_query(), where="price > 2.2")} == {"p1", "p2"}


def test_a_refused_write_leaves_no_column_behind(store):
    store.add(an_entry(0))
    bad = am.Compressed(
        np.full((2, D), 1e6, np.float32),
        np.arange(2, dtype=np.int32),
        method="sem-cluster:m=2",
        id="x",
    )
    with pytest.raises(BadInput, match="beyond float16"):
        store.add(am.Entry(bad, metadata={"year": 3}))
    assert store.columns() == {}
    assert len(store) == 1


def test_a_name_without_values_is_no_column(store):
    store.add(an_entry(0, metadata={"year": 2020, "nothing": None}))
    store.set_metadata({"file0.pdf": {"year": 2021, "nothing": None}})
    assert store.columns() == {"year": "int"}
    assert store.get(["p0"])[0].metadata == {"year": 2021}
    store.set_metadata({"file0.pdf": {"year": None}})
    assert store.get(["p0"])[0].metadata == {}
