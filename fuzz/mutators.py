"""Ways to spoil an input. All randomness comes from the generator that is given, so every input can be made again."""

from collections.abc import Callable, Sequence
from random import Random
from typing import Any

BYTES = (0, 1, 0x20, 0x7F, 0x80, 0xFF)
NUMBERS = (
    0,
    1,
    2,
    3,
    4,
    9,
    255,
    256,
    1 << 15,
    1 << 16,
    (1 << 31) - 1,
    1 << 31,
    1 << 32,
    (1 << 63) - 1,
    -1,
    -2,
)
LONGEST = 1 << 20

LETTERS = (
    "",
    " ",
    "\n",
    "\t",
    "\0",
    "\x1b",
    "'",
    '"',
    "`",
    "\\",
    "é",
    "\u2028",
    "\ufeff",
    "\U0001f600",
    "\ud800",
)
ODD_TEXTS = (
    "0",
    "-1",
    "1e999",
    "nan",
    "inf",
    "-0.0",
    "9" * 25,
    "none",
    "true",
    "null",
    "../..",
    "%00",
    "a" * 300,
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 1e308, 1 << 70, -(1 << 63), "", "a", "../x", "\ud800", "a\nb"),
    *([], {}, [[]], {"": None}, [1, "a", None], {"a": {"b": [1]}}),
)


def mutate_bytes(random: Random, examples: Sequence[bytes]) -> bytes:
    """An example with one to eight edits."""
    data = bytearray(random.choice(examples))
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        random.choice(BYTE_EDITS)(random, data, examples)
    return bytes(data[:LONGEST])


def _flip_bit(random: Random, data: bytearray, examples: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _set_byte(random: Random, data: bytearray, examples: Sequence[bytes]) -> None:
    if data:
        data[random.randrange(len(data))] = random.choice(BYTES)


def _set_number(random: Random, data: bytearray, examples: Sequence[bytes]) -> None:
    """A whole number of two, four or eight bytes, where one is likely to be."""
    size = random.choice((2, 4, 8))
    at = random.randrange(len(data) + 1) // size * size
    number = random.choice((*NUMBERS, random.randrange(4096), len(data)))
    data[at : at + size] = (number % (1 << 8 * size)).to_bytes(
        size, random.choice(("little", "big"))
    )


def _remove(random: Random, data: bytearray, examples: Sequence[bytes]) -> None:
    at = random.randrange(len(data) + 1)
    del data[at : at + random.choice((1, 2, 4, 16, 256))]


def _cut(random: Random, data: bytearray, examples: Sequence[bytes]) -> None:
    del data[random.randrange(len(data) + 1) :]


def _repeat(random: Random, data: bytearray, examples: Sequence[bytes]) -> None:
    at = random.randrange(len(data) + 1)
    data[at:at] = data[at : at + random.randrange(1, 64)] * random.choice((1, 1, 2, 50))


def _insert(random: Random, data: bytearray, examples: Sequence[bytes]) -> None:
    at = random.randrange(len(data) + 1)
    data[at:at] = random.randbytes(random.randrange(1, 16))


def _splice(random: Random, data: bytearray, examples: Sequence[bytes]) -> None:
    """The end of another example."""
    other = random.choice(examples)
    data[random.randrange(len(data) + 1) :] = other[random.randrange(len(other) + 1) :]


BYTE_EDITS = (
    _flip_bit,
    _set_byte,
    _set_number,
    _set_number,
    _remove,
    _cut,
    _repeat,
    _insert,
    _splice,
)


def text_mutator(words: Sequence[str]) -> Callable[[Random, Sequence[bytes]], bytes]:
    """Mutates texts: `words` of their language, odd letters and numbers come and go."""

    def mutate(random: Random, examples: Sequence[bytes]) -> bytes:
        if random.random() < 0.1:
            return mutate_bytes(random, examples)
        text = random.choice(examples).decode("utf-8", "surrogateescape")
        for _ in range(random.choice((1, 1, 2, 4))):
            text = _edited(random, text, words)
        return text.encode("utf-8", "surrogatepass")[:LONGEST]

    return mutate


def _edited(random: Random, text: str, words: Sequence[str]) -> str:
    start = random.randrange(len(text) + 1)
    end = min(len(text), start + random.choice((0, 0, 1, 3, 9)))
    put = random.choice(
        (random.choice(words), random.choice(LETTERS), random.choice(ODD_TEXTS), text[start:end])
    )
    if random.random() < 0.03:
        put *= random.choice((10, 1000, 5000))
    return text[:start] + put + text[end:]


def mutate_value(random: Random, value: Any) -> Any:
    """A value of JSON with another value somewhere inside, or without one."""
    if not isinstance(value, dict | list) or not value or random.random() < 0.15:
        return random.choice(ODD_VALUES)
    changed: Any = value.copy()
    key = (
        random.choice(list(changed))
        if isinstance(changed, dict)
        else random.randrange(len(changed))
    )
    if random.random() < 0.15:
        del changed[key]
    else:
        changed[key] = mutate_value(random, changed[key])
    return changed
