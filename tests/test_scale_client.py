"""A cluster by ray://: a driver outside it makes the same bytes, and a connection that is lost ends in words."""

import os
import signal
import subprocess
import warnings
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import psutil
import pytest
from cli import ADAMERGE, QUIET, call, run
from light import write_pdf
from processes import ended, start
from ray_cluster import ENVIRONMENT, OBJECT_STORE, Gate, contents, free_port, start_nodes
from ray_faults import kill, process_id
from store_pages import pages_of
from waiting import LONG, until

import adamerge as am
from adamerge.scale import connect

pytestmark = pytest.mark.xdist_group("ray client")  # they share a cluster of their own

SAMPLE = Path(__file__).parent.parent / "examples" / "sample"
SERVER = "ray_client_server"  # what Ray calls the process that takes clients; each client has a child of it
# Ray tries again for a shorter time than in earnest.
IMPATIENT = {
    "RAY_CLIENT_RECONNECT_GRACE_PERIOD": "2",
    "RAY_CLIENT_INITIAL_CONNECTION_TIMEOUT_S": "1",
    "RAY_CLIENT_MAX_CONNECTION_TIMEOUT_S": "1",
}


@pytest.fixture(scope="module")
def head():
    """A node that takes clients: its address, and the id of the process that does."""
    port = free_port()
    size = {"num_cpus": 1, "object_store_memory": OBJECT_STORE, "ray_client_server_port": port}
    with patch.dict(os.environ, ENVIRONMENT), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="lance is not fork-safe")
        warnings.filterwarnings("ignore", message="unclosed file")  # Ray's own, of that process
        connect.import_ray()
        from ray import cluster_utils

        nodes = start_nodes(cluster_utils, size, 1)
    try:
        server = process_id(nodes.head_node, SERVER)
        yield SimpleNamespace(address=f"ray://127.0.0.1:{port}", server=server)
    finally:
        nodes.shutdown()


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    write_pdf(folder / "a.pdf", [f"{i} apples and a pear" for i in range(3)])
    write_pdf(folder / "b.pdf", ["the clock is late"])
    return folder


@contextmanager
def waiting_run(head, folder):
    """A run of `compress` by ray:// whose workers wait: its gate and its process."""
    gate = Gate(folder / "gate")
    words = ["compress", SAMPLE, "-o", folder / "out", "--method", gate.method]
    words += ["--module", gate.module, "--ray", head.address]
    driver = start(
        [ADAMERGE, *words], stderr=subprocess.PIPE, text=True, env=os.environ | QUIET | IMPATIENT
    )
    with ended(driver):
        gate.wait_for_workers(process=driver)
        yield gate, driver


# ------------------------------------------------------------------------------------------------ the same bytes


def test_compress_from_outside_makes_the_same_bytes(head, tmp_path):
    one, many = tmp_path / "one", tmp_path / "many"
    alone = call("compress", SAMPLE, "-o", one)
    outside = run("compress", SAMPLE, "-o", many, "--ray", head.address)
    assert outside.returncode == 0, outside.stderr
    assert outside.stdout == alone.stdout
    assert outside.stderr.startswith("adamerge: 4 pages, ")
    assert outside.stderr.endswith(" s of CPU, 1 node\n")
    assert contents(many) == contents(one)


def test_encode_from_outside_makes_the_same_bytes(head, docs, tmp_path):
    one, many = tmp_path / "one", tmp_path / "many"
    words = ["encode", docs, "--encoder", "light:Batched", "--method", "sem-cluster:m=2"]
    assert call(*words, "-o", one).returncode == 0
    outside = run(*words, "-o", many, "--ray", head.address)
    assert outside.returncode == 0, outside.stderr
    assert contents(many) == contents(one)


def test_index_from_outside_fills_a_store_with_the_same_pages(head, docs, tmp_path):
    one, many = tmp_path / "one", tmp_path / "many"
    words = ["index", docs, "--encoder", "light:Batched", "--method", "sem-cluster:m=2"]
    assert call(*words, "--store", one).returncode == 0
    outside = run(*words, "--store", many, "--ray", head.address)
    assert outside.returncode == 0, outside.stderr
    with am.open_store(one) as alone, am.open_store(many) as filled:
        assert pages_of(filled) == pages_of(alone)
        assert len(pages_of(alone)) == 4


