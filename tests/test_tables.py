"""Tables and figures are functions of a folder of results: numbers by hand, tests by SciPy, files as read by people."""

import csv
import io
import runpy
from dataclasses import dataclass
from pathlib import Path

import byhand
import numpy as np
import pytest
from byhand import row
from cli import call as cli

import adamerge as am
from adamerge import evaluate
from adamerge.compress.names import METHODS, read_name
from adamerge.errors import AdamergeError, BadFile, BadInput, UnknownName
from adamerge.evaluate import figures, tables
from adamerge.evaluate.analysis.frontier import Series, drawn_series, shared_name
from adamerge.evaluate.analysis.points import envelope
from adamerge.evaluate.analysis.results import as_written
from adamerge.evaluate.analysis.table import columns, make_table
from adamerge.evaluate.output import report_tables
from adamerge.evaluate.output.table_formats import latex, markdown

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return byhand.make(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def results(folder):
    return evaluate.load(folder)


def test_the_ablation_takes_any_ratio_where_both_totals_were_run(tmp_path):
    byhand.make(tmp_path)
    byhand.both(tmp_path, "merge-total(adamerge-mean:k=0,c_min=0.7)", 200, 0.7, 0.6, ms=None)
    made = evaluate.load(tmp_path)
    assert tables.ablation(made)["method"][:2] == [
        "merge-total(adamerge-mean:k=0,c_min=0.7)",
        "merge-total(adamerge:k=0,c_min=0.7)",
    ]
    assert tables.ablation(made, any_ratio=False)["method"][:2] == [
        "ptm:k=0,m=6",
        "ptm-attn:k=0,m=6",
    ]


def test_bytes_by_hand(results, folder, tmp_path):
    made = tables.in_bytes(results)
    # a vector of 8 numbers takes 16 bytes in float16, 4 + 4 in int4 and 1 + 4 in int1; a page has 100 of them, or 50
    assert row(made, method="identity") == {
        "method": "identity",
        "compression": 0,
        "float16": "0.8000 at 1.60 kB",
        "int8": None,
        "int4": "0.8000 at 0.80 kB *",
        "int2": None,
        "int1": None,
    }
    merged = row(made, method="sem-cluster:m=2")
    assert merged["float16"] == "0.6500 at 0.80 kB"
    assert merged["int4"] == "0.6000 at 0.40 kB *"
    assert merged["int1"] == "0.4000 at 0.25 kB *"
    assert len(made.rows) == 2  # the methods that were run in fewer bits
    drawn = cli("evaluate", "figure", "bytes", folder, "-o", tmp_path / "bytes.svg")
    assert drawn.returncode == 0, drawn.stderr
    for text in ("frontier", "float16", "int4", "kB a page (vectors, extra rows and scales)"):
        assert f">{text}</text>" in (tmp_path / "bytes.svg").read_text()


def test_methods_in_fewer_bits_are_in_no_other_table(results):
    for name, table in report_tables(results).items():
        if name != "bytes":
            assert not [text for texts in table.texts() for text in texts if "+int" in text], name


def test_results_without_fewer_bits_say_how_to_get_some(tmp_path):
    byhand.datasets(tmp_path, "a")
    byhand.cell(tmp_path, "identity", 1000, 0.9)
    assert "nothing for the table bytes" in cli("evaluate", "table", "bytes", tmp_path).stderr
    drawn = cli("evaluate", "figure", "bytes", tmp_path, "-o", tmp_path / "bytes.svg")
    assert 'run some with dtype = ["int4"]' in drawn.stderr


def test_both_readings_of_the_envelope_by_hand(results):
    made = tables.frontier(results)
    shared = row(made, series="ptm:k=0,m=any", envelope="shared")
    # (0.8 + 0.4) / 2 at 50 %, (0.6 + 0.5) / 2 at 75 %, 0.5 at 82 %
    assert (shared["50%"], shared["75%"], shared["80%"], shared["85%"]) == pytest.approx(
        (0.6, 0.55, 0.5, None)
    )
    own = row(made, series="ptm:k=0,m=any", envelope="per dataset")
    # at 50 % dataset a takes m=2 (0.8), b takes m=4 or 6 (0.5)
    assert (own["50%"], own["75%"], own["80%"]) == pytest.approx((0.65, 0.55, 0.5))
    assert row(made, series="identity", envelope="shared")["0%"] == pytest.approx(0.8)
    assert {"docpruner:k=0", "sem-cluster:m=2", "sem-cluster:m=2,unit=true"} <= set(made["series"])
    assert not any("raw" in name or "floor" in name or "attn" in name for name in made["series"])


def test_an_envelope_has_only_points_that_no_other_beats():
    assert envelope([(0.5, 0.6), (0.4, 0.5), (0.7, 0.4), (0.7, 0.3)]) == [
        (0.5, 0.6),
        (0.7, 0.4),
    ]


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
    assert str(shared_name(read_name(method))) == series


@pytest.mark.parametrize(
    ("methods", "series"),
    [
        (["adamerge:k=0,c_min=0.7", "adamerge:k=1,c_min=0.7"], "adamerge:k=any,c_min=0.7"),
        (["adamerge:k=none,c_min=0.7", "adamerge:k=none,c_min=0.8"], "adamerge:k=none,c_min=any"),
        (["ptm:k=0,m=2,unit=true", "ptm:k=1,m=4,unit=true"], "ptm:k=any,m=any,unit=true"),
        (["ptm:k=0,m=2", "ptm:k=0,m=4"], "ptm:k=0,m=any"),
        (["docpruner:k=0"], "docpruner:k=0"),
        (["own", "own:step=3"], "own:step=any"),
    ],
)
def test_the_name_of_a_series_is_that_of_no_method_but_its_own(methods, series):
    shared = shared_name(read_name(methods[0]))
    assert Series(shared, tuple(methods)).name == series
    if len(methods) > 1:
        with pytest.raises(AdamergeError):
            am.parse_method(series)


def test_the_ablation_is_made_at_the_size_of_the_cliff(results):
    made = tables.ablation(results)
    assert made["method"] == [
        "ptm:k=0,m=6",
        "ptm-attn:k=0,m=6",  # the same m, though merge-total(M) is nearer in size
        "adamerge-mean:k=0,c_min=0.7",
        "adamerge:k=0,c_min=0.7",
    ]
    assert made["nDCG@5"] == pytest.approx([0.5, 0.52, 0.7, 0.8])
    assert made["gain"] == pytest.approx([0, 0.02, 0.2, 0.3])
    assert made["compression"] == pytest.approx([0.82, 0.82, 0.8, 0.8])
    assert tables.ablation(results, c_min="0.70") == made
    with pytest.raises(
        BadInput, match=r"no adamerge at c_min '0\.8' in these results; there is 0\.7"
    ):
        tables.ablation(results, c_min="0.8")


def test_theta_stands_beside_that_of_structureless_pages(results):
    made = tables.theta(results)
    a = row(made, dataset="a")
    assert (a["pages cut"], a["median"], a["compression"]) == pytest.approx((1, 0.85, 0.8))
    assert a["sd"] == pytest.approx(np.std([0.8] * 5 + [0.9] * 5, ddof=1))
    assert (a["Gaussian pages cut"], a["Gaussian median"], a["Gaussian sd"]) == pytest.approx(
        (0.4, 0.75, 0)
    )
    assert (
        row(made, dataset="all")["pages"],
        row(made, dataset="all")["Gaussian compression"],
    ) == (20, 0.5)


def test_the_efficiency_table_has_bytes_and_time(results):
    ptm = row(tables.efficiency(results), method="ptm:k=0,m=6")  # nearest to 81 %
    assert (ptm["bytes a page"], ptm["ms a page"]) == (18 * 8 * 2, 3)
    assert "a machine" in tables.efficiency(results).note


def test_unit_length_and_the_sequences_by_hand(results):
    assert row(tables.unit(results), methods="sem-cluster")["mean gain"] == pytest.approx(0.05)
    made = tables.sequence(results)
    assert made["sequence"] == ["raw", "running-min"]
    assert made["theta"] == pytest.approx([0.85, 0.95])


def test_a_table_is_written_in_three_formats(folder):
    printed = cli("evaluate", "table", "ablation", folder).stdout
    assert "| no | fixed | mean | ptm:k=0,m=6 | 82.0% | 0.5000 | +0.0000 |" in printed
    latex = cli("evaluate", "table", "ablation", folder, "--format", "latex").stdout
    assert r"no & fixed & mean & ptm:k=0,m=6 & 82.0\% & 0.5000 & +0.0000 \\" in latex
    assert r"\toprule" in latex
    assert r"c\_min" in latex
    rows = list(
        csv.DictReader(
            io.StringIO(cli("evaluate", "table", "ablation", folder, "--format", "csv").stdout)
        )
    )
    assert [float(r["gain"]) for r in rows] == pytest.approx([0, 0.02, 0.2, 0.3])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ablation", "--k", "0"], "ablation does not take --k"),
        (["frontier", "--dataset", "c"], "has no results on 'c'; it has a, b"),
        (
            ["theta", "--method", "identity"],
            "no gaussian(M) beside M of 'identity' in these results; there is adamerge",
        ),
        (
            ["controls", "--method", "nonsense"],
            "no controls of 'nonsense' in these results; there is adamerge:k=0,c_min",
        ),
        (["controls", "--method", "identity"], "no controls of 'identity'"),
        (["significance", "--k=0.33"], "no pair at k '0.33' in these results; there is 0"),
        (["ablation", "--c-min", "0.8"], "no adamerge at c_min '0.8' in these results"),
        (["significance", "--method", "nonsense"], "no results of 'nonsense'"),
    ],
)
def test_what_cannot_be_shown_is_said(folder, words, said):
    done = cli("evaluate", "table", words[0], folder, *words[1:])
    assert done.returncode
    assert said in done.stderr


