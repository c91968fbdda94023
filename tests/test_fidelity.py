"""What methods keep of the order of uncompressed pages: by hand, by an oracle, and as the command prints it."""

import json
from pathlib import Path

import numpy as np
import pytest
from cli import call, lines, run
from scipy import stats

import adamerge as am
from adamerge.errors import BadInput, BadShape, Mismatch
from adamerge.fidelities import Drawing, draw_queries, measures
from adamerge.fidelities.bootstrap import mean_by_page, ratio_of_sums
from adamerge.fidelities.noise import NOISE, add_noise

RNG = np.random.default_rng(0)
KEYS = ["compression", "bytes_per_page", "agreement", "correlation", "mrr"]


def random_pages(count=15, n=24, d=16, grid=None, seed=0):
    rng = np.random.default_rng(seed)
    pages = []
    for i in range(count):
        centres = rng.normal(size=(6, d))
        vectors = centres[rng.integers(6, size=n)] + 0.3 * rng.normal(size=(n, d))
        pages.append(am.MultiVector(vectors, rng.random(n), grid=grid, id=f"page {i}"))
    return pages


class FirstRow:
    """Keep the first patch of a page: anything that takes a page is a method."""

    def __str__(self):
        return "first-row"

    def __call__(self, page):
        groups = np.full(len(page), -1, np.int32)
        groups[0] = 0
        return am.Compressed(page.vectors[:1], groups, page.extra, method=str(self), id=page.id)


# Three pages on two axes. A query [1, 0] scores 3, 2, 1 before, and with the first rows alone 0, 2, 1.
BY_HAND = [
    am.MultiVector([[0, 1], [3, 0]], id="a"),
    am.MultiVector([[2, 0], [0, 1]], id="b"),
    am.MultiVector([[1, 0], [0, 3]], id="c"),
]


def test_numbers_that_one_can_check_by_hand():
    (found,) = am.fidelity(BY_HAND, [FirstRow()], [[[1.0, 0.0]]], top=2)
    assert found.method == "first-row"
    assert found.compression.value == 0.5
    assert found.bytes_per_page.value == 4  # one row of two float16
    assert found.agreement.value == 0.5  # {a, b} became {b, c}
    # ranks of a, b, c: 3, 2, 1 before and 1, 3, 2 after: 1 - 6 (4 + 1 + 1) / (3 * 8)
    assert found.correlation.value == pytest.approx(-0.5)
    assert np.isnan(found.mrr.value)  # nobody knows the page of a query that was given
    assert np.isnan(found.theta)


def test_a_query_that_was_drawn_looks_for_its_page():
    """One patch of page c as the query: [1, 0] ranks c third before, second after; [0, 3] first before, last after."""
    before = np.array([[3.0, 2.0, 1.0], [3.0, 3.0, 9.0]], np.float32)
    after = np.array([[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]], np.float32)
    wanted = np.array([2, 2])
    np.testing.assert_allclose(measures.reciprocal_rank(before, wanted), [1 / 3, 1])
    np.testing.assert_allclose(measures.reciprocal_rank(after, wanted), [1 / 2, 1 / 3])


def test_of_equal_scores_the_first_pages_count():
    before = np.array([[1.0, 1.0, 1.0, 0.0]], np.float32)
    after = np.array([[0.0, 1.0, 1.0, 1.0]], np.float32)
    assert measures.agreement(before, after, top=2)[0] == 0.5  # {0, 1} and {1, 2}
    assert measures.reciprocal_rank(before, np.array([2]))[0] == 1 / 3
    assert np.isnan(measures.correlation(before, np.ones((1, 4), np.float32))[0])


@pytest.mark.parametrize("seed", range(20))
def test_rank_correlation_equals_scipy_with_ties_and_without(seed):
    rng = np.random.default_rng(seed)
    before, after = rng.normal(size=(2, 5, 30)).astype(np.float32)
    if seed % 2:
        before, after = before.round(), after.round(1)
    ours = measures.correlation(before, after)
    theirs = [stats.spearmanr(x, y)[0] for x, y in zip(before, after, strict=True)]
    np.testing.assert_allclose(ours, theirs, atol=1e-12)


