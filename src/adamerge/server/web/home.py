"""What the home page shows before anybody has searched: some files of the store, and a query to try."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from adamerge.search.sentences import sentences
from adamerge.search.stop_words import says_nothing
from adamerge.server.reader.store_reader import StoreReader
from adamerge.server.serialize import serialize_file
from adamerge.store.contents import StoredFile
from adamerge.types import Word

SHOWN_FILES = 12
FEWEST_WORDS, MOST_WORDS = 3, 12  # of a sentence that makes a query to try
MARKS = (".", "!", "?")
LONG_AGO = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True)
class HomeContents:
    """Files of the store, the latest first, and a query to try; "" for none."""

    files: list[dict[str, Any]]
    example: str


def home_contents(reader: StoreReader) -> HomeContents:
    """What the store holds, as the home page shows it."""
    files = reader.files()
    latest = sorted(files, key=_when, reverse=True)[:SHOWN_FILES]
    example = ""
    if latest:
        entry = reader.entry(latest[0].first_page)
        example = example_query(entry.words) if entry else ""
    return HomeContents([serialize_file(file) for file in latest], example)


def example_query(words: tuple[Word, ...]) -> str:
    """A short sentence of a page that says something; "" if there is none.

    A whole sentence is preferred to a heading or the top line of a page, which have no mark at their end.
    """
    best = ""
    for sentence in sentences(words):
        texts = [words[place].text for place in sentence]
        telling = says_nothing(texts).count(False)
        if telling < FEWEST_WORDS or len(texts) > MOST_WORDS:
            continue
        text = " ".join(texts)
        if text.endswith(MARKS):
            return text.rstrip("".join(MARKS))
        best = best or text
    return best


def _when(file: StoredFile) -> datetime:
    return file.indexed or LONG_AGO
