"""The back-of-book index: what a line of print says."""

import pytest

from adamerge.evaluate.books.index_entries import IndexEntry, IndexLine, page_numbers, parse_index


def entries(text):
    """Lines of an index; four blanks are an indent."""
    lines = text.strip("\n").splitlines()
    return {
        e.term: e.pages
        for e in parse_index(
            IndexLine(t.strip(), 3.0 * (len(t) - len(t.lstrip()))) for t in lines if t.strip()
        )
    }


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("28", [28]),
        ("28, 30", [28, 30]),
        ("30-32", [30, 31, 32]),
        ("30–32, 40", [30, 31, 32, 40]),
        ("145-8", [145, 146, 147, 148]),
        ("1098-101", [1098, 1099, 1100, 1101]),
        ("9f", [9, 10]),
    ],
)
def test_a_list_of_pages_names_every_page(text, pages):
    assert list(page_numbers(text)) == pages


def test_leaders_commas_and_wide_gaps_part_a_term_from_its_pages():
    found = entries("""
bar lines . . . . . . . . 23
bar numbers, tweaking placement. . . . . 121
block comment, 20, 21
alternate forms   14
ISO 8601 dates . . . 7
""")
    assert found == {
        "bar lines": (23,),
        "bar numbers, tweaking placement": (121,),
        "block comment": (20, 21),
        "alternate forms": (14,),
        "ISO 8601 dates": (7,),
    }


def test_a_sub_entry_keeps_the_words_of_its_parents():
    found = entries("""
beams . . . . . 28
    automatic . . . . 17, 30-32
        across lines, 33
    by hand, 29
brackets, 55
""")
    assert found == {
        "beams": (28,),
        "beams automatic": (17, 30, 31, 32),
        "beams automatic across lines": (33,),
        "beams by hand": (29,),
        "brackets": (55,),
    }


def test_a_parent_without_pages_and_a_long_term_on_two_lines_read_alike():
    found = entries("""
dialog, displaying a dialog for
    selecting directories . . . . 915
plots
    in two dimensions, 12
    in three dimensions, 14
zebra, 3
""")
    assert found == {
        "dialog, displaying a dialog for selecting directories": (915,),
        "plots in two dimensions": (12,),
        "plots in three dimensions": (14,),
        "zebra": (3,),
    }


def test_a_reference_takes_the_pages_of_what_it_names_and_see_also_adds_nothing():
    found = entries("""
colour, see color
color . . . . . 7, 9
crayon, 8, see also chalk
nowhere, see something else
hue (see color)
what you see is what you get, 11
""")
    assert found == {
        "colour": (7, 9),
        "color": (7, 9),
        "crayon": (8,),
        "hue": (7, 9),
        "what you see is what you get": (11,),
    }


def test_headings_are_no_entries_and_a_long_list_of_pages_goes_on():
    found = entries("""
B
beams, 1, 2,
    3, 17
\\
beams, 20
""")
    assert found == {"beams": (1, 2, 3, 17, 20)}


def test_an_entry_is_a_term_and_pages():
    assert parse_index([IndexLine("apple pie, 3", 0)]) == [IndexEntry("apple pie", (3,))]
    assert parse_index([]) == []
