"""Plans: what is chosen for a budget, and what it is expected to lose."""

from dataclasses import replace
from pathlib import Path

import manual
import numpy as np
import pytest
from cli import call, lines

import adamerge as am
from adamerge.codes import encode
from adamerge.errors import BadInput, BadShape
from adamerge.plans import DTYPES, Target, spread, target_of
from adamerge.plans.linked_pages import link_pages
from adamerge.plans.loss_map import load_loss_map
from adamerge.plans.sample import draw_sample
from adamerge.plans.speeds import load_speeds

ROOT = Path(__file__).parent.parent
D = 16
FLOAT16_BYTES = 2 * D


def random_pages(count=40, seed=0, attention=True):
    """Pages of 20 to 39 patches around six centres each, with two extra rows."""
    rng = np.random.default_rng(seed)
    pages = []
    for number in range(count):
        n = 20 + number % 20
        centres = rng.normal(size=(6, D))
        vectors = centres[rng.integers(6, size=n)] + 0.3 * rng.normal(size=(n, D))
        weights = rng.random(n) if attention else None
        pages.append(am.MultiVector(vectors, weights, extra=vectors[:2], id=f"page {number}"))
    return pages


PAGES = random_pages()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("plan") / "vectors"
    am.write_vectors(path, PAGES, encoder={"name": "minilm"})
    return path


@pytest.fixture(scope="module")
def planned():
    return am.plan(PAGES, bytes_per_page=120, encoder="minilm", workers=1)


def mean_bytes(method):
    return np.mean([am.compress(page, method=method).bytes() for page in PAGES])


# ------------------------------------------------------------------------------------------------------- trees


@pytest.mark.parametrize("k", [None, -0.25])
@pytest.mark.parametrize("h", [0.3, 1.0, 50.0])
def test_a_linked_page_is_compressed_as_by_the_method_itself(h, k):
    method = am.Height(h=h, k=k)
    linked = link_pages(PAGES[:5], k, workers=1)
    for page, small in zip(PAGES, linked.compress(h, workers=1), strict=False):
        expected = method(page)
        np.testing.assert_array_equal(small.vectors, expected.vectors)
        np.testing.assert_array_equal(small.groups, expected.groups)
        assert small.method == str(method)


@pytest.mark.parametrize("rows", [4.0, 10.0, 20.5])
def test_the_height_for_a_number_of_rows_is_the_lowest_that_leaves_no_more(rows):
    linked = link_pages(PAGES, None, workers=1)
    h = linked.height_for(rows)

    def rows_at(height):
        small = linked.compress(height, workers=1)
        return np.mean([len(page.stored) for page in small])

    assert rows_at(h) <= rows < rows_at(h - 1e-4)


def test_no_height_leaves_less_than_a_row_and_the_extra_rows():
    linked = link_pages(PAGES, None, workers=1)
    assert linked.fewest_rows == 3
    assert linked.height_for(3) is not None
    assert linked.height_for(2.9) is None


# ------------------------------------------------------------------------------------------------------ sample


def test_a_sample_is_spread_over_all_pages():
    assert spread(3, 5) == [0, 1, 2]
    assert spread(10, 5) == [1, 3, 5, 7, 9]


def test_a_sample_of_a_list_has_pages_at_equal_distances():
    drawn = draw_sample(PAGES, 4, seed=0)
    assert [page.id for page in drawn] == ["page 5", "page 15", "page 25", "page 35"]


def test_every_page_of_an_iterator_may_be_drawn_and_their_order_stays():
    seen = set()
    for seed in range(100):
        numbers = [PAGES.index(page) for page in draw_sample(iter(PAGES), 5, seed)]
        assert numbers == sorted(numbers)
        assert len(set(numbers)) == 5
        seen.update(numbers)
    assert seen == set(range(len(PAGES)))


# ------------------------------------------------------------------------------------------------------ target


def test_a_total_is_shared_by_the_pages():
    assert target_of(total="50GB", corpus_pages=2_000_000) == Target("bytes_per_page", 25_000)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"total": "1GB"}, "number of pages"),
        ({"bytes_per_page": "20kB", "max_loss": 0.1}, "one target"),
        ({"bytes_per_page": "many"}, "a number and a unit"),
        ({"bytes_per_page": 0}, "above 0"),
        ({"compression": 1.0}, "is a share"),
        ({"max_loss": -0.1}, "0 to 1"),
        ({"max_vectors": float("nan")}, "above 0"),
    ],
)
def test_a_target_that_makes_no_sense_is_refused(given, words):
    with pytest.raises(BadInput, match=words):
        target_of(**given)


# -------------------------------------------------------------------------------------------------------- plan


def test_the_choice_for_bytes_fits_and_has_the_bytes_that_were_promised(planned):
    assert planned.chosen.bytes_per_page <= 120
    assert mean_bytes(planned.chosen.method) == pytest.approx(planned.chosen.bytes_per_page)


