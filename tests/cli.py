"""The command line: as a process, as a person runs it, or called here, where a process would add nothing but time."""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

from click.testing import CliRunner

from adamerge.cli import main

ADAMERGE = Path(sys.executable).with_name("adamerge")
QUIET = {"ADAMERGE_QUIET": "1"}  # on a busy machine, a run may last until a line of progress is due


def run(*words, **more):
    """A finished process of the command; the limit of a test is that of its processes too."""
    return subprocess.run(
        [ADAMERGE, *map(str, words)],
        capture_output=True,
        text=True,
        env=os.environ | QUIET,
        **more,
    )


def call(*words, **environment):
    """The command called in this process: its exit code and what it wrote to stdout and to stderr."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other people's: a process would not fail by them
        result = CliRunner().invoke(
            main,
            [str(word) for word in words],
            prog_name="adamerge",
            env=QUIET | environment,
        )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return SimpleNamespace(returncode=result.exit_code, stdout=result.stdout, stderr=result.stderr)


def lines(result):
    """What a run with --json printed, one value a line."""
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]
