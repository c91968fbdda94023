from dataclasses import dataclass, fields

import numpy as np
import pytest
from conftest import EVERY_METHOD
from hypothesis import given
from hypothesis import strategies as st

import adamerge as am
from adamerge.compress.names import METHODS, Name, read_name
from adamerge.errors import BadInput, UnknownName


@pytest.mark.parametrize("name", EVERY_METHOD)
def test_a_name_reads_back_as_its_method(name):
    method = am.parse_method(name)
    assert am.parse_method(str(method)) == method
    assert str(am.parse_method(str(method))) == str(method)


@given(st.floats(-3, 3), st.floats(-1, 1), st.sampled_from(["attention", "mean"]), st.booleans())
def test_any_options_survive_the_way_through_a_name(k, c_min, pool, unit):
    method = am.AdaMerge(k=k, c_min=c_min, pool=pool, unit=unit)
    assert am.parse_method(str(method)) == method


@pytest.mark.parametrize(
    ("method", "name"),
    [
        (am.Identity(), "identity"),
        (am.Random(keep=0.1), "random:keep=0.1,seed=0"),
        (am.DocPruner(k=-0.25), "docpruner:k=-0.25"),
        (am.SemCluster(m=9), "sem-cluster:m=9"),
        (am.PruneThenMerge(k=0, m=1.2), "ptm:k=0,m=1.2"),
        (am.PruneThenMerge(k=0, m=2, pool="attention"), "ptm-attn:k=0,m=2"),
        (am.AdaMerge(), "adamerge:k=-0.25,c_min=0.7"),
        (am.AdaMerge(k=None, pool="mean"), "adamerge-mean:k=none,c_min=0.7"),
        (am.AdaMerge(cut="floor", unit=True), "adamerge:k=-0.25,c_min=0.7,cut=floor,unit=true"),
    ],
    ids=str,
)
def test_the_name_of_a_method(method, name):
    assert str(method) == name
    assert am.parse_method(name) == method


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("identity", Name("identity")),
        ("adamerge:k=0,unit=true", Name("adamerge", {"k": "0", "unit": "true"})),
        ("random(adamerge:k=0)", Name("adamerge", {"k": "0"}, "random")),
        ("of-nobody:mode=a:b", Name("of-nobody", {"mode": "a:b"})),
        ("identity+int1", Name("identity", dtype="int1")),
        ("height:h=1.05+int4", Name("height", {"h": "1.05"}, dtype="int4")),
        ("height:h=1e+1+int4", Name("height", {"h": "1e+1"}, dtype="int4")),
        ("random(adamerge:k=0)+int8", Name("adamerge", {"k": "0"}, "random", "int8")),
    ],
)
def test_a_name_is_taken_apart_and_put_together(text, name):
    assert read_name(text) == name
    assert str(name) == text


def test_the_order_of_options_makes_no_other_name():
    one, other = read_name("adamerge:k=0,c_min=0.7"), read_name(" adamerge : c_min=0.7, k=0")
    assert one == other
    assert len({one, other}) == 1
    assert one != read_name("random(adamerge:k=0,c_min=0.7)")
    assert one != one.but(k=None)


def test_methods_are_values():
    assert am.AdaMerge(k=0.5) == am.AdaMerge(k=np.float32(0.5))
    assert len({am.AdaMerge(), am.AdaMerge(k=-0.25), am.AdaMerge(k=1)}) == 2
    assert str(am.DocPruner(k=-0.25)) != str(am.DocPruner(k=0.25))


def test_whole_numbers_are_exact_and_zero_has_no_sign():
    assert am.parse_method(str(am.Random(seed=2**53 + 1))).seed == 2**53 + 1
    assert str(am.DocPruner(k=-0.0)) == str(am.DocPruner(k=0.0)) == "docpruner:k=0"
    with pytest.raises(BadInput, match="k must be a number"):
        am.DocPruner(k=10**400)