def test_the_choice_for_bytes_keeps_more_of_the_order_than_all_that_fit(planned):
    fitting = [row for row in planned.tried if row.bytes_per_page <= 120]
    assert planned.chosen.agreement == max(row.agreement for row in fitting)


@pytest.mark.parametrize("dtype", ["int8", "int4", "int2", "int1"])
def test_in_every_dtype_a_height_is_tried_that_uses_all_of_the_bytes(planned, dtype):
    in_dtype = [row for row in planned.tried if row.method.endswith(f"+{dtype}")]
    assert any(114 <= row.bytes_per_page <= 120 for row in in_dtype)


def test_pages_are_left_whole_where_there_is_room():
    found = am.plan(PAGES, bytes_per_page="1MB", workers=1)
    assert found.chosen.method == "identity"
    assert (found.chosen.agreement, found.chosen.expected_loss) == (1, 0)


@pytest.mark.parametrize(
    ("target", "value", "measure"),
    [("compression", 0.7, "compression"), ("max_vectors", 9, "rows_per_page")],
)
def test_the_choice_for_a_number_of_vectors_is_as_close_as_a_height_can_be(target, value, measure):
    found = am.plan(PAGES, **{target: value}, workers=1)
    assert getattr(found.chosen, measure) == pytest.approx(value, rel=0.05)


def test_the_choice_for_a_loss_is_the_smallest_that_loses_no_more():
    found = am.plan(PAGES, max_loss=0.05, workers=1)
    good = [row for row in found.tried if row.expected_loss <= 0.05]
    assert found.chosen.bytes_per_page == min(row.bytes_per_page for row in good)


def test_no_row_of_the_frontier_is_beaten_by_another_method(planned):
    for row in planned.rows:
        for other in planned.tried:
            is_smaller = other.bytes_per_page < row.bytes_per_page
            assert row.chosen or not (is_smaller and other.agreement >= row.agreement)


def test_pruning_is_tried_only_where_every_page_has_attention(planned):
    without = am.plan([*PAGES, *random_pages(1, attention=False)], workers=1)
    assert any("k=" in row.method for row in planned.tried)
    assert not any("k=" in row.method for row in without.tried)


def test_only_the_dtypes_that_are_allowed_are_tried():
    found = am.plan(PAGES, bytes_per_page=400, dtypes=["float16"], workers=1)
    assert not any("+" in row.method for row in found.tried)
    assert found.chosen.bytes_per_page <= 400


def test_a_target_that_nothing_meets_names_the_nearest():
    found = am.plan(PAGES, compression=0.99, workers=1)
    assert found.chosen is None
    assert found.nearest.compression == max(row.compression for row in found.tried)
    assert "nothing meets" in str(found)
    assert found.nearest.method in str(found)


def test_queries_of_people_have_a_map_of_their_own():
    queries = [page.vectors[:3] for page in PAGES[:20]]
    found = am.plan(PAGES, queries=queries, workers=1)
    assert (found.queries, found.are_drawn) == (20, False)
    with pytest.raises(BadShape, match="dimensions"):
        am.plan(PAGES, queries=[np.ones((2, 3))], workers=1)


def test_too_few_pages_are_refused():
    with pytest.raises(BadInput, match="at least 20 pages"):
        am.plan(PAGES[:19])


# -------------------------------------------------------------------------------------------------------- loss


@pytest.mark.parametrize("kind", ["drawn", "asked"])
def test_less_agreement_never_means_less_loss(kind):
    found = load_loss_map(kind)
    assert (np.diff(found.agreement) > 0).all()
    assert (np.diff(found.expected) <= 0).all()
    assert (found.low <= found.expected).all()
    assert (found.expected <= found.high).all()
    assert found.loss(1.0).expected == 0


# ------------------------------------------------------------------------------------------------ needs of stores


def test_a_row_says_what_its_pages_need_in_a_store():
    found = am.plan(PAGES, total="1MB", corpus_pages=8000, dtypes=["int4"], workers=1)
    needs = found.needs(found.chosen)
    sign_plane = encode(np.ones((1, D)), 1)
    assert needs.pages == 8000
    assert needs.memory_bytes == pytest.approx(8000 * found.chosen.bytes_per_page)
    assert needs.sign_plane_bytes == pytest.approx(
        8000 * found.chosen.rows_per_page * sign_plane.bytes
    )


def test_few_pages_and_whole_numbers_have_no_sign_planes():
    few = am.plan(PAGES, corpus_pages=4999, dtypes=["int4"], workers=1)
    whole = am.plan(PAGES, dtypes=["int8"], workers=1)
    for found in (few, whole):
        assert found.needs(found.rows[0]).sign_plane_bytes is None


