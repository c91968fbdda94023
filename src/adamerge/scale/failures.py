"""What Ray raises -> a result, a worker that was lost, or an error of adamerge."""

import re
from typing import Any, NamedTuple

from adamerge.errors import AdamergeError, MissingExtra
from adamerge.scale.connect import is_client
from adamerge.scale.head import lost_cluster

UNSHIPPED = "failed to import on the worker"  # of a function, as Ray says it
MISSING = re.compile(r"No module named '([\w.]+)'")


class Lost(NamedTuple):
    """There is no result, and another try may give one.

    is_worker  whether the worker or its node ended; else the work raised an error that may not come again
    """

    reason: str
    is_worker: bool


def result_of(ray: Any, ref: Any) -> Any:
    """What a worker gave, or Lost; an error that would come again is raised."""
    try:
        return ray.get(ref)
    except ray.exceptions.RayTaskError as error:
        return _of_error(error.cause, str(error))
    except ray.exceptions.LocalRayletDiedError:
        where = "its head" if is_client(ray) else "this machine"
        raise lost_cluster(f"Ray's process on {where} ended") from None
    except ray.exceptions.RayError as error:
        _refuse_missing(str(error))
        return Lost(_first_line(str(error)), is_worker=True)


def _of_error(cause: Exception, text: str) -> Lost:
    """Lost, if an error of the work may not come again; else it is raised."""
    cannot_import = isinstance(cause, AdamergeError | ImportError) or UNSHIPPED in str(cause)
    if cannot_import:
        _refuse_missing(f"{cause} {text}")
    if isinstance(cause, AdamergeError):
        raise cause from None
    return Lost(f"{type(cause).__name__}: {cause}", is_worker=False)


def _refuse_missing(text: str) -> None:
    """Say which package a worker lacks, if that is what a text tells."""
    found = MISSING.search(text)
    if found:
        raise MissingExtra(
            f"a worker has no package '{found[1]}': install it on every node, or let Ray ship it "
            "by a runtime_env (docs/scale.md)"
        )


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
