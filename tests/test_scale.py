"""The same work on a Ray cluster: what one machine makes, byte for byte, whatever is lost on the way."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace

import pytest
from cli import ADAMERGE, QUIET, call, run
from conftest import random_page
from light import write_pdf
from processes import ended, has_ended, start
from ray_cluster import HERE, Gate, contents
from vector_pages import write_in_shards
from waiting import LONG, until

import adamerge as am
from adamerge import scale
from adamerge.compress import parse_method
from adamerge.encoders import EncoderSpec
from adamerge.encoders.encode import Encoding, encode_files
from adamerge.errors import BadInput, Locked, MissingExtra, PageFailed
from adamerge.scale.failures import result_of
from adamerge.vectors import open_shards, units
from adamerge.vectors.compress_folder import compress_folder, compressed_folder
from adamerge.vectors.planned import write_unit

pytestmark = pytest.mark.xdist_group("ray")


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """Forty pages in eight shards."""
    folder = tmp_path_factory.mktemp("vectors") / "v"
    return write_in_shards(folder, (random_page(24, id=f"p{i}") for i in range(40)), 5)


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    """Three files of 7, 1 and 4 pages."""
    folder = tmp_path_factory.mktemp("documents") / "docs"
    write_pdf(folder / "a.pdf", [f"{i} apples and a pear" for i in range(7)])
    write_pdf(folder / "b.pdf", ["the clock is late"])
    write_pdf(folder / "sub" / "c.pdf", [f"wheel {i} turns" for i in range(4)])
    return folder


@pytest.fixture
def small_units(monkeypatch):
    """Three pages to a unit."""
    monkeypatch.setattr(units, "PAGES_PER_UNIT", 3)


def on_one_machine(vectors, out, gate):
    """What one machine makes of vectors by the method of a gate, which is closed afterwards."""
    gate.open()
    compress_folder(open_shards(vectors), out, gate.method)
    gate.close()
    return contents(out)


# -------------------------------------------------------------------------------------------- without a cluster


def test_without_the_extra_it_is_named_in_one_line(vectors, tmp_path):
    hide = "import sys; sys.modules['ray'] = None\nfrom adamerge.cli import main; main()"
    words = ["compress", vectors, "-o", tmp_path / "out", "--ray", "local"]
    result = subprocess.run([sys.executable, "-c", hide, *words], capture_output=True, text=True)
    assert result.returncode == 1
    needs = "working on a cluster needs the 'ray' extra: pip install 'adamerge[ray]'"
    assert result.stderr == f"adamerge: {needs}\n"
    assert not (tmp_path / "out").exists()


def test_what_makes_no_sense_is_refused_before_a_cluster_is_looked_for(vectors, tmp_path):
    with pytest.raises(BadInput, match="workers must be a whole number"):
        scale.Cluster("local", workers=0)
    out = tmp_path / "out"
    npz = call("compress", HERE, "-o", out, "--ray", "local")
    assert "a cluster compresses folders of vectors" in npz.stderr
    threads = call("compress", vectors, "-o", out, "--ray", "local", "--workers", 2)
    assert "a cluster uses all its cores" in threads.stderr
    alone = call("encode", vectors, "-o", out, "--workers", 2)
    assert "go with --ray ADDRESS" in alone.stderr
    assert not out.exists()


def test_units_join_small_files_and_divide_large_ones():
    files = [("/x/a", "a", 5), ("/x/b", "b", 1), ("/x/c", "c", 2)]
    plan = list(units.units_of_files(files, 4))
    parts = [[(part.name, part.first, part.pages) for part in unit.parts] for unit in plan]
    assert parts == [[("a", 1, 4)], [("a", 5, 1), ("b", 1, 1), ("c", 1, 2)]]
    assert [unit.pages for unit in plan] == [4, 4]
    singles = plan[1].single_pages()
    assert [single.title for single in singles] == [
        *("a, page 5", "b, page 1", "c, page 1", "c, page 2")
    ]
    assert [part.name for part in plan[1].without(singles[1]).parts] == ["a", "c"]
    without_middle = plan[0].without(plan[0].single_pages()[1])
    assert [(part.first, part.pages) for part in without_middle.parts] == [(1, 1), (3, 2)]


def test_a_run_on_one_machine_goes_on_where_some_units_are_missing(vectors, tmp_path):
    """A cluster writes units in any order; what is missing in the midst is written by whoever goes on."""
    source, method = open_shards(vectors), parse_method("height")
    compress_folder(source, tmp_path / "whole", method)
    out = tmp_path / "out"
    pages = [method(page) for page in source.only(["shard-00004.safetensors"]).pages()]
    with suppress(KeyboardInterrupt), compressed_folder(source, out, method, "float16") as folder:
        write_unit(folder.path, folder.manifest, list(folder.units())[4], pages)
        raise KeyboardInterrupt
    assert sorted(contents(out)) == ["manifest.json", "plan.jsonl", "shard-00004.safetensors"]
    assert "is not finished (1 shards)" in call("info", out).stderr
    compress_folder(source, out, method)
    assert contents(out) == contents(tmp_path / "whole")


def test_two_attempts_at_one_unit_at_once_make_one_whole_shard(vectors, tmp_path):
    source, method = open_shards(vectors), parse_method("height")
    pages = [method(page) for page in source.only(["shard-00000.safetensors"]).pages()]
    with compressed_folder(source, tmp_path / "out", method, "float16") as folder:
        first = next(folder.units())

        def attempt(_):
            return write_unit(folder.path, folder.manifest, first, pages)

        with ThreadPoolExecutor(8) as threads:
            outputs = list(threads.map(attempt, range(40)))
        assert {output.pages for output in outputs} == {5}
        names = {path.name for path in folder.path.iterdir()}
        assert names == {"manifest.json", "plan.jsonl", "shard-00000.safetensors"}
        compress_rest = [unit for unit in folder.missing() if unit is not first]
        assert len(compress_rest) == 7
        for unit in compress_rest:
            rest = [method(page) for page in source.only([unit.shard]).pages()]
            folder.note(unit, write_unit(folder.path, folder.manifest, unit, rest))
    assert [page.id for page in am.read_compressed(tmp_path / "out")] == [
        f"p{i}" for i in range(40)
    ]


# ------------------------------------------------------------------------------------------------- compressing


def test_compress_makes_the_same_bytes_as_one_machine(ray_cluster, vectors, tmp_path):
    one, many = tmp_path / "one", tmp_path / "many"
    alone = run("compress", vectors, "-o", one, "--method", "height")
    cluster = run(
        "compress", vectors, "-o", many, "--method", "height", "--ray", ray_cluster.address
    )
    assert cluster.returncode == 0, cluster.stderr
    assert cluster.stdout == alone.stdout
    assert cluster.stderr.startswith("adamerge: 40 pages, ")
    assert cluster.stderr.endswith(" s of CPU, 2 nodes\n")
    assert contents(many) == contents(one)
    assert len(contents(one)) == 9
    again = run("compress", vectors, "-o", many, "--method", "height", "--ray", "no-cluster:1")
    assert again.stdout == alone.stdout  # all is done: no cluster is needed


def test_a_worker_that_is_killed_costs_nothing(ray_cluster, vectors, tmp_path):
    gate = Gate(tmp_path / "gate")
    whole = on_one_machine(vectors, tmp_path / "one", gate)
    with ThreadPoolExecutor(1) as thread:
        out = tmp_path / "out"
        running = thread.submit(scale.compress_folder, vectors, out, gate.method, gate.cluster)
        os.kill(gate.wait_for_workers()[0], signal.SIGKILL)
        gate.open()
        summary = running.result(LONG)
    assert contents(out) == whole
    assert (summary.pages, summary.retries) == (40, 1)


def test_a_page_that_ends_its_worker_every_time_is_named(ray_cluster, vectors, tmp_path):
    gate = Gate(tmp_path / "gate", deadly="p7")
    gate.open()
    with pytest.raises(PageFailed, match="page 'p7' ended its worker 3 times"):
        scale.compress_folder(vectors, tmp_path / "out", gate.method, gate.cluster)


def test_a_driver_that_is_killed_is_followed_by_another(ray_cluster, vectors, tmp_path):
    gate = Gate(tmp_path / "gate")
    whole = on_one_machine(vectors, tmp_path / "one", gate)
    out = tmp_path / "out"
    words = ["compress", vectors, "-o", out, "--method", gate.method, "--module", gate.module]
    driver = start([ADAMERGE, *words, "--ray", ray_cluster.address], env=os.environ | QUIET)
    with ended(driver):
        gate.wait_for_workers(process=driver)
        with pytest.raises(Locked):
            scale.compress_folder(vectors, out, gate.method, gate.cluster)
        driver.kill()
        driver.wait(LONG)
    gate.open()
    assert scale.compress_folder(vectors, out, gate.method, gate.cluster).pages == 40
    assert contents(out) == whole


def test_ctrl_c_stops_and_says_how_to_go_on(ray_cluster, vectors, tmp_path):
    gate = Gate(tmp_path / "gate")
    words = ["compress", vectors, "-o", tmp_path / "out", "--method", gate.method]
    driver = start(
        [ADAMERGE, *words, "--module", gate.module, "--ray", ray_cluster.address],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | QUIET,
    )
    with ended(driver):
        gate.wait_for_workers(process=driver)
        driver.send_signal(signal.SIGINT)
        _, err = driver.communicate(timeout=LONG)
    assert driver.returncode == 130
    assert err == "adamerge: stopped; the same command goes on from here\n"


def test_ray_is_imported_with_keepalive_so_that_a_cut_network_is_noticed(ray_cluster):
    """Without these, a driver waits for minutes for a node that it cannot reach."""
    config = ray_cluster.ray._raylet.Config
    assert config.grpc_client_keepalive_time_ms() == 3000
    assert config.grpc_client_keepalive_timeout_ms() == 3000


# --------------------------------------------------------------------------------------------------- encoding


def test_encode_makes_the_same_bytes_as_one_machine(ray_cluster, documents, tmp_path, small_units):
    one, many = tmp_path / "one", tmp_path / "many"
    how = Encoding(batch_size=2, method=parse_method("sem-cluster:m=2"))
    spec = EncoderSpec("light:Batched")
    list(encode_files([documents], one, spec.load(), how))
    summary = scale.encode_files([documents], many, spec, scale.Cluster("auto", workers=2), how)
    assert contents(many) == contents(one)
    assert len(contents(one)) == 5  # four units and the manifest
    assert summary.pages == 12


def test_bad_pages_are_told_and_left_out_as_on_one_machine(
    ray_cluster, documents, tmp_path, small_units
):
    docs = tmp_path / "docs"
    write_pdf(docs / "words.pdf", ["some words", "", "more words"])
    (docs / "broken.pdf").write_bytes(b"%PDF- nothing")
    spec, cluster = EncoderSpec("light:Light"), scale.Cluster("auto", workers=1)
    told = {}
    for name in ("one", "many"):
        bad = told[name] = []
        if name == "one":
            list(encode_files([docs], tmp_path / name, spec.load(), skip_bad=bad.append))
        else:
            scale.encode_files([docs], tmp_path / name, spec, cluster, skip_bad=bad.append)
    assert list(map(str, told["one"])) == list(map(str, told["many"]))
    assert len(told["one"]) == 2
    assert contents(tmp_path / "one") == contents(tmp_path / "many")
    with pytest.raises(am.AdamergeError, match=r"broken\.pdf is damaged"):
        scale.encode_files([docs], tmp_path / "strict", spec, cluster)
    assert not (tmp_path / "strict").exists()


def test_a_page_that_ends_its_encoder_is_left_out_with_its_id(ray_cluster, tmp_path, small_units):
    deadly = write_pdf(tmp_path / "docs" / "deadly.pdf", ["one", "two", "KILL", "four"])
    bad = []
    summary = scale.encode_files(
        [deadly],
        tmp_path / "out",
        EncoderSpec("deadly_encoder:Deadly"),
        scale.Cluster("auto", workers=1),
        skip_bad=bad.append,
    )
    assert [page.id for page in am.read_vectors(tmp_path / "out")] == [
        *("deadly.pdf#1", "deadly.pdf#2", "deadly.pdf#4")
    ]
    assert "page 'deadly.pdf#3' ended its worker 3 times" in str(bad[0])
    assert (summary.pages, summary.skipped, len(bad)) == (3, 1, 1)


def test_a_node_that_is_lost_with_its_encoder_costs_nothing(
    ray_cluster, documents, tmp_path, small_units
):
    gate = Gate(tmp_path / "gate")
    how, spec = Encoding(method=gate.method), EncoderSpec("light:Light")
    gate.open()
    list(encode_files([documents], tmp_path / "one", spec.load(), how))
    gate.close()

    third = ray_cluster.nodes.add_node(**ray_cluster.size)
    try:
        with ThreadPoolExecutor(1) as thread:
            cluster = replace(gate.cluster, workers=3)
            running = thread.submit(
                scale.encode_files, [documents], tmp_path / "many", spec, cluster, how
            )
            pids = gate.wait_for_workers(3)
            ray_cluster.nodes.remove_node(third, allow_graceful=False)
            third = None
            until(lambda: any(map(has_ended, pids)), "the end of its worker")
            gate.open()
            summary = running.result(LONG)
    finally:
        if third is not None:
            ray_cluster.nodes.remove_node(third)
    assert contents(tmp_path / "many") == contents(tmp_path / "one")
    assert summary.retries >= 1


def test_a_worker_that_lacks_a_package_says_which(ray_cluster, documents, tmp_path, monkeypatch):
    """The encoder is found by the driver, and not by the workers."""
    (tmp_path / "only_here").mkdir()
    (tmp_path / "only_here" / "unshipped.py").write_text("class Encoder: ...\n")
    monkeypatch.syspath_prepend(tmp_path / "only_here")
    with pytest.raises(MissingExtra, match="a worker has no package 'unshipped': install it on"):
        scale.encode_files(
            [documents],
            tmp_path / "out",
            EncoderSpec("unshipped:Encoder"),
            scale.Cluster("auto", workers=1),
        )
    assert not (tmp_path / "out").exists()


def test_a_worker_that_lacks_the_module_of_its_task_says_which(ray_cluster, tmp_path, monkeypatch):
    """A node without adamerge itself fails in this way."""
    (tmp_path / "unshipped_task.py").write_text("def work(): ...\n")
    monkeypatch.syspath_prepend(tmp_path)
    from unshipped_task import work

    ref = ray_cluster.ray.remote(num_cpus=1, max_retries=0)(work).remote()
    with pytest.raises(MissingExtra, match="a worker has no package 'unshipped_task': install it"):
        result_of(ray_cluster.ray, ref)
