"""What the verbs share: options, errors in one line, what is said at the end."""

import os
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import click

from adamerge.buckets import AnyPath, as_path
from adamerge.encoders import DEFAULT_ENCODER, EncoderSpec
from adamerge.errors import AdamergeError, NotFound, outcome
from adamerge.store import Store, is_store, open_named
from adamerge.user_modules import import_user_module


def folder_or_bucket(_: click.Context, __: click.Parameter, given: str) -> AnyPath:
    """The path that a text stands for: on a disk, or in a bucket (s3://bucket/folder, gs://bucket/folder)."""
    return as_path(given)


in_store = click.argument("address", metavar="STORE", type=click.Path())
as_lines = click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")
ANYWHERE = ("--debug", "--quiet", "-q", "--verbose", "-v")  # options of every verb
on_device = click.option(
    "--device", help="Where the model runs: cuda, mps or cpu.  [default: the best there is]"
)
in_batches = click.option(
    "--batch-size",
    type=click.IntRange(1),
    default=4,
    show_default=True,
    help="Pages encoded at a time.",
)
max_visual_tokens = click.option(
    "--max-visual-tokens", type=click.IntRange(1), help="Most patches of a page, for ColQwen."
)
query_prefix = click.option(
    "--query-prefix",
    help="Words to put before every query.  [default: those that the encoder was trained with]",
)

password_of_files = click.option(
    "--password",
    envvar="ADAMERGE_PASSWORD",
    default="",
    help="Opens encrypted PDF files. Safer: set ADAMERGE_PASSWORD.",
)


MODULES = "adamerge.modules"  # where a verb finds the files of --module


def _import_modules(ctx: click.Context, _: click.Parameter, paths: tuple[Path, ...]) -> None:
    for path in paths:
        import_user_module(path)
    ctx.meta[MODULES] = paths


own_modules = click.option(
    "--module",
    multiple=True,
    type=click.Path(path_type=Path),
    callback=_import_modules,
    expose_value=False,
    is_eager=True,
    help="A Python file with methods or file formats of your own. Can be given more than once.",
)


def _two_numbers(ctx: click.Context, param: click.Parameter, text: str | None) -> Any:
    """`4,7` as (4, 7); None where the option is not given."""
    if text is None:
        return None
    before, comma, after = text.partition(",")
    if not comma or not before.isdecimal() or not after.isdecimal():
        raise click.BadParameter(f"two numbers of rows, as 4,7; got '{text}'", ctx, param)
    return int(before), int(after)


def vector_options(verb: Any) -> Any:
    """The options of every verb that reads vectors of other programs."""
    prompt_rows = click.option(
        "--prompt-rows",
        metavar="BEFORE,AFTER",
        callback=_two_numbers,
        help="How many rows before and after the patches of every page are prompt, as 4,7.",
    )
    column = click.option(
        "--column",
        default="",
        help="The column or array that holds the vectors.  [default: vectors]",
    )
    return column(prompt_rows(verb))


def encoder_spec(
    name: str, device: str | None = None, max_visual_tokens: int | None = None, **options: Any
) -> EncoderSpec:
    """The encoder that was asked for; options that it does not have are refused now."""
    options["max_num_visual_tokens"] = max_visual_tokens
    given = {key: value for key, value in options.items() if value is not None}
    spec = EncoderSpec(name, given, device)
    spec.check_options()
    return spec


class Verb(NamedTuple):
    """Where a verb is, as `module:function`, and what it does: the first sentence of its own help."""

    where: str
    does: str


class Verbs(click.Group):
    """Imports a verb when it is called, so that none pays for the others, and the help pays for none.

    Turns our errors into one line and exit code 1; a traceback comes only with --debug.
    """

    def __init__(self, *, verbs: Mapping[str, Verb], **options: Any) -> None:
        """Verbs by name, in the order of the help."""
        super().__init__(**options)
        self._verbs = verbs

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all verbs."""
        return list(self._verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb of a name, imported; None where there is none."""
        if cmd_name not in self._verbs:
            return None
        module, _, function = self._verbs[cmd_name].where.partition(":")
        verb: click.Command = getattr(import_module(module), function)
        return verb

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs and what each does, without importing any."""
        rows = [(name, verb.does) for name, verb in self._verbs.items()]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take --debug, --quiet and --verbose wherever they stand; what follows -- is no option."""
        end = args.index("--") if "--" in args else len(args)
        words = args[:end]
        anywhere = [word for word in words if word in ANYWHERE]
        rest = [word for word in words if word not in ANYWHERE]
        return super().parse_args(ctx, anywhere + rest + args[end:])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a verb."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # the reader has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except (AdamergeError, OSError) as error:
            if ctx.params.get("debug"):
                raise
            click.echo(f"adamerge: {error}", err=True)
            ctx.exit(outcome(error).exit_code)
        except KeyboardInterrupt:
            click.echo("adamerge: stopped; the same command goes on from here", err=True)
            ctx.exit(130)


def is_verbose() -> bool:
    """Whether --verbose was given."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().params.get("verbose"))


def tell_skipped(errors: Iterable[AdamergeError]) -> None:
    """Say at the end what could not be read or encoded, a line each."""
    for error in errors:
        click.echo(f"adamerge: skipped: {error}", err=True)


def existing(address: str, **options: Any) -> Store:
    """A store that is there; a name that is wrong must not look like a store without pages."""
    if not is_store(address):
        raise NotFound(f"there is no store at {address}: adamerge index makes one")
    return open_named(address, **options)


def encoder_of_store(address: str) -> str:
    """The name of a store's encoder; of a store that is not made yet the usual one, "" where none is recorded."""
    if not is_store(address):
        return DEFAULT_ENCODER
    with open_named(address) as store:
        if store.about is None:
            return DEFAULT_ENCODER
        return str(store.about.encoder.get("name", ""))
