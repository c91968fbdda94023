"""The words of a page -> what every query asks of them: where they stand, which say something, and the sentences."""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from adamerge.arrays import Floats
from adamerge.geometry import as_boxes, middles
from adamerge.search.sentences import sentences
from adamerge.search.stop_words import says_nothing
from adamerge.types import Word

WORD_LETTERS = 80  # of a word that is shown: a damaged page may have one of any length


class PageText(NamedTuple):
    """What does not depend on the query.

    words           as they are shown: the first letters of each
    begins          (words + 1,) where each word begins in the text of the page, with a space after each; and its end
    middles         (words, 2) the middle of each word, x and y
    says_something  whether each word is neither a stop word nor a mark
    sentence_of     the sentence that each word stands in
    """

    words: list[str]
    begins: list[int]
    middles: Floats
    says_something: list[bool]
    sentence_of: list[range]


def page_text(words: Sequence[Word]) -> PageText:
    """The text of a page."""
    shown = [word.text[:WORD_LETTERS] for word in words]
    begins = list(accumulate((len(text) + 1 for text in shown), initial=0))
    sentence_of: list[range] = []
    for sentence in sentences(words):
        sentence_of += [sentence] * len(sentence)
    says_something = [not nothing for nothing in says_nothing([word.text for word in words])]
    boxes = as_boxes([word.box for word in words])
    return PageText(shown, begins, middles(boxes), says_something, sentence_of)