def test_identity_keeps_everything():
    (found,) = am.fidelity(random_pages(), ["identity"])
    for name in ("agreement", "correlation"):
        estimate = getattr(found, name)
        assert (estimate.value, estimate.low, estimate.high) == (1, 1, 1)
    assert found.compression.value == 0
    assert found.mrr.value == pytest.approx(1)


def oracle(pages, method, queries, sources, top):
    """All measures by loops, explicit matrices and SciPy."""
    small = [am.compress(page, method=method) for page in pages]
    agreements, correlations, reciprocals = [], [], []
    for query, source in zip(queries, sources, strict=True):
        before = [(query @ page.vectors.T).max(1).sum() for page in pages]
        after = [(query @ page.stored.T).max(1).sum() for page in small]
        best_before, best_after = (set(np.argsort(-np.array(s))[:top]) for s in (before, after))
        agreements.append(len(best_before & best_after) / top)
        correlations.append(stats.spearmanr(before, after)[0])
        order = list(np.argsort(-np.array(after)))
        reciprocals.append(1 / (1 + order.index(source)))
    patches, stored = sum(map(len, pages)), sum(map(len, small))
    thetas = [page.cut.theta for page in small]
    return {
        "compression": 1 - stored / patches,
        "bytes_per_page": np.mean([2 * page.stored.size for page in small]),
        "agreement": np.mean(agreements),
        "correlation": np.mean(correlations),
        "mrr": np.mean(reciprocals),
        "theta": np.nanmedian(thetas),
    }


@pytest.mark.parametrize("method", ["height:h=6", "sem-cluster:m=4", "adamerge:c_min=0.3"])
def test_an_independent_oracle_agrees(method):
    pages = random_pages(grid=(4, 6))
    drawn = draw_queries(pages)
    queries = np.split(drawn.vectors, drawn.offsets[1:-1])
    want = oracle(pages, method, queries, drawn.pages, top=5)
    (found,) = am.fidelity(iter(pages), [method], top=5)
    assert (found.pages, found.queries) == (15, 150)
    for name in KEYS:
        estimate = getattr(found, name)
        assert estimate.value == pytest.approx(want[name], abs=1e-6), name
        assert estimate.low <= estimate.value <= estimate.high, name
    assert found.theta == pytest.approx(want["theta"])
    assert found.agreement.value < 1


def test_methods_are_measured_in_the_order_they_are_given():
    names = ["random:keep=0.3,seed=0", "identity", "sem-cluster:m=2"]
    together = am.fidelity(random_pages(), names)
    assert [found.method for found in together] == names
    for found, name in zip(together, names, strict=True):
        assert am.fidelity(random_pages(), [name]) == [found]


