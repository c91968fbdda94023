"""The inspector's page in a real browser, as people use it: mouse, keyboard, any width, any theme, any text."""

import re
from dataclasses import replace

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import PATIENCE
from conftest import random_page
from inspected import GRID, grid_page, picture, queries
from PIL import Image

import adamerge as am
from adamerge.html_file import to_json
from adamerge.inspector import Query
from adamerge.types import Word

pytestmark = pytest.mark.xdist_group("inspector")  # one browser, opened once a file
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>"


def test_the_cut_moves_by_mouse_and_by_keyboard(look):
    page = grid_page()
    opened = look(am.inspect(page, image=picture()))
    handle = opened.get_by_role("slider", name="Cut: merges made")
    made, last = (int(handle.get_attribute(f"aria-value{end}")) for end in ("now", "max"))
    assert made == am.compress(page).cut.merges
    handle.focus()
    for key, at in [
        ("ArrowRight", made + 1),
        ("ArrowLeft", made),
        ("PageUp", made + 10),
        ("Home", 0),
        ("End", last),
    ]:
        opened.keyboard.press(key)
        wanted = min(at, last)
        assert handle.get_attribute("aria-valuenow") == str(wanted)
        assert opened.locator(".group").count() == last + 1 - wanted
    assert "Cut by hand" in opened.locator("#changed").inner_text()
    box = opened.locator(".plot").bounding_box()
    opened.mouse.move(box["x"] + box["width"] * 0.9, box["y"] + 100)
    opened.mouse.down()
    opened.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 100, steps=4)
    opened.mouse.up()
    middle = int(handle.get_attribute("aria-valuenow"))
    assert 0.4 * last < middle < 0.6 * last
    assert opened.locator("#count").inner_text() == str(last + 1 - middle)


def test_a_group_is_outlined_and_told_of_by_mouse_and_by_keyboard(look):
    page = grid_page()
    small = am.compress(page)
    opened = look(am.inspect(page, image=picture()))
    number = int(np.bincount(small.groups[small.groups >= 0]).argmax())
    members = np.flatnonzero(small.groups == number)
    row, column = divmod(int(members[0]), GRID[1])
    box = opened.locator("#figure").bounding_box()
    opened.mouse.move(
        box["x"] + (column + 0.5) / GRID[1] * box["width"],
        box["y"] + (row + 0.5) / GRID[0] * box["height"],
    )
    told = opened.locator("#group").inner_text()
    assert opened.locator("#group b").inner_text() == f"Group {number + 1}"
    assert ", ".join(map(str, members)) in told
    assert f"{page.attention[members].sum() / page.attention.sum():.1%}" in told
    unit = page.vectors[members] / np.linalg.norm(page.vectors[members], axis=1, keepdims=True)
    mean = ((unit @ unit.T).sum() - len(unit)) / (len(unit) * (len(unit) - 1))
    assert f"{mean:.3f}" in told
    assert opened.locator(".ring path").first.get_attribute("d")
    opened.locator("#patches svg").focus()
    opened.keyboard.press("Home")
    opened.keyboard.press("ArrowRight")
    assert opened.locator("#group b").inner_text() == "Group 2"
    chosen = opened.get_by_role("option", selected=True)
    assert chosen.get_attribute("aria-label").startswith("Group 2: ")
    assert opened.locator("#patches svg").get_attribute("aria-activedescendant") == "group-1"


def test_a_pruned_patch_tells_that_it_was_pruned_and_its_attention(look):
    page = grid_page()
    small = am.compress(page)
    opened = look(am.inspect(page, image=picture()))
    pruned = np.flatnonzero(small.groups < 0)
    patch = int(pruned[0])
    row, column = divmod(patch, GRID[1])
    box = opened.locator("#figure").bounding_box()
    opened.mouse.move(
        box["x"] + (column + 0.5) / GRID[1] * box["width"],
        box["y"] + (row + 0.5) / GRID[0] * box["height"],
    )
    which = opened.locator("#group .which")
    assert which.text_content() == f"Patch {patch} was pruned"
    assert (
        f"{page.attention[patch] / page.attention.sum():.1%}"
        in opened.locator("#group").inner_text()
    )
    opened.locator("#patches svg").press("End")
    assert which.text_content() == f"Patch {pruned[-1]} was pruned"
    selected = opened.get_by_role("option", selected=True)
    assert selected.get_attribute("aria-label").startswith(f"Patch {pruned[-1]}: ")

    opened.get_by_text("All groups as a table").click()  # the mouse leaves the patch on its way
    opened.locator("#groups-table tbody th").first.wait_for()  # the table is drawn after the click
    rows = opened.locator("#groups-table tbody th").all_inner_texts()
    assert rows == [*(str(i + 1) for i in range(len(small))), *["pruned"] * len(pruned)]


