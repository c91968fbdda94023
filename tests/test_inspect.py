"""The inspector's page in a real browser: what it shows is what the library computes, and people can use it."""

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from browser import launch
from conftest import random_page
from PIL import Image, ImageDraw

import adamerge as am
from adamerge.compress import cut
from adamerge.inspector import Query, colours
from adamerge.types import Word

HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>"
GRID = (8, 9)


def same(found, wanted):
    """Numbers to the last bit; nan comes back from the browser as nan."""
    return found == wanted or (np.isnan(found) and np.isnan(wanted))


@pytest.fixture(scope="module")
def chromium():
    with launch() as browser:
        yield browser


@pytest.fixture
def look(chromium, tmp_path):
    """Opens an inspection from disk; every request that would leave is refused and counted."""
    contexts = []

    def open_page(inspection, width=1280, height=900, dark=False):
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light"
        )
        contexts.append(context)
        context.set_default_timeout(20_000)
        page = context.new_page()
        page.leaving, page.wrong = [], []
        page.on("request", lambda r: r.url.startswith(("file:", "data:")) or page.leaving.append(r.url))
        page.route(re.compile("^(?!file:|data:)"), lambda route: route.abort())
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.on("console", lambda message: message.type == "error" and page.wrong.append(message.text))
        page.goto(inspection.save(tmp_path / "page.html").as_uri())
        return page

    yield open_page
    for context in contexts:
        assert all(page.leaving == page.wrong == [] for page in context.pages)
        context.close()


def picture():
    image = Image.new("RGB", (450, 400), "white")
    draw = ImageDraw.Draw(image)
    for y in range(20, 380, 24):
        draw.text((30, y), "Revenue by region, north and south", fill="black", font_size=20)
    return image


def grid_page(**fields):
    return random_page(GRID[0] * GRID[1], grid=GRID, id="report.pdf#3", **fields)


def queries(page, count=2):
    rng = np.random.default_rng(5)
    vectors = [
        page.vectors[i * 7 : i * 7 + 3] + 0.3 * rng.normal(size=(3, page.vectors.shape[1])) for i in range(count)
    ]
    return [Query(f"query {i}", v, ["revenue", "by", "region"]) for i, v in enumerate(vectors)]


