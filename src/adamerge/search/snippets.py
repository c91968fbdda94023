"""What a person reads of a hit: the sentences around the best matches, with the matched words marked."""

from collections.abc import Sequence
from typing import NamedTuple

from adamerge.search.found import Match, Snippet
from adamerge.search.page_text import PageText, page_text
from adamerge.search.stop_words import AROUND
from adamerge.types import Word

LETTERS = 300  # of a snippet, more or less
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
    its matches. Stop words count for nothing and are not marked. `matches` come from `matches(query, page, words)` with
    the same words.
    """
    return snippet_in(matches, page_text(words))


def snippet_in(matches: Sequence[Match], text: PageText) -> Snippet:
    """The same of a page whose text is kept."""
    matched = _matched_words(matches, text)
    if not matched:
        return Snippet()

    passages = _passages(matched, text)
    passages.sort(key=lambda passage: passage.sentence.start)
    places: set[int] = set()
    for match in matched:
        places |= match.places
    return _snippet(passages, text, places)


def _matched_words(matches: Sequence[Match], text: PageText) -> list[MatchedWords]:
    """The words of each match that is not weak; words that say nothing are left out."""
    if not matches or not text.words:
        return []
    least = WEAK * max(match.similarity for match in matches)

    found = []
    for match in matches:
        if match.similarity < least:
            continue
        places = frozenset(place for place in match.word_places if text.says_something[place])
        if places:
            found.append(MatchedWords(match.similarity, places))
    return found


def _passages(matched: list[MatchedWords], text: PageText) -> list[Passage]:
    """What to show, the best passage first, until everything is shown or there is no room."""
    chosen: list[Passage] = []
    letters = 0
    left = matched
    while left:
        sentence = _best_sentence(left, text.sentence_of)
        passage = _passage(sentence, left, text)
        letters += _letters(passage.shown, text)
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


def _passage(sentence: range, matched: list[MatchedWords], text: PageText) -> Passage:
    """A sentence, or the part of a long one that shows most matches."""
    if _letters(sentence, text) <= LETTERS:
        return Passage(sentence, sentence)

    best = sentence[:1]
    most = 0.0
    for place in sorted(set().union(*(match.places for match in matched))):
        if place not in sentence:
            continue
        shown = _window(sentence, place, text)
        worth = sum(match.similarity for match in matched if not match.places.isdisjoint(shown))
        if worth > most:
            best, most = shown, worth
    return Passage(best, sentence)


def _window(sentence: range, place: int, text: PageText) -> range:
    """The words around a place: some before it, and as many after it as there is room for."""
    begin = max(sentence.start, place - CONTEXT)
    end = place + 1
    while end < sentence.stop and _letters(range(begin, end + 1), text) <= LETTERS:
        end += 1
    return range(begin, end)


def _letters(places: range, text: PageText) -> int:
    """How long some words are as text, with a space after each."""
    return text.begins[places.stop] - text.begins[places.start]


def _snippet(passages: list[Passage], text: PageText, matched: set[int]) -> Snippet:
    """Passages as one text, and which letters of it were matched."""
    words = []
    marks = []
    begin = 0  # of the next word, in letters
    for place in _places_and_gaps(passages):
        word = GAP
        if place is not None:
            word = text.words[place]
        if place in matched:
            before = len(word) - len(word.lstrip(AROUND))
            marks.append((begin + before, begin + before + len(word.strip(AROUND))))
        words.append(word)
        begin += len(word) + 1
    return Snippet(" ".join(words), tuple(marks))


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
