"""Workers that share a GPU: Ray counts GPUs that a node says it has, so no GPU is needed to test who gets one."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from cli import run
from light import Light, write_pdf
from ray_cluster import Gate, contents
from waiting import LONG

from adamerge import scale
from adamerge.encoders import EncoderSpec
from adamerge.encoders.encode import Encoding, encode_files
from adamerge.errors import BadInput
from adamerge.scale.pool import default_workers
from adamerge.scale.summary import Summary
from adamerge.vectors import units

pytestmark = pytest.mark.xdist_group("ray")


class OnBestDevice(Light):
    """An encoder of torch, as those of colpali-engine: it runs on the best device that there is."""

    @property
    def about(self):
        import torch

        from adamerge.encoders.device import choose_device

        device = choose_device(None)
        assert float(torch.ones(2, device=device).sum()) == 2
        return super().about | {"device": device, "visible": os.environ["CUDA_VISIBLE_DEVICES"]}


@pytest.fixture(scope="module")
def gpu_node(ray_cluster):
    """A third node, with one GPU in name and room for three workers on its cores."""
    node = ray_cluster.nodes.add_node(**ray_cluster.size | {"num_cpus": 3, "num_gpus": 1})
    yield node
    ray_cluster.nodes.remove_node(node)


@pytest.fixture
def docs(tmp_path, monkeypatch):
    """Two files of 7 and 2 pages, three pages to a unit."""
    monkeypatch.setattr(units, "PAGES_PER_UNIT", 3)
    write_pdf(tmp_path / "docs" / "a.pdf", [f"{i} apples and a pear" for i in range(7)])
    write_pdf(tmp_path / "docs" / "b.pdf", ["the clock is late", "a wheel turns"])
    return tmp_path / "docs"


# ---------------------------------------------------------------------------------------------- without a GPU


def test_gpus_that_no_node_has_are_refused_at_once(ray_cluster, docs, tmp_path):
    out = tmp_path / "out"
    words = ["encode", docs, "-o", out, "--encoder", "light:Light", "--gpus-per-worker", 0.5]
    result = run(*words, "--ray", ray_cluster.address)
    assert result.returncode == 1
    assert result.stderr == (
        "adamerge: no node of the cluster has the 0.5 GPUs of a worker: leave out --gpus-per-worker to "
        "encode on cores, add a node with GPUs, or, where such nodes start when they are needed, give --workers\n"
    )
    assert not out.exists()


def test_parts_of_more_than_one_gpu_are_refused():
    with pytest.raises(BadInput, match=r"a part of a GPU or whole GPUs, got 1\.5"):
        scale.Cluster("auto", gpus_per_worker=1.5)
    assert scale.Cluster("auto", gpus_per_worker=2).gpus_per_worker == 2


def test_seconds_of_gpus_are_told_where_there_were_any():
    assert (
        str(Summary(3, gpu_seconds=1.25, nodes=1)) == "3 pages, 0.0 s of CPU, 1.2 s of GPU, 1 node"
    )
    assert "GPU" not in str(Summary(3, nodes=1))


# ------------------------------------------------------------------------------------------------- with a GPU


def test_there_are_as_many_workers_as_gpus_and_cores_have_room_for(ray_cluster, gpu_node):
    ray = ray_cluster.ray
    assert default_workers(ray, 0) == 5
    assert default_workers(ray, 1) == 1
    assert default_workers(ray, 0.5) == 2
    assert default_workers(ray, 0.4) == 2
    assert default_workers(ray, 0.1) == 3  # for want of cores
    with pytest.raises(BadInput, match="no node of the cluster has the 2 GPUs of a worker"):
        default_workers(ray, 2)


@pytest.mark.parametrize("asked_for", [None, 3])
def test_two_workers_share_a_gpu_and_a_third_gets_none(gpu_node, docs, tmp_path, asked_for):
    """The first unit of each worker waits until both are at work."""
    gate = Gate(tmp_path / "gate")
    how, spec = Encoding(method=gate.method), EncoderSpec("light:Light")
    gate.open()
    list(encode_files([docs], tmp_path / "one", spec.load(), how))
    gate.close()

    cluster = replace(gate.cluster, workers=asked_for, gpus_per_worker=0.5)
    out = tmp_path / "many"
    with ThreadPoolExecutor(1) as thread:
        try:
            running = thread.submit(scale.encode_files, [docs], out, spec, cluster, how)
            gate.wait_for_workers(2)
        finally:
            gate.open()
        summary = running.result(LONG)
    assert contents(out) == contents(tmp_path / "one")
    assert len(gate.workers()) == 2  # of three units
    assert summary.gpu_seconds > 0
    assert " s of GPU, 3 nodes" in str(summary)


def test_an_encoder_works_where_ray_says_which_gpu_is_its_own(
    ray_cluster, gpu_node, docs, tmp_path
):
    out = tmp_path / "out"
    words = ["encode", docs, "-o", out, "--encoder", "test_scale_gpus:OnBestDevice"]
    result = run(*words, "--gpus-per-worker", 0.5, "--workers", 1, "--ray", ray_cluster.address)
    assert result.returncode == 0, result.stderr
    assert result.stderr.startswith("adamerge: 9 pages, ")
    assert " s of GPU, 3 nodes" in result.stderr
    encoder = json.loads((out / "manifest.json").read_text())["encoder"]
    assert encoder["visible"] == "0"
