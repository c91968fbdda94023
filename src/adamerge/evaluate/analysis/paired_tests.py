"""One method against another on the same queries: per encoder and, where there are several, pooled as in the paper."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from adamerge.arrays import Doubles
from adamerge.evaluate.analysis.results import Results
from adamerge.evaluate.analysis.statistical_tests import bootstrap, holm, wilcoxon
from adamerge.evaluate.analysis.table import Row, columns

POOLED = "pooled"
TEST_COLUMNS = columns(
    ("difference", "+.4f"), ("low", "+.4f"), ("high", "+.4f"), ("p", "p"), ("p corrected", "p")
)
Pair = tuple[str, str]  # ours, theirs


@dataclass(frozen=True)
class PairedTest:
    """One method against another on the same queries.

    difference      mean of ours minus theirs
    low, high       its 95 % bootstrap interval
    p, p_corrected  two-sided Wilcoxon signed-rank; and after Holm's correction over its family
    """

    encoder: str
    pair: Pair
    queries: int
    difference: float
    low: float
    high: float
    p: float
    p_corrected: float

    def cells(self) -> Row:
        """The values below TEST_COLUMNS."""
        return [self.difference, self.low, self.high, self.p, self.p_corrected]


def run_tests(results: Results, family: Sequence[Pair], shown: Sequence[Pair]) -> list[PairedTest]:
    """The tests of the pairs to show, per encoder and pooled.

    Holm's correction is over the whole family: pairs that are not shown were tested too.
    """
    encoders = list(results.encoders)
    if len(encoders) > 1:
        encoders.append(POOLED)

    tests = []
    for encoder in encoders:
        p = []
        for ours, theirs in family:
            values = values_of(results, encoder, ours), values_of(results, encoder, theirs)
            p.append(wilcoxon(*values))
        place_of = {pair: place for place, pair in enumerate(family)}
        corrected = holm(p)

        for pair in shown:
            ours, theirs = pair
            place = place_of[pair]
            differences = values_of(results, encoder, ours) - values_of(results, encoder, theirs)
            low, high = bootstrap(differences)
            test = PairedTest(
                encoder=encoder,
                pair=pair,
                queries=len(differences),
                difference=float(differences.mean()),
                low=low,
                high=high,
                p=p[place],
                p_corrected=corrected[place],
            )
            tests.append(test)
    return tests


def describe_tests(results: Results, family: str) -> str:
    """How the tests were made, for the note of a table."""
    note = (
        "Paired Wilcoxon signed-rank test over queries, two-sided, pairs without a difference left out "
        '(zero_method="wilcox"); 95 % bootstrap interval; Holm\'s correction, per encoder, over '
        f"{family}."
    )
    if len(results.encoders) > 1:
        note += (
            " Pooled: the same query asked of each encoder counts as another one, as in the paper; "
            "it is not."
        )
    return note


def sizes_and_means(results: Results, test: PairedTest) -> Row:
    """Queries, and compression and mean over all queries of both."""
    ours, theirs = test.pair
    return [
        test.queries,
        compression_of(results, test.encoder, ours),
        compression_of(results, test.encoder, theirs),
        float(values_of(results, test.encoder, ours).mean()),
        float(values_of(results, test.encoder, theirs).mean()),
    ]


def values_of(results: Results, encoder: str, method: str) -> Doubles:
    """The measure of every query; of POOLED, the queries of all encoders one after the other."""
    encoders = _encoders(results, encoder)
    return np.concatenate([results.values(one, method) for one in encoders])


def mean_of(results: Results, encoder: str, method: str) -> float:
    """The measure averaged over datasets; of POOLED, over encoders too."""
    means = [results.mean(one, method) for one in _encoders(results, encoder)]
    return sum(means) / len(means)


def compression_of(results: Results, encoder: str, method: str) -> float | None:
    """The compression averaged over datasets; of POOLED, over the encoders that have one."""
    found = [results.compression(one, method) for one in _encoders(results, encoder)]
    there = [one for one in found if one is not None]
    if not there:
        return None
    return sum(there) / len(there)


def _encoders(results: Results, encoder: str) -> Sequence[str]:
    if encoder == POOLED:
        return results.encoders
    return (encoder,)
