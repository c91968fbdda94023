"""Every error adamerge raises on purpose. Each also is the built-in error a caller would expect.

AdamergeError
├── BadInput            a page, an array or an option no method can work on      (ValueError)
│   ├── BadShape        an array of the wrong rank or length
│   └── BadDtype        an array of something that is not real numbers           (TypeError)
├── UnknownName         no such method or option                                 (LookupError)
├── MissingExtra        an optional dependency is not installed                  (ImportError)
├── TooLarge            a page that would not fit in memory                      (MemoryError)
├── BadFile             a file or folder that cannot be read as vectors          (ValueError)
│   └── Damaged         a shard or manifest that was whole once
├── Mixture             pages of one kind offered to a folder of another         (ValueError)
├── PageFailed          a method of somebody else's failed on a page             (RuntimeError)
└── WorkerLost          a worker of the server ended before its task was done    (RuntimeError)
"""


class AdamergeError(Exception):
    """The root of all errors that adamerge raises on purpose; str() is one line a person can act on."""


class BadInput(AdamergeError, ValueError):
    """A page, an array or an option that no method can work on."""


class BadShape(BadInput):
    """An array of the wrong rank or length."""


class BadDtype(BadInput, TypeError):
    """An array of something that is not real numbers."""


class UnknownName(AdamergeError, LookupError):
    """No such method or option."""


class MissingExtra(AdamergeError, ImportError):
    """An optional dependency is not installed."""


class TooLarge(AdamergeError, MemoryError):
    """A page that would not fit in memory."""


class BadFile(AdamergeError, ValueError):
    """A file or folder that cannot be read as vectors."""


class Damaged(BadFile):
    """A shard or manifest that was whole once."""


class Mixture(AdamergeError, ValueError):
    """Pages of one kind offered to a folder of another."""


class PageFailed(AdamergeError, RuntimeError):
    """A method of somebody else's failed on a page."""


class WorkerLost(AdamergeError, RuntimeError):
    """A worker of the server ended, or was ended, before its task was done."""


def missing_extra(what: str, extra: str) -> MissingExtra:
    """The error for `what` that works only with an extra: it says what to type."""
    return MissingExtra(f"{what} needs the '{extra}' extra: pip install 'adamerge[{extra}]'")
