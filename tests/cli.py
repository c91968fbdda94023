"""The command line as a person runs it: a process, its words and what it says."""

import json
import subprocess
import sys
from pathlib import Path

ADAMERGE = Path(sys.executable).with_name("adamerge")


def run(*words, **more):
    """A finished run of the command; the limit of a test is that of its processes too."""
    return subprocess.run([ADAMERGE, *map(str, words)], capture_output=True, text=True, **more)


def lines(result):
    """What a run with --json printed, one value a line."""
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]
