"""Why a part of an inspection is missing, in one sentence for each part."""

from adamerge.compress import AdaMerge
from adamerge.inspector.k_sweep import Step, has_k, stop_rule
from adamerge.types import MultiVector

NO_CURVE = {
    "none": "This method does not merge, so there is no merge tree and no curve.",
    "own": "This method is not one of the library's own; its groups are shown as it made them, without a merge tree.",
}
TOO_FEW = "Fewer than two patches are left after pruning, so there is nothing to merge."
NO_FLOOR = "This method has no floor c_min."
NO_ATTENTION = "The page came without attention."
NO_ATTENTION_TO_PRUNE = "The page came without attention, so it cannot be pruned at another k."
NO_PRUNING = "This method does not prune by attention, so it has no k."
NO_PLACE = (
    "The patches came without grid or boxes: they are laid out in their order, not in their place."
)
NO_PICTURE = "No picture of the page was given: the patches are drawn on an empty one."
NO_QUERIES = "No query was given: add --query, or queries= in Python."


def reasons(
    step: Step, page: MultiVector, *, placed: bool, has_picture: bool, has_queries: bool
) -> dict[str, str]:
    """The sentence for each part that is missing; a part that is there has none."""
    missing = {}

    rule = stop_rule(step)
    if rule in NO_CURVE:
        missing["curve"] = NO_CURVE[rule]
    if type(step.method) is not AdaMerge:
        missing["floor"] = NO_FLOOR
    if not has_k(page, step.method):
        missing["k"] = _reason_for_no_k(step)

    if page.attention is None:
        missing["attention"] = NO_ATTENTION
    if not placed:
        missing["picture"] = NO_PLACE
    elif not has_picture:
        missing["picture"] = NO_PICTURE
    if not has_queries:
        missing["queries"] = NO_QUERIES
    return missing


def _reason_for_no_k(step: Step) -> str:
    if hasattr(step.method, "k"):
        return NO_ATTENTION_TO_PRUNE
    return NO_PRUNING


def queries_left_out(count: int) -> dict[str, str]:
    """The sentence on queries that did not fit into the file; empty if all fit."""
    if not count:
        return {}
    subject = "A query is" if count == 1 else f"{count:,} queries are"
    return {"queries": f"{subject} left out, for the file to stay under 3 MB: ask fewer at a time."}
