"""The inspector without a browser: what is known of nodes, where patches lie, which page is meant, what is written."""

import json
import re
import xml.etree.ElementTree as ET
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from cli import call
from conftest import random_page
from PIL import Image

import adamerge as am
from adamerge.compress import cut, link, pool
from adamerge.errors import AdamergeError, BadInput, BadShape
from adamerge.geometry import cells
from adamerge.inspector import Query, page_address
from adamerge.inspector.curve_svg import runner_up
from adamerge.inspector.group_colours import neighbours, node_colours
from adamerge.inspector.k_sweep import floor_choices, make_step, sweep_k
from adamerge.inspector.node_statistics import mean_cosines, pooled_lengths
from adamerge.inspector.page_json import which_fit
from adamerge.inspector.patch_positions import (
    covering_patches,
    is_tiled,
    locate,
    words_on_patches,
)
from adamerge.types import Cut, Word

EXAMPLES = Path(__file__).parent.parent / "examples"


def embedded(inspection):
    return json.loads(re.search(r'id="data">(.*?)</script>', inspection.html, re.DOTALL)[1])


@pytest.mark.parametrize("n", [1, 2, 3, 24])
@pytest.mark.parametrize("placed", [False, True])
def test_every_method_can_be_inspected(method, n, placed):
    page = random_page(n, grid=(1, n) if placed else None)
    inspection = am.inspect(page, method, queries={"a query": page.vectors[:1]})
    small = method(page)
    np.testing.assert_array_equal(inspection.small.groups, small.groups)
    assert len(embedded(inspection)["steps"]) == len(inspection.steps)
    step = inspection.steps[inspection.own]
    if step.tree is not None:
        np.testing.assert_array_equal(cut.groups(step.tree, len(small)), small.groups[step.kept])


def test_what_does_not_apply_is_said_in_a_sentence():
    bare = am.MultiVector(random_page(9).vectors)
    why = embedded(am.inspect(bare, "adamerge:k=none"))["missing"]
    assert set(why) == {"k", "attention", "picture", "queries"}
    assert "without attention" in why["k"]
    assert set(embedded(am.inspect(bare, "sem-cluster"))["missing"]) == {
        "floor",
        "k",
        "attention",
        "picture",
        "queries",
    }
    full = am.inspect(
        random_page(9, grid=(3, 3)), "identity", Image.new("RGB", (9, 9)), {"q": np.eye(16)}
    )
    assert set(embedded(full)["missing"]) == {"curve", "floor", "k"}


@dataclass(frozen=True)
class First:
    """A method of somebody else's."""

    def __call__(self, page):
        groups = np.zeros(len(page), np.int32)
        return am.Compressed(page.vectors[:1], groups, method="first", id=page.id)


def test_a_method_of_somebody_elses_is_shown_as_it_made_its_groups():
    shown = embedded(am.inspect(random_page(9, grid=(3, 3)), First()))
    assert "not one of the library's own" in shown["missing"]["curve"]
    assert shown["rule"] == "own"


def test_the_steps_over_k_have_the_methods_own_among_them():
    names = [str(step.method) for step in sweep_k(random_page(30), am.AdaMerge(k=0.1))]
    assert names[0] == "adamerge:k=none,c_min=0.7"
    assert names[5] == "adamerge:k=0.1,c_min=0.7"
    assert len(names) == 8
    assert next(sweep_k(random_page(30), am.DocPruner())).method.k == -0.75


def test_floors_hold_the_methods_own():
    assert floor_choices(am.AdaMerge(c_min=0.705))[:3] == [0, 0.01, 0.02]
    assert 0.705 in floor_choices(am.AdaMerge(c_min=0.705))
    assert floor_choices(am.AdaMerge(c_min=-0.3))[0] == -1
    assert floor_choices(am.Identity()) == []


def test_alike_and_lengths_of_nodes_are_those_of_their_patches():
    page = random_page(20, d=5)
    weights = page.attention.copy()
    weights[:4] = 0
    tree = link.ward(page.vectors)
    alike, lengths = mean_cosines(tree, page.vectors), pooled_lengths(tree, page.vectors, weights)
    unit = page.vectors / np.linalg.norm(page.vectors, axis=1, keepdims=True)
    members = [[i] for i in range(20)]
    for a, b in tree.merges:
        members.append(members[a] + members[b])
    for node, mine in enumerate(members):
        pairs = [unit[i] @ unit[j] for i in mine for j in mine if i != j]
        assert alike[node] == pytest.approx(np.mean(pairs) if pairs else 1, abs=1e-5)
        groups = np.array([0 if i in mine else -1 for i in range(20)], np.int32)
        assert lengths[node] == pytest.approx(
            np.linalg.norm(pool.weighted(page.vectors, groups, weights)), rel=1e-5
        )


def test_cells_of_a_grid_are_neighbours_across_sides_and_corners():
    near = neighbours(cells(3, 3))
    assert near[4] == {0, 1, 2, 3, 5, 6, 7, 8}
    assert near[0] == {1, 3, 4}


