"""The command line: verbs that parse, call and print. Data goes to stdout, progress and errors to stderr."""

import os
import sys

import click

from adamerge.cli import evaluate, info, results, store, vectors
from adamerge.cli.common import Verbs
from adamerge.cli.fetch import fetch
from adamerge.cli.fidelity import fidelity
from adamerge.cli.index import index
from adamerge.cli.inspect import inspect
from adamerge.cli.ls import ls
from adamerge.cli.serve import serve


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option("--quiet", envvar="ADAMERGE_QUIET", is_flag=True, help="Show no progress.")
@click.version_option(package_name="adamerge")
def main(debug: bool, quiet: bool) -> None:
    """Store visual documents in a fraction of the vectors, and find the same pages.

    A method is a name with options: adamerge, adamerge:k=0.25,c_min=0.8, sem-cluster:m=4 ...
    `adamerge methods` lists them.
    """
    if not sys.stderr.isatty():  # bars of the model library are for a terminal, as ours are
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")


for verb in (
    vectors.encode,
    vectors.encoders,
    fetch,
    vectors.compress,
    vectors.methods,
    index,
    store.search,
    ls,
    store.delete,
    store.export,
    store.copy,
    info.info,
    inspect,
    fidelity,
    serve,
    evaluate.dataset,
    evaluate.evaluate,
):
    main.add_command(verb)
for verb in results.VERBS:
    evaluate.evaluate.add_command(verb)