def test_the_same_seed_draws_the_same_queries_and_another_draws_others():
    pages = random_pages()
    one, again, other = (draw_queries(pages, Drawing(seed=seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.vectors, again.vectors)
    assert not np.array_equal(one.vectors, other.vectors)


def grid_page(rows, columns):
    """A page whose patches tell where they are: (row, column, 1)."""
    places = [(row, column, 1) for row in range(rows) for column in range(columns)]
    return am.MultiVector(places, grid=(rows, columns))


def test_a_strip_of_a_grid_never_goes_around_its_edge():
    drawing = Drawing(strip=(2, 3), per_page=200, noise=0)
    drawn = draw_queries([grid_page(4, 5)], drawing)
    corners = set()
    for query in np.split(drawn.vectors, drawn.offsets[1:-1]):
        top, left = query[0, :2]
        np.testing.assert_array_equal(query[:, 0] - top, [0, 0, 0, 1, 1, 1])
        np.testing.assert_array_equal(query[:, 1] - left, [0, 1, 2, 0, 1, 2])
        corners.add((top, left))
    assert corners == {(top, left) for top in range(3) for left in range(3)}


def test_without_a_grid_a_query_is_a_run_of_patches():
    page = am.MultiVector(np.arange(1, 21, dtype=np.float32)[:, None])
    drawn = draw_queries([page], Drawing(noise=0, per_page=100))
    for query in np.split(drawn.vectors[:, 0], drawn.offsets[1:-1]):
        np.testing.assert_array_equal(np.diff(query), [1, 1, 1])
    small = draw_queries([am.MultiVector([[1.0], [2.0]])], Drawing(noise=0, per_page=1))
    np.testing.assert_array_equal(small.vectors, [[1], [2]])


def test_queries_are_spread_over_pages_where_there_would_be_too_many():
    drawn = draw_queries(random_pages(count=30), Drawing(per_page=10, most=45))
    counts = np.bincount(drawn.pages, minlength=30)
    assert (len(drawn), counts.min(), counts.max()) == (45, 1, 2)
    assert len(set(draw_queries(random_pages(count=30), Drawing(most=12)).pages)) == 12


def test_noise_keeps_lengths_and_moves_the_median_patch_as_told():
    vectors = (3 * RNG.normal(size=(4000, 8))).astype(np.float32)
    moved = add_noise(vectors, NOISE, np.random.default_rng(5))
    lengths = np.linalg.norm(vectors, axis=1)
    np.testing.assert_allclose(np.linalg.norm(moved, axis=1), lengths, rtol=1e-5)
    cosines = (vectors * moved).sum(1) / lengths**2
    angles = np.arccos(cosines.clip(-1, 1))
    assert 0.05 < np.median(angles) < 0.075  # some of the noise is along the patch
    assert (angles > 0.3).mean() > 0.03  # a few patches are moved far, as in a second encoding
    assert add_noise(vectors, 0, np.random.default_rng(0)) is vectors


def second_encoding(pages):
    rng = np.random.default_rng(7)
    again = []
    for page in pages:
        noise = 0.01 * rng.normal(size=page.vectors.shape)
        again.append(am.MultiVector(page.vectors + noise, id=page.id))
    return again


def test_queries_of_a_second_encoding_look_for_the_page_of_their_id():
    pages = random_pages()
    shuffled = second_encoding(pages)[10:2:-1]
    (found,) = am.fidelity(pages, ["identity"], drawn_from=shuffled)
    assert found.mrr.value == 1
    assert found.queries == 80


def test_where_no_id_is_the_same_the_place_decides():
    pages = random_pages()
    renamed = [am.MultiVector(page.vectors, id=f"b{i}") for i, page in enumerate(pages[:5])]
    (found,) = am.fidelity(pages, ["identity"], drawn_from=renamed)
    assert found.mrr.value == 1


def test_pages_without_ids_are_matched_by_their_place():
    nameless = [am.MultiVector(page.vectors) for page in random_pages()]
    (found,) = am.fidelity(nameless, ["identity"], drawn_from=nameless[:5])
    assert found.mrr.value == 1


def test_a_second_encoding_of_other_pages_is_refused():
    pages = random_pages(count=12)
    half_known = [pages[0], am.MultiVector(pages[1].vectors, id="x")]
    with pytest.raises(Mismatch, match="drawn from page 'x', and no such page is compressed"):
        am.fidelity(pages, ["identity"], drawn_from=half_known)
    others = [am.MultiVector(page.vectors, id=f"b{i}") for i, page in enumerate([*pages, pages[0]])]
    with pytest.raises(Mismatch, match="drawn from 13 pages, and 12 others are compressed"):
        am.fidelity(pages, ["identity"], drawn_from=others)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"methods": []}, BadInput, "there is no method to compare"),
        ({"queries": []}, BadInput, "there is no query"),
        ({"queries": [[[1.0, 0.0]]]}, BadShape, "has 16 dimensions, and the queries have 2"),
        ({"queries": [[[1.0]], [[1.0, 0.0]]]}, BadInput, r"must have one width, got \[1, 2\]"),
        ({"top": 15}, BadInput, "15 pages are all among the best 15, .*, as --top 5"),
        ({"top": 0}, BadInput, "top must be at least 1"),
        ({"queries": [[[1.0]]], "drawn_from": []}, BadInput, "leave out one of queries and drawn"),
        ({"methods": ["nothing"]}, BadInput, "no method 'nothing'"),
    ],
)
def test_bad_input_is_refused_in_words(arguments, error, words):
    with pytest.raises((error, am.AdamergeError), match=words):
        am.fidelity(random_pages(), **{"methods": ["identity"], **arguments})