def test_a_table_of_nothing_is_no_table(tmp_path):
    byhand.both(tmp_path, "identity", 1000, 0.9, 0.7)
    done = cli("evaluate", "table", "unit", tmp_path)
    assert done.returncode == 1
    assert "has nothing for the table unit" in done.stderr


def test_numbers_and_names_are_asked_for_as_people_write_them(folder):
    want = cli("evaluate", "table", "significance", folder).stdout
    assert "| 0 | 0.7 | 2 |" in want
    assert cli("evaluate", "table", "significance", folder, "--k=0.0").stdout == want
    assert as_written("-.25") == "-0.25"
    assert as_written("adamerge:c_min=0.70,k=0") == "adamerge:k=0,c_min=0.7"


def test_datasets_and_measures_can_be_chosen(folder, tmp_path):
    some = evaluate.load(folder, ("a", "a"), "MRR")
    assert len(some.values("e", "identity")) == 4  # asked twice, counted once
    assert some.mean("e", "identity") == pytest.approx(0.45)
    assert some.datasets == ("a",)


def test_a_method_without_a_cell_for_every_dataset_is_left_out_and_told(folder, tmp_path):
    byhand.make(tmp_path)
    byhand.cell(tmp_path, "identity:new=1", 500, 0.5)
    done = cli("evaluate", "table", "frontier", tmp_path)
    assert "left out: 1 methods without a cell for every dataset" in done.stderr
    with pytest.raises(
        BadFile, match="holds no result files: make some with adamerge evaluate run"
    ):
        evaluate.load(tmp_path / "datasets")
    with pytest.raises(BadFile, match=r"holds no result files: .*books does"):
        evaluate.load(ROOT / "results")
    with pytest.raises(UnknownName, match="no results on 'lilypond-learning'"):
        evaluate.load(folder, ("books",))