def test_a_crowd_of_neighbours_gets_more_colours_than_the_palette_has():
    near = [set(range(40)) - {i} for i in range(40)]
    assert len(set(node_colours(near, np.zeros((0, 2), np.int32)))) == 40


def test_a_merge_keeps_the_colour_of_its_larger_part_if_it_can():
    merges = np.array([[0, 1], [2, 3]], np.int32)
    found = node_colours([set(), set(), set()], merges)
    assert found[3] in found[:2]
    assert found[4] == found[3]


def test_pieces_of_a_word_share_its_box():
    page = am.MultiVector(np.eye(3), boxes=[[0, 0, 0.5, 0.1], [0, 0, 0.5, 0.1], [0.5, 0, 1, 0.1]])
    boxes, placed = locate(page)
    assert placed
    np.testing.assert_allclose(boxes[:, [0, 2]], [[0, 0.25], [0.25, 0.5], [0.5, 1]])


def test_patches_without_a_place_are_laid_out_in_order():
    boxes, placed = locate(am.MultiVector(np.eye(5)))
    assert not placed
    np.testing.assert_allclose(boxes[3], [0, 0.5, 1 / 3, 1], rtol=1e-6)


def test_cells_lie_side_by_side_and_words_do_not():
    page = next(am.read_vectors(EXAMPLES / "sample"))
    assert is_tiled(cells(4, 5))
    assert not is_tiled(locate(page)[0])
    assert covering_patches(locate(page)[0]) == []


def test_patches_over_a_tiled_page_are_told_from_its_tiles():
    assert covering_patches(np.concatenate([cells(6, 6), cells(2, 2)])) == [
        36,
        37,
        38,
        39,
    ]
    assert covering_patches(cells(6, 6)) == []


def test_boxes_in_pixels_are_refused():
    with pytest.raises(BadInput, match="parts of the page, 0 to 1, got 0 to 300: divide pixels"):
        am.inspect(am.MultiVector([[1.0]], boxes=[[0, 0, 300, 20]]), "identity")


def test_words_go_to_the_patch_that_holds_them_or_to_the_pieces_they_hold():
    words = [Word("small", (0.1, 0.1, 0.2, 0.2)), Word("wide", (0.5, 0, 1, 0.5))]
    boxes = np.array([[0, 0, 0.5, 0.5], [0.5, 0, 0.6, 0.5], [0, 0.5, 0.5, 1]], np.float32)
    assert words_on_patches(boxes, words) == ["small", "wide", ""]


def test_the_runner_up_is_the_second_widest_drop_above_the_floor():
    sequence = np.array([0.9, 0.85, 0.8, 0.6, 0.58, 0.1])
    stop = cut.cliff(sequence, 0.7)
    assert stop.merges == 3
    assert runner_up(sequence, stop, 0.7).merges == 1
    assert runner_up(sequence[:2], Cut(1), 0.7) == Cut()


def test_the_figure_of_the_cliff_is_svg_that_says_what_it_shows():
    inspection = am.inspect(random_page(30, id='a <b> & "c"'))
    figure = ET.fromstring(inspection.cliff_svg())
    label = figure.attrib["aria-label"]
    assert 'a <b> & "c"' in label
    assert f"theta {inspection.small.cut.theta:.3f}" in label
    with pytest.raises(BadInput, match="no curve: This method does not merge"):
        am.inspect(random_page(30), "docpruner").cliff_svg()


def test_what_does_not_fit_goes_from_the_far_end():
    assert which_fit(["aa"] * 7, room=12, first=3) == [
        2,
        3,
        4,
    ]  # four characters each, with their quotes
    assert which_fit(["aa", "a" * 99, "aa"], room=12) == [0]
    assert which_fit(["aa"], room=3) == []


