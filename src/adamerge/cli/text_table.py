"""Tables and counts in a terminal."""

from collections.abc import Iterable, Sequence


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns as wide as they need to be: the first to the left, the others, which are numbers, to the right."""
    lines = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_line(line, widths) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *rest = cells
    text = first.ljust(widths[0])
    for cell, width in zip(rest, widths[1:], strict=True):
        text += "  " + cell.rjust(width)
    return text


def counted(count: int, what: str) -> str:
    """A number and its noun: 1 page, 2 pages."""
    if count == 1:
        return f"1 {what}"
    return f"{count:,} {what}s"
