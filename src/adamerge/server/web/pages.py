"""The pages that people read: search, a page of the store, the API."""

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from adamerge.errors import BadInput
from adamerge.server import operations
from adamerge.server.context import context_of
from adamerge.server.params import MAX_LETTERS, flag, search_query, text
from adamerge.server.redact import redact
from adamerge.server.serialize import serialize_page
from adamerge.server.web.home import home_contents
from adamerge.server.web.rendering import render_template
from adamerge.server.web.results import results_of
from adamerge.store import Entry, Store


async def home(request: Request) -> Response:
    """The search box, and what was found."""
    reader = context_of(request).reader
    given = request.query_params
    facts = await reader.run(reader.facts)
    where = given.get("where", "")[:MAX_LETTERS]
    if not given.get("q", "").strip():
        contents = await reader.run(lambda: home_contents(reader))
        return render_template(
            request, "search.html", facts=facts, q="", where=where, contents=contents
        )
    try:
        query = search_query(given)
        grouped = flag(given, "group")
        result = await operations.search(request, query)
    except BadInput as error:
        return render_template(
            request,
            "search.html",
            400,
            facts=facts,
            error=redact(error, *context_of(request).settings.private_folders),
            q=given["q"][:MAX_LETTERS],
            where=where,
            hybrid="hybrid" in given,
        )
    found = results_of(result, query, grouped)
    return render_template(
        request,
        "search.html",
        facts=facts,
        found=found,
        q=query.text,
        where=query.where,
        hybrid=query.hybrid,
    )


async def show_page(request: Request) -> Response:
    """A page, with what each word of a query matched on it."""
    reader = context_of(request).reader
    q = text(request.query_params, "q")
    where = text(request.query_params, "where")
    entry = await operations.find_entry(request)
    words, matches = await reader.run(lambda: reader.matches(entry, q))
    has_file = await asyncio.to_thread(reader.has_file, entry)
    before, after = await reader.run(lambda: _neighbours(reader.store, entry))
    return render_template(
        request,
        "page.html",
        page=serialize_page(entry, q, words, matches, where),
        q=q,
        where=where,
        there=has_file,
        before=before,
        after=after,
    )


def _neighbours(store: Store, entry: Entry) -> tuple[str | None, str | None]:
    """The ids of the pages before and after one; those of its file that are not in the store are passed over."""
    ids = [f"{entry.source}#{number}" for number in range(1, entry.pages + 1)]
    before = ids[: entry.number - 1][::-1]
    after = ids[entry.number :]
    nearest = before[:1] + after[:1]
    there = {found.id for found in store.get(nearest)}
    if len(there) < len(nearest):  # else there is no need to look at the whole file
        source = store.sources().get(entry.source)
        there = set(source.hashes) if source else set()
    return _first_of(before, there), _first_of(after, there)


def _first_of(ids: list[str], there: set[str]) -> str | None:
    return next((id for id in ids if id in there), None)


async def docs(request: Request) -> Response:
    """The API, to read."""
    context = context_of(request)
    return render_template(request, "docs.html", api=operations.describe_api(context))
