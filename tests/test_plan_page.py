"""The page of a plan in a real browser: its plot, its table, mouse, keyboard, any width, any theme."""

from dataclasses import replace
from math import floor

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import random_page

import adamerge as am

pytestmark = pytest.mark.xdist_group("inspector")  # one browser, opened once a file
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\"><b>"


@pytest.fixture(scope="module")
def planned():
    pages = [random_page(20 + i, seed=i, id=f"page {i}") for i in range(24)]
    return am.plan(pages, bytes_per_page=150, encoder="minilm", workers=1)


@pytest.fixture(scope="module")
def rows(planned):
    """The frontier as the page has it: fewest bytes first."""
    return sorted(planned.rows, key=lambda row: row.bytes_per_page)


def minus(text):
    return text.replace("-", "\N{MINUS SIGN}")


def figures(row):
    return [
        f"{floor(row.bytes_per_page + 0.5):,}",
        f"{floor(row.rows_per_page + 0.5):,}",
        f"{row.compression:.1%}",
        f"{row.agreement:.3f}",
        minus(f"{row.expected_loss:.3f}"),
        minus(f"{row.low:.3f} to {row.high:.3f}"),
    ]


def told(opened):
    return opened.locator("#method dd").all_inner_texts()


def test_the_choice_is_marked_and_told_of_first(look, planned):
    opened = look(planned)
    chosen = opened.get_by_role("option", selected=True)
    assert chosen.get_attribute("aria-label").startswith(f"{planned.chosen.method}, ")
    assert chosen.locator(".ring").count() == opened.locator(".plot .ring").count() == 1
    assert opened.locator("#method code").inner_text() == planned.chosen.method
    assert told(opened) == figures(planned.chosen)
    assert opened.locator("tr.selected .chosen").inner_text() == "chosen"
    assert opened.locator("#choice").inner_text() == str(planned)


def test_the_mouse_and_the_keyboard_tell_of_every_point(look, planned, rows):
    opened = look(planned)
    for number, row in enumerate(rows):
        opened.locator(f"#row-{number} circle").first.hover()
        assert opened.locator("#method code").inner_text() == row.method
        assert told(opened) == figures(row)

    plot = opened.get_by_role("listbox", name="Methods of the frontier")
    plot.focus()
    places = [("Home", 0), ("ArrowRight", 1), ("End", len(rows) - 1), ("ArrowLeft", len(rows) - 2)]
    for key, place in places:
        opened.keyboard.press(key)
        assert plot.get_attribute("aria-activedescendant") == f"row-{place}"
        assert told(opened) == figures(rows[place])


def test_points_lie_by_bytes_and_loss_and_the_target_between_them(look, planned, rows):
    opened = look(planned)
    circles = [opened.locator(f"#row-{i} circle").first for i in range(len(rows))]
    across = [float(circle.get_attribute("cx")) for circle in circles]
    down = [float(circle.get_attribute("cy")) for circle in circles]
    assert across == sorted(across)
    assert down == sorted(down)  # more bytes, less loss
    target = float(opened.locator(".plot .target").get_attribute("x1"))
    fitting = [x for x, row in zip(across, rows, strict=True) if row.bytes_per_page <= 150]
    assert max(fitting) <= target <= min(x for x in across if x not in fitting)


def test_the_tables_have_the_frontier_and_all_that_was_tried(look, planned, rows):
    opened = look(planned)
    cells = opened.locator("#frontier tbody td").all_inner_texts()
    assert cells == [text for row in rows for text in figures(row)]
    opened.get_by_text("All methods that were tried").click()
    names = opened.locator("#tried tbody th").all_inner_texts()
    assert sorted(names) == sorted(row.method for row in planned.tried)


def test_a_plan_without_a_choice_says_so(look, planned):
    rows = tuple(replace(row, chosen=False) for row in planned.rows)
    opened = look(replace(planned, chosen=None, nearest=planned.rows[-1], rows=rows))
    assert opened.locator("#choice").inner_text().startswith("nothing meets 150 bytes a page")
    assert opened.get_by_role("option", selected=True).count() == 0
    assert "No method is selected" in opened.locator("#method").inner_text()
    assert not opened.locator("#chosen-key").is_visible()


def test_an_encoder_without_judgements_is_told_and_its_name_is_text(look, planned):
    corpus = replace(planned.corpus, encoder=HOSTILE)
    opened = look(replace(planned, corpus=corpus, is_judged=False))
    assert f"No judged pages of {HOSTILE} are known" in opened.locator("#sample").inner_text()


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing(look, planned, dark):
    opened = look(planned, dark=dark)
    opened.locator("summary").click()
    opened.locator(".plot").focus()
    violations = Axe().run(opened).response["violations"]
    assert [f"{v['id']}: {v['nodes'][0]['html'][:200]}" for v in violations] == []


@pytest.mark.parametrize("width", [360, 768, 2560])
def test_no_width_scrolls_sideways(look, planned, width):
    opened = look(planned, width=width)
    opened.locator("summary").click()
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    box = opened.locator(".plot").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= width
