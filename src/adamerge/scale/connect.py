"""A Ray cluster by its address; Ray is imported here and nowhere else."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from adamerge.errors import BadInput, StoreUnavailable, missing_extra
from adamerge.threads import cores

# What Ray reads when it is imported. Without keepalive, a driver waits for minutes for a node whose network was cut.
ENVIRONMENT = {
    "RAY_grpc_client_keepalive_time_ms": "3000",
    "RAY_grpc_client_keepalive_timeout_ms": "3000",
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is told to others
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # as Ray asks for, by a warning
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
}
LOCAL = "local"
OBJECT_STORE = 128 << 20  # bytes of a local cluster's object store: pages do not travel through it


@dataclass(frozen=True)
class Cluster:
    """Where and with how much to work.

    address          `local` for the cores of this machine, `auto` for the cluster that this machine belongs to,
                     `host:port` of its head, or `ray://host:10001` from outside
    workers          that encode at a time; None for one for every GPU, or for every core where no GPU is asked for
    gpus_per_worker  0.5 lets two workers share a GPU
    modules          Python files of the user, which every worker runs too
    """

    address: str = LOCAL
    workers: int | None = None
    gpus_per_worker: float = 0.0
    modules: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what makes no sense before a cluster is looked for."""
        if not self.address.strip():
            raise BadInput("an address is local, auto, host:port or ray://host:10001; got nothing")
        if self.workers is not None and self.workers < 1:
            raise BadInput(f"workers must be a whole number, at least 1, got {self.workers!r}")
        if self.gpus_per_worker < 0:
            raise BadInput(f"gpus_per_worker must be 0 or more, got {self.gpus_per_worker}")


def import_ray() -> Any:
    """Ray, with what it has to know before it is imported; an error that names the extra where it is not installed."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        return import_module("ray")
    except ModuleNotFoundError:
        raise missing_extra("working on a cluster", "ray") from None


@contextmanager
def connected(cluster: Cluster) -> Iterator[Any]:
    """Ray, connected; a connection that was there before is used as it is and stays."""
    ray = import_ray()
    if ray.is_initialized():
        yield ray
        return
    options: dict[str, Any] = {}
    if cluster.address == LOCAL:
        options = {
            "num_cpus": cores(),
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE,
        }
    try:
        with warnings.catch_warnings():
            # Ray starts its processes by fork and exec at once, which does no harm.
            warnings.filterwarnings("ignore", message="lance is not fork-safe")
            ray.init(cluster.address, log_to_driver=False, logging_level="error", **options)
    except (
        Exception
    ) as error:  # Ray raises errors of many kinds, and bare ones, where it cannot start or connect
        reason = str(error).partition("\n")[0]
        raise StoreUnavailable(
            f"there is no Ray cluster at {cluster.address}: {reason}; "
            "--ray local works on this machine alone"
        ) from None
    try:
        yield ray
    finally:
        ray.shutdown()
