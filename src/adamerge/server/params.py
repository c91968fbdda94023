"""What a request asks for, checked: every mistake is told in words."""

from collections.abc import Mapping
from dataclasses import dataclass

from adamerge.errors import BadInput

LETTERS = 1_000  # of a query or a filter
MOST = 100  # hits


@dataclass(frozen=True)
class Question:
    """A search: the query, how many hits, a filter, and whether every page is to be compared."""

    q: str
    k: int = 10
    where: str = ""
    exact: bool = False


def question(given: Mapping[str, str]) -> Question:
    """A search from the values of a request."""
    return Question(
        text(given, "q"),
        number(given, "k", 10, 1, MOST),
        text(given, "where"),
        flag(given.get("exact", "false")),
    )


def text(given: Mapping[str, str], name: str) -> str:
    """A text that is not too long and can be written down."""
    value = given.get(name, "")
    if len(value) > LETTERS:
        raise BadInput(f"{name} is at most {LETTERS:,} letters, got {len(value):,}")
    if "\0" in value:
        raise BadInput(f"{name} holds a letter that is none (NUL)")
    return value


def number(given: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    """A whole number within bounds."""
    value = given.get(name, str(default))
    if not (
        value.isascii() and value.isdecimal() and len(value) < 10 and least <= int(value) <= most
    ):
        raise BadInput(f"{name} is a whole number from {least} to {most}, got {value[:40]!r}")
    return int(value)


def flag(value: str) -> bool:
    """Yes or no."""
    if value.lower() not in ("true", "false", "1", "0"):
        raise BadInput(f"exact is true or false, got {value[:40]!r}")
    return value.lower() in ("true", "1")
