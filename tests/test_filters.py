"""Filters: what they say is read once, and nothing but comparisons gets through."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adamerge.codes import DTYPES
from adamerge.errors import BadInput
from adamerge.store.about import About
from adamerge.store.filter_parser import parse_filter
from adamerge.store.filters import to_sql
from adamerge.store.lance.schema import schema_of
from adamerge.store.metadata import RESERVED

COLUMNS = {
    "year": "int",
    "name": "text",
    "day": "date",
    "at": "time",
    "open": "bool",
    "price": "float",
    "order": "int",
}


@pytest.mark.parametrize(
    ("where", "sql"),
    [
        ("YEAR = 2020", "`year` IN (2020)"),
        ("year > 2020.5", "CAST(`year` AS DOUBLE) > 2020.5"),
        ("2003 < year", "`year` > 2003"),
        ("NOT year < 3", "`year` >= 3"),
        ("NOT (year < 3 AND open)", "(`year` >= 3 OR `open` NOT IN (true))"),
        ("open IS TRUE", "`open` IN (true)"),
        ("open IS NOT TRUE", "(`open` IN (false) OR `open` IS NULL)"),
        ("day = '2026-01-31'", "`day` IN (date '2026-01-31')"),
        ("day = DATE '2026-01-31'", "`day` IN (date '2026-01-31')"),
        ("at < TIMESTAMP '2026-01-31T12:00:00'", "`at` < timestamp '2026-01-31T12:00:00+00:00'"),
        ("at >= '2026-01-31T12:00:00+01:00'", "`at` >= timestamp '2026-01-31T11:00:00+00:00'"),
        ("source LIKE 'reports/%'", "`source` LIKE 'reports/%'"),
        ("name NOT LIKE 'it''s%'", "`name` NOT LIKE 'it''s%'"),
        ('"order" BETWEEN -1 AND 2', "(`order` >= -1 AND `order` <= 2)"),
        ("year = 1 OR year = 2 OR open", "(`year` IN (1) OR `year` IN (2) OR `open` IN (true))"),
    ],
)
def test_a_filter_becomes_sql_that_says_the_same(where, sql):
    assert to_sql(parse_filter(where, COLUMNS)) == sql


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("year = 'x'", "is a column of int, 'x' is not"),
        ("name = 3", "is a column of text, 3 is not"),
        ("year LIKE 3", "is none of = !="),
        ("day > date 'yesterday'", "is a column of date"),
        ("at > '0001-01-01T00:00:00+14:00'", "is a column of time"),
        ("at < '9999-12-31T23:00:00-14:00'", "is a column of time"),
        ("price = 1e400", "is a column of float"),
        ("nobody = 3", "no column 'nobody'; there are at, day, id"),
        ("other.year = 3", "no column 'other.year'"),
        ("hash = 'x'", "no column 'hash'"),
        ("year = 3 AND", "is not SQL"),
        ("year = 3; DELETE FROM pages", "is not SQL"),
        ("repeat('a', 2000000000) = source", "is a column of text, REPEAT"),
        ("array_length(range(1, 100000000)) > 0", "no column 'ARRAY_LENGTH"),
        ("year IN (SELECT 3)", "is none of = !="),
        ("year BETWEEN SYMMETRIC 3 AND 1", "is none of = !="),
        ("name LIKE 'a!%' ESCAPE '!'", "is none of = !="),
        ("year = year", "is a column of int, year is not"),
        ("name = -'en'", "is a column of text, -'en' is not"),
        ("name = CAST('a' AS INT)", r"is a column of text, CAST\('a' AS INT\) is not"),
        ("year = CAST(3 AS TEXT)", "is a column of int, CAST"),
        ("day = CAST('2026-01-31' AS TEXT)", "is a column of date, CAST"),
        ("day = -'2026-01-31'", "is a column of date, -'2026-01-31' is not"),
        ("open = -TRUE", "is a column of bool, -TRUE is not"),
        ("TRUE", "is none of = !="),
        ("(" * 900 + "open" + ")" * 900, "nested too deeply"),
        (" AND ".join(["open"] * 3000), "may join 256 comparisons, got 3000: use IN"),
        ("year = year" + ".y" * 3000, "nested too deeply"),
    ],
)
def test_anything_else_is_refused(where, words):
    with pytest.raises(BadInput, match=words):
        parse_filter(where, COLUMNS)


def test_no_filter_is_none():
    assert parse_filter("  ", {}) is None
    assert to_sql(None) == ""


@given(st.text("year =<>'\"()0123456789ANDORnotlikeisnull;-/*`\\", max_size=40))
def test_any_text_is_a_filter_or_is_refused(where):
    with suppress(BadInput):
        to_sql(parse_filter(where, COLUMNS))


@given(st.text(max_size=20))
def test_a_value_is_what_it_was(text):
    where = "name = '" + text.replace("'", "''") + "'"
    assert parse_filter(where, COLUMNS).values == (text,)


def test_the_columns_of_a_store_are_not_for_metadata():
    columns = set()
    for dtype in DTYPES:
        columns.update(schema_of(About(4, "identity", dtype)).names)
    assert columns == RESERVED