def test_latex_has_its_own_less_than():
    small = make_table("P", "All < 1 %", columns(("p", "p")), [[0.00001]])
    assert "$<$0.0001" in latex(small)
    assert r"All $<$ 1 \%" in latex(small)


def test_a_method_in_ten_lines_is_in_every_table_and_figure(tmp_path):
    @dataclass(frozen=True)
    class Halves(am.Method, names={"halves": {}}):
        """Keep every second patch."""

        step: int = 2

        def __call__(self, page):
            groups = np.where(
                np.arange(len(page)) % self.step, -1, np.arange(len(page)) // self.step
            ).astype(np.int32)
            return am.Compressed(
                page.vectors[:: self.step], groups, page.extra, method=str(self), id=page.id
            )

    name = str(Halves(3))
    del METHODS["halves"]  # tables know it by its files alone
    worded = "halves:step=3,mode=b"
    byhand.make(tmp_path)
    byhand.both(tmp_path, name, 333, 0.5, 0.5, theta=[0.8] * 10)
    byhand.both(tmp_path, f"random({name})", 333, 0.4, 0.4, ms=None)
    byhand.both(tmp_path, f"gaussian({name})", 900, (), (), theta=[0.7] * 10, ms=None)
    byhand.both(tmp_path, worded, 333, 0.5, 0.6)
    results = evaluate.load(tmp_path)
    for made in (tables.frontier, tables.efficiency, tables.theta, tables.controls):
        assert "halves" in markdown(made(results)), made
    assert tables.significance(results, methods=[name, worded])["against"] == [worded]
    for unit in (False, True):
        drawn = figures.render_figure(figures.frontier(results, unit), "svg").decode()
        assert ">halves</text>" in drawn
        assert ">halves mode=b</text>" in drawn
    assert "theta" in figures.render_figure(figures.cliff(results, [name]), "svg").decode()
    assert "halves" in "".join(map(markdown, report_tables(results).values()))


