"""The verb `adamerge serve`: a store as a web page and an API."""

import logging
import os
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from adamerge.cli.common import encoder_of_store, existing, password_of_files
from adamerge.cli.fetch import offer_weights
from adamerge.documents import readable_suffixes
from adamerge.errors import BadInput, NotFound, missing_extra
from adamerge.server import Settings
from adamerge.server.folder.listing import list_folder
from adamerge.server.settings import is_loopback, store_beside, uploads_of
from adamerge.store import is_store, parse_bytes

INTERRUPTED = 130  # the exit code of a program that Ctrl-C ended


@click.command()
@click.argument("where", metavar="STORE_OR_FOLDER")
@click.option(
    "--watch", is_flag=True, help="Index files of FOLDER that change while the server runs."
)
@click.option(
    "--store",
    "address",
    default="",
    help="The store of FOLDER.  [default: FOLDER.store, beside it]",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="The address to listen on. Any but 127.0.0.1 needs a token.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="The port to listen on; 0 takes a free one.",
)
@click.option(
    "--token",
    envvar="ADAMERGE_TOKEN",
    default="",
    help="A token that visitors must know. Safer: set ADAMERGE_TOKEN.",
)
@click.option(
    "--encoder",
    default="",
    help="The encoder of a new store, or one that is a class of your own.  [default: the store's]",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    help="Another host name of this server. Can be given more than once.",
)
@click.option(
    "--upload/--no-upload",
    "upload",
    default=True,
    show_default=True,
    help="Whether people can add files.",
)
@click.option(
    "--uploads",
    type=click.Path(path_type=Path),
    help="Folder that keeps uploaded files.  [default: STORE.uploads]",
)
@click.option(
    "--max-upload", default="50MB", show_default=True, help="Largest file that is accepted."
)
@password_of_files
@click.option(
    "--memory",
    default="4GiB",
    show_default=True,
    help="Memory for vectors; a larger store is searched in two stages.",
)
def serve(
    where: str,
    watch: bool,
    address: str,
    host: str,
    port: int,
    token: str,
    encoder: str,
    names: tuple[str, ...],
    **options: Any,
) -> None:
    """Search a store or a folder in a browser, and by a JSON API. People see why a page was found.

    The store of a folder is made, or brought up to date, while the server runs; the page shows how far it is. Only this
    machine can reach the server unless --host says otherwise, and then a token is needed.

    \b
    adamerge serve reports.store
    adamerge serve reports/ --watch
    ADAMERGE_TOKEN=$(openssl rand -hex 16) adamerge serve reports.store --host 0.0.0.0 --name search.example.org
    """  # noqa: D301 (click reads the backslash)
    check_extra()
    folder = folder_to_serve(where, address, watch)
    if folder is not None:
        where = address or str(store_beside(folder))
    offer_weights(encoder or encoder_of_store(where))
    settings = Settings(
        where,
        host,
        port,
        token,
        encoder,
        names=names,
        max_upload=parse_bytes(options["max_upload"]),
        folder=folder,
        watch=watch,
        password=options["password"],
    )
    if options["upload"]:
        folder = options["uploads"] or uploads_of(where)
        if folder is not None:
            settings = replace(settings, uploads=folder.absolute())
    run(settings, options["memory"])


def check_extra() -> None:
    """Refuse before anything else where the server's packages are not installed."""
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise missing_extra("adamerge serve", "serve")


def folder_to_serve(where: str, store: str, watch: bool) -> Path | None:
    """The folder whose files are to be served; None where a store is named, which takes no options of a folder."""
    if is_store(where) or not Path(where).is_dir():
        if store or watch:
            raise BadInput(f"--store and --watch are for a folder of files, and {where} is none")
        return None
    folder = Path(where).resolve()
    if not watch and not list_folder(folder):
        raise NotFound(
            f"{where} is neither a store nor a folder with files of {', '.join(sorted(readable_suffixes()))}"
        )
    return folder


def run(settings: Settings, memory: str = "4GiB") -> None:
    """Serve until somebody says stop."""
    check_extra()
    from adamerge.server.app import make_app, make_context
    from adamerge.server.connections import listen, make_server
    from adamerge.server.reader.store_reader import StoreReader

    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    logging.basicConfig(level=logging.WARNING)

    is_folder = settings.folder is not None
    if not is_folder:
        existing(settings.store).close()
    with listen(settings.host, settings.port) as listener:
        # From here on clients can connect; they wait until the store is open.
        encoder = settings.encoder or None
        reader = StoreReader(
            settings.store,
            settings.limits,
            may_be_empty=is_folder,
            encoder=encoder,
            memory=memory,
        )
        context = make_context(settings, reader)
        server = make_server(make_app(context), settings, context.stop)

        port = listener.getsockname()[1]
        host = "localhost" if is_loopback(settings.host) else settings.host
        click.echo(f"http://{host}:{port}  {settings.title}; Ctrl-C stops it")
        try:
            server.run(sockets=[listener])
        except KeyboardInterrupt:
            click.echo("adamerge: stopped", err=True)
            if reader.running:  # Python would wait for these searches, and nobody needs them
                os._exit(INTERRUPTED)
            raise SystemExit(INTERRUPTED) from None
