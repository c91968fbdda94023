"""The parameters of a request, checked; a mistake is refused with a message."""

from collections.abc import Mapping
from dataclasses import dataclass

from adamerge.errors import BadInput

MAX_LETTERS = 1_000  # of a query or a filter
MAX_HITS = 100


@dataclass(frozen=True)
class SearchQuery:
    """A search: the text, how many hits, a filter, whether every page is compared, and whether words count too."""

    text: str
    k: int = 10
    where: str = ""
    exact: bool = False
    hybrid: bool = False


def search_query(given: Mapping[str, str]) -> SearchQuery:
    """A search from the values of a request."""
    return SearchQuery(
        text(given, "q"),
        number(given, "k", 10, 1, MAX_HITS),
        text(given, "where"),
        flag(given, "exact"),
        flag(given, "hybrid"),
    )


def text(given: Mapping[str, str], name: str) -> str:
    """A text that is not too long and has no NUL character."""
    value = given.get(name, "")
    if len(value) > MAX_LETTERS:
        raise BadInput(f"{name} is at most {MAX_LETTERS:,} letters, got {len(value):,}")
    if "\0" in value:
        raise BadInput(f"{name} contains a NUL character")
    return value


def number(given: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    """A whole number within bounds."""
    value = given.get(name, str(default))
    is_number = value.isascii() and value.isdecimal() and len(value) < 10
    if not is_number or not least <= int(value) <= most:
        raise BadInput(f"{name} is a whole number from {least} to {most}, got {value[:40]!r}")
    return int(value)


def flag(given: Mapping[str, str], name: str) -> bool:
    """Yes or no."""
    value = given.get(name, "false").lower()
    if value not in ("true", "false", "1", "0"):
        raise BadInput(f"{name} is true or false, got {value[:40]!r}")
    return value in ("true", "1")
