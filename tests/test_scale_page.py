"""docs/scale.md: its files are what Ray and KubeRay take, and its Python runs."""

import json
import re
import shutil
from pathlib import Path

import jsonschema
import pytest
import yaml

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "scale.md").read_text()
YAML = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)

pytestmark = pytest.mark.xdist_group("ray")


def test_the_cluster_of_ray_up_fits_the_schema_of_ray():
    from ray import autoscaler

    schema = json.loads(Path(autoscaler.__file__).with_name("ray-schema.json").read_text())
    config = yaml.safe_load(YAML[0])
    jsonschema.validate(config, schema)
    assert config["head_node_type"] in config["available_node_types"]


def test_the_cluster_of_kubernetes_has_what_kuberay_asks_for():
    cluster = yaml.safe_load(YAML[1])
    assert (cluster["apiVersion"], cluster["kind"]) == ("ray.io/v1", "RayCluster")
    groups = [cluster["spec"]["headGroupSpec"], *cluster["spec"]["workerGroupSpecs"]]
    assert len(groups) == 2
    for group in groups:
        pod = group["template"]["spec"]
        assert group["rayStartParams"] is not None
        volumes = {volume["name"] for volume in pod["volumes"]}
        for container in pod["containers"]:
            assert container["image"]
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes
    assert len(YAML) == 2


def test_the_first_python_of_the_page_runs_on_a_cluster(ray_cluster, tmp_path, monkeypatch, capsys):
    code = re.search(r"```python\n(from adamerge import scale.*?)```", PAGE, re.DOTALL)[1]
    shutil.copytree(ROOT / "examples" / "sample", tmp_path / "examples" / "sample")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert capsys.readouterr().out.startswith("4 pages, ")
    assert (tmp_path / "small" / "manifest.json").exists()


def test_the_figures_of_the_page_are_those_of_the_benchmarks():
    """A constant has a source: the page and benchmarks/README.md say the same."""
    figures = (ROOT / "benchmarks" / "README.md").read_text()
    for shown in ("7,399 bytes a page", "0.81 ms", "1.10", "p50 430 ms", "3.2 GB", "| 23.5 |"):
        assert shown in figures
    for used in ("store_bytes = 7_399", "0.81e-3", "cluster_factor = 1.10", "430 ms", "3.2 GB"):
        assert used in PAGE
