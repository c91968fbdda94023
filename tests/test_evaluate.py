"""`adamerge evaluate run`: from folders to result files, as a researcher runs it."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import manual
import pytest
from cli import run as run_process
from experiment_runs import by_method, go, make_run, run_in

import adamerge as am
from adamerge.compress.names import METHODS
from adamerge.encoders import EncoderSpec
from adamerge.errors import Mismatch
from adamerge.evaluate.books import build_book, write_book
from adamerge.evaluate.data import load_dataset
from adamerge.evaluate.experiment import parse_method_or_control, read_datasets, read_experiment
from adamerge.evaluate.experiment.cell import rounded
from adamerge.evaluate.experiment.compute_cell import compute_cell
from adamerge.evaluate.experiment.runner import load_encoded

pytestmark = pytest.mark.xdist_group("evaluate")  # one book is encoded, once

ROOT = Path(__file__).parent.parent
TOML = """
encoders = ["minilm"]
datasets = ["manual"]
[[methods]]
name = "identity"
[[methods]]
name = "adamerge"
k = ["none", -0.25, 0.25]
c_min = 0.6
unit = [false, true]
[[controls]]
name = ["mean-vector", "bm25"]
[[controls]]
name = ["random", "merge-page", "merge-total", "height", "gaussian"]
of = { name = "adamerge", k = -0.25, c_min = 0.6 }
"""


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """A book in a folder of datasets, an experiment, and a first run of it."""
    return make_run(tmp_path_factory.mktemp("evaluate"), TOML)


def test_tests_of_a_group_share_a_process(request):
    in_groups = getattr(request.config.option, "loadgroup", False)
    assert request.node.nodeid.endswith("@evaluate" if in_groups else "share_a_process")


def test_every_method_and_control_of_the_grid_has_its_cell(here):
    plan = read_experiment(here / "plan.toml")
    found = by_method(here)
    assert set(found) == set(plan.methods)
    assert len(found) == 1 + 6 + 2 + 5


def test_a_cell_says_what_the_method_did_and_what_it_cost_each_query(here):
    dataset = read_datasets(here / "results")["manual"]
    assert (dataset["pages"], len(dataset["queries"]), dataset["judgements"]) == (26, 28, 28)
    pages = list(am.read_vectors(here / "vectors" / "minilm" / "manual" / "pages"))
    for name, cell in by_method(here).items():
        assert (cell.pages, cell.dataset, cell.encoder) == (26, "manual", "minilm")
        assert all(len(values) == 28 for values in cell.measures.values())
        if name in METHODS or ":" in name.partition("(")[0]:
            small = [am.parse_method(name)(page) for page in pages]
            assert (cell.stored, cell.patches) == (sum(map(len, small)), sum(map(len, pages)))
            assert cell.compression == pytest.approx(1 - cell.stored / cell.patches)
            assert cell.bytes == sum(page.bytes() for page in small)
            assert cell.ms > 0
    adamerge = by_method(here)["adamerge:k=none,c_min=0.6"]
    cuts = [am.parse_method(adamerge.method)(page).cut for page in pages]
    assert adamerge.theta == rounded([c.theta for c in cuts])
    assert adamerge.gap == rounded([c.gap for c in cuts])


def test_a_term_finds_the_page_it_was_taken_from(here):
    found = by_method(here)
    assert found["identity"].mean() > 0.9
    assert found["bm25"].mean() > 0.9
    assert found["mean-vector"].stored == 26
    assert found["bm25"].compression == 0
    assert not found["gaussian(adamerge:k=-0.25,c_min=0.6)"].measures


def test_controls_have_the_size_of_their_method(here):
    found = by_method(here)
    size = found["adamerge:k=-0.25,c_min=0.6"].stored
    for control in ("random", "merge-page", "height"):
        assert found[f"{control}(adamerge:k=-0.25,c_min=0.6)"].stored == size
    assert abs(found["merge-total(adamerge:k=-0.25,c_min=0.6)"].stored - size) <= 26


HALVES = """
from dataclasses import dataclass
import adamerge as am
from adamerge.compress import cut, link, pool

