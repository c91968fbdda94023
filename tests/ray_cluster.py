"""A Ray cluster of two nodes on this machine, one for the whole test run, and work on it that waits to be disturbed."""

import os
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import pytest
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
}


@pytest.fixture(scope="session")
def ray_cluster():
    """A cluster of two nodes with a core each; `add_node` and `remove_node` change it for a while."""
    from adamerge.scale.connect import import_ray

    with patch.dict(os.environ, ENVIRONMENT):
        ray = import_ray()
        from ray import cluster_utils

        size = {"num_cpus": 1, "object_store_memory": OBJECT_STORE}
        nodes = cluster_utils.Cluster(
            initialize_head=True, head_node_args=size | {"include_dashboard": False}
        )
        nodes.add_node(**size)
        ray.init(nodes.address, log_to_driver=False, logging_level="error")
        yield SimpleNamespace(ray=ray, nodes=nodes, address=nodes.address, size=size)
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


def contents(folder):
    """The bytes of every file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}
