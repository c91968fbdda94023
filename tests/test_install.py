"""The package as a user installs it: a wheel in an empty environment, with nothing that only developers have."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PIP = ["pip", "--disable-pip-version-check", "-q"]
pytestmark = pytest.mark.xdist_group("install")  # one environment for all of them


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Python in an empty environment with our wheel, from the objects that `make` has compiled."""
    folder = tmp_path_factory.mktemp("install")
    beside_python = Path(sys.executable).parent  # where ninja is
    path = os.environ | {"PATH": f"{beside_python}:{os.environ['PATH']}"}
    wheel = ["wheel", "--no-deps", "--no-build-isolation", "-w", folder, ROOT]
    subprocess.run([sys.executable, "-m", *PIP, *wheel], check=True, env=path)
    (built,) = folder.glob("*.whl")

    venv.create(folder / "env", with_pip=False)  # our pip installs into it
    python = folder / "env" / "bin" / "python"
    install = ["--python", python, "install", "-c", ROOT / "constraints.txt", built]
    subprocess.run([sys.executable, "-m", *PIP, *install], check=True)
    return python


def test_the_base_install_is_small(python):
    code = (
        "from importlib.metadata import distributions as d; print(*(x.name.lower() for x in d()))"
    )
    names = set(subprocess.check_output([python, "-c", code], text=True).split())
    rich = {"rich", "markdown-it-py", "mdurl", "pygments"}
    assert names == {"adamerge", "numpy", "safetensors", "click"} | rich


def test_it_compresses_and_reads_nothing_of_the_source_tree(python, tmp_path):
    code = """
import adamerge, numpy as np
print(adamerge.__file__)
print(len(adamerge.compress(np.eye(9), np.arange(9))))
"""
    where, stored = subprocess.check_output([python, "-c", code], cwd=tmp_path, text=True).split()
    assert str(ROOT) not in where
    assert int(stored) > 0
    assert not list(Path(where).parent.rglob("*.cpp"))
    kinds = ["server/web/templates/*.html", "server/web/static/*.*"]
    kinds += [f"{room}/web/**/*.*" for room in ("html_file", "inspector", "plans")]
    for kind in kinds:
        shipped = {file.name for file in Path(where).parent.glob(kind)}
        assert shipped == {file.name for file in (ROOT / "src" / "adamerge").glob(kind)} != set()


def test_its_command_runs_and_names_the_extra_it_lacks(python, tmp_path):
    command = [
        python.with_name("adamerge"),
        "compress",
        ROOT / "examples" / "sample",
        "-o",
        tmp_path / "small",
    ]
    assert "4 pages" in subprocess.check_output(command, text=True)
    page = f"{ROOT}/examples/sample#sample.pdf#1"
    subprocess.run(
        [python.with_name("adamerge"), "inspect", page, "-o", tmp_path / "page.html"], check=True
    )
    assert "Where merging stops" in (tmp_path / "page.html").read_text()
    run = subprocess.run(
        [python.with_name("adamerge"), "serve", tmp_path], capture_output=True, text=True
    )
    assert "adamerge serve needs the 'serve' extra: pip install 'adamerge[serve]'" in run.stderr
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    run = subprocess.run(
        [python.with_name("adamerge"), "info", tmp_path / "t.parquet"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1
    assert "needs the 'arrow' extra: pip install 'adamerge[arrow]'" in run.stderr
