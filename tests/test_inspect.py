"""The inspector's page in a real browser: what it shows is what the library computes, at every step."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from conftest import random_page
from inspected import grid_page, picture, queries

import adamerge as am
from adamerge.compress import cut
from adamerge.inspector.curve_svg import runner_up
from adamerge.inspector.group_colours import neighbours
from adamerge.inspector.k_sweep import make_step

pytestmark = pytest.mark.xdist_group("inspector")  # one browser, opened once a file
SAMPLE = Path(__file__).parent.parent / "examples" / "sample"


def same(found, wanted):
    """Numbers to the last bit; nan comes back from the browser as nan."""
    return found == wanted or (np.isnan(found) and np.isnan(wanted))


@pytest.mark.parametrize(
    "name",
    [
        "adamerge",
        "adamerge-mean:k=none,c_min=0.705",
        "adamerge:k=0.1,c_min=0.5,cut=floor",
        "adamerge:sequence=height",
        "adamerge:sequence=running-min,stats=plain",
        "adamerge:c_min=-0.5,importance=density",
    ],
)
def test_every_k_and_every_floor_gives_what_the_library_gives(look, name):
    hold_equal(look, grid_page(extra=np.ones((4, 16))), am.parse_method(name))


def test_so_does_a_page_of_real_words(look):
    hold_equal(look, next(am.read_vectors(SAMPLE)), am.AdaMerge())


TIES = {
    "one": np.eye(1),
    "two": np.eye(2),
    "two equal": np.ones((2, 3)),
    "five equal": np.ones((5, 3)),
    "four": np.eye(4),
}


@pytest.mark.parametrize("stop", ["cliff", "floor"])
@pytest.mark.parametrize("name", TIES)
def test_so_do_ties_and_the_smallest_pages(look, name, stop):
    page = am.MultiVector(TIES[name], np.arange(1, len(TIES[name]) + 1))
    hold_equal(look, page, am.AdaMerge(k=None, cut=stop))


@pytest.mark.parametrize("stop", ["cliff", "floor"])
def test_so_does_a_merge_right_on_the_floor(look, stop):
    sequence = make_step(random_page(24), am.AdaMerge(k=None)).sequence
    hold_equal(look, random_page(24), am.AdaMerge(k=None, c_min=float(sequence[12]), cut=stop))


def hold_equal(look, page, method):
    """Compare every k and every c_min a reader can choose with the library."""
    opened = look(am.inspect(page, method))
    settings = opened.evaluate("adamerge.settings()")
    assert settings["k"] == sorted(settings["k"], key=lambda k: -9 if k == "none" else float(k))
    assert len(settings["k"]) >= 7
    assert method.c_min in settings["c_min"]
    shown = opened.evaluate(
        "settings => settings.k.map((_, i) => settings.c_min.map((_, j) => adamerge.result(i, j)))",
        settings,
    )
    for k, row in zip(settings["k"], shown, strict=True):
        for c_min, found in zip(settings["c_min"], row, strict=True):
            small = replace(method, k=None if k == "none" else float(k), c_min=c_min)(page)
            assert found["groups"] == small.groups.tolist()
            assert found["merges"] == small.cut.merges
            assert same(found["theta"], small.cut.theta)
            assert same(found["gap"], small.cut.gap)
            assert (found["count"], found["bytes"]) == (len(small), small.bytes())
            assert found["compression"] == small.compression
            if method.cut == "cliff":
                sequence = make_step(
                    page, replace(method, k=None if k == "none" else float(k))
                ).sequence
                assert found["second"] == runner_up(sequence, small.cut, c_min).merges


@pytest.mark.parametrize(
    "name",
    ["ptm:m=2.5", "ptm-attn:k=0.1,m=3,rounding=floor", "docpruner", "sem-cluster:m=3", "random"],
)
def test_methods_without_a_floor_show_what_the_library_gives_at_every_k(look, name):
    page = grid_page()
    inspection = am.inspect(page, name)
    opened = look(inspection)
    for i, step in enumerate(inspection.steps):
        found, small = opened.evaluate(f"adamerge.result({i}, 0)"), step.method(page)
        assert found["groups"] == small.groups.tolist()
        assert found["merges"] == small.cut.merges
        assert same(found["theta"], small.cut.theta)
        assert same(found["gap"], small.cut.gap)
        assert found["bytes"] == small.bytes()


EVERY_CUT = """([step, last]) => Array.from({length: last + 1}, (_, t) =>
    [adamerge.result(step, adamerge.settings().own.floor, t), adamerge.colours(step, adamerge.settings().own.floor, t)])