def test_the_curve_comes_and_goes_with_what_pruning_leaves(look):
    page = am.MultiVector(random_page(12).vectors, [*range(1, 12), 99], grid=(3, 4))
    opened = look(am.inspect(page, "adamerge:k=3,c_min=0.1,stats=plain"))
    few = "Fewer than two patches are left after pruning, so there is nothing to merge."
    assert (opened.locator("#count").inner_text(), opened.locator("#curve-why").inner_text()) == (
        "1",
        few,
    )
    assert not opened.locator(".plot").is_visible()
    opened.locator("#k").press("Home")
    assert opened.locator(".plot").is_visible()
    assert opened.locator("#curve-why").inner_text() == ""
    assert opened.locator(".plot .sequence").bounding_box()["width"] > 200
    opened.locator("#k").press("End")
    assert opened.locator("#curve-why").inner_text() == few


def test_the_curve_of_a_height_stays_in_its_plot(look):
    page = grid_page()
    inspection = am.inspect(page, "height:h=0.8")
    assert inspection.steps[inspection.own].sequence.min() < -1  # 1 - h^2 / 2 is no cosine
    plot = look(inspection).locator(".plot")
    drawn = plot.locator(".sequence").bounding_box()
    frame = plot.bounding_box()
    assert drawn["y"] + drawn["height"] <= frame["y"] + frame["height"]
    curve = re.search(r'class="line" d="M(.*?)"', inspection.cliff_svg())[1]
    heights = [float(point.split()[1]) for point in curve.split("L")]
    assert max(heights) <= 400


def test_queries_that_have_no_room_are_told_of(look, monkeypatch):
    page, asked = grid_page(), queries(grid_page())
    shown = am.inspect(page, queries=asked)._data()
    least = len(to_json(shown | {"queries": [], "steps": [], "missing": {}, "too_few": ""})) + 30
    room = len(to_json(shown["steps"][shown["own"]])) + len(to_json(shown["queries"][0])) + 30
    monkeypatch.setattr("adamerge.inspector.page_json.MAX_CHARACTERS", least + room)
    monkeypatch.setattr("adamerge.inspector.page_json.MIN_PICTURE", 0)
    opened = look(am.inspect(page, queries=asked))
    assert opened.locator("#query option").count() == 1
    assert opened.locator("#queries-why").inner_text().startswith("A query is left out")
    assert opened.locator("#score").is_visible()


def test_layers_show_attention_and_what_was_pruned(look):
    page = grid_page()
    opened = look(am.inspect(page, "docpruner:k=0", image=picture()))
    kept = (am.compress(page, method="docpruner:k=0").groups >= 0).sum()
    opened.get_by_text("Kept", exact=True).click()
    assert (
        f"{kept} patches kept; {len(page) - kept} pruned" in opened.locator("#legend").inner_text()
    )
    opened.get_by_text("Attention", exact=True).click()
    heat = opened.locator(".heat path")
    assert heat.first.is_visible()
    low, high = np.quantile(page.attention, [0.25, 0.75])
    assert heat.count() == (page.attention / (high + 3 * (high - low)) > 0.02).sum()
    assert "does not merge" in opened.locator("#curve-why").inner_text()


def test_a_query_token_lights_the_page_and_marks_before_and_after(look):
    page = grid_page()
    opened = look(am.inspect(page, image=picture(), queries=queries(page)))
    opened.get_by_role("button", name="revenue").click()
    assert opened.get_by_role("button", name="revenue").get_attribute("aria-pressed") == "true"
    assert opened.locator("#layer-query").is_checked()
    assert opened.locator(".marks .before").is_visible()
    assert opened.locator(".marks .after").is_visible()
    first = opened.locator("#score").inner_text()
    assert re.match(r"Score \d+\.\d{3} before, \d+\.\d{3} after: (lost|gained) ", first)
    opened.get_by_role("combobox", name="Query").select_option("query 1")
    assert opened.locator("#score").inner_text() != first


