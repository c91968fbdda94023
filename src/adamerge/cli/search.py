"""The verb that searches a store. It imports little, because a person waits for it."""

import json

import click

from adamerge.cli.common import as_lines, existing, in_store, query_prefix
from adamerge.cli.hits import hit_as_json, hits_as_text, how_found


@click.command()
@in_store
@click.argument("query")
@click.option(
    "-k", type=click.IntRange(1), default=5, show_default=True, help="How many pages to find."
)
@click.option("--where", default="", help="A filter in SQL: \"year >= 2020 AND language = 'en'\".")
@click.option(
    "--encoder", help="The encoder, if it is a class of your own.  [default: the store's]"
)
@query_prefix
@click.option("--exact", is_flag=True, help="Compare every page, however long it takes.")
@click.option(
    "--hybrid", is_flag=True, help="Rank by the words of QUERY too, not by vectors alone."
)
@click.option(
    "--memory",
    default="4GiB",
    show_default=True,
    help="Bytes of vectors to hold. Where they take more, candidates are read from disk.",
)
@click.option("--group", is_flag=True, help="Put the hits of one file together.")
@as_lines
def search(
    address: str,
    query: str,
    k: int,
    where: str,
    encoder: str | None,
    query_prefix: str | None,
    exact: bool,
    hybrid: bool,
    memory: str,
    group: bool,
    as_json: bool,
) -> None:
    """Find the pages of STORE that answer QUERY best. Show the sentences, or the region, that matched.

    A page that the store holds twice, as in a copy of its file, is shown once with a note.

    \b
    adamerge search reports.store "who repairs the clock?"
    adamerge search reports.store "turnover by region" -k 10 --where "year >= 2020"
    """  # noqa: D301 (click reads the backslash)
    with existing(address, encoder=encoder, memory=memory) as store:
        store.set_query_prefix(query_prefix)
        found = store.search(query, k, where, exact=exact, words=query if hybrid else None)
    if as_json:
        for hit in found:
            how = {"how": found.how, "first_stage": found.first_stage}
            click.echo(json.dumps(hit_as_json(hit) | how, default=str))
    else:
        click.echo(hits_as_text(found, group))
    click.echo(how_found(found), err=True)
