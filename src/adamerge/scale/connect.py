"""A Ray cluster by its address; Ray is imported here and nowhere else."""

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from logging import getLogger
from pathlib import Path
from typing import Any

from adamerge.errors import BadInput, StoreUnavailable, missing_extra
from adamerge.scale.head import lost_cluster
from adamerge.threads import cores

# What Ray reads when it is imported or called. Without keepalive, a driver waits for minutes for a node whose network
# was cut. Without the last, a call after a ray:// was lost would go to whatever cluster this machine belongs to.
ENVIRONMENT = {
    "RAY_grpc_client_keepalive_time_ms": "3000",
    "RAY_grpc_client_keepalive_timeout_ms": "3000",
    "RAY_USAGE_STATS_ENABLED": "0",  # nothing is told to others
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # as Ray asks for, by a warning
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    "RAY_CLIENT_RECONNECT_GRACE_PERIOD": "20",  # seconds that a lost ray:// is tried again; a run ends within 40
    "RAY_ENABLE_AUTO_CONNECT": "0",
}
LOCAL = "local"
CLIENT = "ray://"  # addresses of a driver outside the cluster, which Ray calls Ray Client
OBJECT_STORE = 128 << 20  # bytes of a local cluster's object store: pages do not travel through it
CONNECTING_TRIES = 4
# What the head of a ray:// says if its process for a new client has not started: now and then it ends as it begins
# (issue 63202 of ray-project/ray; 2 of 40 times here), also while the head looks at it, and on a busy machine it may be
# late.
NOT_STARTED = (
    "Starting Ray client server failed",
    "Proxy failed to Connect to backend",
    "psutil.ZombieProcess",
    "psutil.NoSuchProcess",
)
CLIENT_KEEPALIVE = {
    "grpc.keepalive_time_ms": 3000,
    "grpc.keepalive_timeout_ms": 3000,
    "grpc.http2.ping_timeout_ms": 3000,  # a minute by default, whatever the others say
}
UNTOLD = (
    "lance is not fork-safe",  # Ray starts its processes by fork and exec at once, which does no harm
    "Ray Client connection timed out",  # the error that follows says it
    "More than 10MB of messages",  # of many units: their descriptions, no vectors
)


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
        if self.gpus_per_worker > 1 and self.gpus_per_worker % 1:
            raise BadInput(
                f"gpus_per_worker must be a part of a GPU or whole GPUs, got {self.gpus_per_worker}"
            )

    @property
    def is_outside(self) -> bool:
        """Whether the driver is no part of the cluster."""
        return self.address.startswith(CLIENT)


def import_ray() -> Any:
    """Ray, with what it has to know before it is imported; an error that names the extra where it is not installed."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        return import_module("ray")
    except ModuleNotFoundError:
        raise missing_extra("working on a cluster", "ray") from None


def is_client(ray: Any) -> bool:
    """Whether Ray is connected to a cluster from outside, now."""
    return bool(ray.util.client.ray.is_connected())


@contextmanager
def connected(cluster: Cluster) -> Iterator[Any]:
    """Ray, connected; a connection that was there before is used as it is and stays."""
    ray = import_ray()
    if ray.is_initialized():
        yield ray
        return
    with warnings.catch_warnings():
        for message in UNTOLD:
            warnings.filterwarnings("ignore", message=message)
        _connect(ray, cluster)
        try:
            yield ray
        except Exception as error:
            if cluster.is_outside and _is_lost(ray, error):
                raise lost_cluster(f"there is no connection to {cluster.address}") from None
            raise
        finally:
            ray.shutdown()


def _connect(ray: Any, cluster: Cluster) -> None:
    """Connect; an error in one line where there is no cluster."""
    options: dict[str, Any] = {}
    if cluster.address == LOCAL:
        options = {
            "num_cpus": cores(),
            "include_dashboard": False,
            "object_store_memory": OBJECT_STORE,
        }
    if cluster.is_outside:
        _prepare_client()
    for tries in range(1, CONNECTING_TRIES + 1):
        try:
            ray.init(cluster.address, log_to_driver=False, logging_level="error", **options)
            return
        except Exception as error:  # Ray raises errors of many kinds, and bare ones, where it cannot start or connect
            if _may_start(error) and tries < CONNECTING_TRIES:
                continue
            raise StoreUnavailable(
                f"there is no Ray cluster at {cluster.address}: {_reason(error)}; "
                "--ray local works on this machine alone"
            ) from None


def _prepare_client() -> None:
    """Let Ray Client notice a network that is cut, and say nothing beside our errors."""
    try:
        common = import_module("ray.util.client.common")
    except ImportError:  # Ray's own extra `client` brings grpc
        raise missing_extra("a cluster that is reached by ray://", "ray") from None
    # Ray Client has a list of its own, which no variable changes: by it, a run took two minutes to end.
    others = [option for option in common.GRPC_OPTIONS if option[0] not in CLIENT_KEEPALIVE]
    common.GRPC_OPTIONS[:] = [*others, *CLIENT_KEEPALIVE.items()]
    for name in ("logsclient", "dataclient"):  # they tell of the head, though log_to_driver is off
        getLogger(f"ray.util.client.{name}").disabled = True


def _is_lost(ray: Any, error: Exception) -> bool:
    """Whether an error is that of a ray:// that was lost: Ray lets errors of grpc through."""
    return not is_client(ray) or isinstance(error, import_module("grpc").RpcError)


def _may_start(error: Exception) -> bool:
    """Whether another try may connect."""
    return any(words in str(error) for words in NOT_STARTED)


def _reason(error: Exception) -> str:
    """What an error of Ray says, in one line; one that happened on the head has its traceback first."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    if isinstance(error, ConnectionAbortedError):
        return lines[-1]
    return lines[0]