"""


@pytest.mark.parametrize(
    "name",
    ["adamerge", "adamerge:sequence=running-min", "ptm:m=3", "sem-cluster:m=4,linkage=condensed"],
)
def test_every_place_of_the_handle_gives_the_groups_of_that_cut(look, name):
    inspection = am.inspect(grid_page(), name)
    opened = look(inspection)
    near = neighbours(inspection.boxes)
    for i, step in enumerate(inspection.steps):
        for made, (found, painted) in enumerate(
            opened.evaluate(EVERY_CUT, [i, len(step.sequence)])
        ):
            stop = cut.budget(
                step.tree, len(step.tree) - made, getattr(step.method, "sequence", "raw")
            )
            groups = np.full(len(inspection.page), -1)
            groups[step.kept] = cut.groups(step.tree, stop)
            assert found["groups"] == groups.tolist()
            assert same(found["theta"], stop.theta)
            assert same(found["gap"], stop.gap)
            for patch, others in enumerate(near):
                met = {groups[j] for j in others} - {-1, groups[patch]}
                assert groups[patch] < 0 or painted[groups[patch]] not in {painted[g] for g in met}


@dataclass(frozen=True)
class Pairs:
    """A method of somebody else's: two neighbours in a row make one, by their sum."""

    def __call__(self, page):
        groups = (np.arange(len(page)) // 2).astype(np.int32)
        sums = np.add.reduceat(page.vectors, np.arange(0, len(page), 2))
        return am.Compressed(sums, groups, page.extra, method="pairs", id=page.id)


@pytest.mark.parametrize(
    "name",
    [
        "adamerge",
        "adamerge:unit=true",
        "adamerge-mean:unit=true",
        "ptm:m=2",
        "docpruner:k=0",
        "identity",
        "random",
        Pairs(),
    ],
)
def test_queries_score_before_and_after_as_the_library_does(look, name):
    page = grid_page(extra=random_page(3, seed=9).vectors)
    asked = queries(page)
    inspection = am.inspect(page, name, queries=asked)
    opened = look(inspection)
    for i, step in enumerate(inspection.steps):
        for number, query in enumerate(asked):
            found = opened.evaluate(
                f"adamerge.answer({number}, {i}, adamerge.settings().own.floor)"
            )
            before = (query.vectors @ np.concatenate([page.vectors, page.extra]).T).max(axis=1)
            after = (query.vectors @ step.small.stored.T).max(axis=1)
            np.testing.assert_allclose(
                [row["before"]["value"] for row in found["rows"]], before, rtol=1e-5
            )
            np.testing.assert_allclose(
                [row["after"]["value"] for row in found["rows"]], after, rtol=1e-4, atol=1e-5
            )
            np.testing.assert_allclose(
                found["before"] - found["after"], (before - after).sum(), atol=1e-3
            )


def numbers(page):
    return {
        name: page.locator(f"#{name}").inner_text()
        for name in ("count", "compression", "bytes", "theta", "gap")
    }


def written(small):
    cells = [f"{v:.3f}" if v == v else "–" for v in (small.cut.theta, small.cut.gap)]
    values = [f"{len(small):,}", f"{small.compression:.1%}", f"{small.bytes():,}", *cells]
    return dict(zip(("count", "compression", "bytes", "theta", "gap"), values, strict=True))


def test_the_sliders_show_what_the_library_computes(look):
    page = grid_page()
    opened = look(am.inspect(page, image=picture()))
    assert numbers(opened) == written(am.compress(page))
    opened.locator("#k").focus()
    for k in (0.0, 0.25, 0.5):
        opened.keyboard.press("ArrowRight")
        assert numbers(opened) == written(am.AdaMerge(k=k)(page))
    opened.locator("#floor").focus()
    for i in range(1, 21):
        opened.keyboard.press("ArrowLeft")
        assert numbers(opened) == written(am.AdaMerge(k=0.5, c_min=(70 - i) / 100)(page))
    assert opened.locator("#method").inner_text() == "adamerge:k=0.5,c_min=0.5"
    opened.get_by_role("slider", name="Cut").press("ArrowRight")
    assert opened.locator("#method").inner_text() == "no method"
    opened.get_by_role("slider", name="Cut").press("ArrowLeft")
    assert opened.locator("#method").inner_text() == "adamerge:k=0.5,c_min=0.5"
    assert opened.locator("#floor").get_attribute("aria-valuetext") == "0.5"
    small, first = am.AdaMerge(k=0.5, c_min=0.5)(page), am.compress(page)
    change = f"{len(small) - len(first):+} vectors".replace("-", "−")
    assert change in opened.locator("#changed").inner_text()
    assert opened.locator("#live").inner_text().startswith(f"{len(small)} vectors kept, ")
    opened.get_by_role("button", name="Back to the method").click()
    assert numbers(opened) == written(first)
