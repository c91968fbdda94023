"""What the verbs share: errors in one line, a bar while somebody looks, facts as a list."""

import os
import sys
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

import click

from adamerge.encoders import EncoderSpec
from adamerge.errors import AdamergeError, outcome

T = TypeVar("T")

on_device = click.option("--device", help="cuda, mps or cpu.  [default: the best there is]")
max_visual_tokens = click.option(
    "--max-visual-tokens", type=click.IntRange(1), help="Patches a page at most, for ColQwen."
)


def encoder_spec(
    name: str, device: str | None = None, max_visual_tokens: int | None = None, **options: Any
) -> EncoderSpec:
    """The encoder that was asked for; options that it does not have are refused now."""
    options["max_num_visual_tokens"] = max_visual_tokens
    given = {key: value for key, value in options.items() if value is not None}
    spec = EncoderSpec(name, given, device)
    spec.check_options()
    return spec


class Verbs(click.Group):
    """Turns our errors into one line and exit code 1; a traceback comes only with --debug."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take --debug wherever it stands."""
        return super().parse_args(
            ctx, ["--debug"] * ("--debug" in args) + [a for a in args if a != "--debug"]
        )

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


def progress(pages: Iterable[T], total: int | None, done: int) -> Iterator[T]:
    """Pages as they pass, with a bar on stderr if somebody is looking."""
    if not sys.stderr.isatty():
        yield from pages
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[speed]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=total, completed=done, speed="")
        for page in pages:
            yield page
            bar.update(task, advance=1, speed=f"{bar.tasks[task].speed or 0:,.0f} pages/s")


def listed(facts: dict[str, Any]) -> str:
    """Facts, a line each."""
    return "\n".join(f"{key:<24}{value}" for key, value in facts.items())
