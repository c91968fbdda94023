"""What people may read: errors without a path of this machine, and a query as words rather than pieces of them."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

SPACES = ("Ġ", "▁", " ")  # how tokenizers write that a word begins


@dataclass(frozen=True)
class Asked:
    """A word of a query, and which of its vectors (0 .. q-1) it stands for."""

    text: str
    vectors: tuple[int, ...]


def said(error: object, *roots: str) -> str:
    """An error in one line; folders of this machine are taken out of it, names of files stay."""
    text = str(error).partition("\n")[0]
    for root in sorted(filter(None, roots), key=len, reverse=True):
        text = text.replace(f"{root.rstrip('/')}/", "").replace(root, "its folder")
    return re.sub(r"(?<![\w.:/])/(?:[^\s/'\",;()]+/)+", "", text)


def of_query(tokens: Sequence[str]) -> list[Asked]:
    """Word pieces joined to words: what begins with ## goes on, and so does what has no space where others have one."""
    spaced = any(token.startswith(SPACES) for token in tokens)
    words: list[tuple[str, list[int]]] = []
    for i, token in enumerate(tokens):
        marked = token.startswith(("<", "["))
        goes_on = token.startswith("##") or (spaced and not marked and not token.startswith(SPACES))
        if goes_on and words and not words[-1][0].startswith(("<", "[")):
            words[-1] = (words[-1][0] + token.removeprefix("##"), [*words[-1][1], i])
        else:
            words.append((token.lstrip("".join(SPACES)), [i]))
    return [Asked(text.strip() or "␣", tuple(vectors)) for text, vectors in words]


def distinct(words: Iterable[str], limit: int) -> list[str]:
    """The first few words that differ by more than case and what stands around them."""
    found: dict[str, str] = {}
    for word in words:
        bare = word.strip(".,;:!?()[]\"'“”‘’") or word
        found.setdefault(bare.casefold(), bare)
    return list(found.values())[:limit]
