"""Tables and figures are functions of a folder of results: numbers by hand, tests by SciPy, files as read by people."""

import csv
import io
import re
import runpy
from dataclasses import dataclass
from pathlib import Path

import byhand
import numpy as np
import pytest
from scipy import stats
from test_cli import run as cli

import adamerge as am
from adamerge.compress.names import METHODS
from adamerge.errors import BadFile, UnknownName
from adamerge.evaluate import compare, figures, frontier, points, report, significance, table, tables
from adamerge.evaluate.statistics import holm

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return byhand.make(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def results(folder):
    return points.load(folder)


def row(made, **wanted):
    """The only row whose columns have these values, as a dictionary."""
    names = [column.name for column in made.columns]
    (found,) = (
        r for r in (dict(zip(names, r, strict=True)) for r in made.rows) if all(r[k] == v for k, v in wanted.items())
    )
    return found


def test_both_readings_of_the_envelope_by_hand(results):
    made = frontier.frontier(results)
    shared = row(made, series="ptm", envelope="shared")
    # (0.8 + 0.4) / 2 at 50 %, (0.6 + 0.5) / 2 at 75 %, 0.5 at 82 %
    assert (shared["50%"], shared["75%"], shared["80%"], shared["85%"]) == pytest.approx((0.6, 0.55, 0.5, None))
    own = row(made, series="ptm", envelope="per dataset")
    # at 50 % dataset a takes m=2 (0.8), b takes m=4 or 6 (0.5)
    assert (own["50%"], own["75%"], own["80%"]) == pytest.approx((0.65, 0.55, 0.5))
    assert row(made, series="identity", envelope="shared")["0%"] == pytest.approx(0.8)
    assert {"sem-cluster", "sem-cluster:unit=true", "docpruner", "adamerge:c_min=0.7"} <= set(made["series"])
    assert not any("raw" in name or "floor" in name or "attn" in name for name in made["series"])


def test_an_envelope_has_only_points_that_no_other_beats():
    assert frontier.envelope([(0.5, 0.6), (0.4, 0.5), (0.7, 0.4), (0.7, 0.3)]) == [(0.5, 0.6), (0.7, 0.4)]


@pytest.mark.parametrize(
    ("method", "series"),
    [
        ("adamerge:k=-0.25,c_min=0.7,unit=true", "adamerge:c_min=0.7,unit=true"),
        ("adamerge:k=none,c_min=0.7", "adamerge:k=none"),
        ("ptm:k=0,m=1.5", "ptm"),
        ("identity", "identity"),
    ],
)
def test_words_name_a_series_and_numbers_are_its_points(method, series):
    assert frontier.series_name(points.take_apart(method)) == series


def test_the_ablation_is_made_at_the_size_of_the_cliff(results):
    made = tables.ablation(results)
    assert made["method"] == [
        "ptm:k=0,m=6",
        "merge-total(adamerge:k=0,c_min=0.7)",
        "adamerge-mean:k=0,c_min=0.7",
        "adamerge:k=0,c_min=0.7",
    ]
    assert made["nDCG@5"] == pytest.approx([0.5, 0.75, 0.7, 0.8])
    assert made["gain"] == pytest.approx([0, 0.25, 0.2, 0.3])
    assert made["compression"] == pytest.approx([0.82, 0.8, 0.8, 0.8])
    assert not tables.ablation(results, c_min="0.8").rows


def test_every_control_stands_beside_its_method(results):
    made = significance.controls(results)
    assert set(made["method M"]) == {"adamerge:k=0,c_min=0.7"}
    found = dict(zip(made["control"], made["difference"], strict=True))
    assert found == pytest.approx(
        {
            "random(M)": 0.5,
            "merge-total(M)": 0.05,
            "adamerge:k=0,c_min=0.7,cut=floor": 0.05,
            "mean-vector": 0.6,
            "bm25": 0.4,
            "identity": 0,
        }
    )
    assert row(made, control="bm25")["compression"] is None


def test_rows_that_are_not_shown_count_in_the_correction(two_encoders, results):
    shown = significance.controls(results, ["adamerge:k=0,c_min=0.7"])
    assert shown["p corrected"] == significance.controls(results)["p corrected"]
    assert not significance.significance(two_encoders, ["1"]).rows


def test_theta_stands_beside_that_of_structureless_pages(results):
    made = tables.theta(results)
    a = row(made, dataset="a")
    assert (a["pages cut"], a["median"], a["compression"]) == pytest.approx((1, 0.85, 0.8))
    assert a["sd"] == pytest.approx(np.std([0.8] * 5 + [0.9] * 5, ddof=1))
    assert (a["Gaussian pages cut"], a["Gaussian median"], a["Gaussian sd"]) == pytest.approx((0.4, 0.75, 0))
    assert (row(made, dataset="all")["pages"], row(made, dataset="all")["Gaussian compression"]) == (20, 0.5)


def test_the_efficiency_table_has_bytes_and_time(results):
    ptm = row(tables.efficiency(results), method="ptm:k=0,m=6")  # nearest to 81 %
    assert (ptm["bytes a page"], ptm["ms a page"]) == (18 * 8 * 2, 3)
    assert "a machine" in tables.efficiency(results).note


def test_unit_length_and_the_sequences_by_hand(results):
    assert row(tables.unit(results), method="sem-cluster")["mean gain"] == pytest.approx(0.05)
    made = tables.sequence(results)
    assert made["sequence"] == ["running-min", "raw"]
    assert made["theta"] == pytest.approx([0.85, 0.95])


@pytest.fixture(scope="module")
def two_encoders(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    rng = np.random.default_rng(0)
    for encoder in ("e", "f"):
        for method in ("adamerge:k=0,c_min=0.7", "adamerge:k=0,c_min=0.8", "ptm:k=0,m=2", "ptm:k=0,m=4"):
            values = rng.integers(0, 5, 60) / 4 + (method == "ptm:k=0,m=4") * -0.2
            byhand.cell(folder, method, 200, values.tolist(), encoder=encoder)
    return points.load(folder)


def test_the_significance_table_is_scipys_with_holms_correction(two_encoders):
    made = significance.significance(two_encoders)
    assert len(made.rows) == 4 * 3  # two floors, two budgets; each encoder, and pooled
    assert set(made["encoder"]) == {"e", "f", "pooled"}
    for encoder in ("e", "f"):
        some = [
            r
            for r in (dict(zip([c.name for c in made.columns], r, strict=True)) for r in made.rows)
            if r["encoder"] == encoder
        ]
        for one in some:
            ours = two_encoders.values(encoder, f"adamerge:k=0,c_min={one['c_min']}")
            theirs = two_encoders.values(encoder, f"ptm:k=0,m={one['m']}")
            assert one["p"] == pytest.approx(stats.wilcoxon(ours, theirs, zero_method="wilcox").pvalue)
            assert one["difference"] == pytest.approx(float((ours - theirs).mean()))
            assert one["low"] < one["difference"] < one["high"]
        assert [one["p corrected"] for one in some] == pytest.approx(holm([one["p"] for one in some]))
    pooled = row(made, encoder="pooled", c_min="0.7", m="4")
    ours, theirs = (
        np.concatenate([two_encoders.values(e, m) for e in ("e", "f")])
        for m in ("adamerge:k=0,c_min=0.7", "ptm:k=0,m=4")
    )
    assert pooled["queries"] == 120
    assert pooled["p"] == pytest.approx(stats.wilcoxon(ours, theirs).pvalue)
    assert 'zero_method="wilcox"' in made.note


def test_a_table_is_written_in_three_formats(folder):
    printed = cli("evaluate", "table", "ablation", folder).stdout
    assert "| no | fixed | mean | ptm:k=0,m=6 | 82.0% | 0.5000 | +0.0000 |" in printed
    latex = cli("evaluate", "table", "ablation", folder, "--format", "latex").stdout
    assert r"no & fixed & mean & ptm:k=0,m=6 & 82.0\% & 0.5000 & +0.0000 \\" in latex
    assert r"\toprule" in latex
    assert r"c\_min" in latex
    rows = list(csv.DictReader(io.StringIO(cli("evaluate", "table", "ablation", folder, "--format", "csv").stdout)))
    assert [float(r["gain"]) for r in rows] == pytest.approx([0, 0.25, 0.2, 0.3])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ablation", "--k", "0"], "ablation does not take --k"),
        (["frontier", "--dataset", "c"], "has no results on 'c'; it has a, b"),
        (["theta", "--method", "identity"], "no results of identity and gaussian(identity) for e"),
    ],
)
def test_what_cannot_be_shown_is_said(folder, words, said):
    done = cli("evaluate", "table", words[0], folder, *words[1:])
    assert done.returncode
    assert said in done.stderr


