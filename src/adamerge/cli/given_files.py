"""What the verbs that read documents say of the files they were given."""

from collections import Counter
from collections.abc import Sequence

import click

from adamerge.documents import estimate_pages, office


def pages_to_expect(paths: Sequence[str], password: str) -> int | None:
    """How many pages a bar is to expect; None where files lie in a bucket: to count means to download them.

    What is not there is refused now, before a model is loaded.
    """
    pages = estimate_pages(paths, password)
    if any("://" in path for path in paths):
        return None
    return pages


def tell_passed_over(others: Counter[str]) -> None:
    """Say at the end which files hold no pages that we know: "passed over: 3 .log, 1 .txt"."""
    if not others:
        return
    known = sorted((suffix, count) for suffix, count in others.items() if suffix)
    known.sort(key=lambda ending: -ending[1])
    counts = [f"{count:,} {suffix}" for suffix, count in known]
    if others[""]:
        counts.append(f"{others['']:,} without an ending")
    click.echo(f"adamerge: passed over: {', '.join(counts)}", err=True)
    if not office.SUFFIXES.isdisjoint(others):
        click.echo(f"adamerge: to read office files too, {office.INSTALL}", err=True)
