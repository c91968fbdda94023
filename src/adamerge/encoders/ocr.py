"""Pictures -> words, by RapidOCR with the models in its wheel. Needs the extra `ocr`.

RapidOCR tells where in a line it saw each word, to about a letter. The ink tells more: of a line of k words, the k - 1
widest gaps are those between words. Where the two agree on every word of a line, the ink's edges are taken.
"""

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidocr import RapidOCR

from adamerge.types import Word

# of a line's height, above and below: where the letters of its neighbours may reach in
MARGIN = 0.1
Span = tuple[float, float]  # where a word begins and ends in a line, in pixels


def words(image: Any) -> tuple[Word, ...]:
    """The words of a picture, line by line; each box is around the letters of its word."""
    pixels = np.asarray(image.convert("RGB"))[:, :, ::-1]  # RapidOCR expects blue first
    found = _engine()(pixels, return_word_box=True)
    if found.boxes is None:
        return ()

    grey = np.asarray(image.convert("L"))
    read: list[Word] = []
    for corners, line in zip(found.boxes, found.word_results, strict=True):
        read += _words_of_line(corners, line, grey)
    return tuple(read)


def _words_of_line(corners: Any, line: Sequence[Any], grey: NDArray[np.uint8]) -> list[Word]:
    """The words of a line (text, certainty, corners), whose own corners are given too."""
    height, width = grey.shape
    left, top = np.clip(corners.min(axis=0), 0, (width, height))
    right, bottom = np.clip(corners.max(axis=0), 0, (width, height))

    texts: list[str] = []
    spans: list[Span] = []
    for text, _, corners_of_word in line:
        if text.strip() and corners_of_word is not None:
            across = np.asarray(corners_of_word)[:, 0]
            texts.append(text.strip())
            spans.append((float(across.min()), float(across.max())))

    margin = MARGIN * (bottom - top)
    strip = grey[int(top + margin) : int(bottom - margin) + 1, int(left) : int(right) + 1]
    inked: list[Span] = []
    for first, last in word_spans(strip, len(spans)):
        inked.append((int(left) + first, int(left) + last))
    if _agree(inked, spans):
        spans = inked

    words = []
    for text, (begin, end) in zip(texts, spans, strict=True):
        box = (max(begin / width, 0.0), top / height, min(end / width, 1.0), bottom / height)
        words.append(Word(text, box))
    return words


def word_spans(strip: NDArray[np.uint8], count: int) -> list[tuple[int, int]]:
    """Where `count` words begin and end in the grey picture of a line: it is split at the widest gaps of its ink.

    Fewer where there are not so many gaps; none where there is no ink.
    """
    if not strip.size or not count:
        return []
    middle = (int(strip.min()) + int(strip.max())) / 2
    ink = strip > middle
    if np.median(strip) > middle:  # dark letters on light paper
        ink = strip < middle
    columns = np.flatnonzero(ink.any(axis=0))
    if not len(columns):
        return []

    gaps = np.diff(columns)  # 1 where a column of ink follows another
    widest = np.argsort(-gaps, kind="stable")[: count - 1]
    splits = sorted(int(i) for i in widest if gaps[i] > 1)
    bounds = [-1, *splits, len(columns) - 1]
    return [(int(columns[a + 1]), int(columns[b]) + 1) for a, b in pairwise(bounds)]


def _agree(inked: Sequence[Span], seen: Sequence[Span]) -> bool:
    """Whether the words of the ink are those that were seen: each holds the middle of the other."""
    if len(inked) != len(seen):
        return False
    for (begin, end), (first, last) in zip(inked, seen, strict=True):
        holds = begin <= (first + last) / 2 <= end
        is_held = first <= (begin + end) / 2 <= last
        if not (holds and is_held):
            return False
    return True


@cache
def _engine() -> Any:
    return RapidOCR(params={"Global.log_level": "error"})
