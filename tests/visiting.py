"""A real browser on a server of the tests: every request to another host is refused and counted."""

import re
from contextlib import contextmanager

from browser import PATIENCE

LOADED = "img => img.decode()"  # Playwright's wait_for_function needs eval, which the page's policy forbids


@contextmanager
def visiting(chromium, server):
    """A function that opens a path of a server; at the end no page may have left the server or had an error."""
    contexts = []

    def open_page(path="/", width=1280, height=900, dark=False, **options):
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            **options,
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.leaving, page.wrong = [], []
        page.on(
            "request",
            lambda r: r.url.startswith((server.url, "data:")) or page.leaving.append(r.url),
        )
        page.route(re.compile(f"^(?!{re.escape(server.url)}|data:)"), lambda route: route.abort())
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on(
            "console", lambda message: message.type == "error" and page.wrong.append(message.text)
        )
        page.goto(server.url + path)
        return page

    yield open_page
    for context in contexts:
        assert all(page.leaving == page.wrong == [] for page in context.pages)
        context.close()