@dataclass(frozen=True)
class Halves(am.Method, names={"halves": {}}):
    unit: bool = True
    mode: str = "first"

    def __call__(self, page):
        groups = cut.groups(link.ward(page.vectors), (len(page) + 1) // 2)
        vectors = pool.mean(page.vectors, groups, self.unit)
        return am.Compressed(vectors, groups, page.extra, method=str(self), id=page.id)
"""


def test_a_method_in_ten_lines_is_named_in_an_experiment_and_gets_its_cells(here, tmp_path):
    shutil.copytree(here, tmp_path, dirs_exist_ok=True)
    (tmp_path / "halves.py").write_text(HALVES)
    (tmp_path / "plan.toml").write_text(
        "encoders = 'minilm'\ndatasets = 'manual'\nmodules = 'halves.py'\n"
        "[methods]\nname = 'halves'\nunit = [true, false]\n[controls]\nname = 'random'\nof = 'halves'\n"
    )
    done = go(tmp_path, how=run_process)  # a process of its own: the method stays in it
    assert done.returncode == 0, done.stderr
    assert go(tmp_path, "--method", "halves:mode=second", how=run_process).returncode == 0
    found = by_method(tmp_path)
    assert {"halves", "halves:unit=false", "halves:mode=second", "random(halves)"} <= set(found)
    assert found["halves"].stored == found["random(halves)"].stored
    assert 0.4 < found["halves"].compression <= 0.5
    (tmp_path / "halves.py").write_text(HALVES.replace('"halves"', '"adamerge"'))
    assert "there is a method 'adamerge' already" in go(tmp_path, how=run_process).stderr


@pytest.mark.parametrize("jobs", [1, 3])
def test_threads_change_nothing(here, jobs):
    dataset = load_dataset("manual", here / "data")
    encoded = load_encoded(EncoderSpec("minilm"), dataset, here / "vectors")
    cell = compute_cell(encoded, parse_method_or_control("adamerge:k=none,c_min=0.6"), jobs)
    assert replace(cell, ms=0) == replace(by_method(here)[cell.method], ms=0)


def test_the_command_line_can_choose_what_to_run(here, tmp_path):
    shutil.copytree(here, tmp_path, dirs_exist_ok=True)
    done = go(
        tmp_path,
        "--method",
        "sem-cluster:m=4",
        "--method",
        "random(sem-cluster:m=4)",
        "--jobs",
        "2",
    )
    assert [line.split("\t")[2] for line in done.stdout.splitlines()] == [
        "sem-cluster:m=4",
        "random(sem-cluster:m=4)",
    ]


def test_vectors_of_another_book_are_refused(here, tmp_path):
    shutil.copytree(here, tmp_path, dirs_exist_ok=True)
    pdf = manual.make(tmp_path / "manual.pdf", pages=20)
    write_book(build_book(pdf, "manual"), pdf, tmp_path / "data" / "manual")
    with pytest.raises(Mismatch, match="choose another folder for vectors"):
        list(run_in(read_experiment(here / "plan.toml"), tmp_path, tmp_path / "new"))


def test_cells_of_other_queries_are_not_mixed(here, tmp_path):
    shutil.copytree(here, tmp_path, dirs_exist_ok=True)
    book = build_book(tmp_path / "manual.pdf", "manual", most=9)
    write_book(book, tmp_path / "manual.pdf", tmp_path / "data" / "manual")
    done = go(tmp_path, "--method", "sem-cluster:m=4")
    assert done.returncode == 1
    assert "with other pages, queries or judgements: choose another folder" in done.stderr


def test_cells_of_other_judgements_are_not_mixed_and_not_taken_for_done(here, tmp_path):
    shutil.copytree(here, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "data" / "manual" / "dataset.json"
    book = json.loads(path.read_text())
    one, other = list(book["judgements"])[:2]
    book["judgements"][one], book["judgements"][other] = (
        book["judgements"][other],
        book["judgements"][one],
    )
    path.write_text(json.dumps(book))
    for words in ([], ["--method", "sem-cluster:m=4"]):
        done = go(tmp_path, *words)
        assert done.returncode == 1
        assert "holds cells of another manual (identity " in done.stderr
    done = go(
        tmp_path, "--dataset", tmp_path / "none" / "manual"
    )  # every cell of that name is there
    assert "no dataset" in done.stderr


def test_queries_in_another_order_keep_their_numbers(here, tmp_path):
    shutil.copytree(here, tmp_path, dirs_exist_ok=True)
    path = tmp_path / "data" / "manual" / "dataset.json"
    book = json.loads(path.read_text())
    book["queries"] = dict(reversed(book["queries"].items()))
    path.write_text(json.dumps(book))
    plan = replace(read_experiment(here / "plan.toml"), methods=["identity"])
    (cell,) = run_in(plan, tmp_path, tmp_path / "new")
    assert cell.measures["MRR"] == by_method(here)["identity"].measures["MRR"][::-1]


def test_what_is_asked_twice_is_run_once(here, tmp_path):
    shutil.copytree(here, tmp_path, dirs_exist_ok=True)
    twice = [word for flag in ("--dataset", "--dataset") for word in (flag, "manual")]
    done = go(
        tmp_path,
        *twice,
        "--dataset",
        tmp_path / "data" / "manual",
        *["--method", "sem-cluster"] * 2,
    )
    assert [line.split("\t")[2] for line in done.stdout.splitlines()] == ["sem-cluster:m=4"]
