"""What Lance raises -> errors of adamerge: a version was removed, a file is damaged, a disk or a bucket fails."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from adamerge.errors import AdamergeError, Damaged, StoreUnavailable

PLACE_IN_RUST = re.compile(r",? \S+\.rs:\d+(:\d+)?")
ADDRESS = re.compile(r"(\S*/)?(pages\.lance\S*)")  # where on this machine the table is
REMOTE = re.compile(r"Generic (S3|GCS|MicrosoftAzure) error")  # of the network, or of the bucket
LONGEST = 200  # characters of what Lance says


class MissingVersion(Damaged):
    """A version, or one of its files, is not there: a writer removed it while it was read, or the store is damaged."""


@contextmanager
def reading() -> Iterator[None]:
    """Turn what Lance raises while it reads into MissingVersion, StoreUnavailable or Damaged."""
    try:
        yield
    except (AdamergeError, MemoryError):
        raise
    except Exception as error:
        if is_missing(error):
            raise MissingVersion(_unreadable(reason_of(error))) from None
        if REMOTE.search(str(error)):
            raise StoreUnavailable(f"the bucket does not answer: {reason_of(error)}") from None
        raise damaged(reason_of(error)) from None
    except BaseException as error:
        if not is_panic(error):
            raise
        raise damaged("Lance gave up on a file that it cannot decode") from None


@contextmanager
def writing() -> Iterator[None]:
    """Turn what Lance raises while it writes into StoreUnavailable."""
    try:
        yield
    except (AdamergeError, MemoryError):
        raise
    except Exception as error:
        raise StoreUnavailable(f"the store could not be written: {reason_of(error)}") from None
    except BaseException as error:
        if not is_panic(error):
            raise
        raise damaged("Lance gave up on a file that it cannot decode") from None


def damaged(reason: str) -> Damaged:
    """The error for a table that cannot be read."""
    return Damaged(_unreadable(reason))


def _unreadable(reason: str) -> str:
    return f"the store cannot be read ({reason}): restore it, or index into another one"


def is_missing(error: Exception) -> bool:
    """Whether something was not found."""
    return "not found" in str(error).lower()


def is_panic(error: BaseException) -> bool:
    """Whether it is a panic of Rust, which is no Exception, so that `except Exception` lets it pass."""
    return type(error).__name__ == "PanicException"


def reason_of(error: BaseException) -> str:
    """What Lance says in one short line, without where in its own code, or on this machine, that was."""
    lines = str(error).splitlines() or [type(error).__name__]
    line = PLACE_IN_RUST.sub("", lines[0])
    line = ADDRESS.sub(r"\2", line).split(" Valid fields")[0]
    return line.rstrip(". ")[:LONGEST]
