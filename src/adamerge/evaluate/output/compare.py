"""Results beside published numbers: which are within the known drift, and which cannot be compared at all."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

from adamerge.evaluate.analysis import Results, Row, Table, columns, make_table
from adamerge.evaluate.data import dataset_names
from adamerge.evaluate.experiment import MEASURE
from adamerge.evaluate.output.our_numbers import CURVES, KINDS
from adamerge.evaluate.output.published import PublishedNumber, read_published

POOLED = "pooled"  # stands where a number is of all encoders together
DIFFERENCES = ("gain", "ablation")  # kinds that may be a difference of two methods


def compare(results: Results) -> Table:
    """Every published number, ours if there is one, and a verdict on the two; scores are nDCG@5."""
    published = read_published()
    results = replace(results, measure=MEASURE)
    rows: list[Row] = []
    for number in published.numbers:
        ours, verdict = _judge(results, number)
        known: Row = [
            number.encoder,
            number.where,
            number.what,
            number.source,
            number.text,
            number.drift,
        ]
        others = _other_readings(results, number)
        rows.append([*known, ours, *others, verdict])

    head = columns(
        "encoder",
        "where",
        "what",
        "source",
        "published",
        ("drift", ".4g"),
        ("here", ".4f"),
        ("by a line", ".4f"),
        ("stats=plain", ".4f"),
        "verdict",
    )
    sources = "; ".join(f"{name}: {text}" for name, text in published.sources.items())
    note = (
        "By a line: the same read off the line between the points of a curve instead of its steps. stats=plain: the "
        "same with mean and deviation of attention as printed, without clipping. "
        f"Drift: {published.drift}. Of Table 1: {published.table_1}. Sources: {sources}."
    )
    return make_table("Beside published numbers", note, head, rows)


def compare_what_is_here(results: Results) -> Table:
    """The same without the published numbers that these results have none beside; its note counts them."""
    every = compare(results)
    place = every.place("here")
    rows = tuple(row for row in every.rows if row[place] is not None)
    missing = len(every.rows) - len(rows)
    if not missing:
        return every
    note = f"{missing} more have nothing beside them here: `adamerge evaluate compare` lists them."
    return replace(every, rows=rows, note=f"{note} {every.note}")


def _judge(results: Results, number: PublishedNumber) -> tuple[float | None, str]:
    """Our number, and what can be said of the two."""
    the_same = _on_its_data(results, number)
    if the_same is None:
        return _judge_other_data(results, number)

    ours = _find(the_same, number)
    if ours is None:
        return None, "not comparable: the method is not in these results"
    if number.ask["kind"] == "ms":
        return ours, "not comparable: another machine"
    if _is_as_said(number, ours):
        return ours, "within drift"
    return ours, "outside drift"


def _judge_other_data(results: Results, number: PublishedNumber) -> tuple[float | None, str]:
    """Differences and theta say something of other data too; nothing else does."""
    ours = None
    is_difference = "over" in number.ask
    if number.ask["kind"] == "theta" or (is_difference and number.ask["kind"] in DIFFERENCES):
        ours = KINDS[number.ask["kind"]](results, results.encoders[0], number.ask)
    if ours is None:
        return None, "not comparable: no results of this encoder on these datasets"

    verdict = "not comparable: other data"
    if not is_difference:
        return ours, verdict
    if ours * number.value > 0:
        return ours, f"{verdict}; same sign"
    return ours, f"{verdict}; other sign"


def _is_as_said(number: PublishedNumber, ours: float) -> bool:
    """Whether ours is as near to the published number, or no further above it, than the drift."""
    if number.relation == "at most":
        return ours <= number.value + number.drift
    return abs(ours - number.value) <= number.drift


def _other_readings(results: Results, number: PublishedNumber) -> list[float | None]:
    """Ours of a curve by a line, and with plain statistics; nothing of numbers that are not of a curve."""
    the_same = _on_its_data(results, number)
    if the_same is None or number.ask["kind"] not in CURVES:
        return [None, None]
    return [_find(the_same, number, line=True), _find(the_same, number, stats="plain")]


def _on_its_data(results: Results, number: PublishedNumber) -> Results | None:
    """The results on the datasets and encoders of a published number; None where some are missing."""
    names: list[str] = []
    for dataset in number.datasets:
        names += dataset_names(dataset)
    if not set(names) <= set(results.datasets):
        return None

    needed = {number.encoder}
    if number.encoder == POOLED:  # of these and no others
        needed = set(read_published().encoders)
        if needed != set(results.encoders):
            return None
    if not needed <= set(results.encoders):
        return None
    return _some(results, tuple(names))


@lru_cache(maxsize=4)
def _some(results: Results, datasets: tuple[str, ...]) -> Results:
    """Results on some datasets, the same object for the same question, so that what is made of it is kept."""
    return results.on(datasets)


def _find(results: Results, number: PublishedNumber, **more: Any) -> float | None:
    return KINDS[number.ask["kind"]](results, number.encoder, dict(number.ask) | more)
