"""The words of a query, put together from the tokens of an encoder."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

SPACES = ("Ġ", "▁", " ")  # how tokenizers write that a word begins
SPECIAL = ("<", "[")  # how special tokens begin
AROUND = ".,;:!?()[]\"'“”‘’"  # what may stand around a word


@dataclass(frozen=True)
class QueryWord:
    """A word of a query, which of its vectors (0 .. q-1) it stands for, and the piece of the word behind each."""

    text: str
    vectors: tuple[int, ...]
    pieces: tuple[str, ...] = ()


def join_tokens(tokens: Sequence[str]) -> list[QueryWord]:
    """Tokens joined to words: `##ing` goes on, and so does a token without the space that others have."""
    marks_spaces = any(token.startswith(SPACES) for token in tokens)
    words: list[QueryWord] = []
    for i, token in enumerate(tokens):
        if words and _goes_on(token, words[-1].text, marks_spaces):
            before = words[-1]
            piece = token.removeprefix("##")
            words[-1] = QueryWord(
                before.text + piece, (*before.vectors, i), (*before.pieces, piece)
            )
        else:
            text = token.lstrip("".join(SPACES))
            words.append(QueryWord(text, (i,), (text,)))
    return [replace(word, text=word.text.strip() or "␣") for word in words]


def _goes_on(token: str, before: str, marks_spaces: bool) -> bool:
    """Whether a token belongs to the word before it."""
    if before.startswith(SPECIAL):
        return False
    if token.startswith("##"):
        return True
    return marks_spaces and not token.startswith((*SPACES, *SPECIAL))


def distinct(words: Iterable[str], limit: int) -> list[str]:
    """The first few words that differ by more than case and punctuation."""
    found: dict[str, str] = {}
    for word in words:
        bare = word.strip(AROUND) or word
        found.setdefault(bare.casefold(), bare)
    return list(found.values())[:limit]
