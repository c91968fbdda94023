"""Units of work: the parts of a run, planned before it begins.

A unit reads some pages and makes one output of its own. One machine and a cluster work through the same units, so
both make the same batches and the same shards, byte for byte. The plan is written down as lines of JSON, one for each
unit, so that it is read one unit at a time, however many there are.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace

from adamerge import files
from adamerge.buckets import AnyPath
from adamerge.errors import Damaged
from adamerge.vectors.shards import Shards, shard_name

PAGES_PER_UNIT = 64  # of files that are encoded: about 10 MB of vectors, a minute of a GPU


@dataclass(frozen=True)
class FilePages:
    """Some pages of a file: `pages` of them, from number `first` on, counted from 1.

    name  what the file is called: the ids of its pages begin with it
    """

    path: str
    name: str
    first: int
    pages: int

    @property
    def numbers(self) -> range:
        """The numbers of the pages."""
        return range(self.first, self.first + self.pages)


@dataclass(frozen=True)
class Unit:
    """A part of a run: the pages that it reads, and the number that its output is called by."""

    number: int
    parts: tuple[FilePages, ...]

    @property
    def pages(self) -> int:
        """How many pages it reads."""
        return sum(part.pages for part in self.parts)

    @property
    def shard(self) -> str:
        """The name of the shard that it makes."""
        return shard_name(self.number)

    @property
    def title(self) -> str:
        """The file that it begins with, and its first page: "report.pdf, page 65"."""
        if not self.parts:
            return f"unit {self.number}"
        first = self.parts[0]
        return f"{first.name}, page {first.first}"

    def single_pages(self) -> list["Unit"]:
        """A unit of the same number for each of its pages, to find the one that does harm."""
        singles = []
        for part in self.parts:
            for number in part.numbers:
                page = replace(part, first=number, pages=1)
                singles.append(Unit(self.number, (page,)))
        return singles

    def without(self, single: "Unit") -> "Unit":
        """The unit without the one page of another unit; it may have no page left."""
        page = single.parts[0]
        parts = []
        for part in self.parts:
            if part.name != page.name or page.first not in part.numbers:
                parts.append(part)
                continue
            before = replace(part, pages=page.first - part.first)
            after = replace(part, first=page.first + 1, pages=part.numbers.stop - page.first - 1)
            parts += [rest for rest in (before, after) if rest.pages]
        return Unit(self.number, tuple(parts))


def units_of_files(
    files: Iterable[tuple[str, str, int]], pages_per_unit: int | None = None
) -> Iterator[Unit]:
    """Units of files that come as (path, name, pages): small files share a unit, a large file has several."""
    most = pages_per_unit or PAGES_PER_UNIT
    number = 0
    parts: list[FilePages] = []
    room = most
    for path, name, pages in files:
        first = 1
        while first <= pages:
            taken = min(room, pages + 1 - first)
            parts.append(FilePages(path, name, first, taken))
            first += taken
            room -= taken
            if not room:
                yield Unit(number, tuple(parts))
                number += 1
                parts = []
                room = most
    if parts:
        yield Unit(number, tuple(parts))


def units_of_shards(folder: Shards) -> Iterator[Unit]:
    """A unit for every shard of a folder of vectors."""
    for number, (name, pages) in enumerate(folder.counts.items()):
        path = str(folder.path.absolute() / name)
        yield Unit(number, (FilePages(path, name, 1, pages),))


def write_plan(path: AnyPath, units: Iterable[Unit]) -> None:
    """Write units to a file; it is there whole or not at all."""
    lines = (json.dumps(asdict(unit)) + "\n" for unit in units)
    files.write_lines(path, lines)


def read_plan(path: AnyPath) -> Iterator[Unit]:
    """The units of a plan, one at a time."""
    for line in files.read_lines(path):
        yield _unit(line, path)


def _unit(line: str, path: AnyPath) -> Unit:
    try:
        read = json.loads(line)
        parts = [FilePages(**part) for part in read["parts"]]
        return Unit(read["number"], tuple(parts))
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{path} cannot be read ({error!r}): start in another folder") from None
