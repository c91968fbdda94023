"""The process that runs commands for faults.py: it imports everything once, and forks for each line that it reads.

A line is {"words": [...], "out": FILE, "err": FILE}; the answer is {"code": EXIT CODE}, negative for a signal.
"""

import gc
import json
import os
import sys
import traceback
import warnings
from functools import cache
from importlib import import_module

from serving import register

from adamerge.cli import main as adamerge
from adamerge.encoders import spec
from adamerge.store import index, transfer
from adamerge.vectors import shards, units

IMPORTED_LATER = (  # by a command that needs them
    *("numpy.ma", "PIL.Image", "PIL.WebPImagePlugin", "pypdfium2", "pyarrow.parquet"),
    *("light", "adamerge.store.lance.store", "adamerge.cli.vectors", "adamerge.cli.store"),
    "adamerge.cli.index",
)


def main():
    prepare()
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            os._exit(run(request))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(json.dumps({"code": os.waitstatus_to_exitcode(status)}) + "\n")
        sys.stdout.flush()


def prepare():
    """Do once what every command would do again, and let a few pages be written as many are."""
    register()
    for name in IMPORTED_LATER:
        import_module(name)
    spec._entry_points = cache(spec._entry_points)
    spec.installed()
    shards.SHARD_BYTES = 1  # a shard for every page
    units.PAGES_PER_UNIT = 1
    index.PAGES_PER_WRITE = transfer.PAGES_PER_WRITE = 1  # a commit for every page
    warnings.filterwarnings("ignore", message=".*fork")  # of Lance, which has not started yet
    gc.freeze()  # a fork that looks through all objects would copy the memory that they share


def run(request):
    """The exit code of a command; what it prints goes to files."""
    for name, stream in (("out", sys.stdout), ("err", sys.stderr)):
        file = os.open(request[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, stream.fileno())
    try:
        adamerge(request["words"])
    except SystemExit as ended:
        return ended.code or 0
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()


if __name__ == "__main__":
    main()
