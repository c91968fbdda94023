import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adamerge.compress import prune
from adamerge.errors import BadInput, BadShape


def test_the_threshold_is_mean_plus_k_sample_deviations():
    # mean 3, sample deviation sqrt(10/4) = 1.58; nothing is clipped
    attention = [1, 2, 3, 4, 5]
    assert prune.by_attention(attention, 0.0).tolist() == [False, False, False, True, True]
    assert prune.by_attention(attention, 0.64).tolist() == [
        False,
        False,
        False,
        False,
        True,
    ]  # tau 4.01
    assert prune.by_attention(attention, 0.62).tolist() == [
        False,
        False,
        False,
        True,
        True,
    ]  # tau 3.98
    assert prune.by_attention(attention, -1.26).tolist() == [
        False,
        True,
        True,
        True,
        True,
    ]  # tau 1.008
    assert prune.by_attention(attention, -1.27).all()  # tau .992


def test_sinks_are_clipped_at_three_quartile_ranges_above_the_upper_quartile():
    # q25 = 1.75, q75 = 3.25, clip at 3.25 + 4.5 = 7.75: mean 2.9688, deviation 2.2 instead of 126 and 353
    attention = [1, 1, 2, 2, 3, 3, 4, 1000]
    clipped = np.minimum(attention, 7.75)
    tau = clipped.mean() + 0.1 * clipped.std(ddof=1)
    assert 3 < tau < 4
    assert prune.by_attention(attention, 0.1).tolist() == [False] * 6 + [True, True]
    assert prune.by_attention(attention, 0.1, stats="plain").tolist() == [False] * 7 + [True]


@given(st.lists(st.floats(0, 1, width=32), min_size=1, max_size=60))
def test_quartiles_are_those_of_numpy(values):
    rising = np.sort(np.array(values, float))
    for share in (0.25, 0.75):
        ours = prune._quantile(rising, share)
        np.testing.assert_allclose(ours, np.quantile(rising, share), rtol=1e-12, atol=1e-300)


def test_sinks_make_k_useless_with_plain_statistics():
    """The reason for stats="iqr": two sinks, and plain statistics prune nothing or nearly everything."""
    rng = np.random.default_rng(0)
    attention = np.r_[rng.exponential(3e-4, 745), 0.3, 0.4]
    plain = [1 - prune.by_attention(attention, k, "plain").mean() for k in (-0.25, 0)]
    robust = [1 - prune.by_attention(attention, k).mean() for k in (-0.5, -0.25, 0, 0.25, 0.5, 1)]
    assert plain[0] == 0
    assert plain[1] > 0.95
    np.testing.assert_allclose(
        robust, [0.39, 0.52, 0.62, 0.71, 0.77, 0.86], atol=0.03
    )  # as the authors report


def test_if_nothing_passes_the_most_attended_patch_stays():
    assert prune.by_attention([1, 2, 3, 2], 50.0).tolist() == [False, False, True, False]


@pytest.mark.parametrize("value", [0.0, 0.1, 7.0])
@pytest.mark.parametrize("n", [1, 2, 3, 500])
def test_constant_attention_keeps_all(n, value):
    assert prune.by_attention(np.full(n, value), 0.0).all()


def test_attention_that_is_constant_but_for_rounding_keeps_all():
    noise = 1e-7 * np.random.default_rng(0).normal(size=747)
    assert prune.by_attention((1 / 747 * (1 + noise)).astype(np.float32), -0.25).all()


@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.floats(-2, 2), st.floats(1e-3, 1e3))
def test_scaling_attention_changes_nothing(values, k, scale):
    attention = np.array(values, np.float32)
    for stats in ("iqr", "plain"):
        once, twice = (
            prune.by_attention(attention, k, stats),
            prune.by_attention(attention * np.float32(scale), k, stats),
        )
        np.testing.assert_array_equal(once, twice)


def test_a_random_choice_keeps_its_share_and_follows_its_seed():
    assert prune.at_random(100, 0.3, 1).sum() == 30
    assert prune.at_random(100, 0.001, 1).sum() == 1
    assert (prune.at_random(100, 0.3, 1) == prune.at_random(100, 0.3, 1)).all()
    assert (prune.at_random(100, 0.3, 1) != prune.at_random(100, 0.3, 2)).any()


@pytest.mark.parametrize("k", [float("nan"), float("inf")])
def test_a_threshold_must_be_finite(k):
    with pytest.raises(BadInput, match="k must be a finite number"):
        prune.by_attention([1, 2], k)


def test_the_door_of_pruning():
    for attention, words in [
        ([], "at least one value"),
        ([1, -1], "must not be negative: -1.0 at [1]"),
    ]:
        with pytest.raises(BadInput) as caught:
            prune.by_attention(attention, 0.0)
        assert words in str(caught.value)
    with pytest.raises(BadInput, match="stats must be iqr or plain, got 'foo'"):
        prune.by_attention([1, 2], 0.0, stats="foo")


def test_attention_is_one_row():
    with pytest.raises(BadShape, match=r"attention must have shape \(n,\), got \(2, 2\)"):
        prune.by_attention([[1, 2], [3, 4]], 0.0)
