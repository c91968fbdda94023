"""The command line: verbs that parse, call and print. Data goes to stdout, progress and errors to stderr."""

import logging
import os
import sys

import click

from adamerge.cli.common import Verbs

VERBS = {  # in the order of the work; where each is, to be imported when it is called
    "fetch": "adamerge.cli.fetch:fetch",
    "encode": "adamerge.cli.vectors:encode",
    "encoders": "adamerge.cli.vectors:encoders",
    "compress": "adamerge.cli.vectors:compress",
    "methods": "adamerge.cli.vectors:methods",
    "index": "adamerge.cli.index:index",
    "search": "adamerge.cli.store:search",
    "ls": "adamerge.cli.ls:ls",
    "delete": "adamerge.cli.store:delete",
    "export": "adamerge.cli.store:export",
    "copy": "adamerge.cli.store:copy",
    "info": "adamerge.cli.info:info",
    "inspect": "adamerge.cli.inspect:inspect",
    "fidelity": "adamerge.cli.fidelity:fidelity",
    "serve": "adamerge.cli.serve:serve",
    "mcp": "adamerge.cli.mcp:mcp",
    "dataset": "adamerge.cli.evaluate:dataset",
    "evaluate": "adamerge.cli.results:evaluate_verb",
}


@click.group(cls=Verbs, verbs=VERBS, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
@click.option("-q", "--quiet", envvar="ADAMERGE_QUIET", is_flag=True, help="Show no progress.")
@click.option(
    "-v",
    "--verbose",
    is_flag=True,
    help="Say more: each page that is indexed, and logs of libraries.",
)
@click.version_option(package_name="adamerge")
def main(debug: bool, quiet: bool, verbose: bool) -> None:
    """Store visual documents in a fraction of the vectors, and find the same pages.

    A method is a name with options: adamerge, adamerge:k=0.25,c_min=0.8, sem-cluster:m=4 ...
    `adamerge methods` lists them.
    """
    if verbose:
        logging.basicConfig(level=logging.INFO)
    if not sys.stderr.isatty():  # bars of the model library are for a terminal, as ours are
        os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