def test_unit_length_is_a_gain_whichever_way_a_method_has_it_by_default(tmp_path):
    byhand.make(tmp_path)
    byhand.both(tmp_path, "halves", 500, 0.8, 0.8)
    byhand.both(tmp_path, "halves:unit=false", 500, 0.7, 0.7)
    byhand.both(tmp_path, "halves:sequence=raw", 500, 0.6, 0.6)
    results = evaluate.load(tmp_path)
    assert row(tables.unit(results), methods="halves")["mean gain"] == pytest.approx(0.1)
    assert row(tables.sequence(results), method="halves", sequence="default")[
        "nDCG@5"
    ] == pytest.approx(0.8)


def test_a_name_is_one_method_in_every_table(tmp_path):
    byhand.make(tmp_path)
    byhand.both(tmp_path, "halves", 500, 0.8, 0.8)
    byhand.both(tmp_path, "halves:unit=false", 500, 0.7, 0.7)
    results = evaluate.load(tmp_path)
    made = tables.frontier(results)
    for method, measured in (("halves", 0.8), ("halves:unit=false", 0.7)):
        assert row(made, series=method, envelope="shared")["50%"] == pytest.approx(measured)
        assert row(tables.efficiency(results), method=method)["nDCG@5"] == pytest.approx(measured)
    assert "halves:unit=false" in [one.name for one in drawn_series(results, "e")]
    assert "halves" in [one.name for one in drawn_series(results, "e", unit=True)]


def test_the_tables_of_the_documentation_are_what_the_commands_print():
    render = runpy.run_path(str(ROOT / "docs" / "write_results.py"))["render"]
    page = (ROOT / "docs" / "results.md").read_text()
    assert page.count("<!-- adamerge evaluate table") == 9
    assert render(page) == page, "run: make paper"


def test_the_tables_on_image_patches_are_those_of_the_committed_results():
    render = runpy.run_path(str(ROOT / "docs" / "write_images.py"))["render"]
    page = (ROOT / "docs" / "results-images.md").read_text()
    assert page.count("<!-- table ") == 7
    assert render(page) == page, "run: make paper"


def test_the_committed_results_are_whole_and_small():
    files = [p for p in (ROOT / "results").rglob("*") if p.is_file()]
    assert sum(p.stat().st_size for p in files) < 5e6
    results = evaluate.load(ROOT / "results" / "books")
    assert (len(results.datasets), len(results.cells), results.left_out) == (6, 399, ())
    assert all(len(one["identity"]) == 16 for one in results.about.values())
    assert sum(one["pages"] for one in results.about.values()) == 2941
