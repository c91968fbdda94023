"""What a person reads of a hit: the sentences around the best matches, with the matched words marked."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from adamerge.geometry import contains
from adamerge.search.found import Match, Snippet
from adamerge.search.page_text import page_text
from adamerge.search.stop_words import AROUND
from adamerge.types import Word

LETTERS = 300  # of a snippet, more or less
WORD_LETTERS = 80  # of a word: a damaged page may have one of any length
CONTEXT = 6  # words before the first match, where a sentence is too long to be shown whole
GAP = "…"  # where words are left out
WEAK = 0.5  # a match below this share of the best one is not shown


class MatchedWords(NamedTuple):
    """The words that one query vector matched, by their places among the words of the page."""

    similarity: float
    places: frozenset[int]


class Passage(NamedTuple):
    """The words of a page that are shown of one sentence: all of them, or those around the best match."""

    shown: range
    sentence: range


def snippet_of(matches: Sequence[Match], words: Sequence[Word]) -> Snippet:
    """The sentences of a page that show the best matches of a query; empty where none of its words was matched.

    Sentences are taken one by one: the one that shows most of what is not shown yet, by the sum of the similarities of
    its matches. Stop words count for nothing and are not marked.
    """
    matched = _matched_words(matches, words)
    if not matched:
        return Snippet()

    passages = _passages(matched, words)
    passages.sort(key=lambda passage: passage.sentence.start)
    places: set[int] = set()
    for match in matched:
        places |= match.places
    return _snippet(passages, words, places)


def _matched_words(matches: Sequence[Match], words: Sequence[Word]) -> list[MatchedWords]:
    """The words of each match that is not weak; words that say nothing are left out."""
    if not matches or not words:
        return []
    least = WEAK * max(match.similarity for match in matches)
    text = page_text(words)

    found = []
    for match in matches:
        if match.similarity < least:
            continue
        is_matched = contains(match.boxes, text.middles).any(0) & text.says_something
        places = np.flatnonzero(is_matched).tolist()
        if places:
            found.append(MatchedWords(match.similarity, frozenset(places)))
    return found


def _passages(matched: list[MatchedWords], words: Sequence[Word]) -> list[Passage]:
    """What to show, the best passage first, until everything is shown or there is no room."""
    sentence_of = page_text(words).sentence_of
    chosen: list[Passage] = []
    letters = 0
    left = matched
    while left:
        sentence = _best_sentence(left, sentence_of)
        passage = _passage(sentence, left, words)
        letters += _letters(passage.shown, words)
        if chosen and letters > LETTERS:
            break
        chosen.append(passage)
        left = [match for match in left if match.places.isdisjoint(sentence)]
    return chosen


def _best_sentence(matched: list[MatchedWords], sentence_of: list[range]) -> range:
    """The sentence with the largest sum of similarities; of equal ones the first on the page."""
    worth: dict[range, float] = {}
    for match in matched:
        for sentence in {sentence_of[place] for place in match.places}:
            worth[sentence] = worth.get(sentence, 0.0) + match.similarity
    return max(worth, key=lambda sentence: (worth[sentence], -sentence.start))


def _passage(sentence: range, matched: list[MatchedWords], words: Sequence[Word]) -> Passage:
    """A sentence, or the part of a long one that shows most matches."""
    if _letters(sentence, words) <= LETTERS:
        return Passage(sentence, sentence)

    best = sentence[:1]
    most = 0.0
    for place in sorted(set().union(*(match.places for match in matched))):
        if place not in sentence:
            continue
        shown = _window(sentence, place, words)
        worth = sum(match.similarity for match in matched if not match.places.isdisjoint(shown))
        if worth > most:
            best, most = shown, worth
    return Passage(best, sentence)


def _window(sentence: range, place: int, words: Sequence[Word]) -> range:
    """The words around a place: some before it, and as many after it as there is room for."""
    begin = max(sentence.start, place - CONTEXT)
    end = place + 1
    while end < sentence.stop and _letters(range(begin, end + 1), words) <= LETTERS:
        end += 1
    return range(begin, end)


def _letters(places: range, words: Sequence[Word]) -> int:
    """How long some words are as text, with a space after each."""
    return sum(len(_text(words[place])) + 1 for place in places)


def _snippet(passages: list[Passage], words: Sequence[Word], matched: set[int]) -> Snippet:
    """Passages as one text, and which letters of it were matched."""
    texts = []
    marks = []
    begin = 0  # of the next word, in letters
    for place in _places_and_gaps(passages):
        text = GAP
        if place is not None:
            text = _text(words[place])
        if place in matched:
            before = len(text) - len(text.lstrip(AROUND))
            marks.append((begin + before, begin + before + len(text.strip(AROUND))))
        texts.append(text)
        begin += len(text) + 1
    return Snippet(" ".join(texts), tuple(marks))


def _places_and_gaps(passages: list[Passage]) -> list[int | None]:
    """The places of all words that are shown, in order, and None wherever words are left out."""
    found: list[int | None] = []
    for shown, sentence in passages:
        is_cut = shown.start > sentence.start
        is_apart = bool(found) and found[-1] != shown.start - 1
        if (is_cut or is_apart) and found[-1:] != [None]:
            found.append(None)
        found += shown
        if shown.stop < sentence.stop:
            found.append(None)
    return found


def _text(word: Word) -> str:
    return word.text[:WORD_LETTERS]
