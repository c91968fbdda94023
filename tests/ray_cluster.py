"""A Ray cluster of two nodes on this machine, one for the whole test run, and work on it that waits to be disturbed."""

import os
import socket
import warnings
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from cli import ADAMERGE
from waiting import until

from adamerge.compress import parse_method
from adamerge.scale import Cluster
from adamerge.user_modules import import_user_module

HERE = Path(__file__).parent
OBJECT_STORE = 80 << 20
ENVIRONMENT = {
    "PYTHONPATH": str(HERE),  # workers find the encoders of the tests
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # keeps the cluster on loopback
    "RAY_health_check_initial_delay_ms": "0",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
    "RAY_worker_lease_timeout_milliseconds": "500",
    "RAY_worker_niceness": "0",  # on a busy machine the workers would wait for all others
}


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def bucket_environment(port):
    """How Lance and pyarrow reach a bucket on this machine."""
    return {
        "AWS_ENDPOINT": f"http://127.0.0.1:{port}",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "y",
        "AWS_REGION": "us-east-1",
        "AWS_ALLOW_HTTP": "true",
    }


def upload(folder, bucket):
    """Make a folder in a bucket hold what one on the disk does; a file that is there as it is stays as it is."""
    wanted = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    there = {}
    if bucket.is_dir():
        there = {file.relative_to(bucket).as_posix(): file for file in bucket.files_below()}
    for name in wanted:
        content = (folder / name).read_bytes()
        if name not in there or there[name].read_bytes() != content:
            (bucket / name).write_bytes(content)
    for name in set(there) - wanted:
        there[name].unlink()


def start_nodes(cluster_utils, size, count=2, tries=5):
    """A cluster; on a very busy machine a node may not start in the 30 s that Ray gives it, and is tried again."""
    # every test loads this file, and those of `make sanitize` have no psutil
    from processes import child_processes, end_with_children

    nodes = cluster_utils.Cluster()
    for is_last in [False] * (tries - 1) + [True]:
        before = child_processes()
        try:
            if nodes.head_node is None:
                nodes.add_node(**size, include_dashboard=False)
            while len(nodes.list_all_nodes()) < count:
                before = child_processes()
                nodes.add_node(**size)
            return nodes
        except Exception as error:
            # Ray leaves the processes of a node that did not start in time, and they would slow down the next one.
            end_with_children(child_processes() - before)
            if is_last or "timed out" not in str(error):
                nodes.shutdown()
                raise
            if nodes.head_node is None:
                nodes = cluster_utils.Cluster()


@pytest.fixture(scope="session")
def ray_cluster(tmp_path_factory):
    """A cluster of two nodes with a core each; `add_node` and `remove_node` change it for a while."""
    from gs_server import gs_environment, write_key

    from adamerge.scale.connect import import_ray

    bucket_port, gs_port = free_port(), free_port()
    key = write_key(tmp_path_factory.mktemp("key") / "key.json", bucket_port)
    gs = gs_environment(f"http://127.0.0.1:{gs_port}", key)
    size = {"num_cpus": 1, "object_store_memory": OBJECT_STORE}
    with patch.dict(os.environ, ENVIRONMENT):
        ray = import_ray()
        from ray import cluster_utils

        buckets = bucket_environment(bucket_port) | gs  # on which a test starts a server
        with patch.dict(os.environ, buckets), warnings.catch_warnings():
            # Ray starts its processes by fork and exec at once, which does no harm.
            warnings.filterwarnings("ignore", message="lance is not fork-safe")
            nodes = start_nodes(cluster_utils, size)
        ray.init(nodes.address, log_to_driver=False, logging_level="error")
        yield SimpleNamespace(
            ray=ray,
            nodes=nodes,
            address=nodes.address,
            size=size,
            bucket_port=bucket_port,
            gs_port=gs_port,
            gs_environment=gs,
        )
        ray.shutdown()
        nodes.shutdown()


class Gate:
    """The method of waiting_method.py: its pages wait until `open()`, and one of them may end its worker."""

    module = HERE / "waiting_method.py"

    def __init__(self, folder, deadly="none"):
        folder.mkdir()
        self.folder = folder
        import_user_module(self.module)
        self.method = parse_method(f"waiting:folder={folder},deadly={deadly}")

    @property
    def cluster(self):
        return Cluster("auto", modules=(self.module,))

    def close(self):
        (self.folder / "go").unlink()
        for path in self.folder.glob("*.pid"):
            path.unlink()

    def open(self):
        (self.folder / "go").touch()

    def workers(self):
        """The process ids of workers that have begun, oldest first."""
        pids = sorted(self.folder.glob("*.pid"), key=lambda path: path.stat().st_mtime_ns)
        return [int(path.stem) for path in pids]

    def wait_for_workers(self, count=1, process=None):
        return until(
            lambda: len(self.workers()) >= count and self.workers(), "workers at work", process
        )


def in_small_units(*words):
    """The command line of some words, with three pages to a unit."""
    small_units = (
        "from adamerge.vectors import units; units.PAGES_PER_UNIT = 3\n"
        "from adamerge.cli import main; main()"
    )
    return [ADAMERGE.with_name("python"), "-c", small_units, *words]


def contents(folder):
    """The bytes of every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}
