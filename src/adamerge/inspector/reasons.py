"""Why a part of an inspection is not there, in a sentence each."""

from adamerge.compress import AdaMerge
from adamerge.inspector.steps import Step, has_k, rule
from adamerge.types import MultiVector

NO_CURVE = {
    "none": "This method does not merge, so there is no merge tree and no curve.",
    "own": "This method is not one of the library's own; its groups are shown as it made them, without a merge tree.",
}

FEW = "Fewer than two patches are left after pruning, so there is nothing to merge."


def absent(
    step: Step, page: MultiVector, placed: bool, pictured: bool, asked: bool
) -> dict[str, str]:
    """The sentence for each part that is missing; a part that is there has none."""
    pruning = hasattr(step.method, "k")
    why = {
        "curve": NO_CURVE.get(rule(step), ""),
        "floor": "" if type(step.method) is AdaMerge else "This method has no floor c_min.",
        "k": "" if has_k(page, step.method) else _no_k(pruning),
        "attention": "" if page.attention is not None else "The page came without attention.",
        "picture": _no_picture(placed, pictured),
        "queries": "" if asked else "No query was given: add --query, or queries= in Python.",
    }
    return {part: reason for part, reason in why.items() if reason}


def left_out(queries: int) -> dict[str, str]:
    """The sentence on queries that had no room."""
    many = "A query is" if queries == 1 else f"{queries:,} queries are"
    return (
        {"queries": f"{many} left out, for the file to stay under 3 MB: ask fewer at a time."}
        if queries
        else {}
    )


def _no_k(pruning: bool) -> str:
    if pruning:
        return "The page came without attention, so it cannot be pruned at another k."
    return "This method does not prune by attention, so it has no k."


def _no_picture(placed: bool, pictured: bool) -> str:
    if not placed:
        return "The patches came without grid or boxes: they are laid out in their order, not in their place."
    return (
        ""
        if pictured
        else "No picture of the page was given: the patches are drawn on an empty one."
    )
