"""The verb that says what a store, a folder or a file of vectors holds."""

import json
from typing import Any

import click

from adamerge.buckets import SCHEMES, AnyPath
from adamerge.cli.common import vector_options
from adamerge.cli.facts_in_words import in_words
from adamerge.store import is_store, open_named


@click.command()
@click.argument("path", metavar="PATH_OR_URL")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@vector_options
def info(path: str, as_json: bool, column: str, prompt_rows: tuple[int, int] | None) -> None:
    """Say what a store or a folder or file of vectors holds. That is pages, vectors, bytes, and what made them.

    Numbers are rounded for reading; --json has all of their digits.
    """
    known = facts(path, column, prompt_rows)
    if as_json:
        click.echo(json.dumps(known))
    else:
        click.echo(in_words(known))


def facts(
    address: str | AnyPath, column: str = "", prompt_rows: tuple[int, int] | None = None
) -> dict[str, Any]:
    """What a store, a folder or a file of vectors holds; `column` and `prompt_rows` are for files of other programs."""
    name = str(address)
    has_options = bool(column) or prompt_rows is not None
    if is_store(name) and not has_options:
        with open_named(name) as store:
            if store.about is not None or not _is_bucket_of_vectors(name):
                return store.facts()

    # To import the readers of vectors takes longer than to look into a store, which needs none of them.
    from adamerge.cli.facts_of_vectors import facts_of_vectors

    return facts_of_vectors(address, column, prompt_rows)


def _is_bucket_of_vectors(address: str) -> bool:
    """Whether an address is a folder of vectors in a bucket."""
    scheme = address.partition("://")[0]
    if scheme not in SCHEMES:
        return False
    from adamerge.vectors import is_shards

    return is_shards(address)
