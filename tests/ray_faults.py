"""Ways to lose parts of a Ray cluster: its processes by their ids, the network between two nodes."""

import os
import shutil
import signal
import subprocess
import sys
import warnings
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from processes import start
from ray_cluster import ENVIRONMENT, OBJECT_STORE, start_nodes
from waiting import until

RAYLET, GCS = "raylet", "gcs_server"  # what Ray calls its processes
PORT = 6379
# For a cluster on two hosts. A token in the home of whoever runs the tests would be asked for by the head and not sent
# by the other node. The last is "0" in the other tests of Ray, which keep to one machine.
ON_TWO_HOSTS = {
    "RAY_AUTH_MODE": "disabled",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": ENVIRONMENT["RAY_worker_niceness"],
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1",
}
IS_UP = "This command will now block"  # what `ray start --block` says once its node is up
SIZE = {"num_cpus": 1, "object_store_memory": OBJECT_STORE}


def process_id(node, kind):
    """The id of a process of a node that `ray.cluster_utils` started."""
    return node.all_processes[kind][0].process.pid


def kill(pid):
    """kill -9 of a process that may have ended before; whether it was there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def started_cluster(nodes=1):
    """A cluster of its own, to be lost: what `ray.cluster_utils` knows of it."""
    from adamerge.scale.connect import import_ray

    with patch.dict(os.environ, ENVIRONMENT), warnings.catch_warnings():
        # Ray starts its processes by fork and exec at once, which does no harm.
        warnings.filterwarnings("ignore", message="lance is not fork-safe")
        import_ray()
        from ray import cluster_utils

        cluster = start_nodes(cluster_utils, SIZE, nodes)
        try:
            yield cluster
        finally:
            cluster.shutdown()


# -------------------------------------------------------------------------------------- a network that can be cut


def no_network_of_our_own():
    """Why this machine cannot have network namespaces; None where it can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if shutil.which("ip") is None:
        return "network namespaces need the command ip (iproute2)"
    try:
        with two_hosts() as hosts:
            for name in hosts.names:
                _ip("netns", "exec", name, "true")
    except subprocess.CalledProcessError as error:
        return f"two network namespaces with a cable cannot be made: {error.stderr.strip()}"
    return None


class TwoHosts:
    """Two network namespaces with a cable between them, and no way to anywhere else."""

    addresses = ("10.99.78.1", "10.99.78.2")

    def __init__(self):
        self.names = [f"adamerge-{os.getpid()}-{number}" for number in (1, 2)]
        self._cables = ("cable1", "cable2")
        self._started = []

    def connect(self):
        first, second = self.names
        for name in self.names:
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        ends = [self._cables[0], "netns", first, "type", "veth", "peer", "name", self._cables[1]]
        _ip("link", "add", *ends, "netns", second)
        for name, cable, address in zip(self.names, self._cables, self.addresses, strict=True):
            _ip("-n", name, "addr", "add", f"{address}/24", "dev", cable)
            _ip("-n", name, "link", "set", cable, "up")

    def cut(self):
        """Take the cable out; both hosts live."""
        _ip("-n", self.names[0], "link", "set", self._cables[0], "down")

    def start(self, host, *command, **more):
        """A process on a host, numbered from 0."""
        process = start([shutil.which("ip"), "netns", "exec", self.names[host], *command], **more)
        self._started.append(process)
        return process

    def end_processes(self, host):
        """End all that runs on a host, by its ids."""

        def is_empty():
            listed = _ip("netns", "pids", self.names[host]).stdout.split()
            for pid in listed:
                kill(int(pid))
            for process in self._started:
                process.poll()  # takes note of its end
            return not listed

        until(is_empty, "the end of all processes of a host")

    def remove(self):
        for host, name in enumerate(self.names):
            if (Path("/run/netns") / name).exists():
                self.end_processes(host)
                _ip("netns", "del", name)
        for process in self._started:
            process.wait()


@contextmanager
def two_hosts():
    hosts = TwoHosts()
    try:
        hosts.connect()
        yield hosts
    finally:
        hosts.remove()


def start_cluster_on(hosts, environment, log):
    """Start a node with a core on each of two hosts; the address of their cluster."""
    first, second = hosts.addresses
    address = f"{first}:{PORT}"
    as_head = ["--head", f"--port={PORT}", "--include-dashboard=false"]
    start_node(hosts, 0, [*as_head, f"--node-ip-address={first}"], environment, log)
    joining = [f"--address={address}", f"--node-ip-address={second}"]
    start_node(hosts, 1, joining, environment, log)
    return address


def start_node(hosts, host, words, environment, log, tries=5):
    """Start a node on a host; on a very busy machine it may not start in the 30 s that Ray gives it."""
    size = ["--num-cpus=1", f"--object-store-memory={OBJECT_STORE}", "--block"]
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", *size, *words]
    for _ in range(tries):
        with log.open("w") as output:
            node = hosts.start(host, *command, env=environment, stdout=output, stderr=output)
        until(lambda node=node: IS_UP in log.read_text() or node.poll() is not None, "a node")
        if node.poll() is None:
            return
        hosts.end_processes(host)
    raise AssertionError(f"no node could start: {log.read_text()}")


def _ip(*words):
    return subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