@pytest.mark.parametrize(("n", "asked", "vectors"), [(1024, 24, 24), (5000, 4, 40)])
def test_a_file_stays_under_3_mb_and_says_what_it_leaves_out(n, asked, vectors):
    page = random_page(n, grid=(n // 8, 8))
    noise = Image.effect_noise((800, 1200), 90).convert("RGB")
    inspection = am.inspect(
        page, image=noise, queries={f"query {i}": page.vectors[:vectors] for i in range(asked)}
    )
    shown = embedded(inspection)
    assert len(inspection.html.encode()) < 3_000_000
    assert shown["steps"][shown["own"]]["k"] == "-0.25"
    left = asked - len(shown["queries"])
    assert (left > 0) == (asked > 0)
    if left:
        assert shown["queries"][0]["text"] == "query 0"
        assert re.match(rf"({left} queries are|A query is) left out", shown["missing"]["queries"])


def test_every_k_that_has_no_room_is_left_out_but_the_methods_own(monkeypatch):
    monkeypatch.setattr("adamerge.inspector.page_json.MAX_CHARACTERS", 500_000)
    page = random_page(2000, grid=(250, 8))
    noise = Image.effect_noise((800, 1200), 90).convert("RGB")
    inspection = am.inspect(page, image=noise)
    shown = embedded(inspection)
    assert len(inspection.html.encode()) < 600_000
    assert 0 < len(shown["steps"]) < len(inspection.steps)
    assert shown["steps"][shown["own"]]["k"] == "-0.25"


def test_wrong_queries_images_and_pages_are_refused():
    page = random_page(9)
    with pytest.raises(BadShape, match=r"query 'q' has shape \(2, 3\), the page \(9, 16\)"):
        am.inspect(page, queries={"q": np.ones((2, 3))})
    with pytest.raises(BadShape, match="query 'q' has 2 vectors and 1 tokens"):
        Query("q", np.ones((2, 3)), ["one"])
    with pytest.raises(BadInput, match="PIL image, a Page or a file, got int"):
        am.inspect(page, image=7)
    with pytest.raises(BadInput, match="wants a MultiVector, got ndarray"):
        am.inspect(page.vectors)


def test_a_page_is_found_by_what_a_person_types(tmp_path):
    odd = tmp_path / "a#1.png"
    Image.new("RGB", (30, 20)).save(odd)
    assert page_address.split(f"{odd}") == (odd, "")
    assert page_address.read_page(f"{odd}#1").id == "a#1.png"
    assert page_address.read_page(f"{EXAMPLES}/sample.pdf#3").id == "sample.pdf#3"
    assert page_address.read_patches(f"{EXAMPLES}/sample#sample.pdf#2").id == "sample.pdf#2"
    assert page_address.encoder_of(f"{EXAMPLES}/sample").name == "minilm"
    am.write_vectors(tmp_path / "small", am.compress_pages([random_page(9, id="x")]))
    for where, words in {
        "nowhere.pdf#1": "nowhere.pdf does not exist",
        f"{EXAMPLES}/sample.pdf#9": "has no page 9",
        f"{EXAMPLES}/sample.pdf#x": "a number from 1 on, got 'x'",
        f"{EXAMPLES}/sample.pdf": "has several pages: say",
        f"{EXAMPLES}/README.md": "is no page: expected one of",
    }.items():
        with pytest.raises(AdamergeError, match=words):
            page_address.read_page(where)
    with pytest.raises(BadInput, match=r"has no page 'x'; it has sample.pdf#1, sample.pdf#2"):
        page_address.read_patches(f"{EXAMPLES}/sample#x")
    with pytest.raises(BadInput, match="is compressed already"):
        page_address.read_patches(f"{tmp_path}/small")


def run(*words, cwd):
    with chdir(cwd):
        return call("inspect", *words)


def test_the_command_writes_a_page_and_a_figure(tmp_path):
    page = f"{EXAMPLES}/sample.pdf#3"
    done = run(
        page, "-o", "page.html", "--svg", "c.svg", "--query", "where is the tree cut?", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert re.match(r"c.svg  [\d,]+ bytes\npage.html  [\d,]+ bytes\n$", done.stdout)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.svg", "page.html"]
    shown = json.loads(
        re.search(r'id="data">(.*?)</script>', (tmp_path / "page.html").read_text(), re.DOTALL)[1]
    )
    assert shown["queries"][0]["tokens"] == ["where", "is", "the", "tree", "cut", "?"]
    assert "cliff." in shown["words"]
    assert (tmp_path / "page.html").stat().st_size < 3_000_000


def test_the_command_takes_vectors_with_a_picture_and_needs_no_encoder(tmp_path):
    vectors, picture = f"{EXAMPLES}/sample#sample.pdf#1", f"{EXAMPLES}/sample.pdf#1"
    done = run(
        vectors, "--image", picture, "-o", "page.html", "--method", "sem-cluster:m=4", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "data:image/jpeg" in (tmp_path / "page.html").read_text()


def test_the_command_says_what_is_missing(tmp_path):
    assert run(f"{EXAMPLES}/sample#sample.pdf#1", cwd=tmp_path).returncode == 2
    np.savez(tmp_path / "one.npz", vectors=np.eye(4))
    done = run("one.npz", "-o", "page.html", "--query", "x", "--method", "identity", cwd=tmp_path)
    assert done.returncode == 1
    assert (
        done.stderr == "adamerge: a query needs --encoder: the vectors do not say what made them\n"
    )
    done = run(f"{EXAMPLES}/sample.pdf#1", "--image", "x.png", "-o", "page.html", cwd=tmp_path)
    assert "--image goes with vectors" in done.stderr
    assert not (tmp_path / "page.html").exists()


def test_files_of_the_page_stay_small():
    files = list(Path(am.__file__).parent.glob("*/web/**/*.*s"))
    assert len(files) > 20
    for path in files:
        assert len(path.read_text().splitlines()) <= 400, path.name


def test_a_step_knows_its_survivors():
    step = make_step(random_page(12), am.DocPruner(k=0))
    np.testing.assert_array_equal(step.kept, np.flatnonzero(step.small.groups >= 0))
    assert len(step.sequence) == 0
