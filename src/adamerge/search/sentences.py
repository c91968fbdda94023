"""The words of a page -> its sentences, as ranges of words."""

import re
from collections.abc import Sequence

import numpy as np

from adamerge.arrays import Bools
from adamerge.geometry import as_boxes, middles, sides
from adamerge.types import Word

END = re.compile(r"[.!?。！？][\"'”’)\]»]*$")  # how the last word of a sentence ends
ABBREVIATIONS = {
    "e.g.",
    "i.e.",
    "cf.",
    "dr.",
    "eq.",
    "fig.",
    "mr.",
    "mrs.",
    "no.",
    "p.",
    "pp.",
    "sec.",
    "vs.",
}
BULLETS = ("•", "◦", "▪", "‣", "–", "—", "*", "-")  # a list has a sentence per item
PARAGRAPH = 1.5  # a step down of so many usual steps from line to line begins a paragraph
OTHER_SIZE = 1.3  # letters that are larger by this factor are those of a heading
TINY = 1e-6  # height of a box without height


def sentences(words: Sequence[Word]) -> list[range]:
    """The sentences of a page in order: ranges of words.

    A sentence ends with its mark (. ! ?), at the end of a paragraph, and before the next item of a list.
    """
    begins_paragraph = _begins_paragraph(words)
    found = []
    begin = 0
    for i in range(1, len(words)):
        before, word = words[i - 1].text, words[i].text
        if begins_paragraph[i] or word in BULLETS or _ends(before, word):
            found.append(range(begin, i))
            begin = i
    if words:
        found.append(range(begin, len(words)))
    return found


def _ends(word: str, following: str) -> bool:
    """Whether a word ends a sentence, before the word that is following."""
    if END.search(word) is None or word.casefold() in ABBREVIATIONS:
        return False
    return not following[0].islower()


def _begins_paragraph(words: Sequence[Word]) -> Bools:
    """Whether each word begins a paragraph: lower than a next line usually is, or in letters of another size."""
    begins = np.zeros(len(words), bool)
    if len(words) < 2:
        return begins
    boxes = as_boxes([word.box for word in words])
    heights = sides(boxes)[:, 1]
    steps = np.diff(middles(boxes)[:, 1])

    is_new_line = np.abs(steps) > np.median(heights) / 2
    starts = np.concatenate([[0], np.flatnonzero(is_new_line) + 1])  # the first word of each line
    down = steps[starts[1:] - 1]
    if len(down):
        is_far = down > PARAGRAPH * np.median(np.abs(down))
        line_heights = np.maximum.reduceat(heights, starts)
        is_other_size = np.abs(np.diff(np.log(line_heights + TINY))) > np.log(OTHER_SIZE)
        begins[starts[1:]] = is_far | is_other_size
    return begins
