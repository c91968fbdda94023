"""experiments/paper.toml from end to end, offline: tiny adapters in the published layout, folders as of ViDoRe."""

import json
import shutil
import warnings
from dataclasses import replace
from pathlib import Path

import hub
import pytest
import tiny
from byhand import row
from later import needs_torch

from adamerge import evaluate
from adamerge.compress.names import read_name
from adamerge.evaluate.data import dataset_names
from adamerge.evaluate.experiment import read_experiment

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of the model library
    needs_torch,
]
PAPER = read_experiment(Path(__file__).parent.parent / "experiments" / "paper.toml")
KS = ("-0.25", "1")
MS = ("2", "4")


def is_in_reduced_grid(text):
    """Whether a method or control of the file is kept: two k, two m, the paper's floors, nothing of unit length."""
    name = read_name(text)
    is_of_a_figure = name.control in ("", "gaussian") and name.words().keys() <= {"stats"}
    return (
        is_of_a_figure
        and name.options.get("k", KS[0]) in KS
        and name.options.get("m", MS[0]) in MS
        and name.options.get("c_min", "0.7") in ("0.7", "0.8")
    )


ASKED_FOR = ("config.json", "processor_config.json", "chat_template.json")


def publish(adapter, name, revision, cache):
    """Put an adapter where a download of a commit would have put it, with a mark for each file that the hub has not."""
    repository = cache / f"models--{name.replace('/', '--')}"
    shutil.copytree(adapter, repository / "snapshots" / revision)
    (repository / ".no_exist" / revision).mkdir(parents=True)
    for file in ASKED_FOR:
        if not (adapter / file).exists():
            (repository / ".no_exist" / revision / file).touch()
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0" * 40)  # not the pinned one, and not there


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The reduced grid of the paper's own file, run on everything that the file names."""
    place = tmp_path_factory.mktemp("paper")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        base = tiny.make("ColQwen2_5", place / "base")
        for seed, spec in enumerate(PAPER.specs):
            lora = tiny.make_lora(base, place / f"lora{seed}", tiny.PUBLISHED_TARGETS, seed)
            published = tiny.as_published(lora, place / f"published{seed}")
            publish(published, spec.name, spec.options["revision"], place / "hub")
        for task in dataset_names("vidore-v1"):
            hub.flat(place / "data" / task, pages=3)
        for dataset in dataset_names("vidore-v2"):
            task = dataset.partition(":")[0]
            hub.beir(place / "data" / task, pages=4)
        patch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(place / "hub"))
        reduced = replace(
            PAPER, methods=[text for text in PAPER.methods if is_in_reduced_grid(text)]
        )
        return evaluate.run(
            reduced, place / "results", data=place / "data", vectors=place / "vectors"
        )


def test_every_cell_of_both_encoders_and_all_datasets_is_there(results):
    assert results.encoders == tuple(sorted(spec.name for spec in PAPER.specs))
    assert len(results.datasets) == 14
    assert not results.left_out
    for (encoder, _), cells in results.cells.items():
        options = PAPER.encoder(encoder).options
        for cell in cells:
            assert json.loads(cell.versions["options"]) == options
            assert cell.versions["encoder"] == options["revision"]


def test_two_adapters_on_one_base_are_two_encoders(results):
    first, second = results.encoders
    means = [results.cells[encoder, "identity"] for encoder in (first, second)]
    assert [cell.measures for cell in means[0]] != [cell.measures for cell in means[1]]


def test_the_report_has_every_element_of_the_paper_by_its_number(results, tmp_path):
    evaluate.write_report(results, tmp_path / "paper.html", tmp_path / "parts", paper=True)
    written = {path.name for path in (tmp_path / "parts").iterdir()}
    for figure in ("figure-1", "figure-2", "figure-3"):
        assert {f"{figure}.svg", f"{figure}.png"} <= written
    for table in ("table-1", "table-2", "theta", "efficiency", "published"):
        assert {f"{table}.md", f"{table}.tex", f"{table}.csv"} <= written
    assert "table-2" in (tmp_path / "paper.html").read_text()


def test_every_printed_number_has_one_of_this_run_beside_it(results):
    compared = evaluate.compare(results)
    for values in compared.rows:
        found = dict(zip(compared.names(), values, strict=True))
        is_of_a_curve = "at " in found["what"] or "most" in found["what"]
        if found["source"] == "paper" and not is_of_a_curve:  # tiny pages need not reach 90 %
            assert found["here"] is not None, found
    plain = row(compared, what="AdaMerge at 75%")
    assert plain["encoder"] == PAPER.specs[0].name