def test_qdrant_takes_a_page_that_is_one_vector_below_its_limit():
    found = am.plan(PAGES, dtypes=["float16"], workers=1)
    needs = found.needs(found.rows[0])
    assert needs.qdrant_vectors == 65_535  # of 16 dimensions: 1,048,576 numbers are refused

    def fits(rows):
        return found.needs(replace(found.rows[0], most_rows=rows)).fits_qdrant

    assert (fits(65_535), fits(65_536)) == (True, False)
    assert not found.needs(replace(found.rows[0], dtype="int4")).fits_qdrant


def test_twice_the_pages_take_twice_as_long_to_build_and_only_known_encoders_have_hours():
    needs = []
    for count in (1000, 2000):
        found = am.plan(PAGES, corpus_pages=count, encoder="minilm", dtypes=["int8"], workers=1)
        needs.append(found.needs(found.rows[-1]))
    assert needs[1].build_hours == pytest.approx(2 * needs[0].build_hours)
    assert needs[1].encode_hours == pytest.approx(2 * needs[0].encode_hours)
    assert needs[0].search_seconds < needs[1].search_seconds

    unknown = am.plan(PAGES, encoder="vidore/colpali", dtypes=["int8"], workers=1)
    assert unknown.needs(unknown.rows[0]).encode_hours is None


def test_every_dtype_of_a_plan_has_a_measured_speed():
    speeds = load_speeds()
    assert speeds.search.keys() == speeds.store.keys() == set(DTYPES)


# ------------------------------------------------------------------------------------------------ command line


def test_the_command_prints_a_row_a_line_marks_the_choice_and_writes_a_page(folder, tmp_path):
    page = tmp_path / "plan.html"
    done = call("plan", folder, "--bytes-per-page", "300", "--json", "-o", page)
    assert "What to store for 300 bytes a page" in page.read_text(encoding="utf-8")
    rows = lines(done)
    assert done.returncode == 0
    assert next(row["bytes_per_page"] for row in rows if row["chosen"]) <= 300
    keys = ["method", "bytes_per_page", "compression", "agreement", "expected_loss", "low", "high"]
    needs = ["corpus_pages", "memory_bytes", "sign_plane_bytes", "fits_qdrant", "search_seconds"]
    assert {*keys, *needs, "build_hours", "encode_hours"} < set(rows[0])


def test_the_table_says_what_was_chosen_and_an_encoder_without_judgements_is_told(folder):
    done = call("plan", folder, "--total", "1MB", "--pages", "4000", "--encoder", "vidore/colpali")
    assert "<- chosen" in done.stdout
    assert "4,000 pages as " in done.stdout
    assert "not measured for this encoder" in done.stdout
    assert "extrapolated" in done.stderr


def test_the_command_fails_where_nothing_meets_the_target_and_says_what_is_nearest(folder):
    done = call("plan", folder, "--compression", "0.99")
    assert done.returncode == 1
    assert "nearest is height" in done.stderr


def test_a_store_of_compressed_pages_is_refused(tmp_path):
    with am.open_store(tmp_path / "small.store") as store:
        store.add(am.compress(page, method="height") for page in PAGES[:3])
    done = call("plan", tmp_path / "small.store")
    assert done.returncode == 1
    assert "plan on the files" in done.stderr


def test_a_budget_chooses_the_method_of_a_new_store_which_then_keeps_it(tmp_path):
    pdf = manual.make(tmp_path / "manual.pdf")
    words = (
        "index",
        pdf,
        "--store",
        tmp_path / "store",
        "--bytes-per-page",
        "400",
        "--thumbnail",
        0,
    )
    first = call(*words)
    assert first.returncode == 0, first.stderr
    with am.open_store(tmp_path / "store") as store:
        facts = store.facts()
    assert f"{facts['method']}+{facts['dtype']} for 400 bytes a page" in first.stderr
    assert 360 <= facts["bytes of vectors"] / facts["pages"] <= 400

    again = call(*words)
    assert f"goes on with {facts['method']}" in again.stderr


def test_a_large_budget_keeps_whole_pages_in_float16(tmp_path):
    pdf = manual.make(tmp_path / "manual.pdf")
    given = ("--total", "1GB", "--thumbnail", 0)
    done = call("index", pdf, "--store", tmp_path / "store", *given)
    assert done.returncode == 0, done.stderr
    with am.open_store(tmp_path / "store") as store:
        assert (store.about.method, store.about.dtype) == ("identity", "float16")


def test_a_budget_beside_a_method_is_refused_before_anything_is_written(tmp_path):
    given = ("--bytes-per-page", "400", "--method", "height")
    done = call("index", ROOT / "examples" / "sample.pdf", "--store", tmp_path / "store", *given)
    assert done.returncode == 2
    assert "leave out --method" in done.stderr
    assert not (tmp_path / "store").exists()
