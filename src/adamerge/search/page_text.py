"""The words of a page -> what every query asks of them: where they stand, which say something, and the sentences."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from adamerge.arrays import Bools, Floats
from adamerge.geometry import as_boxes, middles
from adamerge.search.sentences import sentences
from adamerge.search.stop_words import says_nothing
from adamerge.types import Word

REMEMBERED = 1024  # pages: those that are found often, about 20 kB each


class PageText(NamedTuple):
    """What does not depend on the query.

    middles         (words, 2) the middle of each word, x and y
    says_something  (words,) whether it is neither a stop word nor a mark
    sentence_of     the sentence that each word stands in
    """

    middles: Floats
    says_something: Bools
    sentence_of: list[range]


def page_text(words: Sequence[Word]) -> PageText:
    """The text of a page; that of a page that was found lately is remembered."""
    return _page_text(tuple(words))


@lru_cache(maxsize=REMEMBERED)
def _page_text(words: tuple[Word, ...]) -> PageText:
    sentence_of: list[range] = []
    for sentence in sentences(words):
        sentence_of += [sentence] * len(sentence)
    return PageText(
        middles(as_boxes([word.box for word in words])),
        ~np.array(says_nothing([word.text for word in words]), bool),
        sentence_of,
    )