def test_datasets_and_measures_can_be_chosen(folder):
    some = points.load(folder, ("a",), "MRR")
    assert some.mean("e", "identity") == pytest.approx(0.45)
    assert some.datasets == ("a",)


def test_a_method_without_a_cell_for_every_dataset_is_left_out_and_told(folder, tmp_path):
    byhand.make(tmp_path)
    byhand.cell(tmp_path, "identity:new=1", 500, 0.5)
    done = cli("evaluate", "table", "frontier", tmp_path)
    assert "left out: 1 methods without a cell for every dataset" in done.stderr
    with pytest.raises(BadFile, match="holds no result files: make some with adamerge evaluate run"):
        points.load(tmp_path / "datasets")
    with pytest.raises(UnknownName, match="no results on 'lilypond-learning'"):
        points.load(folder, ("books",))


def test_figures_bear_the_names_of_their_curves(results, folder, tmp_path):
    svg = figures.render(figures.frontier(results), "svg").decode()
    said = re.findall(r">([^<>]+)</text>", svg)
    assert {"identity", "docpruner", "sem-cluster", "ptm", "adamerge c_min=0.7", "compression"} <= set(said)
    assert {"e: one configuration for all", "e: one per dataset"} <= set(said)
    assert figures.render(figures.frontier(results), "svg").decode() == svg
    assert "sem-cluster unit" in figures.render(figures.frontier(results, unit=True), "svg").decode()
    cliff = figures.render(figures.cliff(results), "svg").decode()
    assert {"a", "b", "all", "page", "Gaussian", "c_min", "80%", "50%"} <= set(re.findall(r">([^<>]+)</text>", cliff))
    assert cli("evaluate", "figure", "cliff", folder, "-o", tmp_path / "c.png").returncode == 0
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert "written as .svg or .png, not as c.gif" in cli("evaluate", "figure", "cliff", folder, "-o", "c.gif").stderr


