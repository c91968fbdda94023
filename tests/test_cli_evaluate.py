"""`adamerge evaluate run`: where it looks for folders, and how far it says it is."""

from pathlib import Path

import manual
import pytest
from cli import call

from adamerge.cli import progress
from adamerge.errors import BadFile
from adamerge.evaluate.books import build_book, write_book
from adamerge.evaluate.experiment import read_experiment

PLAN = """
encoders = ["light:Light"]
datasets = ["manual"]
{folders}
[[methods]]
name = "identity"
[[methods]]
name = "sem-cluster"
m = 2
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A book in a folder of datasets; and the user is in another folder."""
    folder = tmp_path / "project"
    pdf = manual.make(tmp_path / "manual.pdf")
    write_book(build_book(pdf, "manual"), pdf, folder / "data" / "manual")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return folder


@pytest.mark.parametrize(
    ("name", "folders"),
    [("plan.toml", ""), ("plans/plan.toml", 'data = "../data"\nvectors = "../vectors"')],
)
def test_an_experiment_finds_its_folders_from_any_other(project, tmp_path, name, folders):
    plan = project / name
    plan.parent.mkdir(exist_ok=True)
    plan.write_text(PLAN.format(folders=folders))
    result = call("evaluate", "run", plan, "-o", tmp_path / "results")
    assert result.returncode == 0, result.stderr
    assert [line.split("\t")[2] for line in result.stdout.splitlines()] == [
        "identity",
        "sem-cluster:m=2",
    ]
    assert {path.name for path in project.iterdir()} >= {"data", "vectors"}
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_pages_and_cells_are_counted_as_they_are_done(project, tmp_path, monkeypatch):
    (project / "plan.toml").write_text(PLAN.format(folders=""))
    monkeypatch.setattr(progress, "INTERVAL", 0)  # a line for every change
    words = ["evaluate", "run", project / "plan.toml", "-o", tmp_path / "results"]
    result = call(*words, ADAMERGE_QUIET="")
    assert result.returncode == 0, result.stderr
    said = result.stderr.splitlines()
    pages = [line for line in said if line.startswith("encoding manual: ")]
    assert len(pages) > 25
    assert pages[-1].startswith("encoding manual: 26 of 26 pages")
    cells = [line for line in said if line.startswith("evaluating: ")]
    assert cells[0] == "evaluating: 0 of 2 cells"
    assert cells[-1].startswith("evaluating: 2 of 2 cells")


def test_a_folder_that_is_no_name_is_refused(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN.format(folders="data = 3"))
    with pytest.raises(BadFile, match="must name a folder in 'data', got 3"):
        read_experiment(tmp_path / "plan.toml")
