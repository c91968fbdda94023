"""`adamerge evaluate report --paper`: every figure and table of the paper by its number."""

from itertools import combinations

import byhand
import pytest
from cli import call as cli
from matplotlib.text import Text

from adamerge import evaluate
from adamerge.errors import BadInput
from adamerge.evaluate.output import paper_figures, paper_tables, report_figures
from adamerge.evaluate.output.plotting import short_dataset, short_encoder

ELEMENTS = ["figure-1", "figure-2", "figure-3", "table-1", "table-2", "efficiency", "theta"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return byhand.paper(tmp_path_factory.mktemp("paper"))


@pytest.fixture(scope="module")
def results(folder):
    return evaluate.load(folder)


def test_one_command_writes_every_element_by_its_number(folder, tmp_path):
    page = tmp_path / "paper.html"
    done = cli("evaluate", "report", folder, "--paper", "-o", page, "--parts", tmp_path / "parts")
    assert done.returncode == 0, done.stderr
    written = {path.stem for path in (tmp_path / "parts").iterdir()}
    assert written == {*ELEMENTS, "published"}
    assert all(f'id="figure-figure-{number}"' in page.read_text() for number in (1, 2, 3))


def test_elements_are_of_the_papers_datasets(results):
    tables = paper_tables(results)
    # n of Table 1: four datasets with four queries each, and two encoders
    assert set(tables["table-1"]["queries"]) == {4 * 4 * 2}
    assert tables["table-1"].rows
    assert tables["table-2"]["method"][:2] == ["ptm:k=0.25,m=2", "ptm-attn:k=0.25,m=2"]
    assert len(set(tables["theta"]["dataset"])) == 14 + 1
    left, right = paper_figures(results)["figure-2"]().axes
    assert left.get_title(loc="left") == "ViDoRe v1, colqwen2.5-v0.2"
    assert right.get_title(loc="left") == "ViDoRe v1, colnomic-embed-multimodal-3b"
    assert left.get_ylabel() == "nDCG@5, mean of 10 datasets"


def test_ptm_is_drawn_with_an_m_for_each_dataset(results):
    axis = paper_figures(results)["figure-1"]().axes[0]
    lines = {line.get_label(): line for line in axis.lines}
    assert {"ptm k=any m=any", "adamerge k=any c_min=0.7", "adamerge k=any c_min=0.8"} <= set(lines)
    # more points than the six configurations: choices of an m for each of four datasets
    assert len(lines["ptm k=any m=any"].get_xdata()) > 7


def test_an_element_without_its_datasets_is_left_out(folder):
    only_v2 = evaluate.load(folder, ["vidore-v2"])
    assert list(paper_figures(only_v2)) == ["figure-1"]
    assert set(paper_tables(only_v2)) == {"table-1", "table-2", "efficiency", "published"}
    one = evaluate.load(folder, ["VidoreDocVQARetrieval"])
    with pytest.raises(BadInput, match="these results have neither whole: run experiments/paper"):
        evaluate.write_report(one, "never.html", paper=True)


def labels_beyond(axis):
    """The labels of ticks beyond the ends of an axis, which nobody sees."""
    low, high = sorted(axis.get_view_interval())
    ticks = axis.get_major_ticks()
    return [tick.label1 for tick in ticks if not low <= tick.get_loc() <= high]


def overlapping(figure):
    """Pairs of texts of a figure that cover each other."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    unseen = []
    for axes in figure.axes:
        unseen += labels_beyond(axes.xaxis) + labels_beyond(axes.yaxis)
    boxes = []
    for text in figure.findobj(Text):
        if text.get_text() and text not in unseen:
            box = Text.get_window_extent(text, renderer)  # without the line of an annotation
            boxes.append((text.get_text(), box))
    pairs = []
    for (one, first), (other, second) in combinations(boxes, 2):
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        down = min(first.y1, second.y1) - max(first.y0, second.y0)
        if across > 1 and down > 1:
            pairs.append((one, other))
    return pairs


def test_no_text_covers_another_with_two_long_names_and_fourteen_datasets(results):
    drawn = {name: draw() for name, draw in report_figures(results).items()}
    drawn |= {name: draw() for name, draw in paper_figures(results).items()}
    for name, figure in drawn.items():
        assert overlapping(figure) == [], name


def test_short_names_are_those_that_differ():
    assert short_encoder("nomic-ai/colnomic-embed-multimodal-3b") == "colnomic-embed-multimodal-3b"
    assert short_encoder("minilm") == "minilm"
    assert (
        short_dataset("Vidore2BioMedicalLecturesRetrieval:english")
        == "2 BioMedicalLectures:english"
    )
    assert short_dataset("VidoreDocVQARetrieval") == "DocVQA"
    assert short_dataset("zsh") == "zsh"
