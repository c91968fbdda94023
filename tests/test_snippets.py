"""What is shown of a hit: the sentences around the best matches, with the matched words marked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adamerge as am
from adamerge.search import snippet_of
from adamerge.search.sentences import sentences
from adamerge.search.snippets import LETTERS
from adamerge.search.stop_words import says_nothing
from adamerge.types import Word

HEIGHT = 0.01


def page_of(*lines, heights=()):
    """The words of a page, line below line; an empty line leaves a gap, as between paragraphs."""
    words = []
    for row, line in enumerate(lines):
        top = 0.02 * (row + 1)
        height = dict(heights).get(row, HEIGHT)
        for column, text in enumerate(line.split()):
            left = 0.01 * column
            words.append(Word(text, (left, top, left + 0.009, top + height)))
    return words


def match(words, *texts, similarity=0.9):
    """A match whose group holds the words of these texts."""
    places = [i for i, word in enumerate(words) if word.text.strip(".,?!") in texts]
    return match_of(*places, similarity=similarity)


def match_of(*places, similarity=0.9):
    """A match whose group holds the words of these places."""
    return am.Match(similarity, 0, np.zeros((len(places), 4), np.float32), word_places=places)


def shown(words, *matches):
    return snippet_of(matches, words).marked("[", "]")


def text_of(words, sentence):
    return " ".join(words[place].text for place in sentence)


def test_a_snippet_is_the_sentence_around_the_best_matches():
    words = page_of("The pier stood. The storm cost us a pier. Nobody", "was hurt, said Dr. Berg.")
    assert shown(words, match(words, "storm"), match(words, "cost")) == (
        "The [storm] [cost] us a pier."
    )


def test_each_further_sentence_shows_what_is_not_shown_yet():
    words = page_of("A storm came. The storm cost much. It was long. The clock fell.")
    both = match(words, "storm"), match(words, "cost"), match(words, "clock", similarity=0.8)
    assert shown(words, *both) == "The [storm] [cost] much. … The [clock] fell."
    neighbours = match(words, "cost"), match(words, "long")
    assert shown(words, *neighbours) == "The storm [cost] much. It was [long]."


def test_stop_words_and_weak_matches_are_not_marked():
    words = page_of("The price of the storm was high.")
    assert shown(words, match(words, "The", "of", "storm")) == "The price of the [storm] was high."
    weak = match(words, "high", similarity=0.4)
    assert shown(words, match(words, "storm"), weak) == "The price of the [storm] was high."
    assert shown(words, match(words, "of", "the")) == ""


def test_what_stands_around_a_word_is_not_marked():
    words = page_of('"Storm!" he said (of the pier).')
    places = [match_of(0), match_of(5)]
    assert shown(words, *places) == '"[Storm]!" he said (of the [pier]).'


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Die Uhr ist an der Wand", "Uhr Wand"),
        ("to die in a war of the hat", "die war hat"),
        ("le prix de la tempête est très élevé", "prix tempête très élevé"),
        ("- 42 % …", "42"),
    ],
)
def test_a_word_says_nothing_in_the_language_of_its_text(text, wanted):
    words = text.split()
    kept = [word for word, empty in zip(words, says_nothing(words), strict=True) if not empty]
    assert " ".join(kept) == wanted


def test_sentences_end_at_marks_paragraphs_headings_and_items():
    words = page_of(
        "What it cost",
        "The storm cost 3.5 million, e.g. a pier. Mended by",
        "Dr. Berg, see Fig. 2.",
        "",
        "The next year",
        "was calm • no storm • no cost",
        heights={0: 2 * HEIGHT}.items(),
    )
    assert [text_of(words, sentence) for sentence in sentences(words)] == [
        "What it cost",
        "The storm cost 3.5 million, e.g. a pier.",
        "Mended by Dr. Berg, see Fig. 2.",
        "The next year was calm",
        "• no storm",
        "• no cost",
    ]
    assert sentences([]) == []
    assert sentences(words[:1]) == [range(1)]


def test_of_a_sentence_without_an_end_the_part_with_most_matches_is_shown():
    filler = "alpha beta gamma " * 60
    words = page_of(f"storm {filler} storm cost {filler}")
    snippet = snippet_of([match(words, "storm"), match(words, "cost")], words)
    assert snippet.text.startswith("… ")
    assert snippet.text.endswith(" …")
    assert "[storm] [cost] alpha" in snippet.marked("[", "]")
    assert len(snippet.text) <= LETTERS + 4


def test_a_page_without_words_or_matches_has_an_empty_snippet():
    words = page_of("The storm")
    assert snippet_of([match(words)], []) == snippet_of([], words) == am.Snippet()
    assert snippet_of([match(words, "pier")], words) == am.Snippet()


@given(st.lists(st.text("ab.!…", min_size=1), min_size=1), st.data())
def test_marks_are_inside_the_text_in_order_and_apart(texts, data):
    words = page_of(" ".join(texts), "alpha " * 200)
    places = data.draw(st.lists(st.integers(0, len(words) - 1), min_size=1))
    groups = [match_of(place) for place in places]
    snippet = snippet_of(groups, words)
    edges = [edge for mark in snippet.marks for edge in mark]
    assert edges == sorted(set(edges))
    assert all(0 <= edge <= len(snippet.text) for edge in edges)
    assert "".join(text for text, _ in snippet.parts()) == snippet.text
    assert snippet.marked("", "") == snippet.text


def test_a_word_of_any_length_leaves_a_snippet_that_can_be_read():
    words = page_of("storm" * 10_000)
    snippet = snippet_of([match_of(0)], words)
    assert len(snippet.text) <= LETTERS