def test_the_theme_follows_the_system_and_the_button(look):
    inspection = am.inspect(grid_page())
    ground = "getComputedStyle(document.body).backgroundColor"
    light, dark = look(inspection), look(inspection, dark=True)
    bright, night = light.evaluate(ground), dark.evaluate(ground)
    assert bright != night
    light.get_by_role("button", name="Dark theme").click()
    assert light.evaluate(ground) == night
    light.get_by_role("button", name="Light theme").click()
    assert light.evaluate(ground) == bright


def test_the_tab_key_reaches_everything_in_order(look):
    page = grid_page()
    opened = look(am.inspect(page, image=picture(), queries=queries(page)))
    reached = []
    for _ in range(14):
        opened.keyboard.press("Tab")
        reached.append(
            opened.evaluate(
                "(at => at.id || at.getAttribute('role') || at.tagName)(document.activeElement)"
            )
        )
    wanted = [
        "theme",
        "layer-groups",
        "listbox",
        "k",
        "floor",
        "slider",
        "SUMMARY",
        "SUMMARY",
        "query",
        "region",
        "BUTTON",
    ]
    assert reached[: len(wanted)] == wanted


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("method", ["adamerge", "identity"])
def test_axe_finds_nothing(look, dark, method):
    page = grid_page()
    opened = look(am.inspect(page, method, image=picture(), queries=queries(page)), dark=dark)
    for summary in opened.locator("summary").all():
        if summary.is_visible():
            summary.click()
    opened.get_by_role("button", name="revenue").click()
    opened.locator("#patches svg").focus()
    violations = Axe().run(opened).response["violations"]
    assert [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in violations] == []


@pytest.mark.parametrize("width", [360, 768, 2560])
def test_no_width_scrolls_sideways(look, width):
    page = replace(grid_page(), id="a-very-long-name-without-any-space-in-it-" * 4)
    asked = [replace(query, text="long words " * 30) for query in queries(page)]
    opened = look(am.inspect(page, image=picture(), queries=asked), width=width)
    for summary in opened.locator("summary").all():
        summary.click()
    assert opened.evaluate("document.documentElement.scrollWidth") <= width


def test_hostile_names_words_and_queries_are_text(look):
    page = replace(grid_page(), id=HOSTILE)
    words = tuple(
        Word(HOSTILE, (x / 9, y / 8, (x + 1) / 9, (y + 1) / 8)) for x in range(9) for y in range(8)
    )
    shown = am.Page(HOSTILE, picture(), words)
    opened = look(
        am.inspect(page, image=shown, queries=[Query(HOSTILE, page.vectors[:2], [HOSTILE, "b"])])
    )
    assert opened.locator("h1").inner_text() == HOSTILE
    assert opened.title() == f"{HOSTILE} · adamerge"
    opened.locator("#patches svg").focus()
    assert HOSTILE in opened.locator("#group").inner_text()
    assert opened.locator("#query").inner_text() == HOSTILE
    assert opened.locator(".token").first.inner_text() == HOSTILE
    assert opened.locator("img").count() == 1
    assert opened.locator("main b").filter(has_text=HOSTILE).count() == 0


def test_the_policy_refuses_scripts_and_requests_of_others(look):
    opened = look(am.inspect(grid_page()))
    tried = """async () => {
        const script = document.createElement("script");
        script.textContent = "window.owned = true";
        document.body.append(script);
        const answer = await fetch("data:text/plain,x").then(() => "answered", () => "refused");
        return [window.owned === true, answer];
    }"""
    assert opened.evaluate(tried) == [False, "refused"]
    assert all("Content Security Policy" in text for text in opened.wrong)
    opened.wrong.clear()


def test_a_notebook_shows_it_in_a_frame_of_its_own(chromium):
    inspection = am.inspect(grid_page(), image=picture())
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE)
    page.set_content(f"<body>{inspection._repr_html_()}</body>")
    frame = page.frame_locator("iframe")
    assert frame.locator("#count").inner_text() == str(len(inspection.small))
    assert page.locator("iframe").get_attribute("sandbox") == "allow-scripts"
    page.close()


def test_a_large_page_with_a_large_picture_stays_under_3_mb(look):
    page = random_page(1500, d=128, grid=(50, 30), id="large")
    noise = Image.effect_noise((2400, 4000), 90).convert("RGB")
    opened = look(
        am.inspect(page, image=noise, queries={f"query {i}": page.vectors[:20] for i in range(3)})
    )
    assert len(opened.content().encode()) < 3_000_000
    assert len(opened.evaluate("adamerge.settings()")["k"]) == 7