def test_a_worker_that_is_killed_costs_a_client_nothing(head, tmp_path):
    with waiting_run(head, tmp_path) as (gate, driver):
        kill(gate.workers()[0])
        gate.open()
        _, err = driver.communicate(timeout=LONG)
    assert driver.returncode == 0, err
    assert err.endswith(" s of CPU, 1 node, 1 retry\n")
    call(
        "compress", SAMPLE, "-o", tmp_path / "one", "--method", gate.method, "--module", gate.module
    )
    assert contents(tmp_path / "out") == contents(tmp_path / "one")


def test_a_client_is_tried_again_if_its_process_on_the_head_ends_as_it_begins(head, tmp_path):
    """Ray forks a process of many threads there, which fails now and then."""
    fails_twice = """
from adamerge.scale.connect import import_ray
ray = import_ray()
init = ray.init
failures = [
    "Traceback\\nRuntimeError: Starting Ray client server failed. See ray_client_server_23000.err",
    "Traceback\\npsutil.ZombieProcess: PID still exists but it's a zombie (pid=9051)",
]
def failing(*words, **more):
    if failures:
        text = failures.pop()
        raise ConnectionAbortedError(f"Initialization failure from server:\\n{text}")
    return init(*words, **more)
ray.init = failing
from adamerge.cli import main; main()
"""
    words = ["compress", SAMPLE, "-o", tmp_path / "out", "--ray", head.address]
    result = subprocess.run(
        [ADAMERGE.with_name("python"), "-c", fails_twice, *words],
        capture_output=True,
        text=True,
        env=os.environ | QUIET,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr.startswith("adamerge: 4 pages, ")


# -------------------------------------------------------------------------------------- a connection that is lost


def test_without_grpc_the_extra_is_named_in_one_line(tmp_path):
    hide = "import sys; sys.modules['grpc'] = None\nfrom adamerge.cli import main; main()"
    words = ["compress", SAMPLE, "-o", tmp_path / "out", "--ray", "ray://127.0.0.1:1"]
    python = ADAMERGE.with_name("python")
    result = subprocess.run([python, "-c", hide, *words], capture_output=True, text=True)
    assert result.returncode == 1
    needs = "a cluster that is reached by ray:// needs the 'ray' extra: pip install 'adamerge[ray]'"
    assert result.stderr == f"adamerge: {needs}\n"


def test_an_address_where_nobody_takes_clients_is_told_in_one_line(tmp_path):
    address = f"ray://127.0.0.1:{free_port()}"
    with patch.dict(os.environ, IMPATIENT):
        result = run("compress", SAMPLE, "-o", tmp_path / "out", "--ray", address)
    assert result.returncode == 75
    assert result.stderr == (
        f"adamerge: there is no Ray cluster at {address}: ray client connection timeout; "
        "--ray local works on this machine alone\n"
    )


def test_a_run_whose_process_on_the_head_is_killed_ends_in_words(head, tmp_path):
    with waiting_run(head, tmp_path) as (_, driver):
        for process in psutil.Process(head.server).children():
            kill(process.pid)
        _, err = driver.communicate(timeout=LONG)
    assert err == lost(head)
    assert driver.returncode == 75


def test_ctrl_c_of_a_client_ends_its_workers(head, tmp_path):
    with waiting_run(head, tmp_path) as (gate, driver):
        worker = psutil.Process(gate.workers()[0])
        driver.send_signal(signal.SIGINT)
        _, err = driver.communicate(timeout=LONG)
        assert driver.returncode == 130
        assert err == "adamerge: stopped; the same command goes on from here\n"
        until(lambda: not worker.is_running(), "the end of its worker")


def test_ray_client_is_told_to_notice_a_cut_network_within_seconds():
    """Tried by hand, with the process of the head stopped that takes clients: a run ended after 32 s.

    It was 86 s without `ping_timeout_ms`, and 116 s with Ray's own list.
    """
    connect.import_ray()
    from ray.util.client.common import GRPC_OPTIONS

    connect._prepare_client()
    connect._prepare_client()
    names = [name for name, _ in GRPC_OPTIONS]
    assert len(names) == len(set(names))
    assert dict(GRPC_OPTIONS).items() >= connect.CLIENT_KEEPALIVE.items()
    assert set(connect.CLIENT_KEEPALIVE.values()) == {3000}


def lost(head):
    return (
        f"adamerge: the Ray cluster is lost: there is no connection to {head.address}; "
        "once there is a cluster again, the same command goes on from here\n"
    )
