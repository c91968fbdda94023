"""The verb `adamerge mcp`: a store for agents."""

import logging
import os
from typing import Any

import click

from adamerge.cli.common import existing, password_of_files
from adamerge.errors import missing_extra
from adamerge.server import Settings

INTERRUPTED = 130  # the exit code of a program that Ctrl-C ended


@click.command()
@click.argument("where", metavar="STORE")
@click.option(
    "--http",
    is_flag=True,
    help="Listen on HTTP (streamable HTTP, path /mcp).  [default: standard input and output]",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="With --http: the address to listen on. Any but 127.0.0.1 needs a token.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8766,
    show_default=True,
    help="With --http: the port to listen on; 0 takes a free one.",
)
@click.option(
    "--token",
    envvar="ADAMERGE_TOKEN",
    default="",
    help="With --http: a token that clients must know. Safer: set ADAMERGE_TOKEN.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    help="With --http: another host name of this server. Can be given more than once.",
)
@click.option(
    "--encoder",
    default="",
    help="The encoder, if it is a class of your own.  [default: the store's]",
)
@password_of_files
@click.option(
    "--memory",
    default="4GiB",
    show_default=True,
    help="Memory for vectors; a larger store is searched in two stages.",
)
def mcp(where: str, http: bool, memory: str, **options: Any) -> None:
    """Let agents search STORE and read its pages. The server speaks the Model Context Protocol (MCP).

    \b
    adamerge mcp reports.store
    adamerge mcp reports.store --http --port 8766
    """  # noqa: D301 (click reads the backslash)
    settings = Settings(where, **options)
    existing(where).close()
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    logging.basicConfig(level=logging.WARNING)
    try:
        if http:
            run_on_http(settings, memory)
        else:
            run_on_stdio(settings, memory)
    except KeyboardInterrupt:
        click.echo("adamerge: stopped", err=True)
        raise SystemExit(INTERRUPTED) from None


def run_on_stdio(settings: Settings, memory: str) -> None:
    """Answer the client that started this process, until it closes our input."""
    try:
        from adamerge.mcp.server import make_mcp_server, open_context
    except ImportError:
        raise missing_extra("adamerge mcp", "mcp") from None
    opening = open_context(settings, memory)
    try:
        make_mcp_server(settings, opening).run("stdio")
    finally:
        if opening.done() and not opening.exception():
            opening.result().stop()


def run_on_http(settings: Settings, memory: str) -> None:
    """Answer clients until somebody says stop."""
    try:
        from adamerge.mcp.server import PATH, make_http_app, make_mcp_server, open_context
        from adamerge.server.connections import listen, make_server
    except ImportError:
        raise missing_extra("adamerge mcp", "mcp") from None
    with listen(settings.host, settings.port) as listener:
        # From here on clients can connect; they wait until the store is open.
        opening = open_context(settings, memory)
        context = opening.result()
        app = make_http_app(make_mcp_server(settings, opening), settings, context)
        server = make_server(app, settings, context.stop)

        port = listener.getsockname()[1]
        click.echo(f"http://{settings.host}:{port}{PATH}  {settings.title}; Ctrl-C stops it")
        server.run(sockets=[listener])