def test_spaces_and_case_of_none_do_not_matter():
    assert am.parse_method(" adamerge: k=None , c_min=0.8") == am.AdaMerge(k=None, c_min=0.8)


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        (
            "docpuner",
            UnknownName,
            "no method 'docpuner' (did you mean 'docpruner'?); choose from identity",
        ),
        ("", UnknownName, "no method ''"),
        ("adamerge(", BadInput, "'adamerge(' is no name: write METHOD:OPTION=VALUE"),
        ("random(height(adamerge))", BadInput, "is no name"),
        ("adamerge:k=0)", BadInput, "is no name"),
        (
            "random(adamerge:k=0)",
            BadInput,
            "'random(adamerge:k=0)' is a control, for evaluations: write the method alone, adamerge",
        ),
        (
            "adamerge:c_mn=0.7",
            UnknownName,
            "adamerge has no option 'c_mn' (did you mean 'c_min'?); it has k, c_min, cut",
        ),
        ("adamerge:pool=mean", UnknownName, "adamerge has no option 'pool'"),
        ("identity:k=1", UnknownName, "identity has no option 'k'; it has none"),
        ("adamerge:k", BadInput, "write option 'k' once, as k=VALUE"),
        ("adamerge:k=1,k=2", BadInput, "write option 'k' once"),
        ("adamerge:k=high", BadInput, "AdaMerge: k must be a number or none, got 'high'"),
        ("adamerge:k=nan", BadInput, "k must be a number or none"),
        ("docpruner:k=none", BadInput, "DocPruner: k must be a number, got 'none'"),
        ("random:seed=1.5", BadInput, "Random: seed must be a whole number of at most 18 digits"),
        (f"random:seed={10**18}", BadInput, "seed must be a whole number of at most 18 digits"),
        (f"random:seed={10**400}", BadInput, "seed must be a whole number of at most 18 digits"),
        ("random:seed=-1", BadInput, "seed must not be negative"),
        ("random:keep=0", BadInput, "keep is a share"),
        ("adamerge:c_min=1.5", BadInput, "c_min is a cosine"),
        ("adamerge:cut=steep", BadInput, "AdaMerge: cut must be cliff or floor, got 'steep'"),
        ("adamerge:sequence=", BadInput, "sequence must be raw or running-min or height"),
        ("adamerge:unit=1", BadInput, "unit must be true or false, got '1'"),
        ("sem-cluster:m=0.5", BadInput, "m must be at least 1"),
        ("ptm:m=0", BadInput, "m must be at least 1"),
    ],
)
def test_a_name_that_means_nothing_is_refused(name, error, words):
    with pytest.raises(error) as caught:
        am.parse_method(name)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"k": True}, {"k": [1]}, {"cut": None}, {"unit": "yes"}, {"pool": "max"}]
)
def test_python_options_are_checked_like_names(options):
    with pytest.raises(BadInput, match="must be"):
        am.AdaMerge(**options)


def test_every_method_of_the_table_is_tested():
    assert {name.partition(":")[0] for name in EVERY_METHOD} == set(METHODS)
    tested = {
        (type(m), f.name, getattr(m, f.name))
        for m in map(am.parse_method, EVERY_METHOD)
        for f in fields(m)
    }
    for cls in {cls for cls, _ in METHODS.values()}:
        for option in fields(cls):
            other = {value for c, name, value in tested if c is cls and name == option.name} - {
                option.default
            }
            assert other, f"no test of {cls.__name__} with another {option.name}"


def test_a_method_of_ones_own_takes_ten_lines(make_page):
    @dataclass(frozen=True)
    class First(am.Method, names={"first": {}}):
        """Keep the first patches."""

        keep: int = 3

        def __call__(self, page):
            groups = np.where(np.arange(len(page)) < self.keep, np.arange(len(page)), -1)
            return am.Compressed(
                page.vectors[: self.keep], groups, page.extra, method=str(self), id=page.id
            )

    try:
        assert str(am.parse_method("first:keep=5")) == "first:keep=5"
        assert [
            len(s) for s in am.compress_pages([make_page(9), make_page(4)], "first:keep=5")
        ] == [5, 4]
    finally:
        del METHODS["first"]


def test_an_option_may_be_a_word(make_page):
    @dataclass(frozen=True)
    class Worded(am.Method, names={"worded": {}}):
        """Do nothing, in a mode."""

        mode: str = "a"

    try:
        assert str(am.parse_method("worded:mode=b")) == "worded:mode=b"
        assert am.parse_method("worded:mode=true").mode == "true"
        for bad in ("", "a,b", "f(x)", 3):
            with pytest.raises(BadInput, match="mode must be a word, without , \\+ and brackets"):
                Worded(bad)
    finally:
        del METHODS["worded"]


def test_the_name_of_a_method_is_not_given_away():
    with pytest.raises(
        BadInput, match="there is a method 'adamerge' already: choose another name for Mine"
    ):

        class Mine(am.Method, names={"adamerge": {}}):
            """Not the paper's."""

    assert METHODS["adamerge"][0] is am.AdaMerge