def test_the_report_is_one_page_that_needs_nothing_else(folder, tmp_path):
    done = cli("evaluate", "report", folder, "-o", tmp_path / "r.html", "--parts", tmp_path / "parts")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "r.html").read_text()
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert "<script" not in page
    assert "@import" not in page
    for name in [*tables.TABLES, "datasets", "compare", "manifest", "figure-frontier", "figure-cliff"]:
        assert f'id="{name}"' in page
    assert "adamerge 0.1.0, encoder r1" in page
    parts = {path.name for path in (tmp_path / "parts").iterdir()}
    assert {"ablation.md", "ablation.tex", "ablation.csv", "frontier.svg", "frontier.png", "cliff.svg"} <= parts
    assert set(done.stdout.split()) == {str(p) for p in (tmp_path / "parts").iterdir()} | {str(tmp_path / "r.html")}


def test_other_data_is_not_comparable_and_says_so(results):
    made = compare.compare(results)
    assert len(made.rows) == len(compare.published()[0]) > 40
    assert all(verdict.startswith("not comparable") for verdict in made["verdict"])
    cut = row(made, what="ablation: cliff over fixed cut, plain mean")
    assert (cut["here"], cut["verdict"]) == (pytest.approx(0.2), "not comparable: other data; same sign")


def test_the_papers_data_is_held_against_the_drift(tmp_path):
    encoder = "vidore/colqwen2.5-v0.2"
    for dataset, value in [("VidoreDocVQARetrieval", 0.65), ("VidoreArxivQARetrieval", 0.70)]:
        byhand.cell(tmp_path, "identity", 1000, value, encoder=encoder, dataset=dataset)
    made = compare.compare(points.load(tmp_path))
    assert row(made, what="identity, VidoreDocVQARetrieval", encoder=encoder)["verdict"] == "within drift"
    assert row(made, what="identity, VidoreArxivQARetrieval", encoder=encoder)["verdict"] == "outside drift"
    other = row(made, what="identity, VidoreInfoVQARetrieval", encoder=encoder)
    assert other["verdict"] == "not comparable: no results of this encoder on these datasets"


def test_a_method_in_ten_lines_is_in_every_table_and_figure(tmp_path):
    @dataclass(frozen=True)
    class Halves(am.Method, names={"halves": {}}):
        """Keep every second patch."""

        step: int = 2

        def __call__(self, page):
            groups = np.where(np.arange(len(page)) % self.step, -1, np.arange(len(page)) // self.step).astype(np.int32)
            return am.Compressed(page.vectors[:: self.step], groups, page.extra, method=str(self), id=page.id)

    name = str(Halves(3))
    del METHODS["halves"]  # tables know it by its files alone
    byhand.make(tmp_path)
    byhand.both(tmp_path, name, 333, 0.5, 0.5, theta=[0.8] * 10)
    byhand.both(tmp_path, f"random({name})", 333, 0.4, 0.4, ms=None)
    byhand.both(tmp_path, f"gaussian({name})", 900, (), (), theta=[0.7] * 10, ms=None)
    results = points.load(tmp_path)
    for made in (frontier.frontier, tables.efficiency, tables.theta, significance.controls):
        assert "halves" in table.markdown(made(results)), made
    for unit in (False, True):
        assert ">halves</text>" in figures.render(figures.frontier(results, unit), "svg").decode()
    assert "theta" in figures.render(figures.cliff(results, [name]), "svg").decode()
    assert "halves" in "".join(map(table.markdown, report.tables(results).values()))


def test_the_tables_of_the_documentation_are_what_the_commands_print():
    render = runpy.run_path(str(ROOT / "docs" / "write_results.py"))["render"]
    page = (ROOT / "docs" / "results.md").read_text()
    assert page.count("<!-- adamerge evaluate table") == 8
    assert render(page) == page, "run: make paper"


def test_the_committed_results_are_whole_and_small():
    files = [p for p in (ROOT / "results").rglob("*") if p.is_file()]
    assert sum(p.stat().st_size for p in files) < 5e6
    results = points.load(ROOT / "results" / "books")
    assert (len(results.datasets), len(results.cells), results.left_out) == (6, 211, ())
    assert sum(one["pages"] for one in results.about.values()) == 2941
