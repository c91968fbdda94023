"""The tools of an agent: search the store, read a page, list the files.

The docstring of a tool and the descriptions of its parameters are what an agent reads.
"""

import asyncio
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Annotated

from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ImageContent, TextContent
from pydantic import Field

from adamerge.errors import AdamergeError, BadInput, NotFound
from adamerge.mcp.answers import FilesAnswer, SearchAnswer, files_answer, search_answer
from adamerge.server.context import Context
from adamerge.server.disk_errors import disk_error
from adamerge.server.page_drawing import draw_page
from adamerge.server.params import MAX_LETTERS, SearchQuery, text
from adamerge.server.reader.store_reader import StoreReader
from adamerge.server.redact import redact
from adamerge.server.serialize import serialize_metadata
from adamerge.store import Entry
from adamerge.store.contents import find_missing, list_files

MAX_HITS = 50
MAX_PAGE_LETTERS = 20_000  # of the text of a page
FILES_AT_ONCE = 100
Content = list[TextContent | ImageContent]

# What an agent is told of each parameter. The tools check the limits themselves, so that errors are in our words.
QueryText = Annotated[
    str, Field(description="Words, or a question", json_schema_extra={"maxLength": MAX_LETTERS})
]
HitCount = Annotated[
    int,
    Field(
        description="How many pages to find", json_schema_extra={"minimum": 1, "maximum": MAX_HITS}
    ),
]
Filter = Annotated[
    str,
    Field(description="A filter in SQL on source, number and metadata: source = 'a.pdf'"),
]
ByWordsToo = Annotated[
    bool,
    Field(
        description="Rank by the very words of the query too: for names, numbers and codes that a page must hold"
    ),
]
PageId = Annotated[str, Field(description="The id of a page, as search gives it: report.pdf#3")]
WithPicture = Annotated[bool, Field(description="Whether to send the picture of the page")]
PartOfName = Annotated[
    str, Field(description="List only files whose names contain this, in any case")
]
Skip = Annotated[
    int,
    Field(
        description="How many files to leave out at the beginning", json_schema_extra={"minimum": 0}
    ),
]


class StoreTools:
    """The tools of one store, which may still be opening: a call waits for it."""

    def __init__(self, opening: "Future[Context]", folders: tuple[str, ...]) -> None:
        """The store as a server reads it; `folders` are those that no answer may name."""
        self._opening = opening
        self._folders = folders

    async def search(
        self, query: QueryText, k: HitCount = 5, where: Filter = "", hybrid: ByWordsToo = False
    ) -> SearchAnswer:
        """Find the pages that answer a question, best first.

        Pages are found by what they mean; with hybrid=true by their words too. The snippet of a page shows where it
        matched. Read the best pages before you answer: read_page.
        """
        with self._errors_in_words():
            context = await self._context()
            asked = _search_query(query, k, where, hybrid)
            result = await context.reader.search(asked)
            return search_answer(result.found)

    async def read_page(self, page: PageId, picture: WithPicture = True) -> Content:
        """Read a page: its text, and its picture with tables, figures and layout.

        The text of a page without words is empty; look at its picture. Without the picture the answer is shorter.
        """
        with self._errors_in_words():
            context = await self._context()
            entry = await _find_entry(context.reader, page)
            words = _text_of(entry)
            if not picture:
                return [TextContent(text=words)]
            drawn, note = await self._picture_of(context, entry)
            return [TextContent(text=words + note), *drawn]

    async def list_files(self, contains: PartOfName = "", skip: Skip = 0) -> FilesAnswer:
        """List the files of the store with their numbers of pages and their metadata, 100 at a time."""
        with self._errors_in_words():
            context = await self._context()
            if skip < 0:
                raise BadInput(f"skip is at least 0, got {skip}")
            reader = context.reader
            files = await reader.run(lambda: list_files(reader.store))
            part = contains.casefold()
            asked_for = [file for file in files if part in file.source.casefold()]
            return files_answer(asked_for, skip, FILES_AT_ONCE)

    async def _context(self) -> Context:
        """The parts of the server, once the store is open; a call that is cancelled does not stop the opening."""
        return await asyncio.shield(asyncio.wrap_future(self._opening))

    async def _picture_of(self, context: Context, entry: Entry) -> tuple[list[ImageContent], str]:
        """The picture of a page from its file, or else the small one of the store; and what to say of it."""
        try:
            return [_image(await draw_page(context, entry, "jpeg"), "image/jpeg")], ""
        except (AdamergeError, OSError) as error:
            reason = redact(error, *self._folders)
        if entry.thumbnail:
            small = _image(entry.thumbnail, "image/webp")
            return [small], f"\n\n(This is the small picture of the store, since {reason})"
        return [], f"\n\n(There is no picture of this page, since {reason})"

    @contextmanager
    def _errors_in_words(self) -> Iterator[None]:
        """Our errors as the protocol has them: words that an agent reads, without any folder of this machine."""
        try:
            yield
        except AdamergeError as error:
            raise ToolError(redact(error, *self._folders)) from error
        except OSError as error:
            raise ToolError(f"disk error: {disk_error(error)}") from error


def _search_query(query: str, k: int, where: str, hybrid: bool) -> SearchQuery:
    """A search, checked as one of the server is; an agent gets fewer hits at a time."""
    given = {"query": query, "where": where}
    if not 1 <= k <= MAX_HITS:
        raise BadInput(f"k is a whole number from 1 to {MAX_HITS}, got {k}")
    return SearchQuery(text(given, "query"), k, text(given, "where"), hybrid=hybrid)


async def _find_entry(reader: StoreReader, page: str) -> Entry:
    """The page of an id; where there is none, an error with a similar id."""
    id = text({"page": page}, "page")
    entry = await reader.run(lambda: reader.entry(id))
    if entry is None:
        raise NotFound(await reader.run(lambda: find_missing(reader.store, (id,))))
    return entry


def _text_of(entry: Entry) -> str:
    """A page as text: which page it is, its metadata, its words."""
    lines = [f"{entry.source}, page {entry.number} of {entry.pages}"]
    for name, value in serialize_metadata(entry.metadata).items():
        lines.append(f"{name}: {value}")

    words = " ".join(word.text for word in entry.words)
    lines += ["", words[:MAX_PAGE_LETTERS] or "(no words)"]
    if len(words) > MAX_PAGE_LETTERS:
        lines += ["", f"(the first {MAX_PAGE_LETTERS:,} of {len(words):,} letters)"]
    return "\n".join(lines)


def _image(picture: bytes, mime_type: str) -> ImageContent:
    return ImageContent(data=b64encode(picture).decode(), mime_type=mime_type)