@pytest.mark.parametrize(
    "numbers", [{"strip": (0, 4)}, {"per_page": 0}, {"most": 0}, {"noise": -1}, {"noise": np.nan}]
)
def test_numbers_that_draw_nothing_are_refused(numbers):
    with pytest.raises(BadInput, match="must be"):
        Drawing(**numbers)


def test_an_interval_is_that_of_scipy():
    values = RNG.random(60)
    ours = ratio_of_sums(values, np.ones(60), seed=0)
    theirs = stats.bootstrap([values], np.mean, method="percentile", rng=0).confidence_interval
    assert ours.value == pytest.approx(values.mean())
    assert ours.low == pytest.approx(theirs.low, abs=0.01)
    assert ours.high == pytest.approx(theirs.high, abs=0.01)


def test_queries_of_one_page_are_drawn_together():
    """Ten pages of one value each: with a hundred queries a page the interval is as wide as with one."""
    values, pages = RNG.random(10), np.arange(10)
    few = mean_by_page(values, pages, seed=0)
    many = mean_by_page(np.repeat(values, 100), np.repeat(pages, 100), seed=0)
    assert (few.low, few.high) == (pytest.approx(many.low), pytest.approx(many.high))
    unknown = mean_by_page(np.full(3, np.nan), np.arange(3), seed=0)
    assert np.isnan(unknown.value)


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fidelity") / "vectors"
    am.write_vectors(folder, random_pages(), dtype="float32")
    return folder


def test_the_command_prints_a_row_a_method(vectors):
    result = run("fidelity", vectors, "--method", "identity", "--method", "sem-cluster:m=4")
    assert (result.returncode, result.stderr) == (0, "")
    title, head, first, second = result.stdout.splitlines()
    assert title == "15 pages, 150 queries"
    assert head.split()[:3] == ["method", "compression", "kB"]
    assert first.split()[:3] == ["identity", "0.0%", "0.8"]
    assert "1.000 [1.000, 1.000]" in first
    assert second.startswith("sem-cluster:m=4")


def test_json_has_every_measure_with_its_interval(vectors):
    result = run("fidelity", vectors, "--method", "adamerge:c_min=0.3", "--json")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["method"] == "adamerge:k=-0.25,c_min=0.3"
    for key in KEYS:
        assert found[f"{key}_low"] <= found[key] <= found[f"{key}_high"]
    assert {"theta", "theta_sd", "pages", "queries"} < found.keys()
    (same,) = am.fidelity(am.read_vectors(vectors), ["adamerge:c_min=0.3"])
    assert same.json() == found


def test_queries_of_people_are_read_or_encoded(vectors, tmp_path):
    np.savez(tmp_path / "q.npz", one=RNG.normal(size=(3, 16)), two=RNG.normal(size=(5, 16)))
    words = ("fidelity", vectors, "--method", "identity", "--json")
    (found,) = lines(call(*words, "--queries", tmp_path / "q.npz"))
    assert (found["queries"], found["agreement"], found["mrr"]) == (2, 1, None)
    asked = call(*words, "--query", "who signed?")
    assert "does not say which encoder made it: name it by --encoder" in asked.stderr
    both = call(*words, "--query", "who?", "--queries", tmp_path / "q.npz")
    assert (both.returncode, "leave out one of --queries, --query" in both.stderr) == (2, True)


def test_queries_in_words_go_to_the_encoder_that_made_the_pages():
    sample = Path(__file__).parent.parent / "examples" / "sample"
    words = ("fidelity", sample, "--method", "identity", "--top", 2, "--json")
    (found,) = lines(call(*words, "--query", "merge tree", "--query", "attention"))
    assert (found["pages"], found["queries"], found["correlation"]) == (4, 2, 1)


def test_a_second_encoding_of_another_file_and_a_strip(vectors, tmp_path):
    am.write_vectors(tmp_path / "b", second_encoding(random_pages()), dtype="float32")
    words = ("fidelity", vectors, "--method", "identity", "--json", "--drawn-from", tmp_path / "b")
    (found,) = lines(call(*words, "--strip", "2x2"))
    assert (found["queries"], found["mrr"]) == (150, 1)
    wrong = call(*words, "--strip", "4")
    assert (wrong.returncode, "as 1x4; got '4'" in wrong.stderr) == (2, True)
