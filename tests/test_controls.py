"""Controls have the size of what they are the controls of, and none of its choices."""

import numpy as np
import pytest

from adamerge.compress import link
from adamerge.compress.names import parse_method
from adamerge.errors import BadInput, UnknownName
from adamerge.evaluate.experiment.controls import (
    CONTROLS,
    compressor,
    parse_method_or_control,
    structureless,
)
from adamerge.evaluate.experiment.file_names import file_name

OF = [
    "adamerge:k=none,c_min=0.3",
    "adamerge:k=-0.25,c_min=0.3,unit=true",
    "adamerge-mean:k=0,c_min=0.5",
    "ptm",
    "docpruner",
    "sem-cluster:m=3,linkage=condensed",
    "sem-cluster:m=3,linkage=rows",
    "ptm-attn:k=-0.25,m=3,importance=density",
]


@pytest.fixture
def pages(make_page):
    return [make_page(n, id=f"page {n}") for n in (1, 2, 3, 17, 40, 41, 64)]


def sizes(entry, pages):
    compress = compressor(parse_method_or_control(entry), pages)
    return np.array([len(compress(page)) for page in pages])


@pytest.mark.parametrize("of", OF)
@pytest.mark.parametrize("control", ["random", "merge-page"])
def test_pages_have_the_size_they_have_in_the_method(control, of, pages):
    np.testing.assert_array_equal(sizes(f"{control}({of})", pages), sizes(of, pages))


@pytest.mark.parametrize("of", OF)
def test_one_height_for_all_pages_gives_the_same_total(of, pages):
    assert sizes(f"height({of})", pages).sum() == sizes(of, pages).sum()


@pytest.mark.parametrize("of", OF)
def test_one_ratio_for_all_pages_comes_as_did_you_mean_the_total_as_pages_allow(of, pages):
    assert 0 <= sizes(of, pages).sum() - sizes(f"merge-total({of})", pages).sum() < len(pages)


@pytest.mark.parametrize(
    ("of", "linkage"),
    [
        ("adamerge:k=none,c_min=0.3", "euclidean"),
        ("sem-cluster:m=3,linkage=rows", "rows"),
    ],
)
def test_one_height_is_one_height(of, linkage, pages):
    compress = compressor(parse_method_or_control(f"height({of})"), pages)
    last, following = [], []
    for page in pages[3:]:
        heights = link.ward(page.vectors, linkage).heights
        made = len(page) - len(compress(page))
        last += list(heights[:made][-1:])
        following += list(heights[made:][:1])
    assert max(last) < min(following)


@pytest.mark.parametrize(
    "of",
    [
        "adamerge:k=none,c_min=0.3,unit=true",
        "adamerge:k=none,c_min=0.3,importance=density",
        "ptm-attn:k=none,m=3,importance=density,unit=true",
        "sem-cluster:m=3,linkage=condensed",
        "sem-cluster:m=3,linkage=rows,unit=true",
    ],
)
def test_without_pruning_a_page_merged_to_the_same_size_is_the_method_itself(of, pages):
    control = compressor(parse_method_or_control(f"merge-page({of})"), pages)
    for page in pages:
        ours, theirs = parse_method(of)(page), control(page)
        np.testing.assert_array_equal(ours.groups, theirs.groups)
        np.testing.assert_array_equal(ours.vectors, theirs.vectors)


@pytest.mark.parametrize("control", ["merge-total", "height"])
def test_a_control_of_one_page_is_the_method_itself(control, make_page):
    of = "ptm-attn:k=-0.25,m=3,importance=density"
    page = make_page(64, id="one")
    ours, theirs = (
        parse_method(of)(page),
        compressor(parse_method_or_control(f"{control}({of})"), [page])(page),
    )
    np.testing.assert_array_equal(ours.groups, theirs.groups)
    np.testing.assert_array_equal(ours.vectors, theirs.vectors)


def test_a_page_without_structure_has_the_mean_and_covariance_of_the_page(make_page):
    page = make_page(4000, d=6)
    blind = structureless(page)
    np.testing.assert_allclose(blind.vectors.mean(axis=0), page.vectors.mean(axis=0), atol=0.08)
    np.testing.assert_allclose(np.cov(blind.vectors.T), np.cov(page.vectors.T), atol=0.12)
    np.testing.assert_array_equal(structureless(page).vectors, blind.vectors)


def test_a_single_vector_is_the_mean(pages):
    small = compressor(parse_method_or_control("mean-vector"), pages)(pages[3])
    np.testing.assert_allclose(small.vectors, [pages[3].vectors.mean(axis=0)], rtol=1e-5)


@pytest.mark.parametrize(
    "name",
    [
        *(f"{c}(adamerge:k=-0.25,c_min=0.6,unit=true)" for c in CONTROLS),
        "mean-vector",
        "bm25",
        "random:keep=0.5,seed=0",
    ],
)
def test_a_name_is_read_back(name, pages):
    assert str(parse_method_or_control(name)) == name
    assert parse_method_or_control(str(parse_method_or_control(name))) == parse_method_or_control(
        name
    )
    if "bm25" not in name:
        assert compressor(parse_method_or_control(name), pages)(pages[3]).method == name


def test_every_name_has_a_file_name_of_its_own():
    names = [
        "adamerge:k=-0.25,c_min=0.7",
        "adamerge:k=0.25,c_min=0.7",
        "a/b",
        "a@b",
        "a%40b",
        "a:b",
        "x y",
        "ä",
        "random(a:b)",
    ]
    assert len({file_name(name) for name in names}) == len(names)
    assert file_name("adamerge:k=-0.25,c_min=0.7") == "adamerge@k=-0.25,c_min=0.7"
    assert not any("/" in file_name(name) for name in names)


def test_what_is_no_control_is_refused():
    with pytest.raises(UnknownName, match="no method 'adamergee'"):
        parse_method_or_control("random(adamergee)")
    with pytest.raises(BadInput, match=r"write gaussian\(METHOD\); controls are bm25, gaussian"):
        parse_method_or_control("gaussian")
    with pytest.raises(BadInput, match="write bm25 alone"):
        parse_method_or_control("bm25(adamerge)")
    with pytest.raises(UnknownName, match="no method 'hights'"):
        parse_method_or_control("hights")
    with pytest.raises(UnknownName, match=r"no control 'hight' \(did you mean 'height'\?\)"):
        parse_method_or_control("hight(adamerge)")
