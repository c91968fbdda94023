"""Every error adamerge raises on purpose: the class says what happened, the text says what to do.

AdamergeError
├── BadInput            a page, an array or an option that makes no sense        (ValueError)
│   ├── BadShape        an array of the wrong rank or length
│   └── BadDtype        an array of something that is not real numbers           (TypeError)
├── UnknownName         no such method, encoder or option                        (LookupError)
├── NotFound            a file, a page or a store that is not there              (LookupError)
├── MissingExtra        an optional dependency is not installed                  (ImportError)
├── TooLarge            a page that would not fit in memory                      (MemoryError)
├── BadFile             somebody's file or folder that cannot be read            (ValueError)
├── Damaged             what adamerge wrote is no longer whole                   (ValueError)
├── TooNew              what a later version of adamerge wrote                   (ValueError)
├── Mismatch            pages of one kind offered to a place of another          (ValueError)
├── Locked              another process is writing there                         (RuntimeError)
├── StoreUnavailable    a store that cannot be reached or written now            (RuntimeError)
├── Busy                too much is asked for at once                            (RuntimeError)
├── PageFailed          a method of somebody else's failed on a page             (RuntimeError)
└── WorkerLost          a worker of the server ended before its task was done    (RuntimeError)

Each also is the built-in error that a caller would expect. `outcome(error)` gives its HTTP status and exit code.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple


class AdamergeError(Exception):
    """The root of all errors that adamerge raises on purpose; str() is one line a person can act on."""

    def __str__(self) -> str:
        """The message in one printable line, whatever the file or library said that it tells of."""
        return "".join(c if c.isprintable() else " " for c in super().__str__())


class BadInput(AdamergeError, ValueError):
    """A page, an array or an option that makes no sense."""


class BadShape(BadInput):
    """An array of the wrong rank or length."""


class BadDtype(BadInput, TypeError):
    """An array of something that is not real numbers."""


class UnknownName(AdamergeError, LookupError):
    """No such method, encoder or option."""


class NotFound(AdamergeError, LookupError):
    """A file, a page or a store that is not there."""


class MissingExtra(AdamergeError, ImportError):
    """An optional dependency is not installed."""


class TooLarge(AdamergeError, MemoryError):
    """A page that would not fit in memory."""


class BadFile(AdamergeError, ValueError):
    """Somebody's file or folder that cannot be read."""


class Damaged(AdamergeError, ValueError):
    """What adamerge wrote is no longer whole."""


class TooNew(AdamergeError, ValueError):
    """What a later version of adamerge wrote."""


class Mismatch(AdamergeError, ValueError):
    """Pages of one kind offered to a place of another."""


class Locked(AdamergeError, RuntimeError):
    """Another process is writing there."""


class StoreUnavailable(AdamergeError, RuntimeError):
    """A store that cannot be reached or written now: a server that is away, a full disk, a folder that was moved."""


class Busy(AdamergeError, RuntimeError):
    """Too much is asked for at once."""


class PageFailed(AdamergeError, RuntimeError):
    """A method of somebody else's failed on a page."""


class WorkerLost(AdamergeError, RuntimeError):
    """A worker of the server ended, or was ended, before its task was done."""


class Outcome(NamedTuple):
    """What an error means to a program: the HTTP status of the server, the exit code of the command line."""

    status: int
    exit_code: int


TRY_AGAIN = 75  # EX_TEMPFAIL of sysexits.h: the same command may work later
OUTCOMES = {
    AdamergeError: Outcome(500, 1),
    BadInput: Outcome(400, 1),
    UnknownName: Outcome(400, 1),
    NotFound: Outcome(404, 1),
    BadFile: Outcome(422, 1),
    TooLarge: Outcome(422, 1),
    Mismatch: Outcome(409, 1),
    MissingExtra: Outcome(501, 1),
    Damaged: Outcome(503, 1),
    TooNew: Outcome(503, 1),
    Locked: Outcome(503, TRY_AGAIN),
    StoreUnavailable: Outcome(503, TRY_AGAIN),
    Busy: Outcome(503, TRY_AGAIN),
    WorkerLost: Outcome(503, TRY_AGAIN),
}


def outcome(error: BaseException) -> Outcome:
    """The outcome of an error: that of the nearest class above it in the tree."""
    for kind in type(error).__mro__:
        if kind in OUTCOMES:
            return OUTCOMES[kind]
    return OUTCOMES[AdamergeError]


def missing_extra(what: str, extra: str) -> MissingExtra:
    """The error for `what` that works only with an extra: it says what to type."""
    return MissingExtra(f"{what} needs the '{extra}' extra: pip install 'adamerge[{extra}]'")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What to say after a name that is not known: " (did you mean 'minilm'?)", or "" where nothing is like it.

    A known name is like it if it differs in few letters, or contains it in any case (three letters at least).
    """
    names = list(known)
    like = get_close_matches(name, names, 1)
    part = name.casefold()
    if len(part) >= 3:
        like += [one for one in names if part in one.casefold()]
    if not like:
        return ""
    return f" (did you mean '{like[0]}'?)"
