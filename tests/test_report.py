"""Figures, the report, and results beside published numbers, of a folder of results by hand."""

import re
from dataclasses import replace

import byhand
import numpy as np
import pytest
from byhand import row
from cli import call as cli

from adamerge import evaluate
from adamerge.evaluate import figures, tables
from adamerge.evaluate.output import report_figures, report_tables, write_page
from adamerge.evaluate.output.frontier_plot import COLOURS
from adamerge.evaluate.output.published import read_published


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return byhand.make(tmp_path_factory.mktemp("results"))


@pytest.fixture(scope="module")
def results(folder):
    return evaluate.load(folder)


def test_figures_bear_the_names_of_their_curves(results, folder, tmp_path):
    svg = figures.render_figure(figures.frontier(results), "svg").decode()
    said = re.findall(r">([^<>]+)</text>", svg)
    assert {
        "identity",
        "docpruner",
        "sem-cluster",
        "ptm",
        "adamerge c_min=0.7",
        "compression",
    } <= set(said)
    assert {"e: one configuration for all", "e: one per dataset"} <= set(said)
    assert figures.render_figure(figures.frontier(results), "svg").decode() == svg
    assert (
        "sem-cluster unit"
        in figures.render_figure(figures.frontier(results, unit=True), "svg").decode()
    )
    cliff = figures.render_figure(figures.cliff(results), "svg").decode()
    assert {"a", "b", "all", "page", "Gaussian", "c_min", "80%", "50%"} <= set(
        re.findall(r">([^<>]+)</text>", cliff)
    )
    assert cli("evaluate", "figure", "cliff", folder, "-o", tmp_path / "c.png").returncode == 0
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert (
        "written as .svg or .png, not as c.gif"
        in cli("evaluate", "figure", "cliff", folder, "-o", "c.gif").stderr
    )


def test_the_report_is_one_page_that_needs_nothing_else(folder, tmp_path):
    done = cli(
        "evaluate", "report", folder, "-o", tmp_path / "r.html", "--parts", tmp_path / "parts"
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "r.html").read_text()
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert "<script" not in page
    assert "@import" not in page
    for name in [
        *tables.TABLES,
        "datasets",
        "compare",
        "manifest",
        "figure-frontier",
        "figure-cliff",
    ]:
        assert f'id="{name}"' in page
    assert "adamerge 0.1.0, encoder r1" in page
    parts = {path.name for path in (tmp_path / "parts").iterdir()}
    assert {
        "ablation.md",
        "ablation.tex",
        "ablation.csv",
        "frontier.svg",
        "frontier.png",
        "cliff.svg",
    } <= parts
    assert set(done.stdout.split()) == {str(p) for p in (tmp_path / "parts").iterdir()} | {
        str(tmp_path / "r.html")
    }


@pytest.mark.parametrize("measure", ["MRR", "nDCG@5"])
def test_a_report_needs_no_more_than_there_is(tmp_path, measure):
    byhand.make(tmp_path / "results")
    byhand.both(
        tmp_path / "results",
        "gaussian(adamerge:k=1,c_min=0.7)",
        500,
        (),
        (),
        theta=[0.75] * 10,
        ms=None,
    )
    done = cli(
        "evaluate", "report", tmp_path / "results", "--measure", measure, "-o", tmp_path / "r.html"
    )
    assert done.returncode == 0, done.stderr


def test_a_structureless_page_alone_draws_no_cliff(tmp_path):
    byhand.datasets(tmp_path, "a")
    byhand.cell(tmp_path, "identity", 1000, 0.9)
    byhand.cell(tmp_path, "gaussian(adamerge:k=1,c_min=0.7)", 500, (), theta=[0.75] * 10, ms=None)
    made = report_tables(evaluate.load(tmp_path))
    given = evaluate.load(tmp_path)
    write_page(given, report_figures(given), made, tmp_path / "r.html")
    assert "figure-cliff" not in (tmp_path / "r.html").read_text()


def test_curves_are_drawn_as_the_steps_that_they_are_defined_as(results):
    (line,) = (
        line
        for line in figures.frontier(results).axes[0].lines
        if line.get_color() == COLOURS["ptm"]
    )
    assert line.get_drawstyle() == "steps-pre"
    np.testing.assert_allclose(line.get_xydata(), [(0, 0.6), (0.5, 0.6), (0.75, 0.55), (0.82, 0.5)])


def test_other_data_is_not_comparable_and_says_so(results):
    made = evaluate.compare(results)
    assert evaluate.compare(replace(results, measure="MRR")) == made
    assert len(made.rows) == len(read_published().numbers) > 40
    assert all(verdict.startswith("not comparable") for verdict in made["verdict"])
    cut = row(made, what="ablation: cliff over fixed cut, plain mean")
    assert (cut["here"], cut["verdict"]) == (
        pytest.approx(0.2),
        "not comparable: other data; same sign",
    )


def test_a_report_has_no_row_without_a_result(results, tmp_path):
    one = evaluate.load(byhand.make(tmp_path), ("a",))
    for given in (one, results):
        made = report_tables(given)["compare"]
        assert None not in made["here"]
        left_out = len(evaluate.compare(given).rows) - len(made.rows)
        assert made.note.startswith(f"{left_out} more have nothing beside them here")
    assert "all" not in tables.theta(one)["dataset"]  # it would say the same again


def test_the_papers_data_is_held_against_the_drift(tmp_path):
    encoder = "vidore/colqwen2.5-v0.2"
    for dataset, value in [("VidoreDocVQARetrieval", 0.65), ("VidoreArxivQARetrieval", 0.70)]:
        byhand.cell(tmp_path, "identity", 1000, value, encoder=encoder, dataset=dataset)
    made = evaluate.compare(evaluate.load(tmp_path))
    assert (
        row(made, what="identity, VidoreDocVQARetrieval", encoder=encoder)["verdict"]
        == "within drift"
    )
    assert (
        row(made, what="identity, VidoreArxivQARetrieval", encoder=encoder)["verdict"]
        == "outside drift"
    )
    other = row(made, what="identity, VidoreInfoVQARetrieval", encoder=encoder)
    assert other["verdict"] == "not comparable: no results of this encoder on these datasets"