@pytest.mark.parametrize(
    "name",
    [
        "adamerge",
        "adamerge-mean:k=none,c_min=0.705",
        "adamerge:k=0.1,c_min=0.5,cut=floor",
        "adamerge:sequence=height",
        "adamerge:sequence=raw,stats=plain",
        "adamerge:c_min=-0.5,importance=density",
    ],
)
def test_every_k_and_every_floor_gives_what_the_library_gives(look, name):
    page, method = grid_page(extra=np.ones((4, 16))), am.parse_method(name)
    opened = look(am.inspect(page, method))
    settings = opened.evaluate("adamerge.settings()")
    assert settings["k"] == sorted(settings["k"], key=lambda k: -9 if k == "none" else float(k))
    assert len(settings["k"]) >= 7
    assert method.c_min in settings["c_min"]
    shown = opened.evaluate(
        "settings => settings.k.map((_, i) => settings.c_min.map((_, j) => adamerge.result(i, j)))", settings
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


EVERY_CUT = """([step, last]) => Array.from({length: last + 1}, (_, t) =>
    [adamerge.result(step, adamerge.settings().own.floor, t), adamerge.colours(step, adamerge.settings().own.floor, t)])
"""


@pytest.mark.parametrize("name", ["adamerge", "adamerge:sequence=raw", "ptm:m=3", "sem-cluster:m=4,linkage=condensed"])
def test_every_place_of_the_handle_gives_the_groups_of_that_cut(look, name):
    inspection = am.inspect(grid_page(), name)
    opened = look(inspection)
    near = colours.neighbours(inspection.boxes)
    for i, step in enumerate(inspection.steps):
        for made, (found, painted) in enumerate(opened.evaluate(EVERY_CUT, [i, len(step.sequence)])):
            stop = cut.budget(step.tree, len(step.tree) - made, getattr(step.method, "sequence", "running-min"))
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
            found = opened.evaluate(f"adamerge.answer({number}, {i}, adamerge.settings().own.floor)")
            before = (query.vectors @ np.concatenate([page.vectors, page.extra]).T).max(axis=1)
            after = (query.vectors @ step.small.stored.T).max(axis=1)
            np.testing.assert_allclose([row["before"]["value"] for row in found["rows"]], before, rtol=1e-5)
            np.testing.assert_allclose([row["after"]["value"] for row in found["rows"]], after, rtol=1e-4, atol=1e-5)
            np.testing.assert_allclose(found["before"] - found["after"], (before - after).sum(), atol=1e-3)


def numbers(page):
    return {name: page.locator(f"#{name}").inner_text() for name in ("count", "compression", "bytes", "theta", "gap")}


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
    assert opened.locator("#floor").get_attribute("aria-valuetext") == "0.5"
    small, first = am.AdaMerge(k=0.5, c_min=0.5)(page), am.compress(page)
    change = f"{len(small) - len(first):+} vectors".replace("-", "−")
    assert change in opened.locator("#changed").inner_text()
    opened.get_by_role("button", name="Back to the method").click()
    assert numbers(opened) == written(first)


def test_the_cut_moves_by_mouse_and_by_keyboard(look):
    page = grid_page()
    opened = look(am.inspect(page, image=picture()))
    handle = opened.get_by_role("slider", name="Cut: merges made")
    made, last = (int(handle.get_attribute(f"aria-value{end}")) for end in ("now", "max"))
    assert made == am.compress(page).cut.merges
    handle.focus()
    for key, at in [("ArrowRight", made + 1), ("ArrowLeft", made), ("PageUp", made + 10), ("Home", 0), ("End", last)]:
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
        box["x"] + (column + 0.5) / GRID[1] * box["width"], box["y"] + (row + 0.5) / GRID[0] * box["height"]
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


def test_layers_show_attention_and_what_was_pruned(look):
    page = grid_page()
    opened = look(am.inspect(page, "docpruner:k=0", image=picture()))
    kept = (am.compress(page, method="docpruner:k=0").groups >= 0).sum()
    opened.get_by_text("Kept", exact=True).click()
    assert f"{kept} patches kept; {len(page) - kept} pruned" in opened.locator("#legend").inner_text()
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
            opened.evaluate("(at => at.id || at.getAttribute('role') || at.tagName)(document.activeElement)")
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
def test_axe_finds_nothing_serious(look, dark, method):
    page = grid_page()
    opened = look(am.inspect(page, method, image=picture(), queries=queries(page)), dark=dark)
    for summary in opened.locator("summary").all():
        if summary.is_visible():
            summary.click()
    opened.get_by_role("button", name="revenue").click()
    opened.locator("#patches svg").focus()
    violations = Axe().run(opened).response["violations"]
    serious = [
        f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in violations if v["impact"] in ("serious", "critical")
    ]
    assert serious == []


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
    words = tuple(Word(HOSTILE, (x / 9, y / 8, (x + 1) / 9, (y + 1) / 8)) for x in range(9) for y in range(8))
    shown = am.Page(HOSTILE, picture(), words)
    opened = look(am.inspect(page, image=shown, queries=[Query(HOSTILE, page.vectors[:2], [HOSTILE, "b"])]))
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
    page.set_content(f"<body>{inspection._repr_html_()}</body>")
    frame = page.frame_locator("iframe")
    assert frame.locator("#count").inner_text() == str(len(inspection.small))
    assert page.locator("iframe").get_attribute("sandbox") == "allow-scripts"
    page.close()


def test_a_large_page_with_a_large_picture_stays_under_3_mb(look):
    page = random_page(1500, d=128, grid=(50, 30), id="large")
    noise = Image.effect_noise((2400, 4000), 90).convert("RGB")
    opened = look(am.inspect(page, image=noise, queries={f"query {i}": page.vectors[:20] for i in range(3)}))
    assert len(opened.content().encode()) < 3_000_000
    assert len(opened.evaluate("adamerge.settings()")["k"]) == 7
