"""The command line: verbs that parse, call and print. Data goes to stdout, progress and errors to stderr."""

import logging
import os
import sys

import click

from adamerge.cli.common import Verb, Verbs

VERBS = {  # in the order of the work
    "fetch": Verb("adamerge.cli.fetch:fetch", "Download the weights of ENCODER."),
    "encode": Verb("adamerge.cli.vectors:encode", "Encode PAGES into vectors."),
    "encoders": Verb("adamerge.cli.vectors:encoders", "List the encoders."),
    "compress": Verb(
        "adamerge.cli.vectors:compress", "Compress the pages of IN and print what was kept of each."
    ),
    "methods": Verb(
        "adamerge.cli.vectors:methods", "List the methods, their options and defaults."
    ),
    "plan": Verb(
        "adamerge.cli.plan:plan", "Say what to store for a budget, and what it is expected to lose."
    ),
    "index": Verb("adamerge.cli.index:index", "Encode, compress and store PAGES."),
    "search": Verb("adamerge.cli.search:search", "Find the pages of STORE that answer QUERY best."),
    "ls": Verb("adamerge.cli.ls:ls", "List the files of STORE, or the pages of one file."),
    "delete": Verb("adamerge.cli.store:delete", "Remove pages from STORE."),
    "export": Verb(
        "adamerge.cli.store:export",
        "Write the pages of STORE to a folder of vectors, or to Parquet.",
    ),
    "copy": Verb("adamerge.cli.store:copy", "Copy all pages of one store to another."),
    "info": Verb(
        "adamerge.cli.info:info", "Say what a store or a folder or file of vectors holds."
    ),
    "inspect": Verb(
        "adamerge.cli.inspect:inspect", "Show what a method does to one PAGE, as one HTML file."
    ),
    "fidelity": Verb(
        "adamerge.cli.fidelity:fidelity", "Compare methods by the order of pages that they keep."
    ),
    "serve": Verb(
        "adamerge.cli.serve:serve", "Search a store or a folder in a browser, and by a JSON API."
    ),
    "mcp": Verb("adamerge.cli.mcp:mcp", "Let agents search STORE and read its pages."),
    "dataset": Verb("adamerge.cli.evaluate:dataset", "Make datasets to evaluate on."),
    "evaluate": Verb(
        "adamerge.cli.results:evaluate_verb", "Run methods on datasets, and see what they cost."
    ),
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
